"""Clocks in files: the last time of each series, and a step to go on by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenecho.errors import Shown, bad_argument
from eigenecho.panels import steps
from eigenecho.panels.clock import Clock
from eigenecho.storage import Tensors, Values, take
from eigenecho.types import Array

MONTHS = "months "
"""In front of a number of months, the same day of each."""
YEARS = (1, 9000)
"""Between which a file's dates are, so that there is room to go on."""


def pack_times(clocks: Sequence[Clock]) -> tuple[Tensors, Values]:
    """The last times as numbers, and how to read them: a type, a time zone or a period."""
    times = clocks[0].times
    words = [_packed_step(clock.step) for clock in clocks]
    values: Values = {"steps": words[:1] if len(set(words)) == 1 else words}
    if isinstance(times, np.ndarray):
        last = np.array([clock.times[-1] for clock in clocks], times.dtype)
        return {"last": last}, {**values, "times": "numbers", "unit": None, "zone": None}
    last = np.array([clock.times.asi8[-1] for clock in clocks])
    if steps.is_period(times):
        return {"last": last}, {**values, "times": "periods", "unit": times.freqstr, "zone": None}
    zone = None if times.tz is None else _packed_zone(times)
    return {"last": last}, {**values, "times": "dates", "unit": times.unit, "zone": zone}


def unpack_times(tensors: Tensors, values: Values) -> tuple[Clock, ...]:
    """Clocks that have run, whatever the file says, a step ahead."""
    kind, unit, zone = (values.pop(key) for key in ("times", "unit", "zone"))
    last, words = take(tensors, "last"), values.pop("steps")
    if last.ndim != 1 or not len(last) or last.dtype not in (np.int64, np.float64):
        raise bad_argument("last", Shown(f"{last.dtype} {last.shape}"), "a time for each series")
    times = _times(last, kind, unit, zone)
    if not isinstance(words, list) or len(words) not in (1, len(last)):
        raise bad_argument("steps", words, "a step for each series")
    found = {word: _unpacked_step(word, times) for word in dict.fromkeys(words)}
    clocks = tuple(
        Clock("", times[i : i + 1], found[words[i % len(words)]]) for i in range(len(last))
    )
    for clock in clocks:
        after = clock.ahead(2)
        if len(after) != 2 or not clock.times[0] < after[0] < after[1]:
            raise bad_argument("steps", clock.step, "a step ahead")
    _ = clocks[0].cycles, clocks[0].words
    return clocks


def _times(last: Array, kind: Any, unit: Any, zone: Any) -> Any:
    if kind == "numbers" and unit is None and zone is None:
        return last
    import pandas

    is_text = isinstance(unit, str) and (zone is None or isinstance(zone, str))
    if last.dtype != np.int64 or not is_text or kind not in ("dates", "periods"):
        raise bad_argument("times", kind, "dates, periods or numbers")
    if kind == "periods":
        times = pandas.PeriodIndex.from_ordinals(last, freq=unit)
    elif unit in ("s", "ms", "us", "ns"):
        times = pandas.DatetimeIndex(last.view(f"M8[{unit}]"))
    else:
        raise bad_argument("unit", unit, "s, ms, us or ns")
    if times.isna().any() or not ((times.year >= YEARS[0]) & (times.year <= YEARS[1])).all():
        raise bad_argument("last", Shown("times out of range"), "dates of our calendar")
    return times if zone is None else times.tz_localize("UTC").tz_convert(zone)


def _packed_step(step: Any) -> Any:
    """A step as a number or as text that says the same."""
    if not hasattr(step, "freqstr"):
        return step.item() if isinstance(step, np.generic) else step
    import pandas

    if type(step) is pandas.DateOffset and step == pandas.DateOffset(months=step.kwds["months"]):
        return f"{MONTHS}{step.kwds['months']}"
    words = step.freqstr
    try:
        same = pandas.tseries.frequencies.to_offset(words) == step
    except ValueError:
        same = False
    if not same:
        raise bad_argument(
            "y", Shown(f"rows in steps of {words!r}"), "steps that a file can hold",
            "Give the index a freq that pandas reads by its name.",
        )  # fmt: skip
    return words


def _unpacked_step(word: Any, times: Any) -> Any:
    if not steps.is_date(times):
        is_number = type(word) in (int, float) and 0 < word < 2**53
        if not is_number or (type(word) is float and times.dtype != np.float64):
            raise bad_argument("steps", word, "a number above 0")
        return word
    import pandas

    if not isinstance(word, str):
        raise bad_argument("steps", word, "an offset by its name")
    if word.startswith(MONTHS):
        return pandas.DateOffset(months=int(word.removeprefix(MONTHS)))
    return pandas.tseries.frequencies.to_offset(word)


def _packed_zone(times: Any) -> str:
    """The name of a time zone that reads as the same one."""
    zone = str(times.tz)
    try:
        same = bool((times[-1:].tz_convert(zone).tz_localize(None) == _wall(times)).all())
    except (ValueError, LookupError, TypeError, OSError):
        same = False
    if not same:
        raise bad_argument(
            "y", Shown(f"times in the zone {zone!r}"), "a time zone with a name",
            "tz_convert to one such as 'Europe/Berlin'.",
        )  # fmt: skip
    return zone


def _wall(times: Any) -> Any:
    return times[-1:].tz_localize(None)
