"""
How far ahead can chaos be forecast?
====================================

A linear network in closed loop follows the Mackey–Glass series for some time and then diverges from
it. ``forecast(interval=)`` computes prediction intervals by propagating the training residuals
through the closed loop. With nonlinear features of a delay line, the forecast is accurate for
hundreds of steps.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%

X = ee.tasks.mackey_glass(steps=6000, seed=0)
esn = ee.LinearESN(300, sr=0.99, standardize=True, warmup=200, ridge="auto", seed=0)
esn.fit(X[:3000], X[1:3001])
mean, lower, upper = esn.forecast(120, context=X[:4000], interval=0.9)

figure, ax = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
ax.plot(np.arange(-60, 120), X[3940:4120], color="black", linewidth=1.4, label="Mackey–Glass")
steps = np.arange(120)
ax.plot(steps, mean, color="C2", linewidth=1.8, label="forecast")
ax.fill_between(
    steps, lower[:, 0], upper[:, 0], color="C2", alpha=0.2, linewidth=0, label="90% interval"
)
ax.axvline(0, color="0.6", linewidth=0.8)
ax.set(xlabel="steps ahead", ylabel="x")
figure.legend(frameon=False, ncols=3, loc="outside upper right")

# %%
# Repeat the forecast from two hundred origins after the training rows, and compute the error, the
# width of the intervals and their coverage by step ahead:

ends = np.arange(3200, 5800, 13)
runs = [esn.forecast(120, context=X[:end], interval=0.9) for end in ends]
truth = np.stack([X[end : end + 120] for end in ends])
means, lowers, uppers = (np.stack(parts) for parts in zip(*runs, strict=True))
error = np.sqrt(np.mean((means - truth) ** 2, axis=(0, 2))) / X.std()
width = np.mean(uppers - lowers, axis=(0, 2)) / 2 / 1.645 / X.std()
coverage = np.mean((lowers <= truth) & (truth <= uppers), axis=(0, 2))

figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.3), layout="constrained")
left.semilogy(steps + 1, error, color="black", label="RMSE")
left.semilogy(steps + 1, width, color="C2", linestyle="--", label="predicted standard deviation")
left.axhline(1, color="0.6", linewidth=0.8)
left.set(xlabel="steps ahead", ylabel="relative to the std of x")
left.legend(frameon=False)
right.plot(steps + 1, coverage, color="C0")
right.axhline(0.9, color="0.6", linewidth=0.8)
right.set(xlabel="steps ahead", ylabel="coverage", ylim=(0, 1.02))

# %%
# Forecasts are accurate for about ten steps, and partly accurate for about thirty. Beyond that, the
# network continues the cycle but does not reproduce its shape. The intervals are exact for linear
# systems with independent errors. The Mackey–Glass series does not satisfy these assumptions, but
# the coverage is still close to the level. To check your own series, see
# :doc:`/guides/prediction-intervals`.
#
# A readout with random cosines of past rows, three steps apart, is not limited to linear maps.
# Prediction intervals are not available for such a network, but the errors are much smaller:

cosines = ee.LinearESN(
    spectrum=ee.delay_line(7, spacing=3),
    features=ee.features.cosines(300),
    standardize=True,
    warmup=50,
    ridge="loop",
    seed=0,
)
cosines.fit(X[:3000], X[1:3001])
contexts = np.stack([X[end - 200 : end] for end in ends[:150]])
truth = np.stack([X[end : end + 500] for end in ends[:150]])
steps = np.arange(1, 501)
figure, ax = plt.subplots(figsize=(7.5, 3.3), layout="constrained")
for name, network, color in (("linear", esn, "C2"), ("300 cosines", cosines, "C0")):
    error = network.forecast(500, context=contexts) - truth
    ax.semilogy(
        steps, np.sqrt(np.nanmean(error**2, axis=(0, 2))) / X.std(), color=color, label=name
    )
ax.axhline(1, color="0.6", linewidth=0.8)
ax.set(xlabel="steps ahead", ylabel="RMSE, relative to the std of x")
ax.legend(frameon=False)

# %%
# See :doc:`/guides/chaotic-systems` for other systems, and for how to choose the features.
