"""Collections of series are read from every format, with the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from eigenecho.data.collection import read_collection, read_labels
from optional import optional

pd = optional("pandas")

RNG = np.random.default_rng(0)
X3 = RNG.normal(size=(4, 6, 2))
X2 = RNG.normal(size=(4, 6))
RAGGED = [X3[0], X3[1][:3], X3[2][:5], X3[3]]
NAMES = ["d", "a", "c", "b"]


def read(X, layout="channels_last", id="unique_id", time="ds"):
    return read_collection(X, layout, id, time)


def long_frame(series, names=NAMES):
    parts = [
        pd.DataFrame({"unique_id": name, "ds": np.arange(len(x)), "u": x[:, 0], "v": x[:, 1]})
        for name, x in zip(names, series, strict=True)
    ]
    return pd.concat(parts).sample(frac=1, random_state=0)


def parts(series):
    return [series.rows[a:b] for a, b in zip(series.starts, series.starts[1:], strict=False)]


def assert_same(series, expected):
    assert len(series) == len(expected)
    for part, x in zip(parts(series), expected, strict=True):
        np.testing.assert_array_equal(part, np.reshape(x, (len(x), -1)))
    assert series.rows.dtype == np.float64
    assert series.rows.flags.c_contiguous


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (X2, X2),
        (X2.tolist(), X2),
        (list(X2), X2),
        (tuple(X2), X2),
        (X2.astype(object), X2),
        (np.asfortranarray(X2), X2),
        (X2[:, ::2], X2[:, ::2]),
        (X3, X3),
        (X3.astype(object), X3),
        (X3.tolist(), X3),
        (list(X3), X3),
        (X3.transpose(1, 0, 2).transpose(1, 0, 2), X3),
        (RAGGED, RAGGED),
        ([x[:, 0] for x in RAGGED], [x[:, 0] for x in RAGGED]),
        ([x[:, 0].tolist() for x in RAGGED], [x[:, 0] for x in RAGGED]),
        ([tuple(x[:, 0]) for x in RAGGED], [x[:, 0] for x in RAGGED]),
        ([X3[0][:, :1], X2[1]], [X3[0][:, :1], X2[1]]),
        ((10 * X2).astype(int), (10 * X2).astype(int)),
        (X2 > 0, X2 > 0),
        (X2.astype(np.float32), X2.astype(np.float32)),
    ],
)
def test_arrays_and_lists(X, expected):
    assert_same(read(X), expected)


def test_ragged_object_array():
    X = np.empty(len(RAGGED), object)
    X[:] = RAGGED
    assert_same(read(X), RAGGED)


def test_channels_first():
    assert_same(read(X3.transpose(0, 2, 1), "channels_first"), X3)
    assert_same(read([x.T for x in RAGGED], "channels_first"), RAGGED)
    assert_same(read(X2, "channels_first"), X2)


def test_arrays_are_not_copied():
    assert np.shares_memory(read(X2).rows, X2)
    assert np.shares_memory(read(X3).rows, X3)


def test_frames_of_pandas():
    assert_same(read(pd.DataFrame(X2)), X2)
    assert_same(read([pd.DataFrame(x) for x in RAGGED]), RAGGED)
    assert_same(read([pd.Series(x) for x in X2]), X2)


def test_columns_of_frames_in_a_list_are_channels():
    frames = [pd.DataFrame(x, columns=["u", "v"]) for x in RAGGED]
    series = read(frames)
    assert_same(series, RAGGED)
    assert series.channels == ("u", "v")
    with pytest.raises(ValueError, match=r"columns \('v', 'u'\) in series 1"):
        read([frames[0], frames[1][["v", "u"]]])
    assert read([x.T for x in frames], "channels_first").channels is None


def test_wide_frames_may_have_ids_as_index():
    frame = long_frame(X3).pivot(index="unique_id", columns="ds", values="u")
    assert_same(read(frame), frame.to_numpy())
    with pytest.raises(ValueError, match=r"X\.set_index\('unique_id'\)"):
        read(frame.reset_index())
    assert_same(read(frame.reset_index().set_index("unique_id")), frame.to_numpy())


def test_long_frame_is_sorted_by_id_and_time():
    series = read(long_frame(RAGGED))
    order = np.argsort(NAMES)
    assert list(series.ids) == sorted(NAMES)
    assert series.channels == ("u", "v")
    assert_same(series, [RAGGED[i] for i in order])


def test_names_of_the_columns_of_a_long_frame():
    frame = long_frame(RAGGED).rename(columns={"unique_id": "device", "ds": "at"})
    series = read(frame, id="device", time="at")
    assert series.ids.name == "device"
    assert series.channels == ("u", "v")


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_long_frames_of_other_libraries(library):
    module = pytest.importorskip(library)
    frame = long_frame(RAGGED)
    convert = module.from_pandas if library == "polars" else module.Table.from_pandas
    expected, series = read(frame), read(convert(frame.reset_index(drop=True)))
    np.testing.assert_array_equal(series.rows, expected.rows)
    labels = series.restore(np.array([1, 2, 3, 4]), ["label"])
    columns = getattr(labels, "column_names", getattr(labels, "columns", None))
    assert list(columns) == ["unique_id", "label"]
    assert type(labels).__module__.startswith(library)


def test_results_have_the_format_of_the_series():
    values = np.arange(8.0).reshape(4, 2)
    assert read(X2).restore(values, "ab") is values
    series = read(long_frame(RAGGED))
    frame = series.restore(values, ["a", "b"])
    assert list(frame.index) == sorted(NAMES)
    assert frame.index.name == "unique_id"
    assert list(frame.columns) == ["a", "b"]
    column = series.restore(values[:, 0], ["label"])
    assert column.name == "label"
    assert column["d"] == 6


def test_slices_are_views():
    series = read(RAGGED)
    assert_same(series[1:3], RAGGED[1:3])
    assert np.shares_memory(series[1:3].rows, series.rows)
    np.testing.assert_array_equal(series.lengths, [6, 3, 5, 6])


# Bad input ----------------------------------------------------------------------------------------


def changed(X, where, value):
    X = np.array(X, dtype=float)
    X[where] = value
    return X


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (changed(X2, (3, 4), np.nan), "NaN in row 4 of series 3"),
        (changed(X3, (1, 2, 1), np.inf), "infinity in row 2, column 1 of series 1"),
        ([X2[0], changed(X2[1], 5, -np.inf)], "-infinity in row 5 of series 1"),
        (np.ma.masked_less(X2, 0), "NaN in row"),
        (list(np.ma.masked_less(X2, 0)), "NaN in row"),
        (np.full((2, 3), 10**400, object), r"row 0, column 0, .* too large to convert"),
        (X2[:, :1], "at least 2 rows"),
        (X2[:, :0], r"0 feature\(s\)"),
        (X3[:, :1], "at least 2 rows"),
        (X2[:, None], "layout='channels_first'"),
        ([X2[0], X2[1][:1]], "1 row in series 1"),
        ([X2[0], []], "0 rows in series 1"),
        (X2[:0], "0 series"),
        ([], "0 series"),
        (X3[:, :, :0], "0 channels"),
        ([X3[0], X3[1][:, :1]], r"1 channel in series 1.*layout='channels_first'"),
        (X2[0], "Reshape your data"),
        ([1.0, 2.0], "Reshape your data"),
        (X3[None], r"shape \(1, 4, 6, 2\)"),
        (None, "NoneType"),
        ("text", "X='text'"),
        (3, "X=3"),
        ({"a": X2[0]}, "dict"),
        (X2 + 1j, "Complex data not supported"),
        (X3 + 1j, "Complex data not supported"),
        (np.full((3, 5), "a"), "real numbers"),
        ([["a", "b"]], "real numbers"),
        (X2.astype("M8[s]"), "real numbers"),
        ([[[1.0, 2.0], [3.0]]], "rows of different lengths"),
    ],
)
def test_bad_series(X, words):
    with pytest.raises(ValueError, match=words):
        read(X)


def test_sparse_matrices_are_rejected():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="X: got a sparse matrix"):
        read(sparse.csr_matrix(X2))


def test_unknown_layout():
    with pytest.raises(ValueError, match="Unknown layout='rows'"):
        read(X2, "rows")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda frame: frame.drop(columns="ds"), "no column 'ds'"),
        (lambda frame: frame.drop(columns="unique_id"), "no column 'unique_id'"),
        (lambda frame: frame.set_index(["unique_id", "ds"]), r"no column .* X.reset_index\(\)"),
        (lambda frame: frame.drop(columns=["u", "v"]), "only times"),
        (lambda frame: frame[:0], "0 series"),
        (lambda frame: frame[frame.ds < 1], "1 row in series 'a'"),
        (lambda frame: pd.concat([frame, frame]), "several rows at"),
        (lambda frame: frame.assign(u="x"), "real numbers"),
        (lambda frame: frame.assign(u=np.nan), "NaN in row 0, column 'u' of series 'a'"),
        (lambda frame: frame.assign(unique_id=None), "no 'unique_id' in row 0"),
        (lambda frame: frame.assign(unique_id=[[1]] * len(frame)), "column 'unique_id'"),
    ],
)
def test_bad_long_frames(change, words):
    with pytest.raises(ValueError, match=words):
        read(change(long_frame(RAGGED)))


# Labels -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ([1, 2, 1, 2], np.array([1, 2, 1, 2])),
        (("a", "bb", "a", "bb"), np.array(["a", "bb", "a", "bb"])),
        (np.array([1, 0, 1, 0], bool), np.array([True, False, True, False])),
        (np.array(["a", "b", "a", "b"], object), np.array(["a", "b", "a", "b"])),
        (np.array([1, 2, 1, 2], object), np.array([1, 2, 1, 2])),
        (np.array([1.0, 2.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0, 2.0])),
        (np.array([1, 2, 1, 2], np.int8), np.array([1, 2, 1, 2], np.int8)),
        (np.array(list("abab"), np.dtypes.StringDType()), np.array(list("abab"))),
        (np.ma.array([1, 2, 1, 2]), np.array([1, 2, 1, 2])),
    ],
)
def test_labels_of_any_type(y, expected):
    labels = read_labels(y, read(X2))
    assert labels.dtype == expected.dtype
    np.testing.assert_array_equal(labels, expected)


def test_labels_of_pandas():
    series = read(X2)
    for y in (pd.Series([1, 2, 1, 2], dtype="Int64"), pd.Series([1, 2, 1, 2], index=list("abcd"))):
        np.testing.assert_array_equal(read_labels(y, series), [1, 2, 1, 2])
    np.testing.assert_array_equal(read_labels(pd.Categorical(list("abab")), series), list("abab"))
    with pytest.raises(ValueError, match="for series 1"):
        read_labels(pd.Series([1, None, 1, 2], dtype="Int64"), series)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1, 2, 1], "3 labels"),
        ([1, None, 1, 2], "None for series 1"),
        ([1, 2, np.nan, 2], "nan for series 2"),
        (np.array([np.nan, 1, 2, 3]), "nan for series 0"),
        (np.array([1, np.inf, 2, 3]), "inf for series 1"),
        (np.array(["a", np.nan, "b", "c"], object), "nan for series 1"),
        (np.array(["2020", "NaT", "2021", "2022"], "M8[D]"), "NaT for series 1"),
        (np.ma.array([1, 2, 1, 2], mask=[0, 0, 1, 0]), "None for series 2"),
        ([1, "a", 1, "a"], "text and numbers"),
        (["a\0", "a", "a\0", "a"], "labels that differ"),
        ([2**53 + 1, 2**53, 0.5, 0.5], "labels that differ"),
    ],
)
def test_bad_labels(y, words):
    with pytest.raises(ValueError, match=words):
        read_labels(y, read(X2))


def test_labels_by_id():
    series = read(long_frame(RAGGED))
    y = dict(zip(NAMES, [1, 2, 3, 4], strict=True))
    for labels in (y, pd.Series(y), y | {"another": 5}):
        np.testing.assert_array_equal(read_labels(labels, series), [2, 4, 3, 1])
    with pytest.raises(ValueError, match="no label for series 'd'"):
        read_labels(dict.fromkeys("abc", 1), series)
    with pytest.raises(ValueError, match="None for series 'b'"):
        read_labels(y | {"b": None}, series)
    with pytest.raises(ValueError, match="a duplicate id"):
        read_labels(pd.Series([1, 2], index=["a", "a"]), series)
    with pytest.raises(ValueError, match="a dict from ids to labels"):
        read_labels([1, 2, 3, 4], series)
