"""A forecast of twelve months, made by the forecaster that EigenechoForecaster wraps."""

import numpy as np
import pandas as pd

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, new_figure

rng = np.random.default_rng(0)
months = pd.date_range("2010-01-01", periods=132, freq="MS")
t = np.arange(132)
y = pd.Series(100 + t + 10 * np.sin(2 * np.pi * t / 12) + rng.normal(size=132), months)
forecast = ee.Forecaster(12).fit(y[:120]).predict(interval=0.9)

figure = new_figure(4.8, 2.2)
ax = figure.subplots()
ax.plot(y["2017":], color=BLACK, linewidth=0.9, label="series")
ax.plot(forecast["forecast"], color=BLUE, linewidth=2, label="forecast")
band = forecast["lower"], forecast["upper"]
ax.fill_between(forecast.index, *band, color=BLUE, alpha=0.25, linewidth=0, label="90% interval")
ax.legend(loc="upper left")
