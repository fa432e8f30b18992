"""A forecast of a closed loop with its interval."""

import numpy as np

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, new_figure

rng = np.random.default_rng(0)
wave = np.zeros((3000, 1))
for t in range(2, 3000):  # a damped oscillation driven by noise
    wave[t] = 1.6 * wave[t - 1] - 0.81 * wave[t - 2] + rng.normal(0, 0.1)
esn = ee.LinearESN(50, sr=0.7, ridge=1e-3, warmup=50, seed=0).fit(wave[:1999], wave[1:2000])
mean, lower, upper = (part[:, 0] for part in esn.forecast(30, interval=0.9))

figure = new_figure(4.8, 2.3)
ax = figure.subplots()
ahead = np.arange(1, 31)
ax.plot(np.arange(-30, 31), wave[1969:2030], color=BLACK, linewidth=0.9, label="series")
ax.plot(ahead, mean, color=BLUE, linewidth=2, label="forecast")
ax.fill_between(ahead, lower, upper, color=BLUE, alpha=0.25, linewidth=0, label="90% interval")
ax.axvline(0.5, color=BLACK, linewidth=0.6, linestyle=":")
ax.set(xlabel="steps after the end of the training rows")
ax.legend(ncols=3, loc="upper left")
ax.set_ylim(-1.4, 1.7)
