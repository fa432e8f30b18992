"""
Is a 90 % interval right nine times in ten?
===========================================

Bounds of a ``LinearESN`` carry the noise of training through the loop, and with it what few rows
leave open of the weights. Draw many series of which the truth is known, ask for every level, and
count.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# A damped swing that noise keeps alive: 60 series of 200 rows for 80 units, forecast 12 steps.


def swing(seed, rows=212):
    noise = np.random.default_rng(seed).normal(size=rows + 100)
    y = np.zeros(rows + 100)
    for t in range(2, len(y)):
        y[t] = 1.6 * y[t - 1] - 0.81 * y[t - 2] + noise[t]
    return y[100:, None]


levels = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
held = np.zeros((60, len(levels)))
for seed in range(60):
    y = swing(seed)
    esn = ee.LinearESN(80, sr=0.8, warmup=20, ridge="auto", seed=seed).fit(y[:199], y[1:200])
    for i, level in enumerate(levels):
        _, lower, upper = esn.forecast(12, interval=level)
        held[seed, i] = ee.metrics.coverage(y[200:], lower, upper)

# %%

figure, ax = plt.subplots(figsize=(4.8, 4.2), layout="constrained")
share, doubt = held.mean(axis=0), held.std(axis=0) / np.sqrt(len(held))
ax.plot((45, 100), (45, 100), color="0.6", linewidth=0.8)
ax.errorbar(100 * np.array(levels), 100 * share, 200 * doubt, fmt="o-", color="C0", capsize=3)
ax.set(xlim=(45, 100), ylim=(45, 100), aspect="equal", xlabel="asked for, %", ylabel="held, %")
ax.set_title("bars: two standard errors", fontsize=10)
print(dict(zip(levels, share.round(3).tolist(), strict=True)))

# %%
# Where the world is as linear as the network, and its errors independent, bounds keep to what they
# say, or nearly where rows are few. Yours may be otherwise:
# :doc:`/guides/is-my-interval-to-be-trusted`.
