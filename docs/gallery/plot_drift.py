"""
How fast does an online learner adapt to a change?
==================================================

At every step, an online learner predicts the target and then learns from it. The forgetting factor
λ determines how fast it adapts: a row that is k steps old has weight λᵏ.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# Simulate a filter whose gain changes sign at step 1000, with a little noise:

rng = np.random.default_rng(0)
t = np.arange(2500)
u = rng.normal(size=(2500, 1))
gain = np.where(t < 1000, 1.0, -1.0)[:, None]
target = gain * (u + 0.5 * np.roll(u, 1, axis=0)) + rng.normal(0, 0.05, u.shape)

figure, ax = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
esn = ee.LinearESN(30, ridge=1e-4, seed=0)
styles = {1.0: ("0.55", "-", 3), 0.995: ("C0", "-", 1.6), 0.95: ("C2", "--", 1.6)}
for forgetting, (color, dashes, width) in styles.items():
    learner = esn.learner(n_inputs=1, n_outputs=1, forgetting=forgetting)
    error = [abs(learner.step(a, b) - b).item() for a, b in zip(u, target, strict=True)]
    smooth = np.convolve(np.square(error), np.full(50, 1 / 50), mode="valid") ** 0.5
    label = "λ = 1 (no forgetting)" if forgetting == 1 else f"λ = {forgetting}"
    ax.semilogy(t[49:], smooth, color=color, linestyle=dashes, linewidth=width, label=label)

ax.axhline(0.05, color="0.6", linewidth=0.8)
ax.annotate(
    "noise",
    (2500, 0.05),
    xytext=(0, -11),
    textcoords="offset points",
    color="0.4",
    fontsize=9,
    ha="right",
)
ax.axvline(1000, color="0.6", linewidth=0.8)
ax.annotate(
    "gain changes sign",
    (1000, 4.5),
    xytext=(-4, 0),
    textcoords="offset points",
    ha="right",
    va="top",
    color="0.4",
    fontsize=9,
)
ax.set(xlabel="step", ylabel="RMSE of 50 steps", ylim=(0.03, 5))
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(0.08, 0.6))

# %%
# Without forgetting, the learner converges to the average of both systems. With λ = 0.995, which
# corresponds to a memory of about 200 rows, it needs about 800 steps to adapt. With λ = 0.95, it
# needs only about 100 steps but is less accurate: its memory of 20 rows is too short for 30 units,
# so it also fits the noise. See :doc:`/streaming`.
