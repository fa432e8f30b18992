"""Standardised residuals of a stream whose sensor becomes noisier."""

import numpy as np

import eigenecho as ee
from eigenecho.plots.style import BLUE, GREY, VERMILLION, new_figure

rng = np.random.default_rng(0)
noise = 0.02 * rng.normal(size=(3000, 1))
noise[2600:] *= 2  # the fault
series = ee.tasks.mackey_glass(3000, seed=0) + noise
esn = ee.LinearESN(100, sr=0.95, standardize=True, warmup=100, ridge="auto", seed=0)
esn.fit(series[:1999], series[1:2000])
scale = float(np.sqrt(esn.noise_covariance_[0, 0]))
outputs = esn.stream(esn.final_state_).run(series[1999:-1])
residuals = (series[2000:] - outputs)[:, 0] / scale
drift = [1.0]
for residual in residuals:
    drift.append(0.98 * drift[-1] + 0.02 * residual**2)

figure = new_figure(4.8, 2.4)
ax = figure.subplots()
ax.plot(residuals, ".", color=GREY, markersize=2, label="residual / scale")
ax.plot(drift, color=BLUE, linewidth=2, label="running mean square")
ax.axhline(2, color=VERMILLION, linestyle="--", linewidth=1, label="alarm")
ax.set(xlabel="step", ylim=(-6, 11))
ax.legend(ncols=3, loc="upper center")
