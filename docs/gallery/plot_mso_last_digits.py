"""
How accurately can twelve sines be predicted?
=============================================

MSO12 is a sum of twelve sines, which a linear network with twelve pairs of modes can predict
exactly. The error therefore depends only on the ridge penalty and on the numerical accuracy of the
solver. The normal equations (``"gram"``) lose half of the digits that an orthogonal solver
(``"qr"``) keeps.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# Predict one step ahead, with the same split as in the paper: 400 training, 300 validation and 300
# test rows. ``"gram"`` warns if the ridge is too small for its accuracy; the warning is ignored
# here.

task = ee.tasks.mso_split(12)
PAPER = 8.4e-7  # smallest error reported in the paper for MSO12 with 100 units

warnings.simplefilter("ignore", ee.errors.IllConditionedWarning)
ridges = 10.0 ** np.arange(-28, 1, 2)
error = {"gram": [], "qr": []}
for solver, errors in error.items():
    for ridge in ridges:
        esn = ee.LinearESN(
            100, spectrum="golden", sr=0.9, ridge=ridge, solver=solver, warmup=task.washout, seed=0
        )
        esn.fit(task.X[task.train], task.y[task.train])
        outputs = esn.predict(task.X)[task.test]
        errors.append(ee.metrics.rmse(task.y[task.test], outputs))

# %%

figure, ax = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
ax.loglog(ridges, error["gram"], "s--", markersize=5, color="C2", label="gram: normal equations")
ax.loglog(ridges, error["qr"], "o-", markersize=5, color="C0", label="qr: orthogonal")
ax.axhline(PAPER, color="0.5", linewidth=1, linestyle=(0, (4, 3)))
ax.annotate(
    "best result of the paper",
    (ridges[-1], PAPER),
    xytext=(0, 4),
    textcoords="offset points",
    ha="right",
    color="0.4",
    fontsize=9,
)
ax.set(xlabel="ridge α", ylabel="test RMSE")
ax.legend(frameon=False)
print(f"qr: {min(error['qr']):.1e}, gram: {min(error['gram']):.1e}")

# %%
# Below a ridge of 1e-8, the normal equations are dominated by rounding errors, while the orthogonal
# solver keeps improving. The default ``solver="auto"`` selects ``"qr"`` for a problem of this size,
# as ``solver_`` reports.
