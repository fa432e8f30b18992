"""
How much does a price known in advance help?
============================================

In this example, demand falls when the price rises, and the prices for the next four weeks are
already known. Pass such columns as ``X``: past values to ``fit`` and future values to ``predict``.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# Simulate daily demand with a weekly season, and price cuts on random days:

rng = np.random.default_rng(1)
t = np.arange(308)
price = np.where(rng.random(308) < 0.15, 7.0, 10.0)
demand = 120 + 12 * np.sin(2 * np.pi * t / 7) - 8 * (price - 10) + rng.normal(0, 3, 308)
past, ahead = slice(0, 280), slice(280, 308)
X = price[:, None]

without = ee.Forecaster(horizon=28).fit(demand[past]).predict()
fitted = ee.Forecaster(horizon=28).fit(demand[past], X[past])
with_prices = fitted.predict(X=X[ahead])

for name, forecast in {"without prices": without, "with prices": with_prices}.items():
    print(f"{name:15s} mean absolute error {np.abs(forecast - demand[ahead]).mean():.2f}")

# %%

figure, (top, below) = plt.subplots(
    2, 1, figsize=(7.5, 4.4), sharex=True, height_ratios=(2.6, 1), layout="constrained"
)
top.plot(t[252:], demand[252:], color="black", linewidth=1.2, marker=".", label="demand")
top.plot(t[ahead], without, color="C2", linestyle="--", label="forecast without prices")
top.plot(t[ahead], with_prices, color="C0", linewidth=2, label="forecast with prices")
top.set(ylabel="demand", ylim=(95, 170))
top.legend(frameon=False, ncols=3, fontsize=9, loc="upper left")
below.step(t[252:], price[252:], where="mid", color="0.3")
below.set(ylabel="price", xlabel="day", ylim=(6, 11))
for ax in (top, below):
    ax.axvline(279.5, color="0.6", linewidth=0.8)
below.annotate(
    "known in advance",
    (280, 6.2),
    xytext=(4, 0),
    textcoords="offset points",
    fontsize=9,
    color="0.4",
)

# %%
# Columns that do not reduce the error on the validation split are not used. If some columns are
# known only up to the forecast origin, pass their names as ``past=``. See :doc:`/forecasting`.
