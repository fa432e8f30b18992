"""
What is the wearer of this smartwatch doing?
============================================

Classify multivariate recordings: BasicMotions contains 80 recordings of a smartwatch, each with
100 steps and six channels (acceleration and rotation), of people who stand, walk, run or play
badminton. The set is part of the aeon package.
"""

import matplotlib.pyplot as plt
import numpy as np
from aeon.datasets import load_basic_motions

import eigenecho as ee

X, labels = load_basic_motions(split="train")  # aeon's layout: (series, channels, steps)
X_test, labels_test = load_basic_motions(split="test")
print(X.shape, np.unique(labels))

# %%
# The first recording of each activity, with one line per channel:

figure, axes = plt.subplots(2, 2, figsize=(7, 4), sharex=True)
for axis, label in zip(axes.flat, np.unique(labels), strict=True):
    axis.plot(X[labels == label][0].T, linewidth=0.8)
    axis.set_title(label, fontsize=10)
for axis in axes[1]:
    axis.set_xlabel("step")
figure.tight_layout()

# %%
# The input of each mode is the sum of a few random channels. Arrays in aeon's layout need
# ``layout="channels_first"``.

classifier = ee.ReservoirClassifier(layout="channels_first", seed=0).fit(X, labels)
print(f"accuracy: {classifier.score(X_test, labels_test):.3f}")

# %%
# How many steps of a recording are needed? The fitted classifier accepts series of any length, so
# it can classify the beginnings of the test recordings.

for steps in (10, 20, 40, 100):
    print(f"first {steps} steps: {classifier.score(X_test[:, :, :steps], labels_test):.3f}")

# %%
# The probabilities show which decisions are uncertain. They are calibrated by leave-one-out
# decisions for the training recordings.

P = classifier.predict_proba(X_test)
order = np.argsort(P.max(axis=1))
print("least certain:", labels_test[order[:3]], P.max(axis=1)[order[:3]].round(2))

# %%
# ``ReservoirFeatures`` computes the features alone, here for a principal component analysis:

features = ee.ReservoirFeatures(layout="channels_first", seed=0).fit(X).transform(X_test)
centred = features - features.mean(axis=0)
plane = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T

figure, axis = plt.subplots(figsize=(6, 4))
for label in np.unique(labels):
    axis.scatter(*plane[labels_test == label].T, label=label)
axis.set(xlabel="first principal component", ylabel="second principal component")
axis.legend()
figure.tight_layout()
