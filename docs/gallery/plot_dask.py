"""
What happens where a long series is cut?
========================================

A series that is too long for one machine lies in pieces on several. Run each piece by itself and
the network starts from nothing at every cut. ``eigenecho.dask`` carries what has to be carried: the
fit and the outputs are those of the whole series, however many workers there are.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

import eigenecho as ee
from eigenecho.dask import fit, predict

plt.style.use("seaborn-v0_8-colorblind")

# %%
# Here the series is short and the cluster is threads of this process. On a real one, only the
# address of ``Client`` is other.

rows, piece = 24_000, 4000
rng = np.random.default_rng(0)
u = rng.normal(size=(rows, 1))
y = np.zeros((rows, 1))
for t in range(1, rows):  # a slow filter
    y[t] = 0.99 * y[t - 1] + 0.1 * u[t]
y += rng.normal(0, 0.01, y.shape)
X, Y = da.from_array(u, chunks=(piece, 1)), da.from_array(y, chunks=(piece, 1))


def network():
    return ee.LinearESN(100, spectrum="time_constants", sr=0.995, ridge=1e-2, warmup=500, seed=0)


found = {}
for workers in (1, 3):
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
    ):
        esn = fit(network(), X, Y)
        found[workers] = esn.W_out_, predict(esn, X).compute()

# %%
# The numbers depend on how the series is cut, to rounding, and not on who computes them:

assert all(np.array_equal(a, b) for a, b in zip(found[1], found[3], strict=True))
weights, outputs = found[3]
whole = network().fit(u, y)
print("from a fit of the whole:", np.abs(outputs - whole.predict(u)).max())

# %%

apart = np.concatenate([whole.predict(u[i : i + piece]) for i in range(0, rows, piece)])
figure, (line, errors) = plt.subplots(
    2, 1, figsize=(7.5, 4.6), sharex=True, height_ratios=(1, 1.3), layout="constrained"
)
steps = np.arange(rows)
line.plot(steps, y, color="0.4", linewidth=0.4)
line.set_ylabel("y")
for name, made, color in (("pieces by themselves", apart, "C2"), ("a cluster", outputs, "C0")):
    off = np.sqrt(np.convolve(((made - y) ** 2)[:, 0], np.full(50, 1 / 50), mode="same"))
    errors.semilogy(steps, off, color=color, linewidth=1.4, label=name)
for cut in range(piece, rows, piece):
    for ax in (line, errors):
        ax.axvline(cut, color="0.6", linewidth=0.8, linestyle=(0, (4, 3)))
errors.set(xlabel="step (dashed: cuts)", ylabel="error (rms of 50)", ylim=(5e-3, 3))
errors.legend(frameon=False, ncols=2, loc="upper right")
