"""Errors of both libraries on the same task, by number of units."""

from reservoirpy.nodes import Reservoir, Ridge

import eigenecho as ee
from eigenecho.plots.style import BLUE, VERMILLION, new_figure

series = ee.tasks.mackey_glass(steps=3000, seed=0)
X, y = series[:-1], series[1:]
units = [20, 50, 100, 200, 300]
errors = {"reservoirpy, activation='identity'": [], "eigenecho": []}
for count in units:
    theirs = Reservoir(count, sr=0.9, lr=0.7, activation="identity", seed=0) >> Ridge(ridge=1e-6)
    theirs.fit(X[:2000], y[:2000], warmup=200)
    ours = ee.LinearESN(count, sr=0.9, lr=0.7, ridge=1e-6, warmup=200, penalize_bias=False, seed=0)
    ours.fit(X[:2000], y[:2000])
    outputs = theirs.run(X[2000:]), ours.predict(X[2000:], initial_state=ours.final_state_)
    for name, values in zip(errors, outputs, strict=True):
        errors[name].append(ee.metrics.nrmse(y[2000:], values))

figure = new_figure(4.8, 2.3)
ax = figure.subplots()
for (name, values), color, marker in zip(errors.items(), (VERMILLION, BLUE), "so", strict=True):
    ax.plot(units, values, color=color, marker=marker, label=name)
ax.set(xlabel="units", ylabel="NRMSE, next step", ylim=(0, None))
ax.legend()
