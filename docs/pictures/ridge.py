"""Test error against the ridge, and the ridge that "auto" selects."""

import numpy as np

import eigenecho as ee
from eigenecho.plots.style import BLUE, GREY, VERMILLION, new_figure

rng = np.random.default_rng(0)
u = rng.normal(size=(3000, 1))
y = np.roll(u, 5, axis=0) + rng.normal(size=u.shape)


def fit(ridge):
    """Train on the first 500 rows."""
    return ee.LinearESN(200, ridge=ridge, warmup=50, seed=0).fit(u[:500], y[:500])


def errors(esn):
    """Return the training and the test error."""
    parts = slice(50, 500), slice(500, None)
    return [ee.metrics.rmse(y[rows], esn.predict(u)[rows]) for rows in parts]


ridges = np.logspace(-10, 5, 31)
train, test = np.transpose([errors(fit(ridge)) for ridge in ridges])
auto = fit("auto")

figure = new_figure(4.8, 2.5)
ax = figure.subplots()
ax.semilogx(ridges, train, color=GREY, linestyle="--", label="training rows")
ax.semilogx(ridges, test, color=BLUE, linewidth=2, label="test rows")
ax.plot(auto.ridge_, errors(auto)[1], "o", color=VERMILLION, markersize=7, label='ridge="auto"')
ax.set(xlabel="ridge α", ylabel="RMSE", ylim=(0.9, 1.3))
ax.legend(loc="upper left")
