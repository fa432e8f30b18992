"""Ten years of monthly sales and the forecast of the next one."""

import numpy as np
import pandas as pd

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, new_figure

rng = np.random.default_rng(0)
months = pd.date_range("2014-01-01", periods=120, freq="MS")
t = np.arange(len(months))
season = 0.2 * np.sin(2 * np.pi * t / 12)
level = 200 * np.exp(0.004 * t + season + rng.normal(0, 0.03, t.size))
sales = pd.Series(level.round(1), months, name="sales")
forecast = ee.Forecaster(horizon=12).fit(sales).predict(interval=0.9)

figure = new_figure(4.8, 2.2)
ax = figure.subplots()
ax.plot(sales, color=BLACK, linewidth=0.9, label="sales")
ax.plot(forecast["forecast"], color=BLUE, linewidth=2, label="forecast")
band = forecast["lower"], forecast["upper"]
ax.fill_between(forecast.index, *band, color=BLUE, alpha=0.25, linewidth=0, label="90% interval")
ax.legend(loc="upper left")
