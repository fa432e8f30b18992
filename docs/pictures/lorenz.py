"""A closed loop that follows the Lorenz system, and a linear one that does not."""

import numpy as np

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, GREY, new_figure

series = ee.tasks.lorenz(3500, seed=1)
options = {"standardize": True, "warmup": 20, "seed": 0, "spectrum": ee.delay_line(2)}
linear = ee.LinearESN(ridge=1e-8, **options).fit(series[:2000], series[1:2001])
cosines = ee.LinearESN(features=ee.features.cosines(300), ridge="loop", **options)
cosines.fit(series[:2000], series[1:2001])
time = 0.02 * 0.906 * np.arange(1, 1201)

figure = new_figure(4.8, 2.3)
ax = figure.subplots()
ax.plot(time, series[2001:3201, 0], color=BLACK, linewidth=3, alpha=0.35, label="Lorenz, x")
ax.plot(time, linear.forecast(1200)[:, 0], color=GREY, linestyle="--", label="linear")
ax.plot(time, cosines.forecast(1200)[:, 0], color=BLUE, linewidth=1.1, label="300 cosines")
ax.set(xlabel="Lyapunov times after the training rows", ylim=(-21, 29))
ax.legend(ncols=3, loc="upper center")
