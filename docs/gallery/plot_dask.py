"""
Does splitting a long series change the result?
===============================================

A series that is too long for one machine is split into chunks on several workers. If each chunk
were processed independently, the network would restart from a zero state at every boundary.
``eigenecho.dask`` passes the state from chunk to chunk, so the fit and the outputs are the same as
for the whole series on one machine, for any number of workers.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

import eigenecho as ee
from eigenecho.dask import fit, predict

plt.style.use("seaborn-v0_8-colorblind")

# %%
# This example uses a short series and a local cluster of threads. On a real cluster, only the
# address passed to ``Client`` changes.

rows, chunk = 24_000, 4000
rng = np.random.default_rng(0)
u = rng.normal(size=(rows, 1))
y = np.zeros((rows, 1))
for t in range(1, rows):  # a slow filter
    y[t] = 0.99 * y[t - 1] + 0.1 * u[t]
y += rng.normal(0, 0.01, y.shape)
X, Y = da.from_array(u, chunks=(chunk, 1)), da.from_array(y, chunks=(chunk, 1))


def network():
    return ee.LinearESN(100, spectrum="time_constants", sr=0.995, ridge=1e-2, warmup=500, seed=0)


results = {}
for workers in (1, 3):
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
    ):
        esn = fit(network(), X, Y)
        results[workers] = esn.W_out_, predict(esn, X).compute()

# %%
# The number of workers does not change the results. The chunk size changes them only by rounding
# errors:

assert all(np.array_equal(a, b) for a, b in zip(results[1], results[3], strict=True))
weights, outputs = results[3]
whole = network().fit(u, y)
print("difference from a fit of the whole series:", np.abs(outputs - whole.predict(u)).max())

# %%

separate = np.concatenate([whole.predict(u[i : i + chunk]) for i in range(0, rows, chunk)])
figure, (line, errors) = plt.subplots(
    2, 1, figsize=(7.5, 4.6), sharex=True, height_ratios=(1, 1.3), layout="constrained"
)
steps = np.arange(rows)
line.plot(steps, y, color="0.4", linewidth=0.4)
line.set_ylabel("y")
for name, predicted, color in (("independent chunks", separate, "C2"), ("cluster", outputs, "C0")):
    off = np.sqrt(np.convolve(((predicted - y) ** 2)[:, 0], np.full(50, 1 / 50), mode="same"))
    errors.semilogy(steps, off, color=color, linewidth=1.4, label=name)
for boundary in range(chunk, rows, chunk):
    for ax in (line, errors):
        ax.axvline(boundary, color="0.6", linewidth=0.8, linestyle=(0, (4, 3)))
errors.set(xlabel="step (dashed: chunk boundaries)", ylabel="RMSE of 50 steps", ylim=(5e-3, 3))
errors.legend(frameon=False, ncols=2, loc="upper right")
