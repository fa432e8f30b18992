"""Multiple superimposed oscillators (section 5.1 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.checks import check_count
from eigenecho.types import Array, brief_repr

MSO_FREQUENCIES = (0.2, 0.331, 0.42, 0.51, 0.63, 0.74, 0.85, 0.97, 1.08, 1.19, 1.27, 1.32)
"""Frequencies α_1 to α_12 of the paper in radians per step. Some libraries use α_2 = 0.311."""


@dataclass(frozen=True, eq=False, repr=False)
class MSOSplit:
    """Next-step prediction task MSO-k with the split of the paper.

        X[t] = U_k(t),  y[t] = U_k(t + 1)

    Attributes
    ----------
    X, y : array (1000, 1)
        Inputs and targets.
    train, valid, test : slice
        Rows of X and y: 0 to 399, 400 to 699, and 700 to 999.
    washout : int
        Number of initial training rows, 100, that update the state but are excluded from training.

    See Also
    --------
    eigenecho.tasks.mso_split : Create the task.

    Examples
    --------
    >>> import eigenecho as ee
    >>> split = ee.tasks.mso_split(3)
    >>> split.X[split.test].shape
    (300, 1)
    """

    X: Array
    y: Array
    train: slice
    valid: slice
    test: slice
    washout: int

    def __repr__(self) -> str:
        return brief_repr(self)


def mso(k: int, steps: int = 1000) -> Array:
    """Return a sum of k sines, multiple superimposed oscillators (MSO).

        U_k(t) = Σ_{i≤k} sin(α_i t),   t = 0, 1, ..., steps − 1

    The frequencies α_i are ``MSO_FREQUENCIES``. The signal is not normalised.

    Parameters
    ----------
    k : int
        Number of sines, from 1 to 12.
    steps : int
        Length of the series.

    Returns
    -------
    array (steps, 1)

    See Also
    --------
    eigenecho.tasks.mso_split : Prediction task with the split of the paper.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.tasks.mso(5, steps=1000).shape
    (1000, 1)
    """
    k = check_count(k, "k", "a number of sines", 1, len(MSO_FREQUENCIES))
    steps = check_count(steps, "steps", least=1)
    phases = np.outer(MSO_FREQUENCIES[:k], np.arange(steps))
    return np.sin(phases).sum(axis=0)[:, np.newaxis]


def mso_split(k: int) -> MSOSplit:
    """Return the next-step prediction task MSO-k with the split of the paper.

    Parameters
    ----------
    k : int
        Number of sines, from 1 to 12.

    Returns
    -------
    MSOSplit

    See Also
    --------
    eigenecho.tasks.mso : Return the series only.

    Examples
    --------
    >>> import eigenecho as ee
    >>> split = ee.tasks.mso_split(5)
    >>> esn = ee.LinearESN(100, ridge=1e-12, warmup=split.washout, seed=0)
    >>> esn = esn.fit(split.X[split.train], split.y[split.train])
    >>> predicted = esn.predict(split.X)[split.test]
    >>> ee.metrics.rmse(split.y[split.test], predicted) < 1e-6
    True
    """
    signal = mso(k, 1001)
    # X and y are copies, so that changing one of them in place does not change the other.
    return MSOSplit(
        X=signal[:-1].copy(),
        y=signal[1:].copy(),
        train=slice(0, 400),
        valid=slice(400, 700),
        test=slice(700, 1000),
        washout=100,
    )
