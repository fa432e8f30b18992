"""Sizes of saved networks."""

import tempfile
from pathlib import Path

import eigenecho as ee
from eigenecho.plots.style import BLUE, GREEN, VERMILLION, new_figure

series = ee.tasks.mso(5, steps=3001)
units = [30, 100, 300, 1000]
KINDS = {
    "named law": ({}, {}, (BLUE, "o")),
    'spectrum="matrix"': ({"spectrum": "matrix"}, {}, (VERMILLION, "s")),
    "named law, statistics=True": ({}, {"statistics": True}, (GREEN, "^")),
}
figure = new_figure(4.8, 2.5)
ax = figure.subplots()
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "network.safetensors"
    for name, (options, saving, (color, marker)) in KINDS.items():
        sizes = []
        for count in units:
            esn = ee.LinearESN(count, ridge=1e-6, warmup=100, seed=0, **options)
            esn.fit(series[:-1], series[1:]).save(path, **saving)
            sizes.append(path.stat().st_size / 1000)
        ax.loglog(units, sizes, color=color, marker=marker, label=name)
ax.set(xlabel="units N", ylabel="size of the file (kB)")
ax.set_xticks(units, [str(count) for count in units])
ax.set_xticks([], minor=True)
ax.legend()
