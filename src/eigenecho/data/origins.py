"""Forecast origins: the last rows that forecasts have seen."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from eigenecho.data.panel import History, Panel
from eigenecho.errors import Words, bad_argument
from eigenecho.types import Array


def origins(panel: Panel, origins: Any, horizon: int) -> list[Array]:
    """Return the last row that each forecast has seen, for each series.

    Parameters
    ----------
    panel : Panel
    origins : int, or row numbers, or times
        An int is a number of origins: the last has ``horizon`` rows after it, and they are
        ``horizon`` apart, or closer if they would reach into the first half. Row numbers count
        from 0; times are those of DataFrames.
    horizon : int
        Steps of a forecast.

    Returns
    -------
    list of int arrays (O,)
        One for each series.
    """
    if _is_int(origins):
        return [_spread(history, int(origins), horizon, panel) for history in panel.histories]
    given = _listed(origins)
    return [_rows(panel, i, given, 0) for i in range(len(panel))]


def together(panel: Panel, origins: Any, horizon: int) -> Array:
    """Return rows (O, n), sorted by time, after which all series are forecast at once.

    A number of origins counts from the end of each series, as far apart as in the longest one.
    The row is −1 if a series has no row at an origin, no observation before it, or fewer than
    ``horizon`` rows after it.
    """
    histories = panel.histories
    lengths = np.array([len(history) for history in histories])
    if _is_int(origins):
        longest = max(histories, key=len)
        from_end = len(longest) - _spread(longest, int(origins), horizon, panel)
        rows = lengths - from_end[:, None]
    else:
        given = list(dict.fromkeys(_listed(origins)))
        if len(panel) == 1:
            rows = _rows(panel, 0, given, horizon)[:, None]
        else:
            rows = np.array([_row_of_each(panel, origin) for origin in given])
        rows = rows[np.argsort(rows.max(axis=1), kind="stable")]
    starts = np.array([history.start for history in histories])
    rows = np.where((rows < starts) | (rows + horizon >= lengths), -1, rows)
    if (empty := (rows < 0).all(axis=1)).any():
        got = Words(f"origin {int(np.argmax(empty)) + 1} of {len(rows)}")
        wanted = f"origins with observations before and {horizon} rows after, in some series"
        raise bad_argument("origins", got, wanted)
    return rows


def _row_of_each(panel: Panel, origin: Any) -> list[int]:
    """Return the row of each series at an origin, −1 without one."""
    if _is_int(origin):
        return [int(origin)] * len(panel)
    rows = [panel.container.row_of(panel, series, origin) for series in range(len(panel))]
    if all(row is None for row in rows):
        raise bad_argument("origins", origin, "row numbers, or times of rows")
    return [-1 if row is None else row for row in rows]


def _spread(history: History, count: int, horizon: int, panel: Panel) -> Array:
    last = len(history) - 1 - horizon
    if not 1 <= count <= last + 1:
        of = _of(panel, history)
        wanted = f"a number from 1 to {max(last + 1, 0)}: each of the {len(history)} rows{of}"
        remedy = "Use fewer origins or a shorter horizon."
        raise bad_argument("origins", count, f"{wanted} needs {horizon} rows after it", remedy)
    apart = max(1, min(horizon, (last - len(history) // 2) // count))
    return last - apart * np.arange(count)[::-1]


def _listed(origins: Any) -> list[Any]:
    if isinstance(origins, str) or not hasattr(origins, "__iter__"):
        origins = [origins]
    given = list(origins)
    if not given:
        raise bad_argument("origins", Words("none"), "at least one origin")
    return given


def _rows(panel: Panel, series: int, given: list[Any], after: int) -> Array:
    """Return the rows of a series at origins that have ``after`` rows after them."""
    history = panel.histories[series]
    end, of, rows = len(history) - after, _of(panel, history), []
    for origin in given:
        row = origin if _is_int(origin) else panel.container.row_of(panel, series, origin)
        if row is None:
            raise bad_argument("origins", origin, f"row numbers, or times of rows{of}")
        if not 0 <= row < end:
            raise bad_argument("origins", origin, f"rows from 0 to {end - 1}{of}")
        rows.append(int(row))
    return np.array(rows)


def _is_int(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _of(panel: Panel, history: History) -> str:
    return f" of series {history.name!r}" if len(panel) > 1 else ""
