"""Readouts with equal weights, with Huber weights and for a quantile, on targets with outliers."""

import numpy as np

import eigenecho as ee
from eigenecho.plots.style import BLUE, GREY, VERMILLION, new_figure

rng = np.random.default_rng(0)
u = np.sin(0.2 * np.arange(2000.0))[:, None] + 0.3 * rng.normal(size=(2000, 1))
y = np.roll(u, 3, axis=0) + 0.1 * rng.normal(size=u.shape)
y[rng.random(2000) < 0.1] += 8
esn = ee.LinearESN(50, ridge=1e-2, warmup=20, seed=0)


def fit(reweight):
    """Return the outputs of a readout whose weights are a function of the errors."""
    weights = np.ones(len(y))
    for _ in range(30):
        outputs = esn.fit(u, y, sample_weight=weights).predict(u)
        weights = reweight((y - outputs)[:, 0])
    return outputs[100:160, 0]


figure = new_figure(5.4, 2.5)
ax = figure.subplots()
rows = np.arange(100, 160)
ax.plot(rows, y[100:160, 0], ".", color=GREY, label="targets")
ax.plot(rows, fit(np.ones_like), "--", color=VERMILLION, label="equal weights")
ax.plot(rows, fit(lambda e: 1 / np.maximum(1, np.abs(e) / 0.3)), color=BLUE, label="Huber")
ax.set(xlabel="row", ylabel="target", ylim=(-2.5, 4))
ax.legend(loc="upper right", ncols=3)
