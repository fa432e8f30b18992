"""Multiple superimposed oscillators (section 5.1 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.checks import check_count
from eigenecho.types import Array

MSO_FREQUENCIES = (0.2, 0.331, 0.42, 0.51, 0.63, 0.74, 0.85, 0.97, 1.08, 1.19, 1.27, 1.32)
"""α_1 to α_12, in radians per step. The paper's α_2 is 0.331; some libraries use 0.311."""


@dataclass(frozen=True, eq=False)
class MSOSplit:
    """Next-step prediction task MSO-k with the split of the paper.

        X[t] = U_k(t),  y[t] = U_k(t + 1)

    The slices index rows of X and y. The first `washout` training rows drive the model but are not
    fitted.

    Attributes
    ----------
    X, y : arrays (1000, 1)
    train, valid, test : slices 0:400, 400:700, 700:1000
    washout : 100

    See Also
    --------
    eigenecho.tasks.mso_split : Return the split of a task.

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


def mso(k: int, steps: int = 1000) -> Array:
    """Return the sum of the first k sines.

        U_k(t) = Σ_{i≤k} sin(α_i t),   t = 0, 1, ..., steps − 1

    The signal is not normalised. The paper does not state the first t; here it is 0.

    Parameters
    ----------
    k : number of sines, 1 to 12
    steps : length of the series

    Returns
    -------
    array (steps, 1)

    See Also
    --------
    eigenecho.tasks.mso_split : Prediction task with the rows of the paper.

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
    k : number of sines, 1 to 12

    See Also
    --------
    eigenecho.tasks.mso : The series alone.

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
    # With copies, changing X in place does not change y.
    return MSOSplit(
        X=signal[:-1].copy(),
        y=signal[1:].copy(),
        train=slice(0, 400),
        valid=slice(400, 700),
        test=slice(700, 1000),
        washout=100,
    )
