"""Difference of exported code from the network: double and single precision."""

import numpy as np

import eigenecho as ee
from eigenecho.export import Reference
from eigenecho.model.export import step_program
from eigenecho.plots.style import BLUE, VERMILLION, new_figure

series = ee.tasks.mackey_glass(2000, seed=0)
esn = ee.LinearESN(100, sr=0.95, standardize=True, warmup=100, ridge=1e-6, seed=0)
esn.fit(series[:-1], series[1:])
stream = esn.stream()
exact = np.array([stream.step(row) for row in series])

figure = new_figure(4.8, 2.2)
ax = figure.subplots()
for dtype, color in {"float32": VERMILLION, "float64": BLUE}.items():
    reference = Reference(step_program(esn.model_, dtype, None))
    outputs = np.array([reference.step(row) for row in series])
    difference = np.abs(outputs - exact)[:, 0]
    ax.semilogy(np.maximum(difference, 1e-17), ".", color=color, markersize=1.5, label=dtype)
ax.set(xlabel="step", ylabel="difference from Python")
ax.legend(markerscale=6, loc="center right")
