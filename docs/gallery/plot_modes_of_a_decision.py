"""
Which time scales does a decision use?
======================================

The weights of a classifier show which time constants and frequencies separate two classes. Here,
the classes differ in a short vibration that is hidden in slow, strong movements, as in the signal
of a machine with a worn bearing. A plot of the weights over the grid of modes reveals the
vibration.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

rng = np.random.default_rng(0)
steps, period = 400, 8


def recordings(n):
    """Return slow random movements (n, steps); worn machines vibrate for a few periods."""
    worn = np.arange(n) % 2 == 1
    slow = rng.normal(size=(n, steps)).cumsum(axis=1) / 4
    t, start = np.arange(steps), rng.integers(50, 300, (n, 1))
    burst = np.exp(-(((t - start) / 15) ** 2)) * np.sin(2 * np.pi * t / period)
    X = slow + worn[:, None] * burst + 0.1 * rng.normal(size=(n, steps))
    return X, np.where(worn, "worn", "intact")


X, labels = recordings(300)
X_test, labels_test = recordings(400)
classifier = ee.ReservoirClassifier(seed=0).fit(X, labels)
print(f"accuracy on new recordings: {classifier.score(X_test, labels_test):.3f}")
print(f"leave-one-out accuracy: {classifier.leave_one_out_accuracy_:.3f}")

# %%
# A recording of each class:

figure, axes = plt.subplots(2, 1, figsize=(7, 3.5), sharex=True)
for axis, i in zip(axes, (0, 1), strict=True):
    axis.plot(X[i], linewidth=0.8)
    axis.set_ylabel(labels[i])
axes[1].set_xlabel("step")
figure.tight_layout()

# %%
# The axes of the weights are those of ``feature_shape_``: input, phase, threshold, direction, time
# constant and frequency. The norm over the first four axes gives one number per mode. The largest
# numbers belong to modes that oscillate with about the period of the vibration.

weights = (classifier.coef_ * classifier.feature_scale_).reshape(classifier.feature_shape_)
importance = np.sqrt((weights**2).sum(axis=(0, 1, 2, 3)))
tau = np.broadcast_to(classifier.time_constants_[:, None], importance.shape)
periods = 1 / classifier.frequencies_

figure, axis = plt.subplots(figsize=(7, 4))
points = axis.scatter(tau, periods, c=importance, s=90, cmap="viridis", edgecolors="0.3")
axis.axhline(period, color="C3", linewidth=1, label="period of the vibration")
axis.set(xscale="log", yscale="log", xlabel="time constant, steps", ylabel="period, steps")
axis.legend()
figure.colorbar(points, label="norm of the weights")
figure.tight_layout()

# %%
# Weights of single directions or inputs are slices of the same array. For example, most of the
# squared weights belong to features of the increments, which suppress slow movements:

print(f"increments: {np.sum(weights[1] ** 2) / np.sum(weights**2):.0%} of the squared weights")
