"""A ring of 30 units near and at radius 1."""

import warnings

import eigenecho as ee
from eigenecho.plots.style import BLUE, GREEN, ORANGE, VERMILLION, new_figure

figure = new_figure(4.8, 2.4)
left, right = figure.subplots(1, 2, width_ratios=(1.5, 1))
colors = {0.9: BLUE, 0.97: GREEN, 0.99: ORANGE, 0.999: VERMILLION}
for radius, color in colors.items():
    curve = ee.spectra.memory_curve(ee.spectra.ring(30, sr=radius), 90)
    left.plot(curve, color=color, drawstyle="steps-post", label=f"radius {radius:g}")
left.set(xlabel="delay (steps)", ylabel="memory capacity", ylim=(-0.02, 1.08))
left.legend(loc="upper right")
rows, totals = [300, 1000, 3000, 10_000], []
for count in rows:
    esn = ee.LinearESN(spectrum=ee.spectra.ring(30, sr=1.0), ridge=1e-12, solver="qr", seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ee.errors.UnstableWarning)
        memory = ee.tasks.memory_capacity(esn, steps=count + 100, warmup=100, delays=60, seed=0)
    totals.append(memory.total)
right.loglog(rows, totals, "o-", color=VERMILLION)
right.set_xticks(rows, ["300", "1000", "3000", "10 000"])
right.set_xticks([], minor=True)
right.set_yticks([0.1, 1, 10, 30], ["0.1", "1", "10", "30"])
right.set(xlabel="rows", ylabel="measured total", title="radius 1")
right.axhline(30, color="#8A8A8A", linestyle=":")
right.text(rows[0], 22, "N")
