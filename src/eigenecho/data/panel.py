"""Conversion of the caller's data to panels of series, and of results to the caller's format."""

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
    TimeTable,
    has_columns,
    identify,
    in_series,
    read_X,
    read_y,
    split_frame,
)
from eigenecho.data.stored import Labels, Times
from eigenecho.errors import Words, bad_argument, counted
from eigenecho.types import Array, Forecast, GappyArray

Results = Mapping[str, Sequence[Array]]
"""Results by name, such as "forecast" and "lower", with one array (H,) per series."""


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
        An array (T,) is one series. Arrays (T, D) and wide frames contain one series per column,
        lists contain one series (T,) per element, and long frames have one row per ``id`` and
        ``time``. NaN is a missing observation. Rows of frames are sorted by time, and rows are
        added with NaN if times are missing.
    X : array, list, Series or DataFrame, optional
        Exogenous variables: an array (T, k) for all series, a list of such arrays, or a frame with
        the times of y. Rows after the end of y contain values that are known in advance. If
        neither y nor X has a row at some time, the values of the previous row are used.
    past : list of column names, or numbers for arrays
        Columns that are known only up to the forecast origin. Missing values are filled forward.
        All other columns are known in advance and may not have missing values.
    known : list of column names, optional
        Without X, the columns of ``past`` and ``known`` are taken from y, if it is a frame.
        Otherwise, ``known`` lists all columns that are not in ``past``.
    id, time, target : str
        Column names of a long frame. ``time`` is also the column of times in a wide frame of polars
        or PyArrow; it is optional if there is only one column of dates.
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
    beside: dict[Hashable, TimeTable] = {}
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
    """One or more series, and the caller's format of data and results.

    Attributes
    ----------
    histories : tuple of History (n,)
    labels : pandas Index or tuple (n,)
        Labels of the series: column names of a wide frame, ids of a long frame, the name of a
        Series, or numbers for arrays.
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
        """Names of the columns of X that are known in advance ("x0", "x1", … for arrays)."""
        return tuple(map(str, self.columns.known))

    @property
    def past_names(self) -> tuple[str, ...]:
        """Names of the columns of X that are known only up to the forecast origin."""
        return tuple(map(str, self.columns.past))

    @cached_property
    def cycles(self) -> tuple[float, ...]:
        """Lengths in steps of the calendar cycles that the step resolves; empty without dates."""
        return self.histories[0].clock.cycles

    @property
    def step(self) -> str:
        """The step of the first series in words."""
        return "1 row" if self.form.is_range else self.histories[0].clock.words

    # Reading --------------------------------------------------------------------------------------

    def read_context(
        self, y: Any, X: Any = None, *, name: str = "context", X_name: str = "context_X"
    ) -> Panel:
        """Read other series that have the same format, columns of X and step."""
        form, labels, histories = self._read(y, X, name, X_name)
        return Panel(histories, labels, self.columns, form)

    def follow(self, y_new: Any, X_new: Any = None) -> Panel:
        """Return the panel extended by new rows, which directly follow the last rows.

        Series without new rows may be missing in a long frame, and are empty arrays in a list.
        Without ``X_new``, the new rows use the rows of X after the end of y, if X has no past
        columns.
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
        """Return the known columns (horizon, k) after the end of each series.

        Without ``X``, they are taken from the rows of the training X that follow the end of y.
        """
        if not self.columns.known:
            if X is not None:
                wanted = "None, because fit() was called without columns that are known in advance"
                raise bad_argument("X", Words("a value"), wanted)
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
        """Return the format, labels and histories of other data.

        ``starts`` contains the number of earlier rows of each series if the data continue them.
        Such data may have no X if all columns of X are known in advance.
        """
        y, X = self._split(y, X, name)
        form, data = identify(y, self.form.names, name)
        if form.kind != self.form.kind:
            wanted = f"{KINDS[self.form.kind]}, as passed to fit()"
            raise bad_argument(name, Words(KINDS[form.kind]), wanted)
        if starts is not None and form.is_array and len(data) != len(starts):
            got = Words(f"{len(data)} series")
            raise bad_argument(name, got, f"{len(starts)} series, as passed to fit()")
        labels, tables = read_y(form, data, name, starts)
        clock = self.histories[0].clock
        check_same_type(tables[0].times, clock.times, name)
        drivers = None
        if X is not None:
            if not self.columns.labels:
                got = Words("columns")
                raise bad_argument(X_name, got, "None, because fit() was called without X")
            times = [table.times for table in tables]
            columns = self.columns
            beside = read_X(X, form, X_name, times, columns.labels, columns.categories)
            drivers = Drivers(beside, self.columns, X_name)
        elif self.columns.past or (self.columns.labels and starts is None):
            listed = ", ".join(map(str, self.columns.names))
            raise bad_argument(X_name, None, f"the columns that were passed to fit(): {listed}")
        own_steps = {history.name: history.clock.step for history in self.histories}
        return form, labels, align(tables, clock.step, drivers, name, own_steps, starts is None)

    def _split(self, y: Any, X: Any, name: str) -> tuple[Any, Any]:
        """Return y and X, which is taken from the columns of y if it is not given."""
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
            got = Words(f"an unknown series {labels.tolist()[int(np.argmax(at < 0))]!r}")
            raise bad_argument("y_new", got, "series that were passed to fit()")
        if self.form.kind == "wide" and len(at) < len(self.labels):
            got = Words(f"no column {self.labels.difference(labels, sort=False)[0]!r}")
            raise bad_argument("y_new", got, "all series that were passed to fit()")
        return [int(i) for i in at]

    def _check_follows(self, series: int, new: History) -> None:
        """Raise an error unless new rows begin one step after the last row."""
        clock = self.histories[series].clock
        first, wanted = new.clock.times[:1], clock.ahead(1)
        if len(first) and positions(first, clock.step, wanted)[0] != 0:
            of = in_series(None if self.form.shared else new.name)
            got = Words(f"rows that start at {shown(first)}{of}")
            expected = f"a first row at {shown(wanted)}, directly after the last fitted row"
            raise bad_argument("y_new", got, expected, "Use NaN for missing observations.")

    def _known_ahead(self, series: int, rows: int, name: str) -> Array:
        """Return the known columns after the end of a series."""
        history = self.histories[series]
        if len(history.ahead) < rows:
            of = "" if self.form.shared else f" of series {history.name!r}"
            end = shown(history.clock.times[-1:])
            names = ", ".join(self.known_names)
            wanted = f"{counted(rows, 'row')} of {names} after the end{of} ({end})"
            remedy = f"In fit(), X had {counted(len(history.ahead), 'row')} after the end."
            raise bad_argument(name, None, wanted, remedy)
        return history.ahead[:rows]

    # Files ----------------------------------------------------------------------------------------

    def _parts(self) -> dict[str, Any]:
        """Return the parts for a file. Times and X that all series share are stored once."""
        different = self.histories[:1] if self.form.shared else self.histories
        return {
            "labels": None if self.form.is_array else Labels.of(self.labels),
            "columns": self.columns,
            "form": self.form,
            "times": Times.of([history.clock for history in different]),
            "series": tuple(history.values for history in self.histories),
            "known": tuple(history.known for history in different),
            "past": tuple(history.past for history in different),
        }

    @classmethod
    def _from_parts(
        cls,
        labels: Labels | None,
        columns: Columns,
        form: PanelFormat,
        times: Times,
        series: tuple[GappyArray, ...],
        known: tuple[Array, ...],
        past: tuple[GappyArray, ...],
    ) -> Panel:
        count, lengths = len(series), [len(values) for values in series]
        if form.is_array != (labels is None):
            raise bad_argument("labels", labels, "labels for frames, and None for arrays")
        if form.is_array and not (form.is_range and form.frame is None):
            raise bad_argument("is_range", form.is_range, "True for arrays, without a frame")
        ids: Any = (None,) if form.kind == "single" else tuple(range(count))
        ids = ids if labels is None else labels.restored()
        if len(ids) != count or not count or (form.kind == "series" and count > 1):
            got = Words(counted(len(ids), "label"))
            raise bad_argument("labels", got, f"one label for each of {count} series")
        if form.shared and len(set(lengths)) > 1:
            raise bad_argument("series", Words("series of different lengths"), "equal lengths")
        clocks = times.restored()
        if form.is_range and type(clocks[0].step) is not int:
            raise bad_argument("is_range", True, "False, because the step is not an integer")
        # Columns are contiguous in memory, because the rounding of sums depends on the order.
        each = [clocks, *(tuple(map(np.asfortranarray, X)) for X in (known, past))]
        for name, items in zip(("times", "known", "past"), each, strict=True):
            if len(items) != (1 if form.shared else count):
                raise bad_argument(name, Words(counted(len(items), "item")), "one for each series")
        rows = zip(*(items * count if form.shared else items for items in each), strict=True)
        histories = tuple(map(History, ids, series, *zip(*rows, strict=True)))
        for history in histories:
            history.check(columns, form.is_array)
        return cls(histories, ids, columns, form)

    # Writing --------------------------------------------------------------------------------------

    def forecast(self, horizon: int, results: Results) -> Any:
        """Return the results for the rows after the end of y, in the caller's format.

        The results are forecasts, forecasts with bounds, or quantiles. Arrays have shape (H,) or
        (H, D), or are lists of (H,), with an additional last axis for quantiles. Forecasts with
        bounds are ``Forecast`` tuples, or a list of one per level if the names of the bounds
        contain levels. Frames have one column per result, such as forecast, lower_80 or q0.1.
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
        """Return forecasts (O, H) from several origins of each series, in the caller's format.

        Arrays have shape (O, H) or (O, H, D), or are lists of (O, H). Frames are long, with the
        columns id, cutoff, time and forecast.
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
        """Return a ``Forecast`` of forecasts and bounds, or a list of them if y is a list."""
        if self.form.kind == "list":
            return list(map(Forecast, *results))
        return Forecast(*map(self._arrays, results))

    def _arrays(self, results: Any) -> Any:
        if self.form.kind == "single":
            return results[0]
        return np.stack(results, axis=1) if self.form.kind == "columns" else list(results)

    def _long(self, labels: Any, times: Mapping[Any, Sequence[Any]], results: Results) -> Any:
        """Return a long frame with the columns of ids and times, and one column per result."""
        import pandas

        counts = [len(part) for part in next(iter(times.values()))]
        columns = {self.form.names.id: labels.repeat(counts)}
        columns |= {name: joined(parts) for name, parts in times.items()}
        columns |= {name: np.concatenate(list(parts)) for name, parts in results.items()}
        return self._written(pandas.DataFrame(columns), self.form.names.id, list(times))

    def _written(self, frame: Any, id: Hashable, times: Sequence[Hashable]) -> Any:
        """Convert a pandas frame to the caller's library."""
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
    """Return a Series if forecasts are the only result, and a frame otherwise."""
    import pandas

    if list(results) == ["forecast"]:
        return pandas.Series(results["forecast"][0], index=index, name=label)
    return pandas.DataFrame({name: parts[0] for name, parts in results.items()}, index=index)


def _wide_result(results: Results, index: Any, labels: Any) -> Any:
    """Return a frame with one column per series and, for several results, a level of results."""
    import pandas

    if list(results) == ["forecast"]:
        return pandas.DataFrame(np.stack(results["forecast"], 1), index=index, columns=labels)
    columns = {
        (*(label if isinstance(label, tuple) else (label,)), name): results[name][i]
        for i, label in enumerate(labels)
        for name in results
    }
    return pandas.DataFrame(columns, index).rename_axis(columns=[*labels.names, None])
