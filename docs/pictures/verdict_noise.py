"""Unevenness of a golden spectrum against its noise."""

import numpy as np

from eigenecho import spectra
from eigenecho.paper.spectra import measure_cover
from eigenecho.plots.style import BLACK, BLUE, GREY, VERMILLION, new_figure


def unevenness(law, **options):
    """Return the mean over ten draws of 300 eigenvalues."""
    draws = [law(300, sr=1.0, seed=seed, **options).values for seed in range(10)]
    return np.mean([measure_cover(values)["unevenness"] for values in draws])


noise = np.array([0.002, 0.005, 0.2 / np.sqrt(300), 0.02, 0.03, 0.05, 0.1, 0.2])
values = [unevenness(spectra.noisy_golden, sigma=s, absolute=True) for s in noise]
figure = new_figure(4.8, 2.4)
ax = figure.subplots()
ax.semilogx(noise, values, "o-", color=BLUE)
ax.axhline(unevenness(spectra.golden), color=GREY, linestyle="--")
ax.text(0.2, unevenness(spectra.golden) - 0.05, "golden without noise", ha="right")
ax.axhline(unevenness(spectra.uniform), color=GREY, linestyle=":")
ax.text(0.002, unevenness(spectra.uniform) + 0.02, "uniform")
ax.plot(noise[2], values[2], "o", color=VERMILLION, markersize=8)
ax.annotate(
    "0.2/√N",
    (noise[2], values[2]),
    xytext=(0, 9),
    textcoords="offset points",
    ha="center",
    color=BLACK,
)
ax.set(xlabel="standard deviation of the noise", ylabel="unevenness", ylim=(0.1, 0.75))
