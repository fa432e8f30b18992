"""
How long can a closed loop follow the Lorenz attractor?
=======================================================

A linear network cannot generate a chaotic series. A network whose readout also uses random cosines
of the states can. Training is still a linear least-squares problem and takes about a second.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# The states are the last two rows of the series, and the readout also uses 300 random cosines of
# the states. ``ridge="loop"`` selects the ridge whose closed loops follow validation rows best.

series = ee.tasks.lorenz(4000, seed=0)
train, start = slice(0, 2000), 2001
options = {"ridge": "loop", "standardize": True, "warmup": 20, "seed": 0}
networks = {
    "linear": ee.LinearESN(24, **options),
    "quadratic": ee.LinearESN(spectrum=ee.delay_line(2), features="quadratic", **options),
    "300 cosines": ee.LinearESN(
        spectrum=ee.delay_line(2), features=ee.features.cosines(300), **options
    ),
}
truth = series[start:]
forecasts = {
    name: esn.fit(series[train], series[1:2001]).forecast(len(truth))
    for name, esn in networks.items()
}

# %%
# Time is measured in Lyapunov times. In one Lyapunov time, small errors grow by a factor of e. A
# forecast is valid until its error exceeds half the standard deviation of the series.

time = 0.02 * 0.906 * np.arange(len(truth))
shown = time < 30
figure, axes = plt.subplots(3, 1, figsize=(8, 5.5), sharex=True, sharey=True, layout="constrained")
for ax, (name, forecast), color in zip(axes, forecasts.items(), ("C2", "C1", "C0"), strict=True):
    valid = ee.metrics.valid_time(truth, forecast, dt=0.02, lyapunov=0.906)
    ax.plot(time[shown], truth[shown, 0], color="black", linewidth=1)
    ax.plot(time[shown], forecast[shown, 0], color=color, linewidth=1.4, linestyle="--")
    ax.axvline(valid, color="0.5", linewidth=0.8)
    print(f"{name}: {valid:.1f} Lyapunov times")
    ax.set_title(f"{name}: valid for {valid:.1f} Lyapunov times", fontsize=10)
    ax.set(ylabel="x", ylim=(-25, 25))
axes[-1].set(xlabel="Lyapunov times")

# %%
# After the forecast has diverged from the true trajectory, it remains on the attractor:

figure = plt.figure(figsize=(8, 3.8), layout="constrained")
for place, (name, rows, color) in enumerate(
    [("Lorenz system", truth, "black"), ("300 cosines", forecasts["300 cosines"], "C0")], 1
):
    ax = figure.add_subplot(1, 2, place, projection="3d")
    ax.plot(*rows.T, color=color, linewidth=0.5)
    ax.set_title(name, fontsize=10)
    ax.set(xticklabels=[], yticklabels=[], zticklabels=[])

# %%
# See :doc:`/guides/chaotic-systems` for other systems, and for how to choose features and memory.
