"""Selection of forecast origins, the last rows that a forecast may use."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from eigenecho.data.align import History, as_labels
from eigenecho.data.panel import Panel
from eigenecho.data.read import in_series
from eigenecho.errors import Words, bad_argument, counted
from eigenecho.types import Array


def origins(panel: Panel, origins: Any, horizon: int) -> list[Array]:
    """Return the row numbers of the forecast origins in each series.

    Parameters
    ----------
    panel : Panel
    origins : int, row numbers or times
        An int is the number of origins. These origins are ``horizon`` rows apart, or closer if the
        first origin would otherwise be in the first half of the series, and ``horizon`` rows follow
        the last origin. Row numbers start at 0. Times require a DataFrame.
    horizon : int
        Number of steps to forecast.

    Returns
    -------
    list of int arrays (O,)
        The rows of each series.
    """
    if _is_int(origins):
        return [_spread(history, int(origins), horizon) for history in panel.histories]
    items, rows = _listed(origins), []
    for history in panel.histories:
        rows.append(_rows_of(history, items))
        wrong = (rows[-1] < 0) | (rows[-1] >= len(history))
        if wrong.any():
            of = in_series(history.name)
            expected = f"row numbers from 0 to {len(history) - 1}, or times of existing rows{of}"
            raise bad_argument("origins", items[wrong.argmax()], expected)
    return rows


def together(panel: Panel, origins: Any, horizon: int) -> Array:
    """Return the rows (O, n) of origins at which all n series are forecast, sorted by time.

    If ``origins`` is an int, origins are counted from the end of each series and spaced as in the
    longest series. A row is −1 if the series has no row at this origin, no earlier observation,
    or fewer than ``horizon`` later rows.
    """
    histories = panel.histories
    starts = np.array([history.start for history in histories])
    lengths = np.array([len(history) for history in histories])
    if _is_int(origins):
        longest = max(histories, key=len)
        from_end = len(longest) - _spread(longest, int(origins), horizon)
        items: list[Any] = [Words(f"origin {i + 1}") for i in range(len(from_end))]
        rows = lengths - from_end[:, None]
    else:
        items = list(dict.fromkeys(_listed(origins)))
        rows = np.stack([_rows_of(history, items) for history in histories], axis=1)
    is_valid = (starts <= rows) & (rows < lengths - horizon)
    for item, any_valid in zip(items, is_valid.any(axis=1), strict=True):
        if not any_valid:
            expected = f"row numbers from 0 to {lengths.max() - horizon - 1}, or times, of rows"
            where = f"with an earlier observation and {counted(horizon, 'later row')}"
            raise bad_argument("origins", item, f"{expected} {where}")
    order = np.argsort(rows.max(axis=1), kind="stable")
    return np.where(is_valid, rows, -1)[order]


def _rows_of(history: History, origins: list[Any]) -> Array:
    """Return the row number of each origin in a series, or −1 if there is no such row."""
    rows = [origin if _is_int(origin) else history.row_of(origin) for origin in origins]
    return np.array([-1 if row is None else int(row) for row in rows])


def _spread(history: History, count: int, horizon: int) -> Array:
    last = len(history) - 1 - horizon
    if not 1 <= count <= last + 1:
        wanted = f"a number from 1 to {last + 1}" if last >= 0 else f"at least {horizon + 1} rows"
        why = f"because {counted(horizon, 'row')} must follow each origin"
        rows = f"{counted(len(history), 'row')}{in_series(history.name)}"
        remedy = "Use fewer origins or a shorter horizon."
        raise bad_argument("origins", count, f"{wanted}, {why}, but there are only {rows}", remedy)
    apart = max(1, min(horizon, (last - len(history) // 2) // count))
    return last - apart * np.arange(count)[::-1]


def _listed(origins: Any) -> list[Any]:
    items = as_labels(origins)
    if not items:
        raise bad_argument("origins", origins, "at least one origin")

    return items


def _is_int(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
