"""Whether a model was trained on its own next step, as free runs need it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from eigenecho.types import Array

ROWS = 4096
"""Rows that are looked at."""

NEAR = 0.8
"""Share of the series' own steps that targets may miss the next row by.

Noise added to the inputs alone stays below 0.71, however large it is; targets two rows ahead, or
none at all, are at 1.
"""


def target_of(inputs: Sequence[Array], outputs: Sequence[Array]) -> str | None:
    """What the targets are of the first D_out input columns: ``next``, ``same`` or ``other`` row.

        y(t) = u(t+1),   y(t) = u(t),   neither

    ``next`` holds up to noise, in the typical row (jumps between segments are few), and in every
    column. None where there is nothing to compare: other columns, or a single row.
    """
    D = outputs[0].shape[1]
    if inputs[0].shape[1] < D:
        return None
    pieces = list(_first_rows(inputs, outputs, D))
    if not pieces:
        return None
    parts = zip(*pieces, strict=True)
    now, ahead, target = (np.concatenate(part).astype(np.float64) for part in parts)
    if np.array_equal(target, ahead):
        return "next"
    if np.array_equal(target, now):
        return "same"
    miss = np.median(np.abs(target - ahead), axis=0)
    step = np.median(np.abs(ahead - now), axis=0)
    spread = np.median(np.abs(target - np.median(target, axis=0)), axis=0)
    rounding = 1e-6 * np.abs(target).max(axis=0)
    near = np.maximum(np.minimum(NEAR * step, 0.5 * spread), rounding)
    return "next" if np.all(miss <= near) else "other"


def merged(old: str | None, new: str | None) -> str | None:
    """What targets are of which some were ``old`` and some are ``new``."""
    if old is None or new is None or old == new:
        return old or new
    return "other"


def check_target(target: str | None) -> None:
    """Raise or warn where a forecast would feed back what is no next step."""
    remedy = "Train it on its own next step: fit(series[:-1], series[1:])."
    first = "forecast feeds every output back as the next input, but this model was trained on"
    if target == "same":
        raise ValueError(f"{first} y = X, the row that it already sees. {remedy}")
    if target == "other":
        warnings.warn(
            f"{first} targets that are not the next row of the first columns of X: the forecast "
            f"is hardly one. {remedy} Columns of X that are known ahead come after the series "
            "itself.",
            UserWarning,
            stacklevel=3,
        )


def _first_rows(
    inputs: Sequence[Array], outputs: Sequence[Array], D: int
) -> Iterator[tuple[Array, Array, Array]]:
    """Rows u(t), u(t+1) and y(t) of each series, as many as there are to look at."""
    left = ROWS
    for u, y in zip(inputs, outputs, strict=True):
        rows = min(left, len(u) - 1)
        if rows > 0:
            yield u[:rows, :D], u[1 : rows + 1, :D], y[:rows]
            left -= rows
