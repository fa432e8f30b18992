"""Series as people hold them, read into a panel."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from eigenecho.data.arrays import read_arrays
from eigenecho.data.frames import read_frames
from eigenecho.data.panel import Panel
from eigenecho.data.sheets import LongNames


def read(
    y: Any,
    X: Any = None,
    *,
    past: Any = (),
    name: str = "y",
    id: Hashable = "unique_id",
    time: Hashable = "ds",
    target: Hashable = "y",
) -> Panel:
    """Series to forecast, whatever holds them.

    Parameters
    ----------
    y : array, list, Series or DataFrame
        (T,) is one series, (T, D) and a wide frame are one a column, a list of (T,) arrays is one
        each, and a long frame has a row for each ``id`` and ``time``. NaN is a missing observation.
        Rows of pandas objects are put in the order of their times, and those that are missing in
        a regular step become NaN.
    X : likewise, optional
        Further columns: (T, k), for all columns of y; a list of them; a frame with the times of y.
        A frame may go on after the end of y: that is what is known ahead. Where y has no row in
        a regular step and X none either, the last row before goes on.
    past : names of columns of X, or numbers for arrays
        Those that are known up to the present only; missing values are the last one before, and a
        column does nothing before its first. All others are known ahead, and complete.
    name : str
        What y is called in errors.
    id, time, target : names of the columns of a long frame
    """
    if hasattr(y, "iloc"):
        return read_frames(y, X, past=past, name=name, names=LongNames(id, time, target))
    return read_arrays(y, X, past=past, name=name)
