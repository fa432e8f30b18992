"""
How much faster is a GPU?
=========================

PyTorch tensors are accepted wherever arrays are, and the results are tensors on the same device.
This page is built without a GPU: it plots results that ``make bench-gpu`` measured on an NVIDIA
H200 and wrote to :doc:`/benchmarks-gpu`.
"""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# On the CPU, tensors and arrays give bit-identical results. With ``.cuda()``, the same code runs on
# a GPU.

X = torch.from_numpy(ee.tasks.mso(5, steps=3001))
esn = ee.LinearESN(200, ridge=1e-6, warmup=100, seed=0).fit(X[:-1], X[1:])
outputs = esn.predict(X)
print(type(outputs).__name__, outputs.device, outputs.dtype)
assert np.array_equal(outputs.numpy(), esn.predict(X.numpy()))

# %%
# Read the times of fits on 100 000 rows that are already on the device.

folders = [Path.cwd(), *Path.cwd().parents]
page = next(
    p
    for f in folders
    for p in (f / "benchmarks-gpu.md", f / "docs/benchmarks-gpu.md")
    if p.exists()
)
fits = {}
for line in page.read_text(encoding="utf-8").splitlines():
    row = re.match(r"\| N = (\d+), (\w+) \| \w+ \| ([\d.]+) \| ([\d.]*) *\|", line)
    if row:
        fits[f"N = {row[1]}\npenalty={row[2]}"] = (float(row[3]), float(row[4] or "nan"))
gpu, cpu = np.array(list(fits.values())).T

figure, ax = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
place = np.arange(len(fits))
bars = [
    ax.bar(place - 0.2, gpu, 0.38, color="C0", label="H200"),
    ax.bar(place + 0.2, cpu, 0.38, color="0.6", label="16 CPU cores"),
]
for drawn, values in zip(bars, (gpu, cpu), strict=True):
    ax.bar_label(drawn, ["" if np.isnan(v) else f"{v:.2g} s" for v in values], fontsize=9)
ax.set_yscale("log")
ax.set_xticks(place, fits)
ax.set(ylabel="time of fit (s), 100 000 rows", ylim=(0.01, 20))
ax.legend(frameon=False, ncols=2, loc="upper left")

# %%
# N = 20 000 was not measured on the CPU. With the default ``penalty="neuron"``, the N×N matrix of
# eigenvectors is drawn on the host, so the speed-up is smaller. See :doc:`/devices` for a list of
# the computations that run on the GPU.
