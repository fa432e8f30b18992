"""Peak memory of our classifier for many series."""

from __future__ import annotations

from multiprocessing import get_context
from time import perf_counter

import numpy as np

from common import MIB, memory_in_use, peak_memory, table

METHODS = ("transform", "predict", "fit")


def print_memory(series: int, steps: int) -> None:
    """Print the additional memory and the time of each method, each in a new process."""
    context = get_context("spawn")
    rows = []
    for method in METHODS:
        with context.Pool(1) as pool:
            seconds, extra, features = pool.apply(measure, (method, series, steps))
        rows.append([method, seconds, extra, extra / features])
    print(f"{series} series of {steps} steps: the features take {features:.0f} MiB\n")
    table(["", "seconds", "extra MiB", "extra / features"], rows)


def measure(method: str, series: int, steps: int) -> tuple[float, float, float]:
    """Return the seconds and additional MiB of a method, and the MiB of all features."""
    from eigenecho import ReservoirClassifier, ReservoirFeatures

    X = np.random.default_rng(0).normal(size=(series, steps))
    y = np.arange(series) % 2
    estimator = (ReservoirFeatures if method == "transform" else ReservoirClassifier)(seed=0)
    few = slice(20)
    estimator.fit(X[few], y[few])  # compiles the kernels
    call = getattr(estimator, method)
    features = 4 * series * np.prod(estimator.feature_shape_) / MIB
    before, start = memory_in_use(), perf_counter()
    result = call(X, y) if method == "fit" else call(X)
    seconds, extra = perf_counter() - start, peak_memory() - before
    del result
    return seconds, extra, float(features)
