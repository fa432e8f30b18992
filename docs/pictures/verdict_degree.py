"""Share of random matrices without a usable eigenbasis, against the mean degree."""

import numpy as np

from eigenecho import spectra
from eigenecho.plots.style import BLUE, GREEN, VERMILLION, new_figure

degrees = np.arange(1.5, 8.1, 0.5)
figure = new_figure(4.8, 2.3)
ax = figure.subplots()
for units, color in {30: GREEN, 60: BLUE, 120: VERMILLION}.items():
    shares = []
    for degree in degrees:
        draws = (spectra.random_matrix(units, s, connectivity=degree / units) for s in range(20))
        conditions = [np.linalg.cond(np.linalg.eig(W).eigenvectors) for W in draws]
        shares.append(np.mean(np.array(conditions) > 1e10))
    ax.plot(degrees, shares, "o-", color=color, markersize=3.5, label=f"N = {units}")
    ax.axvline(np.log(units), color=color, linestyle=":", linewidth=1)
ax.set(xlabel="mean degree (connections per unit)", ylabel="share not diagonalisable")
ax.legend()
