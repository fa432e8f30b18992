"""Test score against the scale of one column, with and without standardisation."""

import numpy as np

import eigenecho as ee
from eigenecho.plots.style import BLUE, VERMILLION, new_figure

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 2))
y = np.roll(X[:, 0], 3) + np.roll(X[:, 1], 3) + rng.normal(size=3000)


def score(scale, **options):
    """Return R² on the test rows if the second column is in other units."""
    data = X * [1, scale]
    esn = ee.LinearESN(100, sr=0.9, warmup=50, ridge="auto", seed=0, **options)
    return esn.fit(data[:400], y[:400]).score(data[400:], y[400:])


scales = np.logspace(-3, 3, 13)
figure = new_figure(4.8, 2.3)
ax = figure.subplots()
raw = [score(scale) for scale in scales]
standardised = [score(scale, standardize=True) for scale in scales]
ax.semilogx(scales, standardised, "o-", color=BLUE, markersize=4, label="standardize=True")
ax.semilogx(scales, raw, "s--", color=VERMILLION, markersize=4, label="raw data")
ax.set(xlabel="unit of the second column, relative to the first", ylabel="R² on test rows")
ax.legend()
