"""
What does the leaking rate do?
==============================

The leaking rate moves every eigenvalue towards 1: λ' = lr λ + 1 − lr. The disk of eigenvalues
shrinks and moves to the right. Fast oscillations become slower, and slow modes decay more slowly.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%

golden = ee.spectra.golden(100, sr=0.9, seed=0)
rates = {1.0: "C0", 0.5: "C2", 0.1: "C3"}

figure, (plane, times) = plt.subplots(
    1, 2, figsize=(8.5, 3.8), width_ratios=(1, 1.4), layout="constrained"
)
for (lr, color), dashes in zip(rates.items(), ("-", "--", "-."), strict=True):
    leaky = golden.leak(lr)
    ee.plots.spectrum(leaky, ax=plane, color=color, size=9, radius=False, title="")
    steps = np.sort(-1 / np.log(np.abs(leaky.values)))  # until a mode has decayed to 1/e
    times.semilogy(steps, color=color, linestyle=dashes, linewidth=2, label=f"lr = {lr}")
times.set(xlabel="modes, from fast to slow", ylabel="time constant (steps)")
times.yaxis.set_major_formatter("{x:g}")
times.legend(frameon=False)

# %%
# The slowest mode determines how long the initial state has an effect, and therefore how long
# ``warmup`` should be. ``effective_radius_`` is the modulus of this mode after the leak:

series = ee.tasks.mso(3, steps=801)
for lr in rates:
    esn = ee.LinearESN(100, sr=0.9, lr=lr, warmup=200, seed=0).fit(series[:-1], series[1:])
    radius = esn.effective_radius_
    steps = np.log(1e-3) / np.log(radius)
    print(f"lr = {lr}: radius {radius:.3f}, decays to 1/1000 in {steps:.0f} steps")
