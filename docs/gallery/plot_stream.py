"""
How long does one step take?
============================

If rows arrive one at a time, the latency of a step matters. Each step of a stream validates its
input and takes O(N) operations. Times were measured on the machine that built this page.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# Measure the latency of two networks in the eigenbasis and of one network with a dense matrix:

series = ee.tasks.mackey_glass(steps=3000, seed=0)


def latencies(units, basis):
    esn = ee.LinearESN(units, basis=basis, standardize=True, warmup=200, ridge=1e-6, seed=0)
    stream = esn.fit(series[:1500], series[1:1501]).stream()
    taken = []
    for row in series:
        start = time.perf_counter_ns()
        stream.step(row)
        taken.append(time.perf_counter_ns() - start)
    return np.array(taken[100:]) / 1e3


times = {
    "100 units": latencies(100, "eigen"),
    "1000 units": latencies(1000, "eigen"),
    "1000 units, dense W": latencies(1000, "neuron"),
}
for name, taken in times.items():
    print(f"{name}: median {np.median(taken):.1f} µs, 99% below {np.quantile(taken, 0.99):.0f} µs")

# %%

figure, ax = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
styles = (("C1", ":"), ("C0", "-"), ("C2", "--"))
for (name, taken), (color, dashes) in zip(times.items(), styles, strict=True):
    share = np.arange(1, len(taken) + 1) / len(taken)
    ax.semilogx(np.sort(taken), share, color=color, linestyle=dashes, linewidth=2, label=name)
ax.set(xlabel="latency (µs)", ylabel="fraction of steps", ylim=(0, 1.02))
ax.set_xlim(5, 2000)
figure.legend(frameon=False, ncols=3, loc="outside upper right")

# %%
# In the eigenbasis, most of the time of a step is spent on Python overhead and input validation.
# ``stream.run(rows)`` processes several rows in a compiled loop and gives results that are
# bit-identical to those of ``step``:

esn = ee.LinearESN(100, standardize=True, warmup=200, ridge=1e-6, seed=0)
esn.fit(series[:1000], series[1:1001])
first, second = esn.stream(), esn.stream()
assert np.array_equal(first.run(series), [second.step(row) for row in series])

# %%
# See :doc:`/streaming` for details and for online learning.
