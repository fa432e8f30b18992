"""The score of predictions, where some of the truth may be missing."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import r2_score

from eigenecho.errors import Shown, bad_argument, place
from eigenecho.types import Array


def r2(true: Array, guess: Array, weights: Array | None = None) -> float:
    """R² of (T, D), the mean over columns, each over the rows that are not NaN."""
    there = ~np.isnan(true)
    if there.all():
        return float(r2_score(true, guess, sample_weight=weights))
    scores = []
    for column, rows in enumerate(there.T):
        if not rows.any():
            got = Shown(f"nothing but NaN {place(column=column)} after the warmup")
            raise bad_argument("y", got, "at least one observation in each column")
        own = None if weights is None else weights[rows]
        scores.append(r2_score(true[rows, column], guess[rows, column], sample_weight=own))
    return float(np.mean(scores))
