"""
How long does one step take?
============================

When rows come one at a time, what counts is the time from a row to its answer. A step of a stream
costs O(N) and checks its row. Timed where this page was built.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# Three networks: two in the eigenbasis, and one of a thousand units with its matrix.

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


found = {
    "100 units": latencies(100, "eigen"),
    "1000 units": latencies(1000, "eigen"),
    "1000 units, with the matrix W": latencies(1000, "neuron"),
}
for name, taken in found.items():
    print(f"{name}: median {np.median(taken):.1f} µs, 99 % below {np.quantile(taken, 0.99):.0f} µs")

# %%

figure, ax = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
looks = (("C1", ":"), ("C0", "-"), ("C2", "--"))
for (name, taken), (color, dashes) in zip(found.items(), looks, strict=True):
    share = np.arange(1, len(taken) + 1) / len(taken)
    ax.semilogx(np.sort(taken), share, color=color, linestyle=dashes, linewidth=2, label=name)
ax.set(xlabel="µs from a row to its answer", ylabel="share of steps", ylim=(0, 1.02))
ax.set_xlim(5, 2000)
figure.legend(frameon=False, ncols=3, loc="outside upper right")

# %%
# In the eigenbasis it is the checks and Python that take the time, hardly the arithmetic. Several
# rows at once are ``stream.run(rows)``, the same bits in a compiled loop:

esn = ee.LinearESN(100, standardize=True, warmup=200, ridge=1e-6, seed=0)
esn.fit(series[:1000], series[1:1001])
one, other = esn.stream(), esn.stream()
assert np.array_equal(one.run(series), [other.step(row) for row in series])

# %%
# :doc:`/streaming` goes on with learning at every step.
