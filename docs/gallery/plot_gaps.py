"""
How much do missing values increase the error?
==============================================

This example measures how the forecast error grows with the fraction of missing values. A missing
value is a NaN or a date without a row. ``Forecaster`` imputes missing values from earlier values,
so that later rows can be forecast, but excludes them from training and validation.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# From ten years of monthly data, remove an increasing fraction of the rows at random, and forecast
# the next year. Repeat this for four simulated series:

months = pd.date_range("2015-01-01", periods=132, freq="MS")
t = np.arange(132)
clean = 200 + t + 25 * np.sin(2 * np.pi * t / 12) + 10 * np.cos(2 * np.pi * t / 6)

shares = (0.0, 0.2, 0.4, 0.6)
errors = np.zeros((4, len(shares)))
for seed in range(4):
    rng = np.random.default_rng(seed)
    y = pd.Series(clean + rng.normal(0, 4, 132), months)
    past, future = y[:120], y[120:]
    draw = rng.random(120)
    draw[-1] = 1  # keep the last row, where the forecast starts
    for i, share in enumerate(shares):
        there = draw >= share
        forecast = ee.Forecaster(horizon=12).fit(past[there]).predict()  # rows are absent, not NaN
        errors[seed, i] = (forecast - future).abs().mean()

# %%

figure, (series, ax) = plt.subplots(
    1, 2, figsize=(8.5, 3.5), width_ratios=(1.6, 1), layout="constrained"
)
series.plot(y, color="0.85", linewidth=1)
series.plot(past[there], ".", color="black", markersize=5, label=f"{there.sum()} of 120 rows")
series.plot(forecast, color="C2", linewidth=1.8, label="forecast")
series.plot(future, ".", color="C0", markersize=5, label="test data")
series.legend(frameon=False, fontsize=9, loc="upper left")
series.set_ylabel("y")
ax.plot([100 * s for s in shares], errors.mean(axis=0), "o-", color="C2")
ax.axhline(4 * np.sqrt(2 / np.pi), color="0.6", linewidth=0.8)
ax.annotate(
    "noise",
    (60, 4 * np.sqrt(2 / np.pi)),
    xytext=(0, -11),
    textcoords="offset points",
    ha="right",
    fontsize=9,
    color="0.4",
)
ax.set(xlabel="missing rows (%)", ylabel="mean absolute error, 12 months")
ax.set_ylim(bottom=0)

# %%
# ``LinearESN(missing="skip")`` skips missing *targets*. Its inputs must be complete, because the
# reservoir needs an input at every step.
