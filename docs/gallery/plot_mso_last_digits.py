"""
How exactly can twelve sines be predicted?
==========================================

MSO12 is the sum of twelve sines: with twelve pairs of modes a linear network can know it exactly.
How near it comes is then a matter of arithmetic: of the ridge, and of the solver, since normal
equations (``"gram"``) see half of the digits that an orthogonal one (``"qr"``) does.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# The rows of the paper: 400 train, 300 validate, 300 test; one step ahead. ``"gram"`` warns where
# it cannot tell a ridge from none, which is what we want to see.

task = ee.tasks.mso_split(12)
PAPER = 8.4e-7  # the least error that it reports for MSO12 with 100 units

warnings.simplefilter("ignore", ee.errors.IllConditionedWarning)
ridges = 10.0 ** np.arange(-28, 1, 2)
error = {"gram": [], "qr": []}
for solver, found in error.items():
    for ridge in ridges:
        esn = ee.LinearESN(
            100, spectrum="golden", sr=0.9, ridge=ridge, solver=solver, warmup=task.washout, seed=0
        )
        esn.fit(task.X[task.train], task.y[task.train])
        outputs = esn.predict(task.X)[task.test]
        found.append(ee.metrics.rmse(task.y[task.test], outputs))

# %%

figure, ax = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
ax.loglog(ridges, error["gram"], "s--", markersize=5, color="C2", label="gram: normal equations")
ax.loglog(ridges, error["qr"], "o-", markersize=5, color="C0", label="qr: orthogonal")
ax.axhline(PAPER, color="0.5", linewidth=1, linestyle=(0, (4, 3)))
ax.annotate(
    "best of the paper",
    (ridges[-1], PAPER),
    xytext=(0, 4),
    textcoords="offset points",
    ha="right",
    color="0.4",
    fontsize=9,
)
ax.set(xlabel="ridge α", ylabel="error on the test rows (rms)")
ax.legend(frameon=False)
print(f"qr: {min(error['qr']):.1e}, gram: {min(error['gram']):.1e}")

# %%
# Below a ridge of 1e-8 normal equations only move rounding about; the orthogonal solver goes on to
# the last digits that the states hold. ``solver="auto"``, the default, takes ``"qr"`` for a
# problem of this size: ``solver_`` says so.
