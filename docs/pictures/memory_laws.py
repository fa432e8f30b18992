"""Exact, double-precision and measured memory curves of four laws."""

import numpy as np

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, VERMILLION, new_figure

delays = np.arange(61)
figure = new_figure(4.8, 4.0)
axes = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
for ax, law in zip(axes, ("uniform", "golden", "log_ring", "ring"), strict=True):
    spectrum = ee.spectra.law(law)(30, sr=0.9, seed=0)
    values = spectrum.values
    gram, c = 1 / (1 - np.outer(values, values)), values ** delays[:, None]
    double = np.sum(c * np.linalg.solve(gram, c.T).T, axis=1).real
    esn = ee.LinearESN(spectrum=spectrum, ridge=1e-12, solver="qr", seed=0)
    memory = ee.tasks.memory_capacity(esn, steps=1200, warmup=200, delays=60, seed=0)
    ax.plot(ee.spectra.memory_curve(spectrum, 60), color=BLUE, linewidth=2.5, label="exact")
    ax.plot(double, color=BLACK, linestyle="--", linewidth=1, label="double precision")
    ax.plot(delays[1:], memory.capacity, color=VERMILLION, linewidth=1, label="measured")
    ax.set_title(law)
    ax.set(ylim=(-0.03, 1.08), xlim=(0, 60))
axes[0].set_ylabel("memory capacity")
axes[2].set(ylabel="memory capacity", xlabel="delay (steps)")
axes[3].set_xlabel("delay (steps)")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
