"""Detection of time steps, positions on their grid, and following times."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenecho.data import clock as steps
from eigenecho.data.clock import Clock, same_pace

pd = pytest.importorskip("pandas")

FREQUENCIES = [
    "min", "15min", "h", "6h", "D", "2D", "7D", "W-WED", "B", "MS", "ME", "QS-FEB", "QE-MAR", "YS",
    "YE-JUN", "BME", "BMS", "BQE-DEC", "2MS", "6ME", "90s", "250ms", "2B", "3B", "7B",
]  # fmt: skip
ZONES = [None, "UTC", "Europe/Berlin", "America/Santiago", "Asia/Kathmandu"]


def same_times(one, other):
    return len(one) == len(other) and bool((one == other).all())


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("freq", FREQUENCIES)
def test_detected_step_continues_a_range_as_pandas_does(freq, zone):
    whole = pd.date_range("2024-02-26", periods=60, freq=freq)
    whole = whole.tz_localize("UTC") if freq[-1] in "nhs" else whole
    if zone is not None:
        moved = whole.tz_convert(zone) if whole.tz else _in(whole, zone)
        whole = moved
    elif whole.tz is not None:
        whole = whole.tz_localize(None)
    given = whole[:40]._with_freq(None)
    step = steps.find_step(given)
    assert step is not None
    assert same_times(steps.onward(given[-1:], step, 20), whole[40:])
    np.testing.assert_array_equal(steps.positions(given, step), np.arange(40))


def _in(local, zone):
    """Return local days in a time zone; a day without midnight starts at one o'clock."""
    return local.tz_localize(zone, nonexistent="shift_forward", ambiguous=np.ones(len(local), bool))


@settings(max_examples=60, deadline=None)
@given(
    freq=st.sampled_from(["h", "D", "B", "2B", "MS", "ME", "QS-FEB", "W-WED"]),
    zone=st.sampled_from([None, "Europe/Berlin"]),
    seed=st.integers(0, 10**6),
    start=st.dates(pd.Timestamp("2000-01-01").date(), pd.Timestamp("2030-01-01").date()),
)
def test_gaps_do_not_change_the_step(freq, zone, seed, start):
    whole = pd.date_range(start, periods=60, freq=freq, tz=None if freq != "h" else "UTC")
    if zone is not None:
        whole = whole.tz_convert(zone) if freq == "h" else whole.tz_localize(zone)
    elif freq == "h":
        whole = whole.tz_localize(None)
    keep = np.sort(np.random.default_rng(seed).choice(np.arange(1, 59), 48, replace=False))
    keep = np.r_[0, keep, 59]
    given = whole[keep]
    step = steps.find_step(given)
    places = steps.positions(given, step)
    np.testing.assert_array_equal(places, keep)
    assert same_times(steps.filled(given, places, step), whole)


def test_local_days_have_23_and_25_hours():
    days = pd.date_range("2024-03-28", "2024-11-03", freq="D", tz="Europe/Berlin")
    lengths = np.unique(np.diff(days.tz_convert(None)) / np.timedelta64(1, "h"))
    assert lengths.tolist() == [23, 24, 25]
    step = steps.find_step(days._with_freq(None))
    assert step == pd.offsets.Day(1)
    np.testing.assert_array_equal(steps.positions(days, step), np.arange(len(days)))


def test_utc_days_in_local_time_are_24_hours():
    days = pd.date_range("2024-03-28", periods=10, freq="D", tz="UTC").tz_convert("Europe/Berlin")
    step = steps.find_step(days)
    assert step == pd.offsets.Hour(24)
    after = pd.date_range("2024-04-07", periods=3, freq="D", tz="UTC")
    assert same_times(steps.onward(days[-1:], step, 3), after)


def test_hours_are_absolute_time():
    hours = pd.date_range("2024-10-26 20:00", periods=12, freq="h", tz="Europe/Berlin")
    assert hours.tz_localize(None).has_duplicates
    step = steps.find_step(hours)
    np.testing.assert_array_equal(steps.positions(hours, step), np.arange(12))
    assert steps.onward(hours[-1:], step, 1)[0] - hours[-1] == pd.Timedelta(hours=1)


def test_day_without_midnight_does_not_shift_later_days():
    # In Chile, 8 September 2024 began at one o'clock.
    days = _in(pd.date_range("2024-09-01", periods=12), "America/Santiago")
    assert days[7].hour == 1
    for end in (7, 8, 9):
        step = steps.find_step(days[:end])
        assert same_times(steps.onward(days[end - 1 : end], step, 3), days[end : end + 3])


def test_three_months_of_31_days_are_months():
    step = steps.find_step(pd.DatetimeIndex(["2023-07-01", "2023-08-01", "2023-09-01"]))
    assert step.freqstr == "MS"


def test_the_same_day_of_each_month():
    times = pd.DatetimeIndex([f"2024-{month:02}-15" for month in (1, 2, 3, 5, 6)])
    step = steps.find_step(times)
    np.testing.assert_array_equal(steps.positions(times, step), [0, 1, 2, 4, 5])
    assert steps.onward(times[-1:], step, 1)[0] == pd.Timestamp("2024-07-15")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_units_of_dates_are_kept(unit):
    times = pd.date_range("2024-01-01", periods=5, freq="D").as_unit(unit)
    ahead = Clock(times, steps.find_step(times)).ahead(2)
    assert ahead.unit == unit
    assert ahead.freq == times.freq


