"""Input and output of series as arrays and lists."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from eigenecho import files
from eigenecho.data.panel import Panel, read
from eigenecho.types import Forecast

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
Y = RNG.normal(size=(20, 3))
X = RNG.normal(size=(20, 2))


def held(kind):
    return {"single": Y[:, 0], "columns": Y, "list": [Y[:, 0], Y[:15, 1]]}[kind]


def drivers(kind, rows=20, columns=2):
    one = RNG.normal(size=(rows, columns))
    return [one, one[:15] if rows == 20 else one + 1] if kind == "list" else one


@given(
    arrays.arrays(
        st.sampled_from(["f8", "f4", "i4", "u2"]),
        arrays.array_shapes(min_dims=1, max_dims=2, max_side=6),
        elements=st.integers(0, 100),
    )
)
def test_values_are_read_unchanged(y):
    panel = read(y)
    columns = y[:, None] if y.ndim == 1 else y
    np.testing.assert_array_equal(np.stack([h.values for h in panel.histories], 1), columns)
    assert all(h.values.dtype == np.float64 for h in panel.histories)
    back = panel.forecast(len(y), {"forecast": [h.values for h in panel.histories]})
    np.testing.assert_array_equal(back, y)
    assert back.shape == y.shape


def test_input_arrays_are_copied():
    y, x = Y[:, 0].copy(), X.copy()
    panel = read(y, x, past=1)
    y[:], x[:] = 7, 7
    history = panel.histories[0]
    np.testing.assert_array_equal(history.values, Y[:, 0])
    np.testing.assert_array_equal(history.known, X[:, :1])
    np.testing.assert_array_equal(history.past, X[:, 1:])


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ([1, 2, None], [1, 2, np.nan]),
        (np.ma.masked_equal([1, 2, 3], 2), [1, np.nan, 3]),
        (np.array([Decimal("1.5"), Fraction(1, 4), 3, None], object), [1.5, 0.25, 3, np.nan]),
        (np.array([1, pd.NA, pd.NaT], object), [1, np.nan, np.nan]),
        ((1, 2.5), [1, 2.5]),
        (range(3), [0, 1, 2]),
        ([np.nan, 1, np.nan], [np.nan, 1, np.nan]),
    ],
)
def test_numbers_of_any_kind(y, expected):
    np.testing.assert_array_equal(read(y).histories[0].values, expected)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (5, "type int"),
        ("abc", "type str"),
        ({"a": [1]}, "type dict"),
        ([], "shape (0,)"),
        (np.zeros((2, 2, 2)), "shape (2, 2, 2)"),
        (np.zeros((3, 0)), "shape (3, 0)"),
        ([np.zeros(3), np.zeros(0)], "0 rows in series 1"),
        ([np.zeros(3), np.zeros((2, 1))], "y[1]: got shape (2, 1)"),
        ([[1, 2], [3, 4]], "y[0]: got an object of type list"),
        ([np.zeros(3), pd.Series([1.0])], "y[1]: got an object of type Series"),
        ([True, False], "dtype bool"),
        ([1j, 2], "dtype complex128"),
        (["a", "b"], "dtype <U1"),
        (np.array([1, "a"], object), "'a' in row 1"),
        (np.array([1, True], object), "True in row 1"),
        (np.array([1, 10**400], object), "in row 1"),
        (np.array(["2024-01-01"], "M8[D]"), "dtype datetime64"),
        ([1, np.inf], "infinity in row 1"),
        (np.array([[1, 2], [3, -np.inf]]), "-infinity in row 1, column 1"),
        ([np.ones(2), np.array([1, np.inf])], "y[1]: got infinity in row 1"),
        ([np.nan, np.nan], "only missing values"),
        (np.array([[1, np.nan]]), "only missing values in series 1"),
    ],
)
def test_invalid_series(y, words):
    with pytest.raises((ValueError, TypeError)) as caught:
        read(y)
    assert words in str(caught.value)
    assert "Invalid y" in str(caught.value) or "y[" in str(caught.value)


def test_long_doubles_beyond_the_range_are_infinite():
    y = np.array([1, 1], np.longdouble)
    if np.finfo(y.dtype).max == np.finfo(np.float64).max:
        pytest.skip("long doubles are doubles here")
    y[1] = np.longdouble(10) ** 400
    with pytest.raises(ValueError, match="infinity in row 1"):
        read(y)


def test_arrays_do_not_need_pandas():
    code = (
        "import sys\n"
        "sys.modules['pandas'] = None\n"
        "from eigenecho import files\n"
        "from eigenecho.data.panel import Panel, read\n"
        "from eigenecho.data.origins import origins\n"
        "panel = read([1.0, None, 3.0], [1, 2, 3])\n"
        "files.unpack(Panel, *files.pack(panel)[1:])\n"
        "panel.follow([4.0], [4])\n"
        "panel.future([1, 2], 2)\n"
        "origins(panel, 1, 1)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


# Results --------------------------------------------------------------------------------------


def answers(panel, horizon, *more):
    return [RNG.normal(size=(horizon, *more)) for _ in panel.histories]


def test_forecasts_of_one_series():
    panel = read(held("single"))
    mean, lower, upper = (answers(panel, 4) for _ in range(3))
    np.testing.assert_array_equal(panel.forecast(4, {"forecast": mean}), mean[0])
    result = panel.forecast(4, {"forecast": mean, "lower": lower, "upper": upper})
    assert isinstance(result, Forecast)
    assert [part.shape for part in result] == [(4,)] * 3
    quantiles = answers(panel, 4, 2)
    result = panel.forecast(
        4, {"q0.1": [q[:, 0] for q in quantiles], "q0.9": [q[:, 1] for q in quantiles]}
    )
    np.testing.assert_array_equal(result, quantiles[0])
    rolled = [RNG.normal(size=(5, 4))]
    np.testing.assert_array_equal(panel.rolling([np.arange(5)], rolled), rolled[0])


def test_forecasts_of_columns():
    panel = read(held("columns"))
    mean, lower, upper = (answers(panel, 4) for _ in range(3))
    result = panel.forecast(4, {"forecast": mean, "lower": lower, "upper": upper})
    np.testing.assert_array_equal(result.upper[:, 2], upper[2])
    assert result.mean.shape == (4, 3)
    quantiles = answers(panel, 4, 2)
    result = panel.forecast(
        4, {"q0.1": [q[:, 0] for q in quantiles], "q0.9": [q[:, 1] for q in quantiles]}
    )
    assert result.shape == (4, 3, 2)
    np.testing.assert_array_equal(result[:, 1], quantiles[1])
    rolled = [RNG.normal(size=(5, 4)) for _ in range(3)]
    result = panel.rolling([np.arange(5)] * 3, rolled)
    assert result.shape == (5, 4, 3)
    np.testing.assert_array_equal(result[:, :, 1], rolled[1])


def test_forecasts_of_a_list():
    panel = read(held("list"))
    assert [len(h) for h in panel.histories] == [20, 15]
    assert [h.name for h in panel.histories] == [0, 1]
    mean, lower, upper = (answers(panel, 4) for _ in range(3))
    result = panel.forecast(4, {"forecast": mean, "lower": lower, "upper": upper})
    assert isinstance(result, list)
    np.testing.assert_array_equal(result[1].lower, lower[1])
    result = panel.forecast(4, {"forecast": mean})
    assert isinstance(result, list)
    np.testing.assert_array_equal(result[1], mean[1])


# Columns of X ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["single", "columns", "list"])
def test_known_and_past_columns(kind):
    x = drivers(kind)
    panel = read(held(kind), x, past=[0])
    assert (panel.known_names, panel.past_names) == (("x1",), ("x0",))
    for i, history in enumerate(panel.histories):
        one = x[i] if kind == "list" else x
        np.testing.assert_array_equal(history.known, one[:, 1:])
        np.testing.assert_array_equal(history.past, one[:, :1])
    ahead = drivers(kind, 4, 1)
    for i, rows in enumerate(panel.future(ahead, 4)):
        np.testing.assert_array_equal(rows, ahead[i] if kind == "list" else ahead)


def test_single_column_may_be_1d():
    panel = read(Y[:, 0], X[:, 0])
    np.testing.assert_array_equal(panel.histories[0].known, X[:, :1])
    np.testing.assert_array_equal(panel.future([1, 2], 2)[0], [[1], [2]])
    assert panel.histories[0].past.shape == (len(X), 0)


def test_no_columns_have_no_future_values():
    panel = read(Y)
    assert [rows.shape for rows in panel.future(None, 5)] == [(5, 0)] * 3
    panel = read(Y, X, past=["x0", 1])
    assert panel.histories[0].known.shape == (len(X), 0)
    assert panel.future(None, 5)[0].shape == (5, 0)


def test_gaps_of_past_columns_are_filled_forward():
    x = np.array([[np.nan], [2], [np.nan], [np.nan], [5]])
    panel = read(np.arange(5.0), x, past=[0])
    np.testing.assert_array_equal(panel.histories[0].past[:, 0], [np.nan, 2, 2, 2, 5])
    more = panel.follow([1.0, 2.0], [np.nan, 7.0])
    np.testing.assert_array_equal(more.histories[0].past[:, 0], [np.nan, 2, 2, 2, 5, 5, 7])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((Y, X[:10]), "shape (20, k)"),
        ((Y, np.zeros((20, 0))), "shape (20, k)"),
        ((Y, np.zeros((20, 1, 1))), "X: got shape (20, 1, 1)"),
        ((Y, pd.DataFrame(X)), "X: got an object of type DataFrame"),
        ((Y, np.full((20, 1), np.inf)), "X: got infinity in row 0, column 0"),
        ((Y, np.where(np.arange(20) == 3, np.nan, 1.0)), "NaN in column 'x0' at 3"),
        ((held("list"), X), "a list of 2 arrays"),
        ((held("list"), [X]), "a list of 2 arrays"),
        ((held("list"), [X, X[:14]]), "X[1]: got shape (14, 2)"),
        ((held("list"), [X, X[:15, :1]]), "X: got no column 'x1'"),
    ],
)
def test_inconsistent_columns(arguments, words):
    with pytest.raises(ValueError) as caught:
        read(*arguments)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("x", "past", "words"),
    [
        (X, [2], "Unknown past=2"),
        (X, ["x7"], "Unknown past='x7'"),
        (X, [0, 0], "each column to be listed only once"),
        (X, [0, "x0"], "each column to be listed only once"),
        (None, [0], "X is not given"),
        (X, 1.5, "past=1.5"),
    ],
)
def test_unknown_columns(x, past, words):
    with pytest.raises(ValueError) as caught:
        read(Y, x, past=past)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("fitted", "ahead", "words"),
    [
        (None, X[:4], "expected None, because"),
        (X, None, "4 rows of x0, x1 after the end"),
        (X, X[:3], "shape (4, 2)"),
        (X, X[:4, :1], "X: got shape (4, 1)"),
        (X, np.where(np.arange(8).reshape(4, 2) == 5, np.nan, 1), "NaN in column 'x1' at 22"),
    ],
)
def test_inconsistent_future_columns(fitted, ahead, words):
    panel = read(Y, fitted)
    with pytest.raises(ValueError) as caught:
        panel.future(ahead, 4)
    assert words in str(caught.value)


# More rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["single", "columns", "list"])
def test_new_rows_are_appended(kind):
    y, x = held(kind), drivers(kind)
    cut = (lambda a, s: [one[s] for one in a]) if kind == "list" else (lambda a, s: a[s])
    first, rest = slice(None, 12), slice(12, None)
    start = read(cut(y, first), cut(x, first), past=[1])
    joined = start.follow(cut(y, rest), cut(x, rest))
    whole = read(y, x, past=[1])
    for one, other in zip(joined.histories, whole.histories, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.known, other.known)
        np.testing.assert_array_equal(one.past, other.past)
        assert one.name == other.name
    assert [len(h) for h in start.histories] == [12] * len(start)


def test_new_rows_of_a_list_may_be_empty_or_missing():
    panel = read(held("list"))
    joined = panel.follow([np.array([np.nan]), np.zeros(0)])
    assert [len(h) for h in joined.histories] == [21, 15]
    assert np.isnan(joined.histories[0].values[-1])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p: p.read_context(Y), "context: got an array (T, D)"),
        (lambda p: p.read_context([]), "Invalid context"),
        (lambda p: p.read_context(Y[:, 0]), "context_X=None"),
        (lambda p: p.read_context(Y[:, 0], X[:3]), "context_X: got shape (3, 2)"),
        (lambda p: p.read_context(Y[:, 0], X[:3], name="y", X_name="X"), "X: got shape (3, 2)"),
        (lambda p: p.follow(Y[:2], X[:2]), "y_new: got an array (T, D)"),
        (lambda p: p.follow(Y[:2, 0]), "X_new=None"),
        (lambda p: p.follow([np.inf], X[:1]), "y_new: got infinity in row 0"),
    ],
)
def test_rows_in_another_container(call, words):
    panel = read(Y[:, 0], X)
    with pytest.raises(ValueError) as caught:
        call(panel)
    assert words in str(caught.value)


def test_other_numbers_of_series():
    panel = read(Y)
    assert len(panel.read_context(Y[:, :2])) == 2
    with pytest.raises(ValueError, match=r"y_new: got 2 series.* expected 3 series"):
        panel.follow(Y[:, :2])


@pytest.mark.parametrize("kind", ["single", "columns", "list"])
def test_panels_in_files(kind):
    panel = read(held(kind), drivers(kind), past=[1])
    loaded = files.unpack(Panel, *files.pack(panel)[1:])
    assert (loaded.form, loaded.labels, loaded.columns) == (panel.form, panel.labels, panel.columns)
    for one, other in zip(loaded.histories, panel.histories, strict=True):
        np.testing.assert_array_equal(one.times, other.times)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "triple"}, {"kind": None}, {"kind": "wide"},
        {"is_range": False},
        {"labels": [1, 0]}, {"labels": [0, 5]}, {"labels": None}, {"past": "01"}, {"more": 1},
        {"past": [5]}, {"past": ["x5"]}, {"past": [[1]]}, {"labels": ["x1", "x1"]},
    ],
)  # fmt: skip
def test_invalid_values_in_a_file(change):
    _, tensors, values = files.pack(read(Y[:, 0], X, past=[1]))
    for name, value in change.items():
        place = next((values[p] for p in ("columns", "form") if name in values[p]), values)
        place[name] = value
    with pytest.raises(ValueError):
        files.unpack(Panel, tensors, values)


def test_missing_values_in_a_file():
    _, tensors, values = files.pack(read(Y[:, 0], X))
    for key in values:
        with pytest.raises(ValueError, match=key):
            files.unpack(Panel, tensors, {k: v for k, v in values.items() if k != key})
    with pytest.raises(ValueError, match="more"):
        files.unpack(Panel, tensors | {"more": np.zeros(3)}, values)
