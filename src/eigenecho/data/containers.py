"""Panels read from the caller's data, and results in the caller's format."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenecho.data.align import Aligned, Drivers, align, check_same_type, find_step
from eigenecho.data.clock import Clock, is_date, is_period, joined, positions, shown
from eigenecho.data.panel import Columns, Panel, choose
from eigenecho.data.read import ARRAYS, KINDS, LongNames, Source, identify, read_X, read_y
from eigenecho.errors import Words, bad_argument
from eigenecho.frames import FrameFormat
from eigenecho.types import Array, Forecast

Results = Mapping[str, Sequence[Array]]
"""Results by name, such as forecast and lower: one array (H,) per series."""


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
    """Read series to forecast from arrays, lists or DataFrames.

    Parameters
    ----------
    y : array, list, Series or DataFrame
        (T,) is one series, (T, D) and a wide frame contain one series per column, a list of (T,)
        arrays contains one series each, and a long frame has one row per ``id`` and ``time``. NaN
        is a missing observation. Rows of frames are sorted by time, and rows that are missing in
        a regular step become NaN.
    X : likewise, optional
        Further columns: (T, k), for all columns of y; a list of such arrays; a frame with the
        times of y. A frame may continue after the end of y with values that are known ahead. If
        neither y nor X has a row in a regular step, the values of the row before are used.
    past : names of columns of X, or numbers for arrays
        Columns that are known up to the present only. Missing values are filled from before. All
        other columns are known ahead, and complete.
    name : str
        The name of y in errors.
    id, time, target : names of the columns of a long frame
        ``time`` is also the column of times of a wide frame of polars or PyArrow, where it can
        be left out if there is only one column of dates.
    """
    names = LongNames(id, time, target)
    source = identify(y, names, name)
    labels, tables = read_y(source, names, name)
    longest = max(tables, key=lambda table: len(table.times))
    for table in tables:
        check_same_type(table.times, longest.times, name)
        if not len(table.times):
            got = Words(f"0 rows in series {table.labels[0]!r}")
            raise bad_argument(name, got, "at least one row in each series")
    drivers, chosen = None, list[Hashable]()
    if X is not None:
        beside = read_X(X, source.kind, names, "X", [table.times for table in tables])
        chosen = list(next(iter(beside.values())).labels)
    columns = choose(chosen, past, numbered=source.kind in ARRAYS)
    if X is not None:
        drivers = Drivers(beside, columns, chosen, "X")
    step = _given_step(source)
    if step is None:
        step = find_step(longest.times, name, longest.labels[0] if len(tables) > 1 else None)
    form = PanelFormat(source.kind, labels, (), (), columns, names, *source[2:])
    return form.panel(align(tables, step, drivers, name))


@dataclass(frozen=True, eq=False)
class PanelFormat:
    """The caller's format of a panel: it reads further rows and writes results.

    Attributes
    ----------
    kind : {"single", "columns", "list", "series", "wide", "long"}
        Arrays (T,) and (T, D), a list of arrays, or a Series, wide frame or long frame.
    labels : pandas Index or tuple (n,)
        The series: columns of a wide frame, ids of a long one, the name of a Series; numbers for
        arrays.
    clocks : tuple of Clock (n,)
        Rows of arrays have row numbers as times.
    ahead : tuple of arrays (n,), each (m_i, k)
        Rows of columns that are known ahead, after the last row of each series.
    columns : Columns
    names : LongNames
    index_name, is_range : Hashable, bool
        Name and type (RangeIndex) of the index of a Series or wide frame.
    frame : FrameFormat or None
        The library of frames that are not of pandas.
    """

    kind: str
    labels: Any
    clocks: tuple[Clock, ...]
    ahead: tuple[Array, ...]
    columns: Columns
    names: LongNames
    index_name: Hashable = None
    is_range: bool = False
    frame: FrameFormat | None = None

    @property
    def shared(self) -> bool:
        """Return True if all series have the same rows."""
        return self.kind not in ("list", "long")

    @property
    def step(self) -> str:
        """The step of the first series in words."""
        return "1 row" if self.is_range else self.clocks[0].words

    def panel(self, aligned: Aligned) -> Panel:
        """Return the panel of aligned series in this format."""
        form = replace(self, clocks=aligned.clocks, ahead=aligned.ahead)
        columns = self.columns
        known, past = columns.names(columns.known), columns.names(columns.past)
        return Panel(aligned.histories, form.clocks[0].cycles, form, known, past)

    # Reading --------------------------------------------------------------------------------------

    def read_context(
        self, y: Any, X: Any = None, *, name: str = "context", X_name: str = "context_X"
    ) -> Panel:
        """Read other series or rows of the same format, with the same columns of X and step."""
        source, labels, aligned = self._read(y, X, name, X_name)
        rest = self.columns, self.names, source.index_name, source.is_range, source.format
        return PanelFormat(self.kind, labels, (), (), *rest).panel(aligned)

    def follow(self, panel: Panel, y_new: Any, X_new: Any = None) -> Panel:
        """Return the panel with new rows, which directly follow the last ones.

        A long frame may omit series without new rows; a list contains empty arrays for them.
        Without ``X_new``, rows of X that are known ahead are used if X has no other columns.
        """
        use_ahead = X_new is None and bool(self.columns.known) and not self.columns.past
        starts = [len(history) for history in panel.histories]
        _, labels, new = self._read(y_new, X_new, "y_new", "X_new", starts, use_ahead)
        histories, clocks, ahead = list(panel.histories), list(self.clocks), list(self.ahead)
        parts = zip(self._numbers(labels), new.histories, new.clocks, new.ahead, strict=True)
        for i, history, clock, after in parts:
            _check_follows(clocks[i], clock, None if self.shared else history.name)
            if use_ahead:
                history = replace(history, known=self._known_ahead(i, len(history), "X_new"))
            histories[i] = panel.histories[i].then(history)
            ahead[i] = after if len(after) else self.ahead[i][len(history) :]
            clocks[i] = clocks[i].then(clock.times)
        return self.panel(Aligned(tuple(histories), tuple(clocks), tuple(ahead)))

    def future(self, X: Any, horizon: int) -> list[Array]:
        """Return columns that are known ahead, (horizon, k) after the end of each series.

        Without ``X``, they are the rows of X that followed the end of y.
        """
        if not self.columns.known:
            if X is not None:
                wanted = "None: fit had no X that is known ahead"
                raise bad_argument("X", Words("columns"), wanted)
            return [np.empty((horizon, 0))] * len(self.labels)
        if X is None:
            return [self._known_ahead(i, horizon, "X") for i in range(len(self.labels))]
        known = Columns(self.columns.known)
        if self.kind in ARRAYS:  # which have only these columns, with new numbers
            known = Columns(tuple(range(len(known.labels))), (), True)
        allowed = known.labels if known.numbered else self.columns.labels
        times = [clock.ahead(horizon) for clock in self.clocks]
        drivers = Drivers(read_X(X, self.kind, self.names, "X", times), known, allowed, "X")
        if self.shared:
            return [drivers.after(None, self.clocks[0], horizon)] * len(self.labels)
        return [
            drivers.after(label, clock, horizon)
            for label, clock in zip(self.labels, self.clocks, strict=True)
        ]

    def _read(
        self, y: Any, X: Any, name: str, X_name: str, starts: Any = None, use_ahead: bool = False
    ) -> tuple[Source, Any, Aligned]:
        """Return the source, labels and rows of further data; ``starts`` of rows that follow."""
        source = identify(y, self.names, name)
        if source.kind != self.kind:
            raise bad_argument(name, Words(KINDS[source.kind]), f"{KINDS[self.kind]}, as in fit")
        if starts is not None and self.kind in ARRAYS and len(source.items) != len(starts):
            got = Words(f"{len(source.items)} series")
            raise bad_argument(name, got, f"{len(starts)} series, as in fit")
        labels, tables = read_y(source, self.names, name, starts)
        for table in tables:
            check_same_type(table.times, self.clocks[0].times, name)
        drivers = None
        if X is not None:
            if not self.columns.labels:
                raise bad_argument(X_name, Words("columns"), "None: fit had no X")
            beside = read_X(X, self.kind, self.names, X_name, [table.times for table in tables])
            drivers = Drivers(beside, self.columns, self.columns.labels, X_name)
        elif self.columns.labels and not use_ahead:
            listed = ", ".join(self.columns.names(self.columns.labels))
            raise bad_argument(X_name, None, f"the columns of fit: {listed}")
        own = {label: clock.step for label, clock in zip(self.labels, self.clocks, strict=True)}
        step, is_whole = self.clocks[0].step, starts is None
        return source, labels, align(tables, step, drivers, name, own, is_whole)

    def _numbers(self, labels: Any) -> list[int]:
        """Return the positions of the series with new rows."""
        if self.kind in (*ARRAYS, "series"):
            return list(range(len(labels)))
        at = self.labels.get_indexer(labels)
        if (at < 0).any():
            got = Words(f"a series {labels.tolist()[int(np.argmax(at < 0))]!r}")
            raise bad_argument("y_new", got, "series of the fit")
        if self.kind == "wide" and len(at) < len(self.labels):
            lacking = self.labels.difference(labels, sort=False)[0]
            raise bad_argument("y_new", Words(f"no column {lacking!r}"), "all series of the fit")
        return [int(i) for i in at]

    def _known_ahead(self, series: int, rows: int, name: str) -> Array:
        """Return rows of X beyond the end of a series."""
        ahead = self.ahead[series]
        if len(ahead) < rows:
            of = "" if self.shared else f" of series {self.labels[series]!r}"
            listed = ", ".join(self.columns.names(self.columns.known))
            raise bad_argument(
                name, None, f"{rows} rows of {listed} after the end{of} "
                f"({shown(self.clocks[series].times[-1:])})",
                f"X in fit has {len(ahead)} rows beyond the end.",
            )  # fmt: skip
        return ahead[:rows]

    # Times ----------------------------------------------------------------------------------------

    def row_of(self, panel: Panel, series: int, origin: Any) -> int | None:
        """Return the row at a time, in any form that pandas can parse, or None."""
        clock = self.clocks[series]
        time = _parse_time(origin, clock.times)
        if time is None:
            return None
        row = int(clock.rows_of(time)[0])
        return None if row < 0 else row + len(panel.histories[series]) - len(clock.times)

    def times(self, panel: Panel, series: int) -> Any:
        """Return the times of all rows of a series; row numbers for arrays."""
        return self.clocks[series].last(len(panel.histories[series]))

    # Writing --------------------------------------------------------------------------------------

    def forecast(self, horizon: int, results: Results) -> Any:
        """Return results of the rows after the end in the caller's format.

        Results are forecasts, with or without lower and upper bounds, or quantiles only. Arrays
        are (H,), (H, D) or a list of (H,), ``Forecast`` tuples with bounds, and have a last axis
        for quantiles. Frames have one column per result: forecast, lower, upper, q0.1, ….
        """
        if self.kind in ARRAYS:
            if "forecast" not in results:
                series = zip(*results.values(), strict=True)
                return self._arrays([np.stack(quantiles, axis=1) for quantiles in series])
            if len(results) == 1:
                return self._arrays(results["forecast"])
            if self.kind == "list":
                return list(map(Forecast, *results.values()))
            return Forecast(*map(self._arrays, results.values()))
        if self.kind == "long":
            after = {clock: clock.ahead(horizon) for clock in dict.fromkeys(self.clocks)}
            times = [after[clock] for clock in self.clocks]
            return self._long(self.labels, {self.names.time: times}, results)
        index = self._index(self.clocks[0].ahead(horizon))
        if self.kind == "series":
            return _series_result(results, index, self.labels[0])
        return self._written(_wide_result(results, index, self.labels), None, [self.index_name])

    def rolling(self, panel: Panel, origins: Sequence[Array], values: Sequence[Array]) -> Any:
        """Return forecasts (O, H) after rows of each series, in the caller's format.

        Arrays are (O, H), (O, H, D) or a list of (O, H). Frames become a long frame of id, cutoff,
        time and forecast.
        """
        if self.kind in ARRAYS:
            return np.stack(values, -1) if self.kind == "columns" else self._arrays(values)
        cutoffs, times = [], []
        parts = zip(self.clocks, panel.histories, origins, values, strict=True)
        for clock, history, rows, part in parts:
            horizon = part.shape[1]
            longer = clock.then(clock.ahead(horizon)).times
            at = np.asarray(rows) + len(clock.times) - len(history)
            cutoffs.append(longer[at].repeat(horizon))
            times.append(longer[(at[:, None] + np.arange(1, horizon + 1)).ravel()])
        labels = self.labels.to_flat_index()
        if labels[0] is None:
            labels = labels.fillna("y")
        forecasts = {"forecast": [part.ravel() for part in values]}
        return self._long(labels, {"cutoff": cutoffs, self.names.time: times}, forecasts)

    def _arrays(self, results: Any) -> Any:
        if self.kind == "single":
            return results[0]
        return np.stack(results, axis=1) if self.kind == "columns" else list(results)

    def _long(self, labels: Any, times: Mapping[Any, Sequence[Any]], results: Results) -> Any:
        """Return a long frame: id, times and one column per result."""
        import pandas

        counts = [len(part) for part in next(iter(times.values()))]
        columns = {self.names.id: labels.repeat(counts)}
        columns |= {name: joined(parts) for name, parts in times.items()}
        columns |= {name: np.concatenate(list(parts)) for name, parts in results.items()}
        return self._written(pandas.DataFrame(columns), self.names.id, list(times))

    def _written(self, frame: Any, id: Hashable, times: Sequence[Hashable]) -> Any:
        return frame if self.frame is None else self.frame.write(frame, id, times)

    def _index(self, times: Any) -> Any:
        """Return the times of a result as an index."""
        import pandas

        if not isinstance(times, np.ndarray):
            return times.rename(self.index_name)
        if self.is_range:
            step, first = int(self.clocks[0].step), int(times[0])
            return pandas.RangeIndex(first, first + len(times) * step, step, name=self.index_name)
        return pandas.Index(times, name=self.index_name)


def _series_result(results: Results, index: Any, label: Hashable) -> Any:
    """Return a Series for one result, a frame for several."""
    import pandas

    if list(results) == ["forecast"]:
        return pandas.Series(results["forecast"][0], index=index, name=label)
    return pandas.DataFrame({name: parts[0] for name, parts in results.items()}, index=index)


def _wide_result(results: Results, index: Any, labels: Any) -> Any:
    """Return one column per series; several results are on a further level of the columns."""
    import pandas

    if list(results) == ["forecast"]:
        return pandas.DataFrame(np.stack(results["forecast"], 1), index=index, columns=labels)
    paths = [
        (*(label if isinstance(label, tuple) else (label,)), name)
        for label in labels
        for name in results
    ]
    columns = pandas.MultiIndex.from_tuples(paths, names=[*labels.names, None])
    values = [results[name][i] for i in range(len(labels)) for name in results]
    return pandas.DataFrame(np.stack(values, 1), index=index, columns=columns)


def _given_step(source: Source) -> Any:
    """Return the step that an index of dates has as ``freq``, or None."""
    if source.kind not in ("series", "wide") or not is_date(source.items.index):
        return None
    step = getattr(source.items.index, "freq", None)
    return None if step is None or step.n < 1 else step


def _check_follows(clock: Clock, new: Clock, label: Hashable) -> None:
    """Raise unless new rows begin one step after the last."""
    got, wanted = new.times[:1], clock.ahead(1)
    if len(got) and positions(got, clock.step, wanted)[0] != 0:
        of = "" if label is None else f" of series {label!r}"
        raise bad_argument(
            "y_new", Words(f"rows{of} from {shown(got)}"),
            f"rows from {shown(wanted)}, directly after the last row",
            "Use NaN for rows that were not observed.",
        )  # fmt: skip


def _parse_time(origin: Any, like: Any) -> Any:
    """Return a time as an index of length 1 and the type of others, or None."""
    if isinstance(like, np.ndarray):
        return None
    import pandas

    try:
        if is_period(like):
            return pandas.PeriodIndex([pandas.Period(origin, freq=like.freq)])
        time = pandas.DatetimeIndex([pandas.Timestamp(origin)])
    except (ValueError, TypeError):
        return None
    return time.tz_localize(like.tz) if like.tz is not None and time.tz is None else time
