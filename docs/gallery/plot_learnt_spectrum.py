"""
Which eigenvalues does a task need?
===================================

``spectra.from_data`` trains a large network, reduces it, and returns the remaining eigenvalues. If
a task needs particular modes, a few learned eigenvalues can replace many that are drawn by a *law*
(a rule that generates eigenvalues).
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# A sum of twelve sines needs exactly twelve pairs of modes, at the frequencies of the sines.

task = ee.tasks.mso_split(12)
X, y = task.X[task.train], task.y[task.train]
learned = ee.spectra.from_data(X, y, units=30, sr=0.9, warmup=task.washout)
print(learned)

# %%

figure, (plane, bars) = plt.subplots(
    1, 2, figsize=(8.5, 4), width_ratios=(1, 1.15), layout="constrained"
)
for frequency in ee.tasks.MSO_FREQUENCIES:
    for sign in (1, -1):
        plane.plot(
            [0, 1.1 * np.cos(frequency)],
            [0, sign * 1.1 * np.sin(frequency)],
            color="0.85",
            linewidth=0.8,
            zorder=0,
        )
ee.plots.spectrum(learned, ax=plane, size=26, radius=False, title="")
plane.set_title("learned eigenvalues (lines: the twelve frequencies)", fontsize=10)

errors = {}
for name in ("golden", "uniform", "log_ring", "ring", "learned"):
    esn = ee.LinearESN(30, spectrum=learned if name == "learned" else name, sr=0.9, seed=0)
    esn.set_params(warmup=task.washout, ridge=1e-14).fit(X, y)
    errors[name] = ee.metrics.nrmse(task.y[task.test], esn.predict(task.X)[task.test])
bars.barh(list(errors), errors.values(), color=["0.6"] * 4 + ["C0"], log=True)
bars.set_xlabel("test NRMSE")
bars.set_title("30 units each", fontsize=10)
print({name: f"{value:.1e}" for name, value in errors.items()})

# %%
# ``LinearESN(spectrum="data")`` learns the spectrum in ``fit``. If all laws perform equally well
# with a hundred units, a learned spectrum has no advantage. See :doc:`/reduction` for a comparison.