@pytest.mark.parametrize("freq", ["M", "Q", "D", "h", "2M", "Y", "W-SUN"])
def test_periods(freq):
    whole = pd.period_range("2020-01-01", periods=30, freq=freq)
    given = whole[[0, 1, 2, 4, 5, *range(6, 25)]]
    step = steps.find_step(given)
    places = steps.positions(given, step)
    assert steps.filled(given, places, step).equals(whole[:25])
    assert steps.onward(whole[24:25], step, 5).equals(whole[25:])


def test_numbers_with_gaps():
    times = np.array([1990.0, 1990.25, 1990.75, 1991.0])
    assert steps.find_step(times) == 0.25
    np.testing.assert_array_equal(steps.positions(times, 0.25), [0, 1, 3, 4])
    whole = steps.filled(times, np.array([0, 1, 3, 4]), 0.25)
    np.testing.assert_array_equal(whole, 1990 + 0.25 * np.arange(5))


@pytest.mark.parametrize(
    "times",
    [
        pd.DatetimeIndex(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04 07:00"]),
        pd.DatetimeIndex(["2024-01-01", "2024-01-01 00:01", "2024-06-01"]),
        np.array([1, 2, 3, 4.5]),
    ],
)
def test_times_without_a_regular_step(times):
    assert steps.find_step(times) is None


@pytest.mark.parametrize("freq", ["YS", "YE", "MS", "D"])
@pytest.mark.parametrize("unit", ["s", "ns"])
def test_three_centuries(freq, unit):
    times = pd.date_range("1700-01-01", "2008-12-31", freq=freq, unit=unit)._with_freq(None)
    step = steps.find_step(times)
    np.testing.assert_array_equal(steps.positions(times, step), np.arange(len(times)))
    assert len(steps.onward(times[-1:], step, 3)) == 3


@pytest.mark.parametrize(
    ("first", "last"), [("2259-01-05", "2262-04-10"), ("1700-01-01", "1990-01-01")]
)
def test_dates_near_the_nanosecond_limits_use_microseconds(first, last):
    whole = pd.DatetimeIndex(pd.to_datetime([first, last]).as_unit("ns"))
    assert steps.with_room(whole).unit == "us"
    assert same_times(steps.with_room(whole), whole)
    usual = pd.date_range("1900-01-01", "2100-01-01", freq="YS", unit="ns")
    assert steps.with_room(usual) is usual


@pytest.mark.parametrize(("unit", "how"), [("ns", r"as_unit\('us'\)"), ("us", "fewer steps")])
def test_dates_that_cannot_be_continued(unit, how):
    last = pd.DatetimeIndex(["2262-01-01"]).as_unit(unit)
    step = pd.tseries.frequencies.to_offset("1000YS")
    with pytest.raises(ValueError, match=rf"range of datetime64\[{unit}\].*{how}"):
        steps.onward(last, step, 400)


@pytest.mark.parametrize("freq", ["MS", "ME", "QS", "YE"])
def test_monthly_dates_need_the_same_time_of_day(freq):
    times = pd.date_range("2020-01-01 09:00", periods=12, freq=freq)
    step = steps.find_step(times._with_freq(None))
    odd = times[:5].append(times[5:6] + pd.Timedelta(hours=1)).append(times[6:])
    assert steps.positions(odd, step).tolist() == [0, 1, 2, 3, 4, -1, 6, 7, 8, 9, 10, 11]
    assert steps.find_step(odd) is None


def test_many_gaps():
    # Four of the differences are two days, and three are one day.
    days = pd.DatetimeIndex([f"2024-01-{day:02}" for day in (1, 2, 4, 6, 8, 10, 11, 12)])
    assert steps.find_step(days) == pd.offsets.Day(1)
    assert steps.find_step(np.array([1, 2, 4, 6, 8, 10, 11, 12])) == 1


def test_single_stray_time_does_not_give_a_finer_step():
    hours = pd.date_range("2024-01-01", periods=40, freq="h")
    assert steps.find_step(hours.insert(7, hours[6] + pd.Timedelta(minutes=30))) is None


def test_repeated_local_hours_are_an_hour_apart():
    hours = pd.DatetimeIndex(["2024-10-27 00:00", "2024-10-27 01:00"]).tz_localize("UTC")
    hours = hours.tz_convert("Europe/Berlin")
    assert hours.tz_localize(None)[0] == hours.tz_localize(None)[1]
    assert steps.find_step(hours) == pd.offsets.Hour(1)


def test_cycles():
    def cycles(times):
        return Clock(times, steps.find_step(times)).cycles

    assert cycles(pd.date_range("2024-01-01", periods=9, freq="h")) == (24, 168, 8765.82)
    assert cycles(pd.date_range("2024-01-01", periods=9, freq="MS")) == (12,)
    assert cycles(pd.period_range("2024-01", periods=9, freq="M")) == (12,)
    assert cycles(pd.period_range("2024-01-01", periods=9, freq="D")) == (7, 365.2425)
    assert cycles(pd.period_range("2024Q1", periods=9, freq="Q")) == (4,)
    assert cycles(np.arange(9)) == ()


def test_paces():
    quarters = [pd.date_range("2024-01-01", periods=5, freq=f"QS-{m}") for m in ("JAN", "FEB")]
    one, other = (Clock(times, steps.find_step(times)) for times in quarters)
    assert one.step != other.step
    assert same_pace(one, other)
    months = pd.date_range("2024-01-01", periods=5, freq="MS")
    assert not same_pace(one, Clock(months, steps.find_step(months)))
