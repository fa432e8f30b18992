"""Times of rows as people give them: read, put in order, and set on a regular grid."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from eigenecho.data import steps
from eigenecho.data.clock import Clock, same_pace
from eigenecho.errors import Shown, bad_argument
from eigenecho.types import Array

WANTED = "dates, periods, or numbers a regular step apart"
ROWS_AS_STEPS = "Resample to a regular step, or pass arrays, whose rows are steps."
FARTHEST = 2.0**62
"""Numbers as times, at most: whole ones end with 2⁶³."""
LOOSE = 1000
"""Places on a given step's grid for each row, at most."""


def as_times(index: Any, name: str, held: str) -> Any:
    """An index, or a column as one: a DatetimeIndex, a PeriodIndex, or an array of numbers.

    ``held`` is the expression that holds it, for errors.
    """
    import pandas

    if isinstance(index, pandas.MultiIndex):
        remedy = f"{name}.reset_index() gives columns, for a long DataFrame."
        raise bad_argument(name, Shown("rows with a MultiIndex"), f"one index, {WANTED}", remedy)
    if index.dtype.kind in "iuf":
        times = index.to_numpy(dtype=np.float64, na_value=np.nan)
        _check_none_missing(~np.isfinite(times), name)
        if (np.abs(times) > FARTHEST).any():
            got = Shown(f"rows with times up to {np.abs(times).max():.6g}")
            raise bad_argument(name, got, f"numbers up to {FARTHEST:.3g}, which can go on")
        return times if index.dtype.kind == "f" else index.to_numpy(dtype=np.int64)
    if index.dtype.kind == "O" and not steps.is_period(index):
        index = _parsed(index, name, held)
    if steps.is_date(index):
        # Dates of pyarrow are another kind of index.
        index = steps.with_room(pandas.DatetimeIndex(index))
    if not steps.is_date(index) and not steps.is_period(index):
        raise bad_argument(name, Shown(f"rows with times of dtype {index.dtype}"), WANTED)
    _check_none_missing(np.asarray(index.isna()), name)
    return index.rename(None)


def in_order(times: Any, name: str, label: Any = None) -> Array:
    """The order of rows in time; no time may occur twice."""
    values = steps.as_numbers(times)
    order = np.argsort(values, kind="stable")
    twice = np.flatnonzero(np.diff(values[order]) == 0)
    if twice.size:
        when = shown(times[order[twice[:1]]])
        remedy = "Sum or average the rows of one time, or keep one of them."
        if steps.is_date(times) and times.tz is None:
            remedy += " Local times around the end of summer time need a time zone."
        raise bad_argument(name, Shown(f"{when} twice{_of(label)}"), "each time once", remedy)
    return order


def find_step(times: Any, name: str, label: Any = None) -> Any:
    """The step of times in order."""
    if len(times) == 1:
        if steps.is_date(times):
            raise bad_argument(
                name, Shown(f"one date, {shown(times)}{_of(label)}"),
                "several, so that they have a step", "An index with a freq says it, too.",
            )  # fmt: skip
        return times.freq.n if steps.is_period(times) else 1
    step = steps.find(times)
    if step is None:
        raise _irregular(times, name, label)
    return step


def placed(times: Any, step: Any, name: str, label: Any = None) -> tuple[Clock, Array]:
    """The clock of times in order, without gaps, and the places of its rows in it.

    Where the step does not fit, another one that is as long may: quarters from another month.
    """
    found = steps.places(times, step)
    if (found < 0).any():
        own = steps.find(times) if len(times) > 1 else None
        is_other = own is None or not same_pace(Clock("", times, own), Clock("", times, step))
        if is_other:
            raise _off_grid(times, found, step, name, label)
        step, found = own, steps.places(times, own)
    if found[-1] >= LOOSE * (len(times) + 10):
        got = f"{len(times)} rows{_of(label)} on {found[-1] + 1} steps"
        words = Clock("", times, step).words
        raise bad_argument(name, Shown(got), f"rows {words} apart, with few gaps", ROWS_AS_STEPS)
    return Clock("", steps.filled(times, found, step), step), found


