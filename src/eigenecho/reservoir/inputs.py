"""Input maps: scales of the features, and weights drawn in the eigenbasis directly."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho.basis import interleave
from eigenecho.errors import bad_argument
from eigenecho.types import Array


def per_feature(scaling: Any, D_in: int) -> Array:
    """``input_scaling`` as one number for each feature, (D_in,)."""
    given = scaling
    scaling = np.asarray(given)
    if scaling.dtype.kind not in "fiu":
        raise bad_argument("input_scaling", given, "a number, or one for each feature")
    scaling = scaling.astype(np.float64)
    if scaling.ndim > 1 or (scaling.ndim == 1 and scaling.size != D_in):
        raise bad_argument(
            "input_scaling", scaling, f"a number, or one for each of {D_in} features"
        )
    if not np.all(np.isfinite(scaling)):
        raise bad_argument("input_scaling", scaling, "finite numbers")
    return np.broadcast_to(scaling, (D_in,))


def projected_uniform(
    rng: np.random.Generator, rows: int, layout: tuple[int, int], connectivity: float = 1.0
) -> Array:
    """Rows by the law that uniform rows in [−1, 1] times random unit eigenvectors have.

    Each entry is a long sum, so Gaussian: variance 1/3 for a real mode, and half of that for
    each of Re and Im, all times the share of connections that are kept.
    """
    n, m = layout
    real = rng.normal(0, np.sqrt(connectivity / 3), (rows, n))
    parts = rng.normal(0, np.sqrt(connectivity / 6), (2, rows, m))
    return interleave(real, parts[0] + 1j * parts[1])
