"""
How accurately can twelve sines be predicted?
=============================================

MSO12 is a sum of twelve sines, which a linear network with twelve pairs of modes can predict
exactly. The error therefore depends only on the ridge penalty and on the numerical accuracy of the
solver. Normal equations lose half of the digits that an orthogonal solver (``solver="qr"``) keeps.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# Predict one step ahead, with the same split as in the paper: 400 training, 300 validation and 300
# test rows. The normal equations are solved by NumPy, from the states of the same network.

task = ee.tasks.mso_split(12)
PAPER = 8.4e-7  # smallest error reported in the paper for MSO12 with 100 units


def normal_equations(esn, ridge):
    X = np.column_stack([np.ones(len(task.X)), esn.transform(task.X)])
    rows = X[task.train][task.washout :]
    targets = task.y[task.train][task.washout :]
    weights = np.linalg.solve(rows.T @ rows + ridge * np.eye(101), rows.T @ targets)
    return X @ weights


ridges = 10.0 ** np.arange(-28, 1, 2)
error = {"normal equations": [], "qr": []}
for ridge in ridges:
    esn = ee.LinearESN(
        100, penalty="identity", ridge=ridge, solver="qr", warmup=task.washout, seed=0
    )
    esn.fit(task.X[task.train], task.y[task.train])
    outputs = {"normal equations": normal_equations(esn, ridge), "qr": esn.predict(task.X)}
    for name, errors in error.items():
        errors.append(ee.metrics.rmse(task.y[task.test], outputs[name][task.test]))

# %%

figure, ax = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
for (name, errors), style in zip(error.items(), ("s--C2", "o-C0"), strict=True):
    ax.loglog(ridges, errors, style, markersize=5, label=name)
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
print({name: f"{min(errors):.1e}" for name, errors in error.items()})

# %%
# Below a ridge of 1e-12, the normal equations are dominated by rounding errors, while the
# orthogonal solver keeps improving. The default ``solver="auto"`` refines solutions of normal
# equations, and uses ``"qr"`` where they have too few digits, as ``solver_`` reports.
