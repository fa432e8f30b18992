"""Singular values of the unweighted states of two spectra."""

import numpy as np

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, VERMILLION, new_figure
from eigenecho.reservoir import Reservoir

u = np.random.default_rng(0).uniform(-1, 1, (2200, 1))
figure = new_figure(4.8, 2.2)
ax = figure.subplots()
laws = {
    "golden, radius 0.9": (ee.spectra.golden(100, sr=0.9, seed=0), VERMILLION),
    "ring, radius 0.95": (ee.spectra.ring(100, sr=0.95), BLUE),
}
for name, (spectrum, color) in laws.items():
    ones = np.concatenate([np.ones(spectrum.real.size), np.tile([1.0, 0.0], spectrum.pairs.size)])
    reservoir = Reservoir(spectrum, ones[None])
    states = reservoir.scan(reservoir.drive(u, None))[0][200:]
    values = np.linalg.svd(states, compute_uv=False)
    ax.semilogy(values / values[0], ".", color=color, markersize=4, label=name)
ax.axhline(2.2e-16, color=BLACK, linestyle="--", linewidth=0.8)
ax.text(38, 1e-15, "rounding error")
ax.set(xlabel="index", ylabel="singular value")
ax.legend(loc="lower left", bbox_to_anchor=(0, 0.22))
