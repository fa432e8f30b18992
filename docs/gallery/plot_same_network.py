"""
Is a diagonal network equivalent to a dense one?
================================================

This example runs a network with a random matrix W, and the same network in the basis of the
eigenvectors of W. The outputs agree up to rounding errors, and a step takes N multiplications
instead of N².
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%

series = ee.tasks.mackey_glass(steps=3000, seed=0)
X, y = series[:-1], series[1:]
networks = {
    basis: ee.LinearESN(
        400,
        spectrum="matrix",
        basis=basis,
        standardize=True,
        warmup=200,
        ridge=1e-6,
        solver="qr",
        seed=0,
    ).fit(X[:2000], y[:2000])
    for basis in ("neuron", "eigen")
}
outputs = {basis: esn.predict(X) for basis, esn in networks.items()}
difference = np.abs(outputs["neuron"] - outputs["eigen"])
print(f"largest difference: {difference.max():.1e}")


def microseconds(esn):
    best = np.inf
    for _ in range(10):
        start = time.perf_counter()
        esn.transform(X)
        best = min(best, time.perf_counter() - start)
    return 1e6 * best / len(X)


taken = {basis: microseconds(esn) for basis, esn in networks.items()}

# %%

figure, (lines, bars) = plt.subplots(
    1, 2, figsize=(8.5, 3.6), width_ratios=(2.2, 1), layout="constrained"
)
time_steps = np.arange(2500, 2700)
lines.plot(time_steps, outputs["neuron"][2500:2700], color="0.7", linewidth=4, label="dense W")
lines.plot(time_steps, outputs["eigen"][2500:2700], color="C0", linewidth=1.2, label="diagonal Λ")
lines.set(xlabel="step", ylabel="output")
lines.set_title(f"largest difference: {difference.max():.0e}", fontsize=10, loc="left")
lines.legend(frameon=False, ncols=2, loc="upper right", bbox_to_anchor=(1, 1.14))
drawn = bars.bar(["dense W", "diagonal Λ"], taken.values(), color=["0.7", "C0"], log=True)
bars.bar_label(drawn, [f"{value:.2g}" for value in taken.values()])
bars.set(ylabel="µs per step, 400 units")
bars.margins(y=0.15)

# %%
# Times were measured on the machine that built this page. See :doc:`/guides/how-it-works` for the
# derivation.
