"""
Which spectrum has the longest memory?
======================================

The memory capacity at delay *k* measures how well a network recalls its input from *k* steps ago: 1
is perfect recall, and 0 is none. For a linear network with N units, the sum of the capacities over
all delays is at most N. The eigenvalues determine how close a network comes to this limit, and at
which delays.
"""

import matplotlib.pyplot as plt

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# The input is white noise, the targets are its past values, and the score is computed on test rows.

figure, ax = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
styles = {
    "ring": ("C0", "-"),
    "log_ring": ("C1", "--"),
    "golden": ("C2", "-."),
    "uniform": ("C3", ":"),
    "time_constants": ("0.4", (0, (5, 1))),
}
for law, (color, dashes) in styles.items():
    esn = ee.LinearESN(100, spectrum=law, sr=0.97, ridge=1e-10, seed=0)
    memory = ee.tasks.memory_capacity(esn, delays=150, seed=0)
    label = f"{law}: {memory.total:.0f}"
    ax.plot(memory.delays, memory.capacity, color=color, linestyle=dashes, linewidth=2, label=label)
    print(label)

ax.axvline(100, color="0.6", linewidth=0.8)
ax.annotate("N", (100, 0.5), xytext=(4, 0), textcoords="offset points", color="0.4")
ax.set(xlabel="delay k (steps)", ylabel="memory capacity", ylim=(-0.02, 1.05))
ax.legend(frameon=False, loc="upper right")

# %%
# A ring recalls each of the last N inputs with a capacity of 1 − sr²ᴺ, which is optimal, but
# recalls no older inputs. ``golden`` and ``uniform`` have modes well inside the disk, which decay
# quickly. ``log_ring`` has log-uniform time constants, for tasks that need both short and long
# memory. ``time_constants`` is a bank of leaky integrators, whose responses are so similar that
# only a few of them contribute.
