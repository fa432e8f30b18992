"""Errors of an online learner when the system changes."""

import numpy as np

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, GREY, new_figure

rng = np.random.default_rng(0)
T = np.arange(2000)
u = rng.normal(size=(2000, 1))
gain = np.where(T < 1000, 1.0, -1.0)[:, None]
target = gain * (u + 0.5 * np.roll(u, 1, axis=0))

figure = new_figure(4.8, 2.4)
ax = figure.subplots()
for forgetting, color in {1.0: GREY, 0.98: BLUE}.items():
    esn = ee.LinearESN(30, ridge=1e-4, seed=0)
    learner = esn.learner(n_inputs=1, n_outputs=1, forgetting=forgetting)
    errors = [abs(learner.step(a, b) - b).item() for a, b in zip(u, target, strict=True)]
    smooth = np.exp(np.convolve(np.log(errors), np.ones(25) / 25, mode="valid"))
    ax.semilogy(T[24:], smooth, color=color, label=f"forgetting={forgetting:g}")
ax.axvline(1000, color=BLACK, linewidth=0.8, linestyle=":")
ax.text(980, 1.5, "the system changes here", ha="right", va="center")
ax.set(xlabel="step", ylabel="absolute error")
ax.legend(loc="upper right", bbox_to_anchor=(1, 0.75))
