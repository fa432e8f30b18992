"""The eigenvalues of a first network, and its free run."""

import numpy as np

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, new_figure

series = ee.tasks.mso(5, steps=1001)
train, test = series[:701], series[701:]
esn = ee.LinearESN(units=100, spectrum="golden", sr=0.9, warmup=100, ridge=1e-10, seed=0)
esn.fit(train[:-1], train[1:])
forecast = esn.forecast(300)

figure = new_figure(4.8, 2.2)
left, right = figure.subplots(1, 2, width_ratios=(1, 1.9))
ee.plots.spectrum(esn.spectrum_, ax=left, radius=False, title="eigenvalues", size=8)
steps = np.arange(701, 801)
right.plot(steps, test[:100], color=BLACK, linewidth=4, alpha=0.3, label="truth")
right.plot(steps, forecast[:100], color=BLUE, linewidth=1.2, label="free run")
right.set(xlabel="step", ylim=(-5, 7))
right.legend(ncols=2, loc="upper center")
