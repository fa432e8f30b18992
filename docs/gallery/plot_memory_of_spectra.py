"""
Which spectrum has the longest memory?
======================================

The memory capacity at delay *k* measures how well a network recalls its input from *k* steps ago: 1
is perfect recall, and 0 is none. Summed over all delays, it is exactly N, the number of units, for
every spectrum. The eigenvalues determine how the memory is distributed over the delays, and how
much of it can be used in double precision.
"""

import matplotlib.pyplot as plt

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# Lines are exact curves. Points are measured: the input is white noise, the targets are its past
# values, and the score is computed on test rows.

figure, ax = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
colors = {"ring": "C0", "log_ring": "C1", "golden": "C2", "uniform": "C3", "time_constants": "0.4"}
for law, color in colors.items():
    spectrum = ee.spectra.law(law)(100, sr=0.97, seed=0)
    exact = ee.spectra.memory_curve(spectrum, 150)
    esn = ee.LinearESN(spectrum=spectrum, ridge=1e-10, seed=0)
    memory = ee.tasks.memory_capacity(esn, delays=150, seed=0)
    ax.plot(exact, color=color, linewidth=2, label=law)
    ax.plot(memory.delays[::3], memory.capacity[::3], ".", color=color, markersize=5)
    print(f"{law:14s} up to delay 150: exact {exact[1:].sum():.1f}, measured {memory.total:.1f}")

ax.axvline(100, color="0.6", linewidth=0.8)
ax.annotate("N", (100, 0.5), xytext=(4, 0), textcoords="offset points", color="0.4")
ax.set(xlabel="delay k (steps)", ylabel="memory capacity", ylim=(-0.02, 1.05))
ax.legend(frameon=False, loc="upper right")

# %%
# A ring recalls each of the last N inputs with a capacity of 1 − sr²ᴺ, and no older inputs. Its
# states are nearly independent, so the measured capacities equal the exact ones. The other laws
# have neighbouring eigenvalues with nearly equal states. In double precision, a readout cannot use
# their differences, so it cannot recall inputs from long ago: the points lie far below the lines.
# ``time_constants`` is a bank of leaky integrators, whose responses are so similar that only a few
# of them contribute. See :doc:`/guides/memory-capacity`.
