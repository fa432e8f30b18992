"""
Does a fit take ten times as long on ten times the rows?
========================================================

Not here. Of a linear reservoir everything that ridge regression needs follows from a few sums over
time, so that no state is ever computed for training; the answer is then refined on true residuals.
Timed where this page was built, on one core.
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


lengths = {"structured": (2000, 5000, 20_000, 50_000, 200_000), "qr": (2000, 5000, 20_000)}
times = {}
for solver, rows in lengths.items():
    seconds(2000, solver)  # compiled
    times[solver] = [min(seconds(length, solver)[0] for _ in range(2)) for length in rows]

# %%
# Both give the same network:

X = u[:20_000]
one, other = (seconds(20_000, solver)[1].predict(X) for solver in lengths)
print("largest difference of their outputs:", np.abs(one - other).max())

# %%

figure, ax = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
looks = {
    "qr": ("s--", "C2", "qr: every state, orthogonally"),
    "structured": ("o-", "C0", "structured: sums over time"),
}
for solver, (line, color, label) in looks.items():
    ax.loglog(lengths[solver], [1e3 * t for t in times[solver]], line, color=color, label=label)
ax.set(xlabel="rows", ylabel="ms of fit, 300 units", ylim=(10, 2000))
ax.yaxis.set_major_formatter("{x:g}")
ax.legend(frameon=False, loc="upper right")

# %%
# ``solver="auto"`` takes the first where it is the faster one and falls back where it does not
# reach all digits; ``solver_`` says what it was: :doc:`/guides/what-the-fitted-names-mean`. The
# identity behind it: :doc:`/guides/how-it-works`.
