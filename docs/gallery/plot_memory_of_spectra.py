"""
Which spectrum remembers longest?
=================================

A network of 100 units recalls its input of *k* steps ago, for every *k*: 1 is a perfect recall, 0
none. A linear network of N units recalls at most N inputs in all. Where its eigenvalues lie says
how many of them it does recall, and which.
"""

import matplotlib.pyplot as plt

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# The same task for every law: white noise in, its own past out, scored on rows that nothing was
# fitted on.

figure, ax = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
looks = {
    "ring": ("C0", "-"),
    "log_ring": ("C1", "--"),
    "golden": ("C2", "-."),
    "uniform": ("C3", ":"),
    "time_constants": ("0.4", (0, (5, 1))),
}
for law, (color, dashes) in looks.items():
    esn = ee.LinearESN(100, spectrum=law, sr=0.97, ridge=1e-10, seed=0)
    memory = ee.tasks.memory_capacity(esn, delays=150, seed=0)
    label = f"{law}: {memory.total:.0f} inputs"
    ax.plot(memory.delays, memory.capacity, color=color, linestyle=dashes, linewidth=2, label=label)
    print(label)

ax.axvline(100, color="0.6", linewidth=0.8)
ax.annotate("N", (100, 0.5), xytext=(4, 0), textcoords="offset points", color="0.4")
ax.set(xlabel="delay k, in steps", ylabel="share of u(t − k) recalled", ylim=(-0.02, 1.05))
ax.legend(frameon=False, loc="upper right")

# %%
# Evenly on a ring they recall the last N inputs and nothing else: 1 − sr²ᴺ of each, all that is
# possible. ``golden`` and ``uniform`` have modes deep inside the disk, which forget at once, and
# ``log_ring`` has as many for every octave of time, for tasks that need both near and far. Real
# eigenvalues alone, a bank of leaky integrators, are so much alike that few of them count.
