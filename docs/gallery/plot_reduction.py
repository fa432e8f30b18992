"""
How many of 300 units does a network need?
==========================================

A trained network is a linear filter, and most of its units cancel each other. ``reduce`` sorts its
states by what the input reaches and what the output tells, keeps the first of them, and certifies
how near the rest comes.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%

u = ee.tasks.mackey_glass(steps=3000, seed=0)
esn = ee.LinearESN(300, sr=0.95, standardize=True, warmup=200, seed=0).fit(u[:2000], u[1:2001])
small = esn.reduce(tol=1e-4, data=(u[:2000], u[1:2001]))
print(small.certificate_)

# %%
# Singular values, those that are kept in blue; eigenvalues before and after:

figure = ee.plots.reduction(small)

# %%
# What more or fewer modes do, on rows that nobody has seen:

sizes = (5, 10, 15, 20, 30, 40, 60, 80)
reduced = [esn.reduce(units=size, data=(u[:2000], u[1:2001])) for size in sizes]
full = esn.predict(u[:-1])[2000:]
scale = np.std(full)
lost = [ee.metrics.rmse(full, one.predict(u[:-1])[2000:]) / scale for one in reduced]
off = ee.metrics.rmse(u[2001:], full) / scale

figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
ax.semilogy(sizes, lost, "o-", color="C0", label="lost by making it smaller")
ax.axhline(off, color="C2", linestyle="--", label="error of all 300 units")
ax.set(xlabel="modes kept", ylabel="rms / deviation of y")
ax.legend(frameon=False)

# %%
# Where the blue line is below the other one, nothing that counts is lost. :doc:`/reduction` has
# what is promised, and the mathematics.
