"""Test errors of readouts that are fitted to half of the eigenvalues."""

import numpy as np

from eigenecho.paper.spectra import HALVES, SpectralImportance
from eigenecho.plots.style import BLUE, GREEN, GREY, VERMILLION, new_figure

experiment = SpectralImportance()
cells = [experiment.run(("golden", seed)) for seed in range(10)]
errors = [np.exp(np.mean([np.log(cell[name]) for cell in cells])) for name in HALVES]
figure = new_figure(4.8, 1.9)
ax = figure.subplots()
labels = ["largest weights", "smallest weights", "nearest frequencies", "farthest frequencies"]
ax.barh(labels[::-1], errors[::-1], color=[GREY, GREEN, BLUE, VERMILLION], log=True)
for i, error in enumerate(errors[::-1]):
    ax.text(error * 1.15, i, f"{error:.0e}", va="center")
ax.set(xlim=(1e-8, 3e-3), xlabel="test RMSE")
