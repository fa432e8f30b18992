"""
How many of 300 units does a network need?
==========================================

A trained network is a linear filter, and most of its units are redundant. ``reduce`` ranks the
states by how strongly the input excites them and how strongly they affect the output, keeps the
most important ones, and reports how much the outputs change.
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
# Plot the singular values (blue: kept) and the eigenvalues before and after the reduction:

figure = ee.plots.reduction(small)

# %%
# Plot the difference between the outputs on the test rows as a function of the number of modes:

sizes = (5, 10, 15, 20, 30, 40, 60, 80)
reduced = [esn.reduce(units=size, data=(u[:2000], u[1:2001])) for size in sizes]
full = esn.predict(u[:-1])[2000:]
scale = np.std(full)
difference = [ee.metrics.rmse(full, model.predict(u[:-1])[2000:]) / scale for model in reduced]
error = ee.metrics.rmse(u[2001:], full) / scale

figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
ax.semilogy(sizes, difference, "o-", color="C0", label="difference due to reduction")
ax.axhline(error, color="C2", linestyle="--", label="error of the full network")
ax.set(xlabel="modes kept", ylabel="RMS / std of y")
ax.legend(frameon=False)

# %%
# If the difference is well below the error of the full network, the reduction is harmless. See
# :doc:`/reduction` for the error guarantees and the derivation.
