"""Series of three classes, and the accuracy by number of training series."""

import numpy as np

import eigenecho as ee
from eigenecho.plots.style import BLUE, GREEN, VERMILLION, new_figure

rng = np.random.default_rng(0)


def bumps(n, T=128):
    """Return noisy bumps of three shapes at random positions: flat, rising and falling."""
    labels, t = rng.choice(["cylinder", "bell", "funnel"], n), np.arange(T)
    start, length = rng.integers(16, 32, (n, 1)), rng.integers(32, 96, (n, 1))
    inside, rise = (t >= start) & (t <= start + length), (t - start) / length
    shapes = {"cylinder": np.ones((n, T)), "bell": rise, "funnel": 1 - rise}
    height = 6 + rng.normal(size=(n, 1))
    X = height * inside * np.select([(labels == k)[:, None] for k in shapes], list(shapes.values()))
    return X + rng.normal(size=(n, T)), labels


X, labels = bumps(120)
X_test, labels_test = bumps(400)
sizes = [6, 10, 20, 40, 80, 120]
scores = [
    ee.ReservoirClassifier(seed=0).fit(X[:n], labels[:n]).score(X_test, labels_test) for n in sizes
]

figure = new_figure(4.8, 2.3)
left, right = figure.subplots(1, 2, width_ratios=(1.5, 1))
for i, (name, color) in enumerate(zip(sorted(set(labels)), (BLUE, GREEN, VERMILLION), strict=True)):
    for series in X[labels == name][:2]:
        left.plot(series - 11 * i, color=color, linewidth=0.8)
left.set(xlabel="step")
left.set_yticks([3, -8, -19], sorted(set(labels)))
right.semilogx(sizes, scores, "o-", color=BLUE)
right.set_xticks(sizes, [str(n) for n in sizes])
right.set_xticks([], minor=True)
right.set(xlabel="training series", ylabel="accuracy", ylim=(None, 1.005))
