"""Reading of CSV and Parquet files as frames for ``Forecaster``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho.checks import check_known
from eigenecho.data.clock import find_step, positions
from eigenecho.data.parse_cells import (
    NO_TIME,
    check_filled,
    find_time,
    listed,
    read_numbers,
    read_times,
)
from eigenecho.data.read import in_series
from eigenecho.data.read_file import FileFormat, read_file
from eigenecho.errors import counted, unknown_name

GAPS = ("error", "fill", "ignore")
LAST = 20_000
"""Default maximum number of rows per series, which is about two years of hourly data."""


@dataclass(frozen=True, eq=False)
class TableSeries:
    """The series of a table, as input for ``Forecaster``.

    Attributes
    ----------
    y, X : DataFrame
        Long frames if there is an id column, and wide frames with the times as index otherwise. X
        is None if there are no exogenous variables.
    targets, inputs, past : tuple of str
        Names of the targets, the known columns and the past columns.
    id, time : str
        Names of the columns of ids and times, or "" and "row" if there are no such columns.
    times : dict of Series
        Times of the rows of X, by target or id.
    rows : int
        Number of rows of the longest series.
    ahead : int
        Minimum number of rows of X after the end of a series.
    is_counted : bool
        True if the times of y are row numbers, because missing rows are ignored.
    notes : list of str
        Notes on how the table was read.
    """

    y: Any
    X: Any
    targets: tuple[str, ...]
    inputs: tuple[str, ...]
    past: tuple[str, ...]
    id: str
    time: str
    times: dict[str, Any]
    rows: int
    ahead: int
    is_counted: bool
    notes: list[str]


def read_table(
    path: Any,
    target: str,
    *,
    inputs: str = "",
    past: str = "",
    id: str = "",
    time: str = "",
    gaps: str = "error",
    last: int = LAST,
    **form: Any,
) -> TableSeries:
    """Return the series of a CSV or Parquet file.

    Parameters
    ----------
    path : str or Path
    target, inputs, past : str
        Column names, separated by commas.
    id, time : str, optional
        Column names. By default, there is no id column, and the time column is the only column of
        dates. Use "none" if there is no time column.
    gaps : {"error", "fill", "ignore"}
        How to handle missing rows and cells: raise an error, treat them as missing values, or
        treat the rows as consecutive steps.
    last : int
        Maximum number of rows per series. Earlier rows are not used.
    **form
        Fields of ``FileFormat``: sep, decimal, thousands, skip_rows, encoding, date_format.
    """
    import pandas

    check_known(gaps, "--gaps", GAPS)
    file = FileFormat(**form)
    frame = read_file(Path(path), file)
    targets = _choose(frame, target, "--target")
    known, observed = _choose(frame, inputs, "--inputs"), _choose(frame, past, "--past")
    used, notes = [*targets, *known, *observed, *_choose(frame, id, "--id")], []
    if not targets:
        raise ValueError("Invalid --target: expected the name of a column.")
    time = time or find_time(frame, used, file)
    if time == NO_TIME and time not in frame.columns:
        time = ""
        notes.append("no time column: each row is one step")
    twice = [name for name, n in Counter([*used, *_choose(frame, time, "--time")]).items() if n > 1]
    if twice or (id and len(targets) > 1):
        problem = f"{twice[0]!r} is listed twice" if twice else "--id requires a single --target"
        raise ValueError(f"Invalid columns: {problem}.")
    values = {name: read_numbers(frame, name, file) for name in (*targets, *known, *observed)}
    empty = [name for name in targets if values[name].isna().all()]
    if 0 < len(empty) < len(targets):
        notes.append(f"series without values are left out: {listed(map(repr, empty), len(empty))}")
        targets = tuple(name for name in targets if name not in empty)
        values = {name: column for name, column in values.items() if name not in empty}
    keys = pandas.DataFrame({"id": _read_ids(frame, id)})
    keys["time"] = keys.groupby("id").cumcount() + 1
    if time:
        keys["time"], note = read_times(frame, time, file)
        notes += [note] * bool(note)
    ordered = keys.sort_values(["id", "time"], kind="stable")
    if not ordered.index.equals(keys.sort_values("id", kind="stable").index):
        notes.append(f"rows were sorted by {time!r}")
    is_counted = not _check_times(time, ordered, gaps) and gaps == "ignore"
    notes += ["times have gaps or no regular step: each row is one step"] * is_counted

    rows = pandas.DataFrame(values).loc[ordered.index]
    inside, kept = _select(rows, targets, ordered, last, notes)
    for name in rows:
        rows[name] = _check_cells(rows[name], ordered, inside, kept, gaps, name in known)
    keys, rows, inside = ordered[kept], rows[kept], inside[kept]
    times = {name: part["time"] for name, part in keys.groupby("id")}
    counts = inside.groupby(keys["id"]).agg(["sum", "size"])
    if is_counted:
        keys = keys.assign(time=keys.groupby("id").cumcount() + 1)
    keys = keys.set_axis([id, time or "row"], axis=1)
    whole = keys.join(rows).reset_index(drop=True) if id else rows.set_index(keys[time or "row"])
    long = list(keys) if id else []
    return TableSeries(
        whole.loc[inside.to_numpy(), [*long, *targets]],
        whole[[*long, *known, *observed]] if known or observed else None,
        targets, known, observed, id, time or "row",
        times=times if id else dict.fromkeys(targets, times[""]),
        rows=int(counts["sum"].max()),
        ahead=int((counts["size"] - counts["sum"]).min()),
        is_counted=is_counted,
        notes=notes,
    )  # fmt: skip


def _select(
    rows: Any, targets: tuple[str, ...], keys: Any, last: int, notes: list[str]
) -> tuple[Any, Any]:
    """Return a mask of the last ``last`` rows with targets, and one that includes future rows."""
    ids, observed = keys["id"], rows[list(targets)].notna().any(axis=1)
    started = observed.groupby(ids).cummax()
    empty = sorted(set(ids[~started]) - set(ids[started]))
    is_past = started & observed[::-1].groupby(ids).cummax()[::-1]
    recent = is_past[::-1].groupby(ids).cumsum()[::-1] <= last
    if rows.loc[is_past & recent, list(targets)].nunique().max() < 2:
        raise ValueError(f"Column {targets[0]!r} is constant, or contains no numbers.")
    late, cut = (started & ~is_past).sum(), (started & ~recent).sum()
    if empty:
        names = listed(map(repr, empty), len(empty))
        notes.append(f"series without values are left out: {names}")
    notes += [f"the forecast starts before {counted(late, 'row')} without a target"] * bool(late)
    notes += [f"only the last {last} rows are used (change this with --last)"] * bool(cut)
    return is_past & recent, started & recent


def _choose(frame: Any, text: str, option: str) -> tuple[str, ...]:
    """Return the names of the columns in the value of an option, which are separated by commas."""
    # A name may contain a comma itself.
    names = [text] if text in frame.columns else [name.strip() for name in text.split(",")]
    for name in filter(None, names):
        if name not in frame.columns:
            hint = "Use --skip-rows if the header is not the first line, or --sep."
            raise ValueError(f"{unknown_name(option, name, list(frame.columns))} {hint}")
    return tuple(filter(None, names))


def _read_ids(frame: Any, id: str) -> Any:
    """Return the ids as text, or as empty text if there is no id column."""
    import pandas

    if not id:
        return pandas.Series("", frame.index)
    cells = frame[id]
    check_filled(cells, "an id")
    # Integers in Parquet files may be stored as floats.
    is_whole = cells.dtype.kind == "f" and (cells % 1 == 0).all()
    return (cells.astype(np.int64) if is_whole else cells).astype(str).str.strip()


def _check_times(name: str, keys: Any, gaps: str) -> bool:
    """Return True if the times of each series are equally spaced.

    Raise an error if times are repeated, or if they are not equally spaced and ``gaps`` is "error".
    """
    twice = keys[keys.duplicated(keep=False)]
    if len(twice):
        hint = " If there are several series, specify --id." * (not keys["id"].iloc[0])
        raise ValueError(
            f"Column {name!r} contains the same time more than once: {_lines(twice)}. Keep one row "
            f"for each time.{hint}"
        )
    usual = keys["time"].groupby(keys["id"]).diff().dropna().median()
    for _, times in keys["time"].groupby(keys["id"]):
        steps = times.diff().iloc[1:]
        if _is_regular(times) and not steps.median() > 1.5 * usual:
            continue
        if gaps == "error":
            row = keys.index.get_loc(steps.idxmax())
            raise ValueError(
                f"The times in column {name!r} are not equally spaced: "
                f"{_lines(keys.iloc[row - 1 : row + 1])}. Use --gaps fill if rows are missing, "
                "--gaps ignore to treat the rows as consecutive steps, or --date-format if they "
                "are dates in another format."
            )
        return False
    return True


def _is_regular(times: Any) -> bool:
    """Return True if the forecaster would detect a step without gaps."""
    import pandas

    if len(times) <= 2:
        return True
    index = pandas.DatetimeIndex(times) if times.dtype.kind == "M" else times.to_numpy()
    step = find_step(index)
    return step is not None and positions(index, step)[-1] == len(index) - 1


def _lines(keys: Any) -> str:
    """Return the line numbers, times and first series of rows for an error message."""
    times = keys["time"].items()
    lines = (f"{keys.index.name} {line} ({as_text(time)})" for line, time in times)
    return listed(lines, len(keys)) + in_series(keys["id"].iloc[0] or None)


def as_text(time: Any) -> str:
    """Return a number or date as text, without the time of day if it is midnight."""
    return str(time).removesuffix(" 00:00:00")


def _check_cells(cells: Any, keys: Any, inside: Any, kept: Any, gaps: str, is_input: bool) -> Any:
    """Return the cells of a column after checking that no required cell is empty.

    Targets and past columns may be empty before their first value, and anywhere if ``gaps`` is
    "fill". Inputs are then filled forward up to the end of the target.
    """
    filled = cells.groupby(keys["id"]).ffill()
    remedy = "Use --gaps fill to treat them as missing values."
    if gaps == "fill":
        cells = cells.where(~(inside & is_input), filled)
        remedy = "Fill in these cells: inputs must be known in all these rows."
    empty = cells.isna() & (kept if is_input else inside & filled.notna() & (gaps != "fill"))
    if empty.any():
        raise ValueError(f"Column {cells.name!r} is empty in {_lines(keys[empty])}. {remedy}")

    return cells
