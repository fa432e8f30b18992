"""
Do 90% intervals cover 90% of the observations?
===============================================

The intervals of a ``LinearESN`` propagate the noise and the uncertainty of the weights through the
closed loop. This example simulates many series from a known process and measures the coverage at
several levels.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# Simulate 60 series of 200 rows from a damped oscillator driven by noise. Fit a network of 80 units
# to each series and forecast 12 steps ahead.


def oscillator(seed, rows=212):
    noise = np.random.default_rng(seed).normal(size=rows + 100)
    y = np.zeros(rows + 100)
    for t in range(2, len(y)):
        y[t] = 1.6 * y[t - 1] - 0.81 * y[t - 2] + noise[t]
    return y[100:, None]


levels = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
coverage = np.zeros((60, len(levels)))
for seed in range(60):
    y = oscillator(seed)
    esn = ee.LinearESN(80, sr=0.8, warmup=20, ridge="auto", seed=seed).fit(y[:199], y[1:200])
    for i, level in enumerate(levels):
        _, lower, upper = esn.forecast(12, interval=level)
        coverage[seed, i] = ee.metrics.coverage(y[200:], lower, upper)

# %%

figure, ax = plt.subplots(figsize=(4.8, 4.2), layout="constrained")
mean = coverage.mean(axis=0)
standard_error = coverage.std(axis=0) / np.sqrt(len(coverage))
ax.plot((45, 100), (45, 100), color="0.6", linewidth=0.8)
ax.errorbar(
    100 * np.array(levels), 100 * mean, 200 * standard_error, fmt="o-", color="C0", capsize=3
)
ax.set(xlim=(45, 100), ylim=(45, 100), aspect="equal", xlabel="level (%)", ylabel="coverage (%)")
ax.set_title("error bars: two standard errors", fontsize=10)
print(dict(zip(levels, mean.round(3).tolist(), strict=True)))

# %%
# If the process is linear and its errors are independent, the coverage is close to the level, even
# with few rows. To check your own data, see :doc:`/guides/prediction-intervals`.
