"""
How does the training time grow with the number of rows?
========================================================

For a diagonal reservoir, the statistics of a ridge regression follow from a few sums over time, so
they can be obtained without computing the states. The solution is then refined with exact
residuals. Times were measured on one core of the machine that built this page.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%

rng = np.random.default_rng(0)
u = rng.uniform(-1, 1, (200_000, 1))
y = np.roll(u, 3, axis=0) + 0.1 * rng.normal(size=u.shape)


def seconds(rows, solver):
    esn = ee.LinearESN(300, ridge=1e-4, solver=solver, warmup=100, seed=0)
    start = time.perf_counter()
    esn.fit(u[:rows], y[:rows])
    return time.perf_counter() - start, esn


lengths = {"normal": (2000, 5000, 20_000, 50_000, 200_000), "qr": (2000, 5000, 20_000)}
times = {}
for solver, rows in lengths.items():
    seconds(2000, solver)  # compile first
    times[solver] = [min(seconds(length, solver)[0] for _ in range(2)) for length in rows]

# %%
# Both solvers give the same network:

X = u[:20_000]
first, second = (seconds(20_000, solver)[1].predict(X) for solver in lengths)
print("largest difference between the outputs:", np.abs(first - second).max())

# %%

figure, ax = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
styles = {
    "qr": ("s--", "C2", "qr: orthogonal, on all states"),
    "normal": ("o-", "C0", "normal: sums over time"),
}
for solver, (line, color, label) in styles.items():
    ax.loglog(lengths[solver], [1e3 * t for t in times[solver]], line, color=color, label=label)
ax.set(xlabel="rows", ylabel="time of fit (ms), 300 units", ylim=(10, 2000))
ax.yaxis.set_major_formatter("{x:g}")
ax.legend(frameon=False, loc="upper right")

# %%
# ``solver="auto"`` selects ``"normal"`` if it is faster, and falls back to ``"qr"`` if the
# refinement does not converge. ``solver_`` reports the solver that was used
# (:doc:`/guides/fitted-attributes`). See :doc:`/guides/how-it-works` for the derivation.
