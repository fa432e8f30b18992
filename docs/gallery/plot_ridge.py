"""
How good is an automatically selected ridge?
============================================

The best ridge penalty is known only after the test rows have been observed. ``ridge="auto"``
selects the value that maximises the marginal likelihood of the training targets; it does not use
any test rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# Train networks of 200 units on three tasks: recall of a noisy signal, NARMA10, and noisy sines.

rng = np.random.default_rng(0)
u = rng.normal(size=(4000, 1))
sines = ee.tasks.mso(5, steps=4001) + rng.normal(0, 0.5, (4001, 1))
tasks = {
    "recall, 50% noise": (u, np.roll(u, 5, axis=0) + rng.normal(size=u.shape)),
    "NARMA10": ee.tasks.narma(10, steps=4000, seed=0),
    "five noisy sines": (sines[:-1], sines[1:]),
}
ridges = 10.0 ** np.arange(-10, 7)


def fitted(X, y, ridge):
    esn = ee.LinearESN(200, sr=0.95, ridge=ridge, warmup=100, standardize=True, seed=0)
    return esn.fit(X[:800], y[:800])


def error(esn, X, y):
    return ee.metrics.nrmse(y[800:], esn.predict(X)[800:])


figure, panels = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
for ax, (name, (X, y)) in zip(panels, tasks.items(), strict=True):
    ax.semilogx(ridges, [error(fitted(X, y, ridge), X, y) for ridge in ridges], color="black")
    esn = fitted(X, y, "auto")
    ax.semilogx(esn.ridge_, error(esn, X, y), "o", color="C2", markersize=10, label='ridge="auto"')
    ax.axvline(1e-8, color="0.6", linewidth=0.8, linestyle=(0, (4, 3)))
    ax.set_title(name, fontsize=10)
    ax.set(xlabel="ridge", xticks=10.0 ** np.arange(-10, 7, 4))
panels[0].annotate(
    "default",
    (1e-8, panels[0].get_ylim()[1]),
    xytext=(3, -10),
    fontsize=8,
    textcoords="offset points",
    color="0.4",
)
panels[0].set_ylabel("test NRMSE")
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", frameon=False)

# %%
# The line shows the error for every ridge value. The error of the selected ridge is close to the
# minimum in all three tasks, although the best ridge values differ by orders of magnitude. The
# default of 1e-8 is meant for signals without noise. See :doc:`/ridge` for results on 93 problems.
