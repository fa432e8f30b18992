"""
How much does a whole grid cost?
================================

Radii, leaks, input scalings, ridges and seeds: a thousand networks. Linear ones have so much in
common that a search computes states once for all input scalings and factorises once for all
ridges.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

# %%
# Mackey–Glass in noise, 84 steps ahead: 6 radii × 3 leaks × 3 scalings × 9 ridges × 2 seeds.

series = ee.tasks.mackey_glass(steps=1200, seed=0)
series = series + 0.1 * np.random.default_rng(0).normal(size=series.shape)
X, y = series[:-84], series[84:]
grid = {
    "sr": [0.5, 0.7, 0.8, 0.9, 0.95, 0.99],
    "lr": [0.25, 0.5, 1.0],
    "input_scaling": [0.1, 1.0, 10.0],
    "ridge": list(10.0 ** np.arange(-10, 7, 2)),
}
start = time.perf_counter()
found = ee.search(ee.LinearESN(100, warmup=200, standardize=True), grid, X, y, seeds=range(2))
taken = time.perf_counter() - start
networks = 2 * np.prod([len(values) for values in grid.values()])
print(f"{networks} networks in {taken:.1f} s")
print(found)

# %%
# The least error of each radius and ridge, over all else:

least = np.full((len(grid["sr"]), len(grid["ridge"])), np.inf)
for params, error in zip(found.params, found.mean_errors, strict=True):
    place = grid["sr"].index(params["sr"]), grid["ridge"].index(params["ridge"])
    least[place] = min(least[place], error)

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
image = ax.imshow(least, cmap="viridis_r", aspect="auto", origin="lower")
best = np.unravel_index(least.argmin(), least.shape)
ax.plot(best[1], best[0], "o", markersize=16, markerfacecolor="none", markeredgecolor="white",
        markeredgewidth=2)  # fmt: skip
ax.set_xticks(range(len(grid["ridge"])), [f"{np.log10(ridge):.0f}" for ridge in grid["ridge"]])
ax.set_yticks(range(len(grid["sr"])), [str(radius) for radius in grid["sr"]])
ax.set(xlabel="log₁₀ of the ridge", ylabel="radius sr")
figure.colorbar(image, label="validation error (rms)")
ax.set_title(f"{networks} networks in {taken:.1f} s", fontsize=10)

# %%
# The best one is fitted already, on all rows: ``found.best_estimator``. ``found.table`` has all
# combinations, best first. A grid may also ask for ``spectrum``, and for ``ridge="auto"``.

print(found.best_estimator.score(X, y))
