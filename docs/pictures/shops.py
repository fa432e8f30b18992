"""Forecasts of three monthly series from one fit."""

import numpy as np
import pandas as pd

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, GREEN, VERMILLION, new_figure

rng = np.random.default_rng(0)
months = pd.date_range("2014-01-01", periods=132, freq="MS")
t = np.arange(132)
sales = pd.DataFrame(
    {
        f"shop {i}": 100 + i * t + 20 * np.sin(2 * np.pi * t / 12) + rng.normal(0, 5, 132)
        for i in range(3)
    },
    months,
)
forecast = ee.Forecaster(horizon=12).fit(sales[:120]).predict()

figure = new_figure(4.8, 2.6)
ax = figure.subplots()
for name, color in zip(sales, (BLUE, GREEN, VERMILLION), strict=True):
    ax.plot(sales[name]["2020":], color=BLACK, linewidth=0.9)
    ax.plot(forecast[name], color=color, linewidth=2.5, label=name)
ax.legend(title="forecasts", loc="upper left", ncols=3)
ax.set_ylim(70, 460)
ax.tick_params(axis="x", rotation=30)
