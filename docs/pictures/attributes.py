"""The spectrum of a fitted network before and after the leak."""

import eigenecho as ee
from eigenecho.plots.style import BLUE, VERMILLION, new_figure

series = ee.tasks.mso(5, steps=1001)
esn = ee.LinearESN(60, sr=0.95, lr=0.5, warmup=100, seed=0).fit(series[:-1], series[1:])
figure = new_figure(4.8, 2.7, "compressed")
left, right = figure.subplots(1, 2)
ee.plots.spectrum(esn.spectrum_, ax=left, color=BLUE, title="spectrum_", radius=False)
ee.plots.spectrum(esn.model_.spectrum, ax=right, color=VERMILLION, title="after the leak")