def check_alike(times: Any, like: Any, name: str) -> None:
    """Times are of the same kind as others: dates of the same zone, periods of one length."""
    got, wanted = _kind(times), _kind(like)
    if got != wanted:
        raise bad_argument(name, Shown(f"rows with {got}"), f"{wanted}, as before")


def since(times: Any, first: Any, step: Any) -> Array:
    """Which times are not before ``first`` (1,); numbers need not be exact."""
    if isinstance(times, np.ndarray):
        return times > first[0] - step / 2
    return np.asarray(times >= first[0])


def shown(times: Any) -> str:
    """The first of some times, in an error."""
    return Clock("", times[:1], 1).text(times[:1])[0]


def texts(times: Any) -> list[str]:
    """Times as a table shows them."""
    return Clock("", times, 1).text(times)


def _kind(times: Any) -> str:
    if steps.is_period(times):
        return f"periods {times.freqstr!r}"
    if not steps.is_date(times):
        return "numbers"
    return "dates without a time zone" if times.tz is None else f"dates of zone {times.tz}"


def _parsed(index: Any, name: str, held: str) -> Any:
    """Dates given as text, or as objects."""
    found = _dates(index)
    if found is not None:
        return found
    unread = _dates(index, errors="coerce")
    row = 0 if unread is None else int(np.argmax(unread.isna() & ~index.isna()))
    remedy = f"pd.to_datetime({held}, format=...) reads dates; drop rows without one."
    for option, words in {"dayfirst": "days before months", "utc": "zones as one"}.items():
        if _dates(index, **{option: True}) is not None:
            remedy = f"pd.to_datetime({held}, {option}=True) reads {words}."
            break
    got = Shown(f"rows with times such as {str(index[row])[:40]!r} in row {row}")
    raise bad_argument(name, got, WANTED, remedy)


def _dates(index: Any, **options: Any) -> Any:
    """What pandas reads by ``to_datetime``, or None where it refuses."""
    import pandas

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about formats that it has to guess
        try:
            return pandas.DatetimeIndex(pandas.to_datetime(index, **options))
        except (ValueError, TypeError, OverflowError):
            return None


def _check_none_missing(missing: Array, name: str) -> None:
    if missing.any():
        got = Shown(f"no time in row {int(np.argmax(missing))}")
        raise bad_argument(name, got, "a time for each row")


def _irregular(times: Any, name: str, label: Any) -> ValueError:
    common = step = steps.most_common(times)
    values = np.asarray(times) if steps.is_date(times) else steps.as_numbers(times)
    odd = int(np.argmax(np.diff(values) != common))
    got = f"{shown(times[odd:])} and then {shown(times[odd + 1 :])}{_of(label)}"
    if steps.is_date(times):
        step = steps.tick(common)
    words = Clock("", times, step).words
    remedy = (_filling(times, name) if label is None else "") + ROWS_AS_STEPS
    return bad_argument(name, Shown(got), f"a regular step: most are {words}", remedy)


def _filling(times: Any, name: str) -> str:
    """The line that gives a Series or wide frame all rows of a step, where its dates lie on one."""
    step = steps.find_sparse(times, LOOSE) if steps.is_date(times) else None
    said = getattr(step, "freqstr", "")
    if not said.replace("-", "").isalnum():
        return ""
    return f"{name}.asfreq({said!r}) puts NaN in the rows between. "


def _off_grid(times: Any, found: Array, step: Any, name: str, label: Any) -> ValueError:
    odd = int(np.argmax(found < 0))
    before = f"{shown(times[odd - 1 :])} and then " if odd else ""
    got = f"{before}{shown(times[odd:])}{_of(label)}"
    words = Clock("", times, step).words
    return bad_argument(name, Shown(got), f"steps of {words}", ROWS_AS_STEPS)


def _of(label: Any) -> str:
    return "" if label is None else f" in series {label!r}"
