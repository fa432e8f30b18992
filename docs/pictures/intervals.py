"""Forecasts from ten past origins, with their 90% intervals."""

import numpy as np

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, VERMILLION, new_figure

rng = np.random.default_rng(0)
t = np.arange(180)
y = 100 + 0.3 * t + 20 * np.sin(2 * np.pi * t / 12) + rng.normal(0, 5, 180)
rows = ee.Forecaster(horizon=6).backtest(y, origins=10, interval=0.9).errors
rows = rows.assign(t=rows["cutoff"] + rows["step"])
inside = rows["y"].between(rows["lower"], rows["upper"])

figure = new_figure(4.8, 2.6)
ax = figure.subplots()
for _, part in rows.groupby("cutoff"):
    band = {"alpha": 0.3, "linewidth": 0, "color": BLUE}
    ax.fill_between(part["t"], part["lower"], part["upper"], **band)
    ax.plot(part["t"], part["forecast"], color=BLUE, linewidth=1.5)
first = rows["t"].min() - 12
ax.plot(t[first:], y[first:], color=BLACK, linewidth=0.8, marker=".", markersize=3)
ax.plot(rows["t"][~inside], rows["y"][~inside], "o", color=VERMILLION, fillstyle="none")
ax.set(xlabel="row", ylabel="y", title=f"{inside.mean():.0%} of the values are inside")
