"""A reservoirpy network and its conversion: eigenvalues and outputs."""

import numpy as np
from reservoirpy import ESN

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, new_figure

series = ee.tasks.mso(5, steps=1001)
esn = ESN(units=300, sr=0.9, lr=0.7, activation="identity", ridge=1e-6, seed=0)
esn.fit(series[:700], series[1:701], warmup=100)
model, state = ee.from_reservoirpy(esn, return_state=True)
theirs = esn.run(series[700:1000])
ours = model.predict(series[700:1000], initial_state=state)

figure = new_figure(4.8, 2.3)
left, right = figure.subplots(1, 2, width_ratios=(1, 1.6))
ee.plots.spectrum(model.spectrum, ax=left, title="eigenvalues of W", radius=False, size=6)
right.plot(theirs[:60], color=BLACK, linewidth=4, alpha=0.3, label="reservoirpy")
right.plot(ours[:60], color=BLUE, linewidth=1.2, label="converted")
right.set(xlabel="step", title=f"largest difference {np.abs(ours - theirs).max():.0e}")
right.legend(loc="lower right")
