"""Input and output of single, stacked and ragged series, and invalid input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import naive
from eigenecho.series import Container, as_rows, as_series, shifted, unpack, unpack_outputs

pd = pytest.importorskip("pandas")

ONE = np.arange(10.0).reshape(5, 2)


# Input


def test_single_series():
    items, container = as_series(ONE, "X")
    assert container == Container("single", False)
    assert len(items) == 1
    np.testing.assert_array_equal(items[0], ONE)


@pytest.mark.parametrize("as_list", [list, tuple])
def test_ragged_list(as_list):
    items, container = as_series(as_list([ONE, ONE[:3], ONE[:1]]), "X", D=2)
    assert container == Container("list", False)
    assert [len(x) for x in items] == [5, 3, 1]
    np.testing.assert_array_equal(items[1], ONE[:3])


def test_stack():
    stack = np.stack([ONE, -ONE, 2 * ONE])
    items, container = as_series(stack, "X")
    assert container == Container("stack", False)
    np.testing.assert_array_equal(items, stack)


def test_nested_lists_of_numbers_are_one_series():
    items, container = as_series(ONE.tolist(), "X")
    assert container.kind == "single"
    np.testing.assert_array_equal(items[0], ONE)
    items, container = as_series([ONE.tolist(), ONE[:2].tolist()], "X")
    assert container.kind == "list"
    assert [x.shape for x in items] == [(5, 2), (2, 2)]


def test_frames():
    frame = pd.DataFrame(ONE, columns=["a", "b"])
    items, container = as_series(frame, "X")
    assert container.kind == "single"
    np.testing.assert_array_equal(items[0], ONE)
    items, container = as_series([frame, frame[:2]], "X")
    assert container.kind == "list"
    assert [x.shape for x in items] == [(5, 2), (2, 2)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "given", [ONE.astype(int), ONE > 3, ONE.astype(np.float16), ONE.T.copy().T]
)
def test_rows_are_contiguous_and_have_the_requested_dtype(given, dtype):
    rows = as_rows(given, "X", dtype=dtype)
    assert rows.dtype == dtype
    assert rows.flags.c_contiguous
    np.testing.assert_array_equal(rows, given)


def test_series_may_have_no_rows_or_columns():
    assert as_rows(np.empty((0, 3)), "X").shape == (0, 3)
    assert as_rows(np.empty((4, 0)), "X", D=0).shape == (4, 0)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.arange(5.0), r"X: got shape \(5,\).*2-D.*X\.reshape\(-1, 1\)"),
        ([1.0, 2.0], r"reshape\(-1, 1\)"),
        (3.0, "2-D"),
        (np.ones((2, 2, 2, 2)), "2-D"),
        ([], "2-D"),
        (np.empty((0, 5, 1)), "at least one series"),
        (ONE * 1j, "real numbers"),
        (np.array([["a", "b"]]), "real numbers"),
        (np.array([[None, 1.0]]), "NaN in row 0, column 0"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "real numbers"),
        (np.array([[1.0, np.nan]]), "NaN in row 0, column 1;.*finite.*missing values"),
        (np.array([[1.0, np.inf]]), "infinity in row 0, column 1;.*finite"),
        ([ONE, ONE * np.nan], "NaN in row 0, column 0 of series 1;.*finite"),
        (np.ones((5, 3)), "2 columns"),
        ([ONE, np.ones((5, 3))], "2 columns"),
        ([ONE, np.ones(5)], "2-D"),
    ],
)
def test_invalid_series(X, message):
    with pytest.raises(ValueError, match=message):
        as_series(X, "X", D=2)


def test_sparse_series():
    with pytest.raises(TypeError, match=r"X: .*X\.toarray\(\)"):
        as_series(scipy.sparse.eye(2), "X", D=2)


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match=r"y_previous[=:]"):
        as_rows(np.ones(3), "y_previous")


# Outputs in the same container as the inputs


@pytest.mark.parametrize(
    ("y", "like", "shapes", "flat"),
    [
        (np.ones(5), "single", [(5, 1)], True),
        ([1.0, 2.0, 3.0], "single", [(3, 1)], True),
        (np.ones((5, 1)), "single", [(5, 1)], False),
        (np.ones((5, 2)), "single", [(5, 2)], False),
        ([np.ones(5), np.ones(3)], "list", [(5, 1), (3, 1)], True),
        ([np.ones((5, 2)), np.ones((3, 2))], "list", [(5, 2), (3, 2)], False),
        ([np.ones(5), np.ones((3, 1))], "list", [(5, 1), (3, 1)], False),
        (np.ones((2, 5)), "stack", [(5, 1), (5, 1)], True),
        (np.ones((2, 5, 3)), "stack", [(5, 3), (5, 3)], False),
        (pd.Series([1.0, 2.0]), "single", [(2, 1)], True),
        ([pd.Series([1.0, 2.0]), pd.Series([1.0])], "list", [(2, 1), (1, 1)], True),
    ],
)
def test_outputs(y, like, shapes, flat):
    columns, container = unpack_outputs(y, "y", Container(like))
    assert [np.shape(c) for c in columns] == shapes
    assert container == Container(like, flat)


@pytest.mark.parametrize(
    ("y", "like"),
    [
        (np.ones(5), "list"),
        (np.ones(5), "stack"),
        (3.0, "single"),
        (np.ones((2, 5, 3)), "single"),
        ([np.ones((2, 3, 4))], "list"),
        ([1.0, 2.0], "list"),
    ],
)
def test_outputs_that_do_not_match_the_inputs(y, like):
    with pytest.raises(ValueError, match=r"y[=:]"):
        unpack_outputs(y, "y", Container(like))


# Results


@pytest.mark.parametrize("flat", [False, True])
def test_restore(flat):
    arrays = [np.arange(4.0)[:, None], np.arange(4.0, 8.0)[:, None]]
    end = () if flat else (1,)
    single = Container("single", flat).restore(arrays[:1])
    assert single.shape == (4, *end)
    listed = Container("list", flat).restore([arrays[0], arrays[1][:2]])
    assert isinstance(listed, list)
    assert [a.shape for a in listed] == [(4, *end), (2, *end)]
    stacked = Container("stack", flat).restore(arrays)
    assert stacked.shape == (2, 4, *end)
    np.testing.assert_array_equal(stacked.ravel(), np.arange(8.0))


@given(
    X=st.one_of(
        npst.arrays(float, npst.array_shapes(min_dims=2, max_dims=3), elements=st.floats(-9, 9)),
        st.lists(
            npst.arrays(float, st.tuples(st.integers(1, 5), st.just(2)), elements=st.floats(-9, 9)),
            min_size=1,
            max_size=4,
        ),
    )
)
def test_restore_inverts_the_conversion(X):
    items, container = unpack(X)
    back = container.restore(items)
    assert isinstance(back, type(X))
    for a, b in zip(back, X, strict=True):
        np.testing.assert_array_equal(a, b)


# y(t−1)


@given(
    y=npst.arrays(float, st.tuples(st.integers(0, 6), st.integers(1, 3)), elements=st.floats(-9, 9))
)
def test_shifted(y):
    np.testing.assert_array_equal(shifted(y), naive.shifted(y))
    first = np.full(y.shape[1], 3.0)
    result = shifted(y, first)
    np.testing.assert_array_equal(result, naive.shifted(y, first))
    assert result.shape == y.shape
    assert not np.shares_memory(result, y)


def test_shifted_keeps_the_dtype():
    assert shifted(np.ones((3, 1), np.float32)).dtype == np.float32


def test_cells_that_contain_lists_are_named():
    X = np.full((5, 1), 1.0, object)
    X[2, 0] = [1.0, 2.0]
    with pytest.raises(TypeError, match=r"X: got \[1.0, 2.0\] in row 2, column 0"):
        as_series(X, "X")
    X[2, 0] = 10**400
    with pytest.raises(ValueError, match=r"X: got 10{38}… in row 2"):
        as_series(X, "X")
