"""Grids of regular times: detection of the step, positions of times on a grid, and later times.

Times are a DatetimeIndex, a PeriodIndex or an array of numbers, and they are sorted and unique. The
step is a pandas offset for dates, a number of periods for periods, and a number otherwise.
Positions count steps from a first time:

    times[i] = first + positions[i] · step

Steps shorter than a day are measured in absolute time. Days and longer steps follow the local
calendar, so a day of 23 hours is still one day.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.errors import counted
from eigenecho.types import Array

DAY = np.timedelta64(1, "D")
SPARSE = 3
"""Maximum number of grid positions per row. Steps with finer grids are rejected."""
USUAL = 0.1
"""Minimum relative frequency of a time difference that is considered as a step."""
NEAR = 0.01
"""Maximum distance between a number and its position on the grid, in steps."""
YEAR = 31_556_952 * 10**9
"""Mean length of a year in nanoseconds."""
ROOM = 230
"""Maximum distance in years from 1970, or between dates, for times in nanoseconds. Their range is
292 years."""
CALENDAR = {"M": (1, "month"), "Q": (3, "quarter"), "Y": (12, "year")}
"""Number of months and name of the calendar units, by the first letter of their pandas offset."""
UNITS = {"week": 604800.0, "day": 86400.0, "hour": 3600.0, "minute": 60.0, "second": 1.0}
"""Lengths of units of time in seconds."""
CYCLES = {86400.0: 21600.0, 604800.0: 129600.0, 365.2425 * 86400.0: 8640000.0}
"""Day, week and year in seconds, each with the longest step in seconds that can resolve it."""


@dataclass(frozen=True, eq=False)
class Clock:
    """The regular times of a series, and their step.

    Attributes
    ----------
    times : DatetimeIndex, PeriodIndex or array of numbers (T,)
        Times that are one step apart. Only the last one is stored in files.
    step : pandas offset, or number
        For periods, the number of periods.
    """

    times: Any
    step: Any

    def ahead(self, steps: int) -> Any:
        """Return the next ``steps`` times after the last one."""
        return onward(self.times[-1:], self.step, steps)

    def last(self, rows: int) -> Any:
        """Return the last ``rows`` times. Times that were not stored are computed."""
        missing = rows - len(self.times)
        if missing <= 0:
            return self.times[-rows:]
        return joined([onward(self.times[:1], -self.step, missing)[::-1], self.times])

    @property
    def words(self) -> str:
        """The step in words."""
        step = self.step
        if is_period(self.times):
            return f"{counted(step, 'period')} of frequency {self.times.freqstr!r}"
        if not is_date(self.times):
            return f"{step:g}"
        if hasattr(step, "months"):
            return counted(step.months, "month")
        name = _code(step)
        if name == "B":
            return counted(step.n, "business day")
        if name.lstrip("B")[:1] in CALENDAR:
            return counted(step.n, CALENDAR[name.lstrip("B")[0]][1])
        seconds = self.seconds
        for unit, size in UNITS.items():
            if seconds >= size and seconds % size == 0:
                return counted(int(seconds // size), unit)
        return f"{seconds:g} seconds"

    @property
    def seconds(self) -> float:
        """The mean length of a step in seconds."""
        if is_period(self.times):
            return mean_length(self.times.freq) * self.step / self.times.freq.n
        return mean_length(self.step)

    @property
    def cycles(self) -> tuple[float, ...]:
        """Lengths of the day, week and year in steps, if the step is short enough."""
        if isinstance(self.times, np.ndarray):
            return ()
        step = self.seconds
        lengths = [cycle / step for cycle, longest in CYCLES.items() if step <= longest]
        # Every year has 12 months, but the mean lengths of years and months are rounded.
        return tuple(round(p) if abs(p - round(p)) < 1e-3 else p for p in lengths)


def is_date(times: Any) -> bool:
    """Return True if times are dates, rather than numbers or periods."""
    return bool(times.dtype.kind == "M")


def is_period(times: Any) -> bool:
    """Return True if times are periods."""
    return str(times.dtype).startswith("period[")


def as_numbers(times: Any) -> Array:
    """Return times as numbers (T,) in their own unit."""
    return times if isinstance(times, np.ndarray) else times.asi8


def texts(times: Any) -> list[str]:
    """Return times as text; the time of day is omitted if all dates are at midnight."""
    if is_period(times):
        return [str(time) for time in times]
    if not is_date(times):
        return [f"{time:.15g}" for time in times]
    local = _local(times)
    return list((local if (local == local.normalize()).all() else times).astype(str))


def shown(times: Any) -> str:
    """Return the first time as text."""
    return texts(times[:1])[0]


def joined(times: Sequence[Any]) -> Any:
    """Concatenate arrays or indexes of times."""
    if isinstance(times[0], np.ndarray):
        return np.concatenate(times)
    return times[0].append(list(times[1:]))


def same_pace(clock: Clock, other: Clock) -> bool:
    """Return True if two steps have the same mean length.

    Quarters that start in January and in February, for example, have the same length.
    """
    if isinstance(clock.times, np.ndarray):
        return bool(np.isclose(clock.step, other.step, rtol=1e-6, atol=0))
    return bool(np.isclose(clock.seconds, other.seconds, rtol=1e-6))


def with_room(times: Any) -> Any:
    """Convert dates to microseconds if they are close to the limits of nanoseconds."""
    values = times.asi8
    if times.unit != "ns" or not len(values):
        return times
    first, last = values.min() / YEAR, values.max() / YEAR
    return times.as_unit("us") if max(-first, last, last - first) > ROOM else times


# Finding the step ---------------------------------------------------------------------------------


def find_step(times: Any) -> Any:
    """Return the step of the grid that contains all times with the fewest gaps, or None."""
    best, fewest = None, SPARSE * len(times) + 11
    ends = times[[0, -1]].as_unit("s") if is_date(times) else None
    for step in _candidates(times):
        # Skip grids that are too long to be selected, since generating dates takes time.
        if ends is not None and (ends[1] - ends[0]).total_seconds() > fewest * mean_length(step):
            continue
        rows = positions(times, step)
        size = int(rows[-1]) + 1
        if (rows >= 0).all() and size < fewest:
            best, fewest = step, size
        if fewest == len(times):
            break
    return best


def usual_steps(times: Any) -> list[Any]:
    """Return the most common difference between times, and the smallest frequent difference.

    If many rows are missing, differences of two steps may be more common than those of one step.
    """
    values = np.asarray(_local(times)) if is_date(times) else as_numbers(times)
    sizes, counts = np.unique(np.diff(values), return_counts=True)
    common, least = sizes[np.argmax(counts)], sizes[counts >= USUAL * counts.sum()][:1]
    return [common, *(size for size in least if size != common)]


def tick(length: Any) -> Any:
    """Return the pandas offset for a fixed length of time."""
    import pandas

    return pandas.tseries.frequencies.to_offset(pandas.Timedelta(length))


def _candidates(times: Any) -> Iterator[Any]:
    if not is_date(times):
        yield from usual_steps(times)
        return
    from pandas import offsets

    local = _local(times)
    if usual_steps(local)[0] >= 28 * DAY:
        # Months are tried before days, because consecutive months can have 31 days.
        yield from _calendar_steps(local)
    for length in usual_steps(local):
        if _is_days(length):
            yield offsets.Day(int(length // DAY))
            yield offsets.BusinessDay()
            days = np.asarray(local).astype("datetime64[D]")
            for count in usual_steps(np.busday_count(days[0], days)):
                if count > 1:
                    yield offsets.BusinessDay(int(count))
    for length in usual_steps(times if times.tz is None else times.tz_convert(None)):
        # Multiples of 24 hours can be days in another time zone, such as UTC.
        yield offsets.Hour(24 * int(length // DAY)) if _is_days(length) else tick(length)


def _is_days(length: Any) -> bool:
    return bool(length >= DAY and length % DAY == np.timedelta64(0, "ns"))


def _calendar_steps(local: Any) -> Iterator[Any]:
    """Yield the offsets of months, quarters and years that fit all dates."""
    import pandas

    to_offset = pandas.tseries.frequencies.to_offset
    months = int(np.gcd.reduce(np.diff(np.asarray(local.year * 12 + local.month, np.int64))))
    letter = {3: "Q", 12: "Y"}.get(months, "M")
    for name in ("MS", "ME", "BMS", "BME") if months else ():
        if all(map(to_offset(name).is_on_offset, local)):
            name = name.replace("M", letter)
            anchor = f"-{local[0].strftime('%b').upper()}" if letter != "M" else ""
            yield to_offset(f"{months if letter == 'M' else 1}{name}{anchor}")
    if months and local[0].day <= 28 and (local.day == local[0].day).all():
        yield pandas.DateOffset(months=months)  # the same day of each month, such as the 15th


# Positions on the grid ----------------------------------------------------------------------------


def positions(times: Any, step: Any, first: Any = None) -> Array:
    """Return the positions (T,) of times on the grid that starts at ``first``.

    The position is −1 for times that are not on the grid. ``first`` is an array or index of one
    time, by default the first of ``times``. No time may precede it.
    """
    first = times[:1] if first is None else first
    if not is_date(times):
        start, values = as_numbers(first), as_numbers(times)
        steps = (values - start[0]) / step
        whole = np.round(steps)
        return np.where(np.abs(steps - whole) <= NEAR, whole, -1).astype(np.int64)
    if not len(times):
        return np.zeros(0, np.int64)
    length = _fixed_length(step, times.tz)
    if length is not None:
        passed = _time_since(times, first)
        return np.where(passed % length == np.timedelta64(0, "ns"), passed // length, -1)
    start, local = _nominal(first), _local(times)
    by_month = _month_positions(start[0], local, step)
    if by_month is not None:
        return by_month
    grid = _range(start[0], step, end=local[-1])
    return np.asarray(_local(_localised(grid, times.tz)).get_indexer(local))


def filled(times: Any, rows: Array, step: Any) -> Any:
    """Return all grid times between the first and the last of ``times``, given their positions."""
    size = int(rows[-1]) + 1
    if size == len(times):
        return times
    whole = joined([times[:1], onward(times[:1], step, size - 1)])
    if isinstance(times, np.ndarray):
        whole[rows] = times  # keep the given numbers, which may be slightly off the grid
    return whole


def onward(last: Any, step: Any, steps: int) -> Any:
    """Return the times that follow ``last`` (1,), or precede it if the step is negative."""
    if isinstance(last, np.ndarray):
        return last[0] + step * np.arange(1, steps + 1)
    if is_period(last):
        ordinals = last.asi8[0] + step * np.arange(1, steps + 1)
        return type(last).from_ordinals(ordinals, freq=last.freq, name=last.name)
    try:
        if _fixed_length(step, last.tz) is not None:
            times = _range(last[0], step, periods=steps + 1)[1:]
        else:
            times = _range(_nominal(last)[0], step, periods=steps + 1)[1:]
            times = _with_freq(_localised(times, last.tz), step)
        return times.as_unit(last.unit)
    except (ValueError, OverflowError) as error:  # pandas: dates out of bounds
        raise ValueError(
            f"The dates up to {counted(steps, 'step')} after {last[0]} exceed the range of "
            f"datetime64[{last.unit}]. Forecast fewer steps, or convert the index with "
            "as_unit('us')."
        ) from error


def mean_length(offset: Any) -> float:
    """Return the mean length of a pandas offset in seconds."""
    import pandas

    length = _fixed_length(offset, None)
    if length is not None:
        return float(pandas.Timedelta(length).total_seconds())
    start = pandas.Timestamp("2001-01-01").as_unit("s") + offset
    first = (start + offset - start).total_seconds()
    # 480 months are 40 years, and 480 business days are 96 weeks. The last date is in 9999.
    count = 480 if first < 5e8 else 1
    return float((start + count * offset - start).total_seconds() / count)


def _month_positions(first: Any, local: Any, step: Any) -> Array | None:
    """Compute positions by counting months, which is much faster than generating the grid.

    The result is None if the step is not a number of months, or if a date is not on the grid.
    """
    months = getattr(step, "months", 0) or step.n * CALENDAR.get(_code(step)[:1], (0, ""))[0]
    if not months or not step.is_on_offset(first):
        return None
    passed = (local.year - first.year) * 12 + local.month - first.month
    same_day = local.is_month_end if first.is_month_end else local.day == first.day
    same_hour = (local - local.normalize()) == first - first.normalize()
    fits = np.asarray((passed % months == 0) & same_day & same_hour)
    return np.asarray(passed // months, np.int64) if fits.all() else None


def _fixed_length(step: Any, zone: Any) -> Any:
    """Return the length of a step as a timedelta64, or None if it varies."""
    import pandas

    if isinstance(step, pandas.offsets.Day):
        return None if zone is not None else step.n * DAY
    is_tick = isinstance(step, pandas.offsets.Tick)
    return pandas.Timedelta(step).to_timedelta64() if is_tick else None


def _time_since(times: Any, first: Any) -> Array:
    """Return the time since ``first`` as timedelta64 (T,)."""
    if times.unit == "ns" and times[-1].year - first[0].year > ROOM:
        times, first = times.as_unit("us"), first.as_unit("us")
    start, dates = (np.asarray(t if t.tz is None else t.tz_convert(None)) for t in (first, times))
    return dates - start[0]


def _local(times: Any) -> Any:
    """Remove the time zone from dates; return other times unchanged."""
    return times if getattr(times, "tz", None) is None else times.tz_localize(None)


def _nominal(times: Any) -> Any:
    """Return local dates, with midnight for days whose midnight was skipped by a clock change."""
    local = _local(times)
    if times.tz is None:
        return local
    midnights = local.normalize()
    return midnights.where(_localised(midnights, times.tz) == times, local)


def _localised(local: Any, zone: Any) -> Any:
    """Return local dates in a time zone.

    Of two possible times, the earlier one is used. Times that do not exist are shifted forward.
    """
    if zone is None:
        return local
    first = np.ones(len(local), bool)
    return local.tz_localize(zone, nonexistent="shift_forward", ambiguous=first)


def _with_freq(times: Any, step: Any) -> Any:
    """Set the ``freq`` of dates to their step, unless a clock change moved one of them."""
    import pandas

    try:
        return pandas.DatetimeIndex(times, freq=step)
    except ValueError:
        return times


def _range(start: Any, step: Any, **until: Any) -> Any:
    import pandas

    # pandas 2 uses nanoseconds by default.
    return pandas.date_range(start, freq=step, unit=start.unit, **until)


def _code(step: Any) -> str:
    """Return the pandas alias of an offset without its number and anchor, such as MS for 2MS."""
    return str(step.freqstr.lstrip("-0123456789").split("-")[0])
