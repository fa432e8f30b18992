"""Stored containers of frames can be loaded and used, and invalid files are rejected."""

from __future__ import annotations

import copy
from datetime import timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crafted import correct_rows
from eigenecho import files
from eigenecho.data.panel import Panel, read
from held import DAYS, INDEXES, H, as_long, drivers, long, naive, series, wide

pd = pytest.importorskip("pandas")


def saved_and_loaded(panel, folder):
    path = folder / "panel.safetensors"
    files.save(path, panel)
    return files.unpack(Panel, *files.read(path)[1:])


def test_series_that_ends_at_the_nanosecond_limit(tmp_path):
    index = pd.date_range("2262-03-03", "2262-04-11", unit="us").as_unit("ns")
    panel = read(series(index))
    loaded = saved_and_loaded(panel, tmp_path)
    after = loaded.forecast(H, {"forecast": [np.zeros(H)]}).index
    assert after.equals(pd.date_range("2262-04-12", periods=H, unit="us"))


@pytest.mark.parametrize("hold", [series, wide, long])
@pytest.mark.parametrize("kind", INDEXES)
def test_loaded_panel_can_be_used(kind, hold, tmp_path):
    index = INDEXES[kind]
    whole, X = hold(index), drivers(index)
    times = whole["ds"] if hold is long else whole.index
    X = as_long(X) if hold is long else X
    x_times = X["ds"] if hold is long else X.index
    panel = read(whole[times < index[30]], X[x_times < index[33]], past=["u"])
    loaded = saved_and_loaded(panel, tmp_path)
    assert loaded.columns == panel.columns
    compare = pd.testing.assert_series_equal if hold is series else pd.testing.assert_frame_equal
    np.testing.assert_array_equal(loaded.future(None, 3), panel.future(None, 3))
    compare(
        loaded.forecast(H, {"forecast": naive(panel)}),
        panel.forecast(H, {"forecast": naive(panel)}),
    )
    new = whole[(times >= index[30]) & (times < index[35])]
    joined = loaded.follow(new, X[x_times >= index[30]])
    expected = panel.follow(new, X[x_times >= index[30]])
    for one, other in zip(joined.histories, expected.histories, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.known, other.known)
    compare(
        joined.forecast(H, {"forecast": naive(joined)}),
        expected.forecast(H, {"forecast": naive(expected)}),
    )
    rows = [np.array([31, 34])] * len(joined)
    values = [np.ones((2, 2))] * len(joined)
    pd.testing.assert_frame_equal(
        joined.rolling(rows, values),
        expected.rolling(rows, values),
    )
    context = loaded.read_context(whole[times < index[9]], X[x_times < index[9]])
    assert len(context.histories[0]) == 9


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "ü\n\"'"], [1, 2], [1.5, 2.5], [True, False], ["a", 1],
        pd.to_datetime(["2024-01-01", "2024-01-02"]), [None, "a"],
        pd.MultiIndex.from_product([["x"], [1, 2]], names=["one", None]),
        pd.CategoricalIndex(["b", "a"]),
    ],
)  # fmt: skip
def test_labels_of_any_kind(labels, tmp_path):
    y = pd.DataFrame(np.ones((9, 2)), DAYS[:9], pd.Index(labels))
    panel = read(y)
    loaded = saved_and_loaded(panel, tmp_path)
    pd.testing.assert_index_equal(loaded.labels, panel.labels)
    assert [type(label) for label in loaded.labels] == [type(label) for label in panel.labels]


def test_many_series_fit_into_a_header(tmp_path):
    ids = [f"series {i}" for i in range(500)]
    y = pd.DataFrame({"unique_id": np.repeat(ids, 2), "ds": [1, 2] * 500, "y": 1.0})
    loaded = saved_and_loaded(read(y), tmp_path)
    assert list(loaded.labels) == sorted(ids)


def test_quarters_that_start_in_different_months(tmp_path):
    frames = [
        pd.DataFrame({"unique_id": i, "ds": pd.date_range("2020", periods=9, freq=f), "y": 1.0})
        for i, f in enumerate(["QS-JAN", "QS-FEB"])
    ]
    panel = read(pd.concat(frames))
    loaded = saved_and_loaded(panel, tmp_path)
    steps = [[history.clock.step for history in one.histories] for one in (loaded, panel)]
    assert steps[0] == steps[1]
    assert len(set(steps[0])) == 2


