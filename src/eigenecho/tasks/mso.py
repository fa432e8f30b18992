"""Multiple superimposed oscillators (the paper's section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.checks import check_count
from eigenecho.types import Array

MSO_FREQUENCIES = (0.2, 0.331, 0.42, 0.51, 0.63, 0.74, 0.85, 0.97, 1.08, 1.19, 1.27, 1.32)
"""α_1 to α_12, in radians a step. The paper's α_2 is 0.331; some libraries use 0.311."""


@dataclass(frozen=True, eq=False)
class MSOSplit:
    """Next-step prediction of MSO-k, split as in the paper.

        X[t] = U_k(t),  y[t] = U_k(t + 1)

    The slices index rows of X and y. `washout` counts the first training rows, which are run but
    not fitted.

    Attributes
    ----------
    X, y : arrays (1000, 1)
    train, valid, test : slices 0:400, 400:700, 700:1000
    washout : 100

    See Also
    --------
    eigenecho.tasks.mso_split : makes one

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
    """The sum of the first k sines.

        U_k(t) = Σ_{i≤k} sin(α_i t),   t = 0, 1, ..., steps − 1

    The signal is not normalised. The paper leaves the first t open; here it is 0.

    Parameters
    ----------
    k : number of sines, 1 to 12
    steps : length of the series

    Returns
    -------
    array (steps, 1)

    See Also
    --------
    eigenecho.tasks.mso_split : as a task of prediction, with the paper's rows

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.tasks.mso(5, steps=1000).shape
    (1000, 1)
    """
    k = check_count(k, "k", "a number of sines", 1, len(MSO_FREQUENCIES))
    steps = check_count(steps, "steps", least=1)
    signal = np.zeros(steps)
    t = np.arange(steps, dtype=np.float64)
    for frequency in MSO_FREQUENCIES[:k]:
        signal += np.sin(frequency * t)
    return signal[:, np.newaxis]


def mso_split(k: int) -> MSOSplit:
    """MSO-k as a next-step prediction task, with the paper's training, validation and test rows.

    Parameters
    ----------
    k : number of sines, 1 to 12

    See Also
    --------
    eigenecho.tasks.mso : the series alone

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
    # Copies, as X and y would otherwise share memory: scaling one would move the other.
    return MSOSplit(
        X=signal[:-1].copy(),
        y=signal[1:].copy(),
        train=slice(0, 400),
        valid=slice(400, 700),
        test=slice(700, 1000),
        washout=100,
    )
