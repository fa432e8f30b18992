"""Origins: the rows after which forecasts are made."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from eigenecho.data.panel import History, Panel
from eigenecho.errors import Shown, bad_argument
from eigenecho.types import Array


def origins(panel: Panel, origins: Any, horizon: int, *, after: int = 0) -> list[Array]:
    """The last row that each forecast has seen, for each series.

    Parameters
    ----------
    panel : Panel
    origins : int, or row numbers, or times
        A number of them is spread evenly over the end: the last has ``horizon`` rows after it,
        and they are ``horizon`` apart, or closer where they would reach into the first half.
        Row numbers count from 0; times are those of pandas objects.
    horizon : int
        Steps of a forecast.
    after : int
        Rows that there must be after each of the origins that are given.

    Returns
    -------
    list of int arrays (O,)
        One for each series.
    """
    if _is_int(origins):
        return [_spread(history, int(origins), horizon, panel) for history in panel.histories]
    given = _listed(origins)
    return [_rows(panel, i, given, after) for i in range(len(panel))]


def together(panel: Panel, origins: Any, horizon: int) -> Array:
    """Rows (O, n) after which all series are forecast at once, in the order of time.

    A number of origins is counted from the end of each series, as far apart as suits the longest.
    A series that has no row there, nothing observed up to there, or no ``horizon`` rows after it
    is left out of that origin: −1.
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
            rows = np.array([_each(panel, origin) for origin in given])
        rows = rows[np.argsort(rows.max(axis=1), kind="stable")]
    first = np.array([int(np.argmax(~np.isnan(history.values))) for history in histories])
    rows = np.where((rows < first) | (rows + horizon >= lengths), -1, rows)
    if (empty := (rows < 0).all(axis=1)).any():
        raise bad_argument(
            "origins", Shown(f"origin {int(np.argmax(empty)) + 1} of {len(rows)}"),
            f"rows with observations up to there, and {horizon} rows after, of some series",
        )  # fmt: skip
    return rows


def _each(panel: Panel, origin: Any) -> list[int]:
    """The row of each series at an origin, −1 where it has none."""
    if _is_int(origin):
        return [int(origin)] * len(panel)
    found = [panel.container.row_of(panel, series, origin) for series in range(len(panel))]
    if all(row is None for row in found):
        raise bad_argument("origins", origin, "row numbers, or times at which there is a row")
    return [-1 if row is None else row for row in found]


def _spread(history: History, count: int, horizon: int, panel: Panel) -> Array:
    last = len(history) - 1 - horizon
    if count < 1:
        raise bad_argument("origins", count, "a number of origins, 1 or more")
    if last < count - 1:
        raise bad_argument(
            "origins", count, f"at most {max(last + 1, 0)} of the {len(history)} rows"
            f"{_of(panel, history)}: each has {horizon} rows after it",
            "Take fewer origins or a shorter horizon.",
        )  # fmt: skip
    apart = max(1, min(horizon, (last - len(history) // 2) // count))
    return last - apart * np.arange(count)[::-1]


def _listed(origins: Any) -> list[Any]:
    if isinstance(origins, str) or not hasattr(origins, "__iter__"):
        origins = [origins]
    given = list(origins)
    if not given:
        raise bad_argument("origins", Shown("none"), "at least one origin")
    return given


def _rows(panel: Panel, series: int, given: list[Any], after: int) -> Array:
    history = panel.histories[series]
    end = len(history) - after
    rows = [_row(panel, series, origin) for origin in given]
    for row, origin in zip(rows, given, strict=True):
        if not 0 <= row < end:
            raise bad_argument(
                "origins", origin, f"rows from 0 to {end - 1}{_of(panel, history)}",
                f"{after} rows have to follow it." if after else "",
            )  # fmt: skip
    return np.array(rows)


def _row(panel: Panel, series: int, origin: Any) -> int:
    if _is_int(origin):
        return int(origin)
    row = panel.container.row_of(panel, series, origin)
    if row is None:
        of = _of(panel, panel.histories[series])
        raise bad_argument("origins", origin, f"row numbers, or times at which there is a row{of}")
    return row


def _is_int(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _of(panel: Panel, history: History) -> str:
    return f" of series {history.name!r}" if len(panel) > 1 else ""
