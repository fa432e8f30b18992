"""Time per multiplication of a dense step, from the stored results of the reproduction."""

import json
from pathlib import Path

import numpy as np

from eigenecho.plots.style import BLUE, VERMILLION, new_figure

stored = Path(__file__).parents[1] / "paper" / "results.json"
seconds = json.loads(stored.read_text())["experiments"]["timing"]["numbers"]["seconds"]
figure = new_figure(4.8, 2.2)
ax = figure.subplots()
for name, power, color, marker in (("Dense", 2, VERMILLION, "s"), ("Diagonal", 1, BLUE, "o")):
    times = seconds[f"reservoir step: {name}"]
    sizes = np.array([int(size) for size in times])
    per_product = 1e9 * np.array([*times.values()]) / sizes**power
    ax.loglog(sizes, per_product, color=color, marker=marker, label=f"{name.lower()} step")
ax.set_xticks([100, 400, 1000, 4000], ["100\n0.08 MB", "400\n1.3 MB", "1000\n8 MB", "4000\n128 MB"])
ax.set_xticks([], minor=True)
ax.set_yticks([0.1, 0.3, 1], ["0.1", "0.3", "1"])
ax.set_yticks([], minor=True)
ax.set(xlabel="units N, and size of W", ylabel="ns per multiplication")
ax.legend()