@pytest.mark.parametrize("zone", ["UTC", timezone(timedelta(hours=5, minutes=30)), "+02:00"])
def test_time_zones_without_a_place(zone, tmp_path):
    panel = read(series(pd.date_range("2024-03-01", periods=9, tz=zone)))
    loaded = saved_and_loaded(panel, tmp_path)
    result = loaded.forecast(2, {"forecast": naive(panel, 2)}).index
    assert result.tz.utcoffset(None) == pd.Timestamp("2024-03-01", tz=zone).utcoffset()


def test_unsupported_steps_and_labels_are_rejected():
    holidays = pd.offsets.CustomBusinessDay(holidays=["2024-03-06"])
    y = series(pd.date_range("2024-03-01", periods=9, freq=holidays))
    panel = read(y)
    assert panel.forecast(1, {"forecast": naive(panel, 1)}).index[0] == y.index[-1] + holidays
    with pytest.raises(ValueError, match="that can be stored by name"):
        files.pack(panel)
    y = pd.DataFrame({pd.Interval(0, 1): np.ones(9)}, DAYS[:9])
    with pytest.raises(ValueError, match="text, a number or a date"):
        files.pack(read(y))


# Invalid files --------------------------------------------------------------------------------

PANELS = {
    hold.__name__ + " " + kind: read(
        hold(INDEXES[kind][:30]), X if hold is not long else as_long(X), past=["u"]
    )
    for kind in ("days in Berlin", "month ends", "periods of months", "range", "years as numbers")
    for X in [drivers(INDEXES[kind][:33])]
    for hold in (series, wide, long)
}
ODD = [
    None, True, -1, 0, 2**60, 1.5, float("nan"), float("inf"), "", "x", "s", {"time": ""},
    {"tuple": [{"tuple": []}]}, {"tuple": ["a", 1]}, {"time": "2024-03-01"}, {"tuple": 1},
    "D", "-1D", "0D", "100000YS", "months 0", "months -1", "months 99999999", "Nowhere/None", [],
    {}, ["x"], [1], [None], [["x"]], [True], ["a", "a"], "levels", "category", "int64", "M8[D]",
]  # fmt: skip
ARRAYS = [
    np.zeros(0), np.zeros(3), np.zeros((3, 1)), np.full(1, np.nan), np.array([2**62]),
    np.array([-(2**62)]), np.array([-(2**63)]), np.array([10**18]), np.array([1], np.int32),
    np.array(3), np.array([True]), np.array([[10**15]]),
]  # fmt: skip


def places(plain):
    """Return all objects within plain values."""
    results = [plain]
    for inner in plain.values():
        results += places(inner) if isinstance(inner, dict) and inner else []
    return results


def check_load_or_reject(kind, data, path):
    name, tensors, values = copy.deepcopy(files.pack(PANELS[kind]))
    for _ in range(data.draw(st.integers(1, 2))):
        part = data.draw(st.sampled_from([tensors, *places(values)]))
        key = data.draw(st.sampled_from(sorted(part) or ["more"]))
        if data.draw(st.booleans()) and data.draw(st.booleans()):
            part.pop(key, None)
        else:
            odd = data.draw(st.sampled_from(ARRAYS if part is tensors else ODD))
            part[key] = copy.deepcopy(odd)  # later changes must not affect ODD or ARRAYS
    if data.draw(st.booleans()):
        correct_rows(tensors)
    files.write(path, name, tensors, values)
    try:
        panel = files.unpack(Panel, *files.read(path)[1:])
    except files.INVALID:
        return
    panel.forecast(3, {"forecast": [np.ones(3)] * len(panel)})
    files.pack(panel)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(PANELS)), st.data())
def test_changed_files_work_or_are_rejected(tmp_path_factory, kind, data):
    check_load_or_reject(kind, data, tmp_path_factory.getbasetemp() / "panel")


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(st.sampled_from(sorted(PANELS)), st.data())
def test_many_changed_files_work_or_are_rejected(tmp_path_factory, kind, data):
    check_load_or_reject(kind, data, tmp_path_factory.getbasetemp() / "panel")


def test_missing_fields_are_named():
    for panel in PANELS.values():
        _, tensors, values = files.pack(panel)
        for key in [*tensors, *values]:
            less = [{k: v for k, v in part.items() if k != key} for part in (tensors, values)]
            with pytest.raises(ValueError, match=key):
                files.unpack(Panel, *less)
