"""
How long does a large grid search take?
=======================================

A grid of radii, leaking rates, ridge penalties and seeds contains hundreds of networks.
``ee.search`` runs each reservoir once, and factorises its states once for all ridge values and
input scalings.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

# %%
# The task is NARMA10 with noise, and the grid has 7 radii × 3 leaking rates × 17 ridge values × 2
# seeds.

u, y = ee.tasks.narma(10, steps=1200, seed=0)
y = y + 0.05 * np.random.default_rng(0).normal(size=y.shape)
grid = {
    "sr": [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99],
    "lr": [0.3, 0.6, 1.0],
    "ridge": (10.0 ** np.arange(-8, 9)).tolist(),
}
start = time.perf_counter()
result = ee.search(ee.LinearESN(100, warmup=100, standardize=True), grid, u, y, seeds=range(2))
taken = time.perf_counter() - start
networks = 2 * np.prod([len(values) for values in grid.values()])
print(f"{networks} networks in {taken:.1f} s")
print(result)

# %%
# Plot the smallest error for each radius and ridge, over all leaking rates:

least = np.full((len(grid["sr"]), len(grid["ridge"])), np.inf)
for params, error in zip(result.params, result.mean_errors, strict=True):
    place = grid["sr"].index(params["sr"]), grid["ridge"].index(params["ridge"])
    least[place] = min(least[place], error)

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
image = ax.imshow(least, cmap="viridis_r", aspect="auto", origin="lower")
best = np.unravel_index(least.argmin(), least.shape)
ax.plot(
    best[1],
    best[0],
    "o",
    markersize=16,
    markerfacecolor="none",
    markeredgecolor="black",
    markeredgewidth=2,
)
ax.set_xticks(range(len(grid["ridge"])), [f"{np.log10(ridge):.0f}" for ridge in grid["ridge"]])
ax.set_yticks(range(len(grid["sr"])), [str(radius) for radius in grid["sr"]])
ax.set(xlabel="log₁₀(ridge)", ylabel="spectral radius sr")
figure.colorbar(image, label="validation RMSE")
ax.set_title(f"{networks} networks in {taken:.1f} s", fontsize=10)

# %%
# ``result.best_estimator`` is the best network, fitted on all rows. ``result.table`` lists all
# combinations, best first. A grid can also contain ``spectrum`` and ``ridge="auto"``.

print(result.best_estimator.score(u, y))
