"""Panels of series read from the caller's data, and results in the caller's format."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho.data.align import (
    Columns,
    Drivers,
    History,
    align,
    as_labels,
    check_same_type,
    detect_step,
)
from eigenecho.data.clock import is_date, joined, positions, shown
from eigenecho.data.read import (
    KINDS,
    LongNames,
    PanelFormat,
    Table,
    has_columns,
    identify,
    in_series,
    read_X,
    read_y,
    split_frame,
)
from eigenecho.errors import Words, bad_argument
from eigenecho.types import Array, Forecast

Results = Mapping[str, Sequence[Array]]
"""Results by name, such as forecast and lower: one array (H,) per series."""


def read(
    y: Any,
    X: Any = None,
    *,
    past: Any = (),
    known: Any = (),
    id: Hashable = "unique_id",
    time: Hashable = "ds",
    target: Hashable = "y",
) -> Panel:
    """Read series to forecast from arrays, lists or DataFrames.

    Parameters
    ----------
    y : array, list, Series or DataFrame
        (T,) is one series, (T, D) and a wide frame contain one series per column, a list contains
        one series (T,) per element, and a long frame has one row per ``id`` and ``time``. NaN is a
        missing observation. Rows of frames are sorted by time, and rows that are missing in
        a regular step become NaN.
    X : likewise, optional
        Further columns: (T, k), for all columns of y; a list of such arrays; a frame with the
        times of y. A frame may continue after the end of y with values that are known ahead. If
        neither y nor X has a row in a regular step, the values of the row before are used.
    past : names of columns of X, or numbers for arrays
        Columns that are known up to the present only. Missing values are filled forward. All
        other columns are known ahead, and complete.
    known : names of the other columns, optional
        Without X, the columns of ``past`` and ``known`` are taken from y, if it is a frame.
    id, time, target : names of the columns of a long frame
        ``time`` is also the column of times of a wide frame of polars or PyArrow, where it can
        be left out if there is only one column of dates.
    """
    names, listed = LongNames(id, time, target), as_labels(known) + as_labels(past)
    if X is None and listed and has_columns(y, ()):
        y, X = split_frame(y, list(dict.fromkeys(listed)), names, "y")
    form, data = identify(y, names, "y")
    labels, tables = read_y(form, data, "y")
    longest = max(tables, key=lambda table: len(table.times))
    for table in tables:
        if not len(table.times):
            got = Words(f"0 rows{in_series(table.labels[0])}")
            raise bad_argument("y", got, "at least one row in each series")
    beside: dict[Hashable, Table] = {}
    categories: dict[Hashable, tuple[str, ...]] = {}
    if X is not None:
        times = [table.times for table in tables]
        beside = read_X(X, form, "X", times, categories=categories, learn=True)
    labels_X = next(iter(beside.values())).labels if beside else ()
    columns = Columns.of(labels_X, past, known, form.is_array, categories)
    drivers = Drivers(beside, columns, "X") if beside else None
    step = getattr(data.index, "freq", None) if form.kind in ("series", "wide") else None
    if step is None or not is_date(longest.times) or step.n < 1:
        step = detect_step(longest.times, "y", longest.labels[0] if len(tables) > 1 else None)
    return Panel(align(tables, step, drivers, "y"), labels, columns, form)


@dataclass(frozen=True, eq=False)
class Panel:
    """One or more series in the caller's format, which reads further rows and writes results.

    Attributes
    ----------
    histories : tuple of History (n,)
    labels : pandas Index or tuple (n,)
        The series: columns of a wide frame, ids of a long one, the name of a Series; numbers for
        arrays.
    columns : Columns
        Columns of X.
    form : PanelFormat
    """

    histories: tuple[History, ...]
    labels: Any
    columns: Columns
    form: PanelFormat

    def __len__(self) -> int:
        return len(self.histories)

    @property
    def known_names(self) -> tuple[str, ...]:
        """Names of the columns of X that are known ahead; "x0", "x1", … for arrays."""
        return tuple(map(str, self.columns.known))

    @property
    def past_names(self) -> tuple[str, ...]:
        """Names of the columns of X that are known up to the present only."""
        return tuple(map(str, self.columns.past))

    @cached_property
    def cycles(self) -> tuple[float, ...]:
        """Day, week and year in steps, if they are visible; empty without dates."""
        return self.histories[0].clock.cycles

    @property
    def step(self) -> str:
        """The step of the first series in words."""
        return "1 row" if self.form.is_range else self.histories[0].clock.words

    # Reading --------------------------------------------------------------------------------------

    def read_context(
        self, y: Any, X: Any = None, *, name: str = "context", X_name: str = "context_X"
    ) -> Panel:
        """Read other series or rows of the same format, with the same columns of X and step."""
        form, labels, histories = self._read(y, X, name, X_name)
        return Panel(histories, labels, self.columns, form)

    def follow(self, y_new: Any, X_new: Any = None) -> Panel:
        """Return the panel with new rows, which directly follow the last ones.

        A long frame may omit series without new rows; a list contains empty arrays for them.
        Without ``X_new``, rows of X that are known ahead are used if X has no other columns.
        """
        starts = [len(history) for history in self.histories]
        _, labels, new = self._read(y_new, X_new, "y_new", "X_new", starts)
        histories = list(self.histories)
        for i, history in zip(self._numbers(labels), new, strict=True):
            self._check_follows(i, history)
            if history.known.shape[1] < len(self.columns.known):
                history = replace(history, known=self._known_ahead(i, len(history), "X_new"))
            histories[i] = histories[i].then(history)
        return replace(self, histories=tuple(histories))

    def future(self, X: Any, horizon: int) -> list[Array]:
        """Return columns that are known ahead, (horizon, k) after the end of each series.

        Without ``X``, they are the rows of X that followed the end of y.
        """
        if not self.columns.known:
            if X is not None:
                wanted = "None: fit had no X that is known ahead"
                raise bad_argument("X", Words("columns"), wanted)
            return [np.empty((horizon, 0))] * len(self)
        if X is None:
            return [self._known_ahead(i, horizon, "X") for i in range(len(self))]
        times = [history.clock.ahead(horizon) for history in self.histories]
        categories = self.columns.categories
        tables = read_X(X, self.form, "X", times, self.columns.known, categories)
        drivers = Drivers(tables, Columns(self.columns.known), "X", self.columns.past)
        if self.form.shared:
            return [drivers.after(None, self.histories[0].clock, horizon)] * len(self)
        return [drivers.after(h.name, h.clock, horizon) for h in self.histories]

    def _read(
        self, y: Any, X: Any, name: str, X_name: str, starts: Any = None
    ) -> tuple[PanelFormat, Any, tuple[History, ...]]:
        """Return the format, labels and rows of further data; ``starts`` is given for new rows.

        New rows may have no X if all of its columns are known ahead.
        """
        y, X = self._split(y, X, name)
        form, data = identify(y, self.form.names, name)
        if form.kind != self.form.kind:
            wanted = f"{KINDS[self.form.kind]}, as in fit"
            raise bad_argument(name, Words(KINDS[form.kind]), wanted)
        if starts is not None and form.is_array and len(data) != len(starts):
            got = Words(f"{len(data)} series")
            raise bad_argument(name, got, f"{len(starts)} series, as in fit")
        labels, tables = read_y(form, data, name, starts)
        clock = self.histories[0].clock
        check_same_type(tables[0].times, clock.times, name)
        drivers = None
        if X is not None:
            if not self.columns.labels:
                raise bad_argument(X_name, Words("columns"), "None: fit had no X")
            times = [table.times for table in tables]
            columns = self.columns
            beside = read_X(X, form, X_name, times, columns.labels, columns.categories)
            drivers = Drivers(beside, self.columns, X_name)
        elif self.columns.past or (self.columns.labels and starts is None):
            listed = ", ".join(map(str, self.columns.names))
            raise bad_argument(X_name, None, f"the columns of fit: {listed}")
        own_steps = {history.name: history.clock.step for history in self.histories}
        return form, labels, align(tables, clock.step, drivers, name, own_steps, starts is None)

    def _split(self, y: Any, X: Any, name: str) -> tuple[Any, Any]:
        """Return y and X, which may be columns of y."""
        names = self.columns.names
        if X is not None or not names or not has_columns(y, names) or set(names) & set(self.labels):
            return y, X
        return split_frame(y, names, self.form.names, name)

    def _numbers(self, labels: Any) -> list[int]:
        """Return the positions of the series with new rows."""
        if self.form.is_array or self.form.kind == "series":
            return list(range(len(labels)))
        at = self.labels.get_indexer(labels)
        if (at < 0).any():
            got = Words(f"a series {labels.tolist()[int(np.argmax(at < 0))]!r}")
            raise bad_argument("y_new", got, "series of the fit")
        if self.form.kind == "wide" and len(at) < len(self.labels):
            lacking = self.labels.difference(labels, sort=False)[0]
            raise bad_argument("y_new", Words(f"no column {lacking!r}"), "all series of the fit")
        return [int(i) for i in at]

    def _check_follows(self, series: int, new: History) -> None:
        """Raise unless new rows begin one step after the last."""
        clock = self.histories[series].clock
        first, wanted = new.clock.times[:1], clock.ahead(1)
        if len(first) and positions(first, clock.step, wanted)[0] != 0:
            of = in_series(None if self.form.shared else new.name)
            raise bad_argument(
                "y_new", Words(f"rows from {shown(first)}{of}"),
                f"rows from {shown(wanted)}, directly after the last row",
                "Use NaN for rows that were not observed.",
            )  # fmt: skip

    def _known_ahead(self, series: int, rows: int, name: str) -> Array:
        """Return rows of X beyond the end of a series."""
        history = self.histories[series]
        if len(history.ahead) < rows:
            of = "" if self.form.shared else f" of series {history.name!r}"
            end = shown(history.clock.times[-1:])
            wanted = f"{rows} rows of {', '.join(self.known_names)} after the end{of} ({end})"
            remedy = f"X in fit has {len(history.ahead)} rows beyond the end."
            raise bad_argument(name, None, wanted, remedy)
        return history.ahead[:rows]

    # Writing --------------------------------------------------------------------------------------

    def forecast(self, horizon: int, results: Results) -> Any:
        """Return results of the rows after the end in the caller's format.

        Results are forecasts, with or without bounds, or quantiles only. Arrays are (H,), (H, D)
        or a list of (H,), ``Forecast`` tuples with bounds (one per level if the names of bounds
        contain levels), and have a last axis for quantiles. Frames have one column per result:
        forecast, lower, upper, lower_80, q0.1, ….
        """
        if self.form.is_array:
            if "forecast" not in results:
                series = zip(*results.values(), strict=True)
                return self._arrays([np.stack(quantiles, axis=1) for quantiles in series])
            if len(results) == 1:
                return self._arrays(results["forecast"])
            mean, *bounds = results.values()
            pairs = zip(bounds[::2], bounds[1::2], strict=True)
            levels = [self._interval(mean, lower, upper) for lower, upper in pairs]
            return levels[0] if "lower" in results else levels
        clocks = [history.clock for history in self.histories]
        after = {clock: clock.ahead(horizon) for clock in dict.fromkeys(clocks)}
        if self.form.kind == "long":
            times = [after[clock] for clock in clocks]
            return self._long(self.labels, {self.form.names.time: times}, results)
        index = self._index(after[clocks[0]])
        if self.form.kind == "series":
            return _series_result(results, index, self.labels[0])
        wide = _wide_result(results, index, self.labels)
        return self._written(wide, None, [self.form.index_name])

    def rolling(self, origins: Sequence[Array], values: Sequence[Array]) -> Any:
        """Return forecasts (O, H) after rows of each series, in the caller's format.

        Arrays are (O, H), (O, H, D) or a list of (O, H). Frames become a long frame of id, cutoff,
        time and forecast.
        """
        if self.form.is_array:
            return np.stack(values, -1) if self.form.kind == "columns" else self._arrays(values)
        cutoffs, times = [], []
        for history, rows, part in zip(self.histories, origins, values, strict=True):
            horizon, rows = part.shape[1], np.asarray(rows)
            longer = joined([history.times, history.clock.ahead(horizon)])
            cutoffs.append(longer[rows].repeat(horizon))
            times.append(longer[(rows[:, None] + np.arange(1, horizon + 1)).ravel()])
        labels = self.labels.to_flat_index()
        if labels[0] is None:
            labels = labels.fillna("y")
        forecasts = {"forecast": [part.ravel() for part in values]}
        return self._long(labels, {"cutoff": cutoffs, self.form.names.time: times}, forecasts)

    def _interval(self, *results: Any) -> Any:
        """Return forecasts with their bounds: one ``Forecast``, or a list of them for a list."""
        if self.form.kind == "list":
            return list(map(Forecast, *results))
        return Forecast(*map(self._arrays, results))

    def _arrays(self, results: Any) -> Any:
        if self.form.kind == "single":
            return results[0]
        return np.stack(results, axis=1) if self.form.kind == "columns" else list(results)

    def _long(self, labels: Any, times: Mapping[Any, Sequence[Any]], results: Results) -> Any:
        """Return a long frame: id, times and one column per result."""
        import pandas

        counts = [len(part) for part in next(iter(times.values()))]
        columns = {self.form.names.id: labels.repeat(counts)}
        columns |= {name: joined(parts) for name, parts in times.items()}
        columns |= {name: np.concatenate(list(parts)) for name, parts in results.items()}
        return self._written(pandas.DataFrame(columns), self.form.names.id, list(times))

    def _written(self, frame: Any, id: Hashable, times: Sequence[Hashable]) -> Any:
        """Return a pandas frame in the caller's library."""
        return frame if self.form.frame is None else self.form.frame.write(frame, id, times)

    def _index(self, times: Any) -> Any:
        """Return the times of a result as an index."""
        import pandas

        name = self.form.index_name
        if not isinstance(times, np.ndarray):
            return times.rename(name)
        if self.form.is_range:
            step, first = int(self.histories[0].clock.step), int(times[0])
            return pandas.RangeIndex(first, first + len(times) * step, step, name=name)
        return pandas.Index(times, name=name)


def _series_result(results: Results, index: Any, label: Hashable) -> Any:
    """Return a Series for one result, a frame for several."""
    import pandas

    if list(results) == ["forecast"]:
        return pandas.Series(results["forecast"][0], index=index, name=label)
    return pandas.DataFrame({name: parts[0] for name, parts in results.items()}, index=index)


def _wide_result(results: Results, index: Any, labels: Any) -> Any:
    """Return one column per series; multiple results form an additional column level."""
    import pandas

    if list(results) == ["forecast"]:
        return pandas.DataFrame(np.stack(results["forecast"], 1), index=index, columns=labels)
    columns = {
        (*(label if isinstance(label, tuple) else (label,)), name): results[name][i]
        for i, label in enumerate(labels)
        for name in results
    }
    return pandas.DataFrame(columns, index).rename_axis(columns=[*labels.names, None])
