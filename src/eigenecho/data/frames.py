"""Series held by pandas: a Series, a wide frame, or a long one with ids and times."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenecho.checks import check_pandas
from eigenecho.data import steps
from eigenecho.data.answers import (
    as_index,
    long_answer,
    rolling_answer,
    series_answer,
    wide_answer,
)
from eigenecho.data.clock import Clock, rows_of
from eigenecho.data.columns import Columns, check_labels, choose, unwanted
from eigenecho.data.panel import Panel
from eigenecho.data.readings import Drivers, Reading, read_sheets, rows_ahead
from eigenecho.data.sheets import (
    KINDS,
    LongNames,
    as_drivers,
    driver_sheets,
    kind_of,
    sheets,
)
from eigenecho.data.times import check_alike, find_step, shown
from eigenecho.errors import Shown, bad_argument
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class FrameHolder:
    """How pandas held series, their times, and what is known of X after their end.

    Attributes
    ----------
    kind : {"series", "wide", "long"}
    labels : pandas Index (n,)
        The series: columns of a wide frame, ids of a long one, the name of a Series.
    clocks : tuple of Clock (n,)
        Of a Series or wide frame, one for all.
    ahead : tuple of arrays (n,), each (m_i, k)
        Rows of columns that are known ahead, after the last row of each series.
    columns : Columns
    names : LongNames
    index_name : Hashable
        The name of the index of a Series or wide frame.
    is_range : bool
        Whether that is a RangeIndex.
    """

    kind: str
    labels: Any
    clocks: tuple[Clock, ...]
    ahead: tuple[Array, ...]
    columns: Columns
    names: LongNames
    index_name: Hashable = None
    is_range: bool = False

    @property
    def shared(self) -> bool:
        """Whether all series have the same rows."""
        return self.kind != "long"

    def read_context(
        self, y: Any, X: Any = None, *, name: str = "context", X_name: str = "context_X"
    ) -> Panel:
        """Other series, or other rows, held alike and with the same columns of X.

        The step is that of the fit, so that one row will do.
        """
        labels, reading = self._reading(y, X, name, X_name)
        return _panel(replace(self, labels=labels, **_look(y, self.kind)), reading)

    def follow(self, panel: Panel, y_new: Any, X_new: Any = None) -> Panel:
        """The panel with rows that follow directly.

        A wide frame has all columns; a long one may leave out series that have no new rows.
        Without ``X_new``, what is known ahead of X is taken, if that is all that X has.
        """
        use_ahead = X_new is None and bool(self.columns.known) and not self.columns.past
        labels, new = self._reading(
            y_new, X_new, "y_new", "X_new", whole=False, use_ahead=use_ahead
        )
        at = self._numbers(labels)
        histories, clocks = list(panel.histories), list(self.clocks)
        ahead = list(self.ahead)
        for i, history, clock, after in zip(at, new.histories, new.clocks, new.ahead, strict=True):
            _check_follows(clocks[i], clock, None if self.shared else history.name)
            left = self.ahead[i][len(history) :]
            if use_ahead:
                history = replace(history, known=_first(self.ahead[i], len(history)))
            histories[i] = panel.histories[i].then(history)
            ahead[i] = after if len(after) else left
            clocks[i] = clocks[i].then(clock.times)
        return _panel(self, Reading(tuple(histories), tuple(clocks), tuple(ahead)))

    def future(self, panel: Panel, X: Any, horizon: int) -> list[Array]:
        """Columns that are known ahead, (horizon, k) after the end of each series.

        Without ``X``, what it said beyond the end of the series.
        """
        if not self.columns.known:
            if X is not None:
                raise unwanted("X", self.columns)
            return [np.empty((horizon, 0))] * len(panel)
        if X is None:
            return [self._known(i, horizon) for i in range(len(panel))]
        X, labels = as_drivers(X, self.names, self.kind, "X")
        check_labels(labels, self.columns.known, self.columns.labels, "X")
        known = Columns(self.columns.known)
        rows = driver_sheets(X, known.labels, self.names, self.kind, "X")
        drivers = Drivers(rows, known, "X")
        if self.shared:
            return [rows_ahead(drivers, None, self.clocks[0], horizon)] * len(panel)
        return [
            rows_ahead(drivers, label, clock, horizon)
            for label, clock in zip(self.labels, self.clocks, strict=True)
        ]

    def forecast(
        self,
        panel: Panel,
        horizon: int,
        mean: Sequence[Array] | None,
        lower: Sequence[Array] | None = None,
        upper: Sequence[Array] | None = None,
        quantiles: Sequence[Array] | None = None,
        levels: Sequence[float] | None = None,
    ) -> Any:
        """A Series, a wide frame or a long one, at the times that follow.

        Several answers (forecast, lower, upper, q0.1, …) are columns; of a wide frame, below
        those of the series.
        """
        answers = {"forecast": mean, "lower": lower, "upper": upper}
        for j, level in enumerate(levels or ()):
            answers[f"q{level!r}"] = [part[:, j] for part in quantiles or ()]
        given = {name: parts for name, parts in answers.items() if parts is not None}
        if self.kind == "long":
            after = {clock: clock.ahead(horizon) for clock in dict.fromkeys(self.clocks)}
            times = [after[clock] for clock in self.clocks]
            return long_answer(given, times, self.labels, self.names)
        clock = self.clocks[0]
        step = int(clock.step) if self.is_range else None
        index = as_index(clock.ahead(horizon), step, self.index_name)
        if self.kind == "series":
            return series_answer(given, index, self.labels[0])
        return wide_answer(given, index, self.labels)

    def rolling(self, panel: Panel, origins: Sequence[Array], values: Sequence[Array]) -> Any:
        """A long frame of id, cutoff, time and forecast, for any of them."""
        cutoffs, times = [], []
        for clock, history, rows, part in zip(
            self.clocks, panel.histories, origins, values, strict=True
        ):
            horizon = part.shape[1]
            longer = clock.then(clock.ahead(horizon)).times
            at = np.asarray(rows) + len(clock.times) - len(history)
            cutoffs.append(longer[at])
            times.append(longer[(at[:, None] + np.arange(1, horizon + 1)).ravel()])
        return rolling_answer(cutoffs, times, values, _called(self.labels), self.names)

    def row_of(self, panel: Panel, series: int, origin: Any) -> int | None:
        """The row at a time, given as anything that pandas reads as one, or None."""
        clock = self.clocks[series]
        time = _as_time(origin, clock.times)
        if time is None:
            return None
        row = int(rows_of(clock, time)[0])
        return None if row < 0 else row + len(panel.histories[series]) - len(clock.times)

    def times(self, panel: Panel, series: int) -> Any:
        """The times of all rows of a series."""
        return self.clocks[series].last(len(panel.histories[series]))

    def times_ahead(self, panel: Panel, series: int, horizon: int) -> Any:
        """The times that follow the last row of a series."""
        return self.clocks[series].ahead(horizon)

    @property
    def step(self) -> str:
        """The step of the first series, in words; that of all of them but for its first month."""
        return "1 row" if self.is_range else self.clocks[0].words

    def _reading(
        self, y: Any, X: Any, name: str, X_name: str, *, whole: bool = True, use_ahead: bool = False
    ) -> tuple[Any, Reading]:
        """Labels and rows of series that are held alike."""
        check_pandas(y, name)
        if not hasattr(y, "iloc"):
            raise bad_argument(name, Shown(type(y).__name__), f"{KINDS[self.kind]}, as in fit")
        kind = kind_of(y, self.names, name)
        if kind != self.kind:
            raise bad_argument(name, Shown(KINDS[kind]), f"{KINDS[self.kind]}, as in fit")
        labels, parts = sheets(y, kind, self.names, name)
        for sheet in parts:
            check_alike(sheet.times, self.clocks[0].times, name)
        drivers = None if use_ahead else self._drivers(X, X_name)
        own = {label: clock.step for label, clock in zip(self.labels, self.clocks, strict=True)}
        step = self.clocks[0].step
        return labels, read_sheets(parts, step, drivers, name, own_steps=own, whole=whole)

    def _drivers(self, X: Any, name: str) -> Drivers | None:
        if not self.columns.labels:
            if X is not None:
                raise unwanted(name, self.columns)
            return None
        if X is None:
            names = ", ".join(map(repr, self.columns.labels))
            raise bad_argument(name, None, f"the columns of X that fit had: {names}")
        X, labels = as_drivers(X, self.names, self.kind, name)
        check_labels(labels, self.columns.labels, self.columns.labels, name)
        rows = driver_sheets(X, self.columns.labels, self.names, self.kind, name)
        return Drivers(rows, self.columns, name)

    def _numbers(self, labels: Any) -> list[int]:
        """The numbers of series among those there are."""
        if self.kind == "series":
            return [0]
        at = self.labels.get_indexer(labels)
        if (at < 0).any():
            got = Shown(f"a series {labels[int(np.argmax(at < 0))]!r}")
            raise bad_argument("y_new", got, "series that the fit had")
        if self.kind == "wide" and len(at) < len(self.labels):
            lacking = self.labels.difference(labels, sort=False)[0]
            raise bad_argument("y_new", Shown(f"no column {lacking!r}"), "all series of the fit")
        return [int(i) for i in at]

    def _known(self, series: int, horizon: int) -> Array:
        """Rows (horizon, k) of X beyond the end of a series."""
        rows = self.ahead[series]
        if len(rows) < horizon:
            of = "" if self.shared else f" of series {self.labels[series]!r}"
            end = shown(self.clocks[series].times[-1:])
            raise bad_argument(
                "X", None, f"{horizon} rows after the end{of} ({end}), with columns "
                f"{', '.join(self.columns.known_names)}",
                f"What is known of X goes {len(rows)} rows beyond.",
            )  # fmt: skip
        return rows[:horizon]


def read_frames(
    y: Any, X: Any = None, *, past: Any = (), name: str = "y", names: LongNames | None = None
) -> Panel:
    """Series held by pandas.

    Rows are put in the order of time; rows that are missing in its step are NaN. Rows of X beyond
    the end of a series are kept, as what is known ahead.
    """
    names = names or LongNames()
    kind = kind_of(y, names, name)
    labels, parts = sheets(y, kind, names, name)
    drivers, columns = None, choose((), past if X is None else ())
    if X is not None:
        X, chosen = as_drivers(X, names, kind, "X")
        columns = choose(chosen, past)
        drivers = Drivers(driver_sheets(X, chosen, names, kind, "X"), columns, "X")
    longest = max(parts, key=lambda sheet: len(sheet.times))
    for sheet in parts:
        check_alike(sheet.times, longest.times, name)
    step = _said(y, kind)
    if step is None:
        step = find_step(longest.times, name, longest.labels[0] if kind == "long" else None)
    reading = read_sheets(parts, step, drivers, name)
    holder = FrameHolder(kind, labels, (), (), columns, names, **_look(y, kind))
    return _panel(holder, reading)


def _panel(holder: FrameHolder, reading: Reading) -> Panel:
    holder = replace(holder, clocks=reading.clocks, ahead=reading.ahead)
    columns = holder.columns
    cycles = holder.clocks[0].cycles
    return Panel(reading.histories, cycles, holder, columns.known_names, columns.past_names)


def _look(y: Any, kind: str) -> Mapping[str, Any]:
    """The name and type of an index of times, which a long frame has not."""
    if kind == "long":
        return {}
    is_range = hasattr(y.index, "start") and hasattr(y.index, "stop")
    return {"index_name": y.index.name, "is_range": is_range}


def _said(y: Any, kind: str) -> Any:
    """The step that an index of dates says it has."""
    step = getattr(y.index, "freq", None)
    if kind == "long" or step is None or steps.is_period(y.index) or step.n < 1:
        return None
    return step if steps.is_date(y.index) else None


def _check_follows(clock: Clock, new: Clock, label: Hashable) -> None:
    """Rows begin one step after the last."""
    wanted, got = clock.ahead(1), new.times[:1]
    if steps.places(got, clock.step, wanted)[0] == 0:
        return
    of = "" if label is None else f" of series {label!r}"
    remedy = "Rows that are there already are not given again."
    if got[0] > wanted[0]:
        remedy = "Rows between that nobody observed are NaN."
    raise bad_argument(
        "y_new", Shown(f"rows{of} from {shown(got)} on"),
        f"rows from {shown(wanted)} on, after the last, {shown(clock.times[-1:])}", remedy,
    )  # fmt: skip


def _first(rows: Array, count: int) -> Array:
    if len(rows) < count:
        raise bad_argument(
            "X_new", None, f"{count} rows of X", f"What is known of X goes {len(rows)} rows beyond."
        )
    return rows[:count]


def _called(labels: Any) -> Any:
    """Names of series in a column; of one without a name, "y"."""
    if len(labels) == 1 and labels[0] is None:
        return labels.fillna("y")
    return labels.to_flat_index()


def _as_time(origin: Any, like: Any) -> Any:
    """A time as an index of one, of the kind that others are; None for what is none."""
    import pandas

    try:
        if steps.is_period(like):
            return pandas.PeriodIndex([pandas.Period(origin, freq=like.freq)])
        if not steps.is_date(like):
            return None
        time = pandas.DatetimeIndex([pandas.Timestamp(origin)])
    except (ValueError, TypeError):
        return None
    if like.tz is not None and time.tz is None:
        return time.tz_localize(like.tz)
    return time
