"""The step of times: found from them, walked on by, and the places of times on its grid.

Times are a DatetimeIndex, a PeriodIndex or an array of numbers, in order and each once. A step is a
pandas offset for dates, a number of periods, or a number. Places count steps from a first time:

    times[i] = first + places[i] · step

Steps of less than a day are absolute time; days and longer ones are those of the local calendar, so
that a day of 23 hours is a day.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from eigenecho.types import Array

OFFSETS = (
    "MS", "ME", "QS", "QE", "YS", "YE", "BMS", "BME", "BQS", "BQE", "BYS", "BYE",
)  # fmt: skip
"""Steps that are not a fixed length of time; quarters and years in any month."""

DAY = np.timedelta64(1, "D")
SPARSE = 3
"""Places on the grid for each row, at most: beyond, it is no step that the times have."""
USUAL = 0.1
"""Share of all differences that one is no exception from."""
NEAR = 0.01
"""How far numbers may be from their place, in steps."""
YEAR = 31_556_952 * 10**9
"""A mean year in nanoseconds, which end 292 years before and after 1970."""


def is_date(times: Any) -> bool:
    """Whether times are dates, rather than numbers or periods."""
    return bool(times.dtype.kind == "M")


def is_period(times: Any) -> bool:
    """Whether times are periods."""
    return str(times.dtype).startswith("period[")


def as_numbers(times: Any) -> Array:
    """Times as numbers (T,) in their own unit."""
    return times if isinstance(times, np.ndarray) else times.asi8


def with_room(times: Any) -> Any:
    """Return dates in microseconds where nanoseconds leave no room to count or to go on.

    Those end in 1677 and 2262, and differences of dates after 292 years.
    """
    values = times.asi8
    if times.unit != "ns" or not len(values):
        return times
    first, last = values.min() / YEAR, values.max() / YEAR
    return times.as_unit("us") if max(-first, last, last - first) > 230 else times


def find(times: Any) -> Any:
    """The step of times, or None: the one that leaves the fewest places without a time.

    All times lie on its grid, which has ``SPARSE`` places for each of them at most.
    """
    best, fewest = None, SPARSE * len(times) + 11
    for step in _candidates(times):
        if _is_too_short(step, times, fewest):
            continue
        found = places(times, step)
        size = int(found[-1]) + 1
        if (found >= 0).all() and size < fewest:
            best, fewest = step, size
        if fewest == len(times):
            break
    return best


def find_sparse(times: Any, places_each: int) -> Any:
    """The step on whose grid all dates lie, of so many places for each at most, or None.

    Days will do where no date has hours.
    """
    import pandas

    local = _local(times)
    days = [pandas.offsets.Day()] if (local == local.normalize()).all() else []
    for step in (*_candidates(times), *days):
        is_usable = not _is_too_short(step, times, places_each * len(times))
        if is_usable and (places(times, step) >= 0).all():
            return step
    return None


def most_common(times: Any) -> Any:
    """The difference that most times have to the next."""
    return _usual(times)[0]


def _usual(times: Any) -> list[Any]:
    """The difference that most times have to the next, and the smallest that is no exception.

    With many gaps, two steps may be more common than one.
    """
    values = np.asarray(_local(times)) if is_date(times) else as_numbers(times)
    sizes, counts = np.unique(np.diff(values), return_counts=True)
    common, least = sizes[np.argmax(counts)], sizes[counts >= USUAL * counts.sum()][:1]
    return [common, *(size for size in least if size != common)]


def places(times: Any, step: Any, first: Any = None) -> Array:
    """Places (T,) of times on the grid from ``first`` on; −1 for those that are not on it.

    ``first`` holds one time, the first of ``times`` by default; none is before it.
    """
    first = times[:1] if first is None else first
    if not is_date(times):
        start, values = as_numbers(first), as_numbers(times)
        steps = (values - start[0]) / step
        whole = np.round(steps)
        return np.where(np.abs(steps - whole) <= NEAR, whole, -1).astype(np.int64)
    length = _fixed_length(step, times.tz)
    if length is not None:
        passed = _passed(times, first)
        return np.where(passed % length == np.timedelta64(0, "ns"), passed // length, -1)
    if not len(times):
        return np.zeros(0, np.int64)
    start, last = _nominal(first), _local(times)[-1]
    found = _months_passed(start, _local(times), step)
    if found is not None:
        return found
    grid = _range(start[0], step, end=last)
    return np.asarray(_local(_localised(grid, times.tz)).get_indexer(_local(times)))


def filled(times: Any, found: Array, step: Any) -> Any:
    """All times from the first to the last, given the places of those there are."""
    size = int(found[-1]) + 1
    if size == len(times):
        return times
    rest = onward(times[:1], step, size - 1)
    if not isinstance(times, np.ndarray):
        return times[:1].append(rest)
    whole = np.concatenate([times[:1], rest])
    whole[found] = times  # the numbers themselves, as near as they are to their place
    return whole


def onward(last: Any, step: Any, steps: int) -> Any:
    """The times that follow a last one, given as times (1,)."""
    if is_period(last):
        return _periods(last.asi8[0] + step * np.arange(1, steps + 1), last)
    if not is_date(last):
        return last[0] + step * np.arange(1, steps + 1)
    try:
        if _fixed_length(step, last.tz) is not None:
            times = _range(last[0], step, periods=steps + 1)[1:]
        else:
            local = _range(_nominal(last)[0], step, periods=steps + 1)[1:]
            times = _with_step(_localised(local, last.tz), step)
        return times.as_unit(last.unit)
    except (ValueError, OverflowError) as error:  # of pandas, about dates out of bounds
        remedy = "Forecast fewer steps"
        if last.unit == "ns":
            remedy += ", or give the index another unit: index.as_unit('us')"
        raise ValueError(
            f"the dates of {steps} steps after {last[0]} are out of bounds for datetime64"
            f"[{last.unit}] of pandas. {remedy}."
        ) from error


def backward(first: Any, step: Any, steps: int) -> Any:
    """The times that lead up to a first one, given as times (1,)."""
    if is_period(first):
        return _periods(first.asi8[0] - step * np.arange(steps, 0, -1), first)
    if not is_date(first):
        return first[0] - step * np.arange(steps, 0, -1)
    if _fixed_length(step, first.tz) is not None:
        times = _range(None, step, end=first[0], periods=steps + 1)[:-1]
    else:
        times = _range(None, step, end=_nominal(first)[0], periods=steps + 1)[:-1]
        times = _localised(times, first.tz)
    return times.as_unit(first.unit)


def tick(length: Any) -> Any:
    """A step of so much time, whatever the calendar says."""
    import pandas

    return pandas.tseries.frequencies.to_offset(pandas.Timedelta(length))


def _candidates(times: Any) -> Iterator[Any]:
    if not is_date(times):
        yield from _usual(times)
        return
    import pandas

    local = _local(times)
    if most_common(local) >= 28 * DAY:
        # Months before days: three of them in a row can have 31.
        yield from _calendar(local, pandas)
    for length in _usual(local):
        if _is_days(length):
            yield pandas.offsets.Day(int(length // DAY))
            yield pandas.offsets.BusinessDay()
            if (count := _business_days(local)) > 1:
                yield pandas.offsets.BusinessDay(count)
    for length in _usual(times if times.tz is None else times.tz_convert(None)):
        # Whole days here are those of another zone, such as UTC, seen from a place.
        yield pandas.offsets.Hour(24 * int(length // DAY)) if _is_days(length) else tick(length)


def _business_days(local: Any) -> int:
    """Return how many business days most dates are apart."""
    days = np.asarray(local).astype("datetime64[D]")
    sizes, counts = np.unique(np.busday_count(days[:-1], days[1:]), return_counts=True)
    return int(sizes[np.argmax(counts)])


def _is_days(length: Any) -> bool:
    return bool(length >= DAY and length % DAY == np.timedelta64(0, "ns"))


def _calendar(local: Any, pandas: Any) -> Iterator[Any]:
    """Offsets of months, quarters and years that start where the times do."""
    to_offset = pandas.tseries.frequencies.to_offset
    month = local[0].strftime("%b").upper()
    for name in OFFSETS:
        yield to_offset(f"{name}-{month}" if name.lstrip("B")[0] in "QY" else name)
    months = int(most_common(np.asarray(local.year * 12 + local.month)))
    if months > 0 and local.is_month_end.all():
        yield to_offset(f"{months}ME")
    elif months > 0 and local[0].day <= 28 and (local.day == local[0].day).all():
        # The same day of every month, such as the 15th.
        yield pandas.DateOffset(months=months)


def _months_passed(first: Any, local: Any, step: Any) -> Array | None:
    """Places of dates by the numbers of their months, where that is all that a step goes by.

    The same as by walking, which takes as long as there are steps. None for other steps, and
    where not all dates are places.
    """
    months = _months(step)
    if not months or not step.is_on_offset(first[0]):
        return None
    passed = (local.year - first[0].year) * 12 + local.month - first[0].month
    day = local.is_month_end if first[0].is_month_end else local.day == first[0].day
    at_once = (local - local.normalize()) == first[0] - first[0].normalize()
    fits = np.asarray((passed % months == 0) & day & at_once)
    return np.asarray(passed // months, np.int64) if fits.all() else None


def _months(step: Any) -> int:
    """How many months a step is from the start, the end or the same day of one; 0 for others."""
    from pandas import offsets

    for kinds, months in (
        ((offsets.MonthBegin, offsets.MonthEnd), 1),
        ((offsets.QuarterBegin, offsets.QuarterEnd), 3),
        ((offsets.YearBegin, offsets.YearEnd), 12),
    ):
        if type(step) in kinds:
            return int(step.n) * months
    return 0


def _is_too_short(step: Any, times: Any, fewest: int) -> bool:
    """Whether a grid of dates would be so long that it is not worth making."""
    if not is_date(times):
        return False
    ends = times[[0, -1]].as_unit("s")
    return bool((ends[1] - ends[0]).total_seconds() > fewest * mean_length(step))


def mean_length(offset: Any) -> float:
    """The mean length of a pandas offset, in seconds."""
    import pandas

    length = _fixed_length(offset, None)
    if length is not None:
        return float(pandas.Timedelta(length).total_seconds())
    start = pandas.Timestamp("2001-01-01").as_unit("s") + offset
    one = (start + offset - start).total_seconds()
    # 480 steps are whole years of months, and whole weeks of business days; dates end in 9999.
    count = 480 if one < 5e8 else 1
    return float((start + count * offset - start).total_seconds() / count)


def _fixed_length(step: Any, zone: Any) -> Any:
    """The length of a step that is always the same, as a timedelta64; else None."""
    import pandas

    if isinstance(step, pandas.offsets.Day):
        return None if zone is not None else step.n * DAY
    is_tick = isinstance(step, pandas.offsets.Tick)
    return pandas.Timedelta(step).to_timedelta64() if is_tick else None


def _passed(times: Any, first: Any) -> Array:
    """The time since a first one, as timedelta64 (T,)."""
    if len(times) and times.unit == "ns" and times[-1].year - first[0].year > 250:
        # 292 years are all that nanoseconds hold.
        times, first = times.as_unit("us"), first.as_unit("us")
    start, dates = (np.asarray(t if t.tz is None else t.tz_convert(None)) for t in (first, times))
    return dates - start[0]


def _local(times: Any) -> Any:
    """Dates as clocks on the wall show them; other times as they are."""
    return times if getattr(times, "tz", None) is None else times.tz_localize(None)


def _nominal(times: Any) -> Any:
    """Local times; midnight for days whose midnight was skipped, and which began at one."""
    local = _local(times)
    if getattr(times, "tz", None) is None:
        return local
    midnights = local.normalize()
    return midnights.where(_localised(midnights, times.tz) == times, local)


def _localised(local: Any, zone: Any) -> Any:
    """Local dates in a time zone: the first of two, the next of none."""
    if zone is None:
        return local
    first = np.ones(len(local), bool)
    return local.tz_localize(zone, nonexistent="shift_forward", ambiguous=first)


def _with_step(times: Any, step: Any) -> Any:
    """Dates that say their step, unless one of them was moved by summer time."""
    import pandas

    try:
        return pandas.DatetimeIndex(times, freq=step)
    except ValueError:
        return times


def _range(start: Any, step: Any, **until: Any) -> Any:
    import pandas

    unit = (until["end"] if start is None else start).unit  # pandas 2 takes ns by default
    return pandas.date_range(start, freq=step, unit=unit, **until)


def _periods(ordinals: Array, like: Any) -> Any:
    import pandas

    return pandas.PeriodIndex.from_ordinals(ordinals, freq=like.freq, name=like.name)
