"""Batches of series, and rows of filters as arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigenecho.forecasting.signals import Batch, fill_gaps, units_of


def batch_of(*series, rows=None, default=0.0, **changes):
    """Return a batch of series (T,) of equal length, with units from their first rows."""
    filled = [fill_gaps(np.asarray(y, float)) for y in series]
    values, observed = (np.stack([getattr(f, name) for f in filled]) for name in FIELDS)
    count = len(values)
    defaults = np.full(count, default)
    unit, offset, is_constant = units_of(values[:, :rows], observed[:, :rows], defaults)
    nothing = np.zeros((*values.shape, 0))
    batch = Batch(
        np.arange(count), values, observed, unit, unit, offset, is_constant, nothing, nothing
    )
    return replace(batch, **changes)


FIELDS = ("values", "observed")


def all_rows(rows):
    """Return all rows (T, N') of the first series."""
    return rows.at(np.arange(rows.head.shape[1]))[0]


def whole(filter, y):
    """Return all rows (T, N') of a series (T,)."""
    return all_rows(filter.run(np.asarray(y)[None]))
