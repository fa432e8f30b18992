"""
Is a closed-loop forecast stable?
=================================

A network driven by its own output is a linear system with its own eigenvalues.
``closed_loop_radius_`` is the largest modulus of these eigenvalues: oscillations persist if it is
1, decay if it is below 1 and grow if it is above 1.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# Compare three settings on the sum of three sines with a little noise. A small ridge penalty
# preserves the sines. With a smaller spectral radius, the memory is too short to separate them.
# With a very large ridge, the weights fit none of the sines, and the output grows.

rng = np.random.default_rng(0)
clean = ee.tasks.mso(3, steps=2001)
noisy = clean + rng.normal(0, 0.05, clean.shape)
settings = [{"sr": 0.95, "ridge": 1e-3}, {"sr": 0.8, "ridge": 1.0}, {"sr": 0.95, "ridge": 1e3}]

warnings.simplefilter("ignore", ee.errors.UnstableWarning)  # raised by the third setting
figure, panels = plt.subplots(3, 1, figsize=(7.5, 4.8), sharex=True, layout="constrained")
steps = np.arange(200)
for ax, setting, color in zip(panels, settings, ("C0", "C3", "C2"), strict=True):
    esn = ee.LinearESN(100, warmup=100, seed=0, **setting).fit(noisy[:1000], noisy[1:1001])
    run = esn.forecast(200, context=noisy[:1200])
    run[np.abs(run) > 5] = np.nan  # outside the axes
    ax.plot(steps, clean[1200:1400], color="0.75", linewidth=3)
    ax.plot(steps, run, color=color, linewidth=1.2)
    ax.set(ylim=(-3.4, 3.4), ylabel="y")
    title = f"sr={setting['sr']}, ridge={setting['ridge']:g}: radius {esn.closed_loop_radius_:.4f}"
    ax.set_title(title, fontsize=10, loc="left")
panels[-1].set_xlabel("steps ahead (grey: the sines without noise)")

# %%
# A network with feedback can generate a signal without any input:

generator = ee.LinearESN(50, feedback=True, sr=0.8, warmup=100, ridge=1e-10, seed=0)
generator.fit(None, clean[:800])
print(np.abs(generator.forecast(200) - clean[800:1000]).max())

# %%
# See :doc:`/closed-loops` for details.
