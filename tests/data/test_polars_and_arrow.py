"""Frames of polars and PyArrow are read like pandas frames or rejected, and results match."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest

import eigenecho as ee
from eigenecho import files
from eigenecho.data.panel import Panel, read
from optional import optional

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = optional("pyarrow")

T = 24
RNG = np.random.default_rng(0)
VALUES = {"a": RNG.normal(size=T), "b": RNG.normal(size=T)}
DAYS = pd.date_range("2024-03-20", periods=T, unit="us")
DATES = [day.date() for day in DAYS]


def long_pl(ds=DATES, ids=("a", "b"), **more):
    """Return a long frame of two series; an additional column has one value per row of a series."""
    parts = [
        pl.DataFrame({"unique_id": pl.Series([name] * T), "ds": ds, "y": VALUES[key], **more})
        for name, key in zip(ids, "ab", strict=True)
    ]
    return pl.concat(parts)


def long_pd(ds=DAYS, ids=("a", "b")):
    parts = [
        pd.DataFrame({"unique_id": name, "ds": ds, "y": VALUES[key]})
        for name, key in zip(ids, "ab", strict=True)
    ]
    return pd.concat(parts, ignore_index=True)


def wide_pl(time="ds", dates=DATES):
    return pl.DataFrame({time: dates, **VALUES})


def wide_pd(index=DAYS):
    return pd.DataFrame(VALUES, index.rename("ds"))


def stamps(unit="us", zone=None):
    found = pl.Series(DAYS.to_pydatetime().tolist()).cast(pl.Datetime(unit))
    return found if zone is None else found.dt.replace_time_zone(zone)


def with_y(values):
    return long_pl().with_columns(y=pl.Series(values))


def floats(values):
    return long_pd().assign(y=np.array(values, float))


def cast(column, dtype):
    return long_pl().with_columns(pl.col(column).cast(dtype))


GAPPY = [None if i % 7 == 3 else i % 5 for i in range(2 * T)]
NUMBERS = [np.nan if i is None else i for i in GAPPY]
HOURS = pd.date_range("2024-03-30 12:00", periods=T, freq="h", tz="Europe/Berlin", unit="us")
MONTHS = pd.date_range("2023-01-31", periods=T, freq="ME", unit="us")
OLD = pd.date_range("1650-01-01", periods=T, freq="YS", unit="us")
INTEGERS = {dtype: getattr(pl, dtype) for dtype in ("Int8", "UInt16", "Int32", "UInt64", "Int64")}
READ = {
    "dates": (long_pl(), long_pd()),
    "milliseconds": (long_pl(stamps("ms")), long_pd()),
    "microseconds": (long_pl(stamps("us")), long_pd()),
    "nanoseconds": (long_pl(stamps("ns")), long_pd()),
    "UTC": (long_pl(stamps(zone="UTC")), long_pd(DAYS.tz_localize("UTC"))),
    "Berlin": (long_pl(stamps(zone="Europe/Berlin")), long_pd(DAYS.tz_localize("Europe/Berlin"))),
    "hours of summer time": (
        long_pl(pl.Series(HOURS.tz_convert("UTC").tz_localize(None).to_numpy())
                .dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin")),
        long_pd(HOURS),
    ),
    "month ends": (long_pl([day.date() for day in MONTHS]), long_pd(MONTHS)),
    "old dates": (long_pl([day.date() for day in OLD]), long_pd(OLD)),
    "text": (long_pl([str(day) for day in DATES]), long_pd()),
    "months first": (long_pl([day.strftime("%m/%d/%Y") for day in DATES]), long_pd()),
    "names of months": (long_pl([day.strftime("%d %b %Y") for day in DATES]), long_pd()),
    "integers as times": (long_pl(np.arange(T)), long_pd(np.arange(T))),
    "small integers as times": (long_pl(np.arange(T, dtype="i2")), long_pd(np.arange(T))),
    "numbers as times": (long_pl(np.arange(T) / 4), long_pd(np.arange(T) / 4)),
    "shuffled rows": (long_pl().sample(fraction=1, shuffle=True, seed=0), long_pd()),
    "reversed rows": (long_pl().reverse(), long_pd()),
    "missing rows": (long_pl().filter(pl.col("ds") != DATES[7]), long_pd().query("ds != @DAYS[7]")),
    "columns in another order": (long_pl().select("y", "unique_id", "ds"), long_pd()),
    "several chunks": (pl.concat([long_pl()[:9], long_pl()[9:]], rechunk=False), long_pd()),
    "one series": (long_pl()[:T], long_pd()[:T]),
    "integers as ids": (long_pl(ids=(3, 1)), long_pd(ids=(3, 1))),
    "truth values as ids": (long_pl(ids=(True, False)), long_pd(ids=(True, False))),
    "categories": (cast("unique_id", pl.Categorical), long_pd().astype({"unique_id": "category"})),
    "enumerated ids": (
        cast("unique_id", pl.Enum(["b", "a", "c"])),
        long_pd().assign(unique_id=lambda f: pd.Categorical(f.unique_id, ["b", "a", "c"])),
    ),
    "odd names": (long_pl(ids=("ü 'x'", "")), long_pd(ids=("ü 'x'", ""))),
    "nulls": (with_y(GAPPY), floats(NUMBERS)),
    "nulls of 8 bits": (with_y(pl.Series(GAPPY, dtype=pl.Int8)), floats(NUMBERS)),
    "nulls and NaN": (with_y([None, float("nan"), *NUMBERS[2:]]),
                      floats([np.nan, np.nan, *NUMBERS[2:]])),
    "decimals": (with_y([None if i is None else Decimal(i) / 4 for i in GAPPY]),
                 floats(np.array(NUMBERS) / 4)),
    "single precision": (cast("y", pl.Float32), long_pd().assign(y=np.r_[VALUES["a"], VALUES["b"]]
                                                                 .astype("f4"))),
    **{f"{name} as ids": (long_pl().with_columns(
        unique_id=pl.Series([2] * T + [1] * T, dtype=dtype)), long_pd(ids=(2, 1)))
       for name, dtype in INTEGERS.items()},
    "wide": (wide_pl(), wide_pd()),
    "wide, any name of times": (wide_pl("date"), wide_pd()),
    "wide, shuffled": (wide_pl().sample(fraction=1, shuffle=True, seed=1), wide_pd()),
    "wide, with a time zone": (wide_pl("t", stamps(zone="Europe/Berlin")),
                               wide_pd(DAYS.tz_localize("Europe/Berlin"))),
    "wide, integers as times": (wide_pl("ds", np.arange(T)), wide_pd(pd.Index(np.arange(T)))),
    "wide, text as times": (wide_pl("ds", [str(day) for day in DATES]), wide_pd()),
    "wide, one series": (wide_pl().select("ds", y="a"), wide_pd()[["a"]].set_axis(["y"], axis=1)),
}  # fmt: skip
REFUSED = {
    "no rows": (long_pl()[:0], "0 rows"),
    "no columns": (pl.DataFrame(), "0 rows|0 columns of dates"),
    "duplicate times": (
        pl.concat([long_pl(), long_pl()[:1]]), "several rows at 2024-03-20 in series 'a'"
    ),
    "duplicate times, wide": (pl.concat([wide_pl(), wide_pl()[:1]]), "several rows at 2024-03-20"),
    "null ids": (long_pl().with_columns(unique_id=pl.Series([None, *["a"] * (2 * T - 1)])),
                 "no 'unique_id' in row 0"),
    "null integer ids": (long_pl().with_columns(unique_id=pl.Series([None, *[1] * (2 * T - 1)])),
                         "no 'unique_id' in row 0"),
    "null categories": (long_pl().with_columns(
        unique_id=pl.Series([None, *["a"] * (2 * T - 1)], dtype=pl.Categorical)), "in row 0"),
    "null times": (long_pl([None, *DATES[1:]]), "no time in row 0"),
    "null times with a time zone": (long_pl(stamps(zone="UTC").shift(1)), "no time in row 0"),
    "null times as text": (long_pl([None, *map(str, DATES[1:])]), "no time in row 0"),
    "null times as integers": (long_pl(pl.Series([None, *range(1, T)])), "no time in row 0"),
    "only null": (with_y(pl.Series([None] * 2 * T, dtype=pl.Float64)), "only missing values"),
    "only null, without a type": (with_y([None] * 2 * T), "only missing values"),
    "truth values": (with_y([i % 2 == 0 for i in range(2 * T)]), "dtype bool.*real numbers"),
    "truth values and null": (with_y([None, True] * T), "True in row 1.*real numbers"),
    "text as values": (with_y(["1.5"] * 2 * T), "dtype (str|object).*numbers|'1.5' in row 0"),
    "categories as values": (with_y(pl.Series(["1"] * 2 * T, dtype=pl.Categorical)), "category"),
    "dates as values": (with_y(DATES * 2), "dtype datetime64.*real numbers"),
    "durations": (with_y([dt.timedelta(i) for i in range(2 * T)]), "'y' of type Duration"),
    "times of day": (with_y([dt.time(i % 24) for i in range(2 * T)]), "'y' of type Time"),
    "lists": (with_y([[1.0]] * 2 * T), "'y' of type List"),
    "structs": (with_y([{"a": 1.0}] * 2 * T), "'y' of type Struct"),
    "binary": (with_y([b"1"] * 2 * T), "'y' of type (Binary|Unknown)"),
    "infinity": (with_y([float("inf"), *range(1, 2 * T)]), "infinity in row 0"),
    "times that are no dates": (long_pl(["soon"] * T), "got 'soon' as the time"),
    "days first": (long_pl([day.strftime("%d/%m/%Y") for day in DATES[12:] + DATES[:12]]),
                   "dayfirst"),
    "days or months first": (long_pl([f"{1 + i % 12:02}/01/{2020 + i // 12}" for i in range(T)]),
                             "'02/01/2020'; expected unambiguous dates.*dayfirst"),
    "dots": (long_pl([f"01.{1 + i % 12:02}.{2020 + i // 12}" for i in range(T)]), "dayfirst"),
    "years of two digits": (long_pl([f"{20 + i:02}-02-03" for i in range(5)] * (T // 5) +
                                    ["25-02-03"] * (T % 5)), "yearfirst"),
    "irregular": (long_pl([*DATES[:-1], DATES[-1] + dt.timedelta(300)]), "a regular step"),
    "truth values as times": (long_pl([True, False] * (T // 2)), "times of dtype bool"),
    "further columns": (long_pl(price=np.ones(T)), "column 'price'.*as X"),
    "without ids": (long_pl().with_columns(shop=pl.col("unique_id")).drop("unique_id"),
                    "only some of the columns"),
    "without times": (long_pl().drop("ds"), "only some of the columns"),
    "without values": (long_pl().drop("y"), "only some of the columns"),
    "wide, two columns of dates": (wide_pl().rename({"ds": "t"}).with_columns(u=pl.col("t")),
                                   "2 columns of dates"),
    "wide, no times": (wide_pl().drop("ds"), "0 columns of dates"),
    "wide, text as values": (wide_pl().with_columns(c=pl.lit("x")), "column 'c'"),
    "wide, only times": (wide_pl().select("ds"), "0 columns"),
    "lazy": (long_pl().lazy(), r"LazyFrame.* collect\(\)"),
}  # fmt: skip


def in_library(frame, library):
    if library == "polars":
        return frame
    pytest.importorskip("pyarrow")
    if isinstance(frame, pl.LazyFrame):
        pytest.skip("PyArrow has no lazy frames")
    if any(isinstance(dtype, pl.Enum) for dtype in frame.schema.values()):
        pytest.skip("PyArrow has no such type")
    if any(isinstance(dtype, pl.Decimal) for dtype in frame.schema.values()):
        return pa.table({name: frame[name].to_arrow() for name in frame.columns})
    return frame.to_arrow()


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize("case", READ)
def test_frames_are_read_like_those_of_pandas(case, library, tmp_path):
    frame, same = READ[case]
    frame = in_library(frame, library)
    found, expected = read(frame), read(same)
    assert [h.name for h in found.histories] == [h.name for h in expected.histories]
    for one, other in zip(found.histories, expected.histories, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
    assert found.cycles == expected.cycles
    answers = [np.arange(3.0) + i for i in range(len(found))]
    result = found.forecast(3, {"forecast": answers})
    assert type(result) is type(frame)
    wanted = expected.forecast(3, {"forecast": answers})
    wanted = wanted.reset_index() if found.form.kind == "wide" else wanted
    for got, name in zip(columns_of(result), wanted.columns, strict=True):
        assert list(got) == list(wanted[name].array)


def columns_of(frame):
    """Return columns of plain Python values, with dates as timestamps."""
    names = frame.columns if isinstance(frame, pl.DataFrame) else frame.column_names
    for name in names:
        column = (
            frame[name].to_list() if isinstance(frame, pl.DataFrame) else frame[name].to_pylist()
        )
        is_date = isinstance(column[0], dt.date)
        yield [pd.Timestamp(value) for value in column] if is_date else column


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize("case", REFUSED)
def test_other_frames_are_rejected(case, library):
    frame, words = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=words):
        read(in_library(frame, library))


def test_arrow_tables_without_a_polars_equivalent():
    table = in_library(long_pl(), "pyarrow")
    with pytest.raises(ValueError, match="unique column names"):
        read(table.append_column("y", table["y"]))
    ids = pa.array([2] * T + [1] * T).dictionary_encode()
    assert [h.name for h in read(table.set_column(0, "unique_id", ids)).histories] == [1, 2]
    zoned = pa.array(DAYS.to_pydatetime().tolist() * 2, pa.timestamp("s", tz="+02:00"))
    panel = read(table.set_column(1, "ds", zoned))
    result = panel.forecast(1, {"forecast": [np.ones(1)] * 2})
    assert result["ds"].type.tz == "+02:00"
    with pytest.raises(ValueError, match="RecordBatch"):
        read(table.to_batches()[0])


# Results keep the library and the types of ids and times, also in files -------------------------


def fitted(y, X=None, **options):
    return ee.Forecaster(3, spectrum=ee.spectra.ring(6, sr=0.9), **options).fit(y, X)


@pytest.mark.parametrize(
    "dtypes",
    [
        {"unique_id": pl.String, "ds": pl.Date},
        {"unique_id": pl.Categorical, "ds": pl.Datetime("ms")},
        {"unique_id": pl.Enum(["b", "a"]), "ds": pl.Datetime("ns")},
    ],
)
def test_types_of_ids_and_times(dtypes, tmp_path):
    forecaster = fitted(long_pl().cast(dtypes))
    forecaster.save(tmp_path / "file")
    loaded = ee.load(tmp_path / "file")
    for one in (forecaster, loaded):
        found = one.predict(interval=0.9)
        assert {name: found.schema[name] for name in dtypes} == dtypes
    assert found.equals(forecaster.predict(interval=0.9))
    more = long_pl(ds=[day + dt.timedelta(T) for day in DATES]).cast(dtypes)
    assert loaded.update(more).predict().equals(forecaster.update(more).predict())
    rolled = forecaster.rolling(long_pl().cast(dtypes), 2)
    assert rolled.columns == ["unique_id", "cutoff", "ds", "forecast"]
    assert rolled.schema["cutoff"] == dtypes["ds"]


@pytest.mark.parametrize("name", ["Int8", "UInt16", "Int32", "UInt64", "Int64"])
def test_integers_keep_their_types(name):
    dtype = getattr(pl, name)
    y = long_pl(np.arange(T), ids=(3, 1)).cast({"unique_id": dtype, "ds": dtype})
    found = fitted(y).predict()
    assert (found.schema["unique_id"], found.schema["ds"]) == (dtype, dtype)
    assert found["unique_id"].to_list() == [1, 1, 1, 3, 3, 3]


def test_dates_as_ids_keep_their_time_zone():
    ids = pl.Series(np.repeat(stamps(zone="Europe/Berlin")[:2].to_list(), T).tolist())
    y = long_pl().with_columns(unique_id=ids.cast(pl.Datetime("us", "Europe/Berlin")))
    found = read(y)
    result = found.forecast(1, {"forecast": [np.ones(1)] * 2})
    assert result["unique_id"].to_list() == y["unique_id"].unique(maintain_order=True).to_list()
    assert result.schema["unique_id"] == y.schema["unique_id"]


@pytest.mark.parametrize(
    "change",
    [{"library": "duckdb"}, {"id_type": "Object"}, {"time_type": "x"}, {"zone": "Nowhere/None"}],
)
def test_invalid_formats_in_a_file(change):
    _, tensors, values = files.pack(read(long_pl()))
    values["form"]["frame"] |= change
    with pytest.raises(files.INVALID):
        files.unpack(Panel, tensors, values)


def test_ids_that_floats_cannot_distinguish():
    large = 2**60
    ids = [Decimal(large), Decimal(large + 1)]
    for column in (
        pl.Series([large] * T + [large + 1] * T),
        pl.Series([large] * T + [large + 1] * T, dtype=pl.Int128),
        pl.Series([ids[0]] * T + [ids[1]] * T),
    ):
        y = long_pl().with_columns(unique_id=column)
        found = read(y)
        assert [history.name for history in found.histories] == ids
        result = found.forecast(1, {"forecast": [np.ones(1)] * 2})
        assert result["unique_id"].to_list() == ids


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pl.Series([1, None, 3]), [1, np.nan, 3]),
        (pl.Series([1.5, None, float("nan")]), [1.5, np.nan, np.nan]),
        (pl.Series([Decimal("1.5"), Decimal(2), None]), [1.5, 2, np.nan]),
        (pl.Series([1, 2, 3], dtype=pl.UInt8), [1, 2, 3]),
        (pl.Series(["a", "b"]), None),
        (pl.Series([True, None]), None),
        (pl.Series(DATES), None),
        (pl.Series(DATES).cast(pl.Datetime("us", "UTC")), None),
        (pl.Series([dt.timedelta(1)]), None),
        (pl.Series(["a", "b"], dtype=pl.Categorical), None),
        (pl.Series([[1.0], [2.0, 3.0]]), None),
    ],
)
def test_single_columns_are_arrays(column, expected):
    if expected is None:
        with pytest.raises((ValueError, TypeError), match=r"y[=:]"):
            read(column)
        return
    np.testing.assert_array_equal(read(column).histories[0].values, expected)


def test_several_results_of_a_wide_frame():
    found = fitted(wide_pl("date")).predict(interval=0.8)
    names = [f"{series}_{name}" for series in "ab" for name in ("forecast", "lower", "upper")]
    assert found.columns == ["date", *names]
    assert found["date"][0] == DATES[-1] + dt.timedelta(1)
    found = fitted(wide_pl("date")).predict(quantiles=[0.1])
    assert found.columns == ["date", "a_q0.1", "b_q0.1"]
    twice = wide_pl("date").rename({"b": "a_forecast"}).rename({"a": "date_x"})
    assert fitted(twice).predict().columns == ["date", "date_x", "a_forecast"]
    twice = wide_pl("a_lower").rename({"b": "c"})
    with pytest.raises(ValueError, match="not unique"):
        fitted(twice).predict(interval=0.8)


def test_x_of_polars():
    ahead = [*DATES, *(DATES[-1] + dt.timedelta(i) for i in (1, 2, 3))]
    promo = RNG.random(T + 3) > 0.5
    X = pl.DataFrame({"ds": ahead, "promo": promo, "seen": np.arange(T + 3.0)})
    frame = pd.DataFrame({"promo": promo, "seen": np.arange(T + 3.0)}, pd.DatetimeIndex(ahead))
    expected = fitted(wide_pd(), frame, past=["seen"]).predict()
    for rows in (X, X[::-1]):
        found = fitted(wide_pl(), rows, past=["seen"]).predict()
        np.testing.assert_array_equal(found.drop("ds").to_numpy(), expected.to_numpy())
    # Libraries can be mixed: the result has the library of y.
    pd.testing.assert_frame_equal(fitted(wide_pd(), X, past=["seen"]).predict(), expected)
    found = fitted(long_pl(), X, past=["seen"])
    again = found.predict(X=X[-3:].select("ds", "promo"))
    assert again.equals(found.predict())
    with pytest.raises(ValueError, match="X: got an object of type DataFrame"):
        fitted(VALUES["a"], X.drop("ds"))
    assert isinstance(found.predict(context=long_pd(), context_X=X), pd.DataFrame)


def test_polars_does_not_need_pyarrow():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import datetime as dt, numpy as np, polars as pl, eigenecho as ee\n"
        "days = pl.date_range(dt.date(2024, 1, 1), dt.date(2024, 2, 9), eager=True)\n"
        "y = pl.DataFrame({'unique_id': ['a'] * 40, 'ds': days, 'y': np.arange(40) % 7.0})\n"
        "y = y.with_columns(pl.col('unique_id').cast(pl.Categorical))\n"
        "assert ee.Forecaster(3).fit(y).predict(interval=0.9).shape == (3, 5)\n"
        "X = y.select('y')\n"
        "assert ee.LinearESN(5, seed=0).fit(X, X).predict(X).shape == (40, 1)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=300)


def test_missing_pandas_is_reported():
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "import polars as pl, eigenecho as ee\n"
        "try:\n    ee.Forecaster(3).fit(pl.DataFrame({'ds': [1, 2, 3], 'y': [1.0, 2, 3]}))\n"
        "except ImportError as error:\n    assert 'pip install' in str(error)\n"
        "else:\n    raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


# Networks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_networks(library):
    X = pl.DataFrame({"u": VALUES["a"], "v": np.arange(T)})
    y = pl.DataFrame({"w": VALUES["b"]})
    native, target = in_library(X, library), in_library(y, library)
    frames = X.to_dict(as_series=False), y.to_dict(as_series=False)
    same, same_y = (pd.DataFrame(columns) for columns in frames)
    found, expected = (
        ee.LinearESN(8, seed=0).fit(*data) for data in ((native, target), (same, same_y))
    )
    assert list(found.feature_names_in_) == ["u", "v"]
    np.testing.assert_array_equal(found.predict(native), expected.predict(same))
    np.testing.assert_array_equal(
        found.partial_fit(native, target).predict(native),
        expected.partial_fit(same, same_y).predict(same),
    )
    with pytest.raises(ValueError, match="feature names should match"):
        found.predict(in_library(X.select("v", "u"), library))
    with pytest.raises(ValueError, match="output names should match"):
        found.partial_fit(native, in_library(y.rename({"w": "x"}), library))
    states = ee.DiagonalReservoir(8, seed=0).fit(native).transform(native)
    np.testing.assert_array_equal(states, ee.DiagonalReservoir(8, seed=0).fit(same).transform(same))
    grid = {"sr": [0.5, 0.9], "ridge": [1e-6, 1e-2]}
    results = [
        ee.search(ee.LinearESN(8, seed=0), grid, *data).best_params
        for data in ((native, target), (same, same_y))
    ]
    assert results[0] == results[1]


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["a"] * T, "real numbers"),
        (DATES, "real numbers"),
        ([None, *range(1, T)], "NaN in row 0, column 'u'"),
        ([float("inf"), *range(1, T)], "infinity in row 0, column 'u'"),
        ([dt.timedelta(1)] * T, "timedelta64"),
        ([[1.0]] * T, "row 0"),
    ],
)
def test_networks_reject_other_columns(column, words, library):
    X = in_library(pl.DataFrame({"u": column, "v": VALUES["a"]}), library)
    for X_, y in ((X, VALUES["a"]), (VALUES["a"][:, None], X)):
        with pytest.raises((ValueError, TypeError), match=words):
            ee.LinearESN(5, seed=0).fit(X_, y)


@pytest.mark.parametrize(("name", "end"), [("Int8", 127), ("UInt8", 255)])
def test_integer_times_beyond_their_type(name, end):
    times = pl.Series(list(range(end - T + 1, end + 1)), dtype=getattr(pl, name))
    ahead = ee.Forecaster(2).fit(long_pl(times)).predict()
    assert ahead["ds"].to_list() == 2 * [end + 1, end + 2]


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum([str(day) for day in DATES])])
def test_dates_as_categories(dtype):
    texts = pl.Series([str(day) for day in DATES])
    expected = ee.Forecaster(2).fit(long_pl(texts)).predict()
    assert ee.Forecaster(2).fit(long_pl(texts.cast(dtype))).predict().equals(expected)


def test_dictionaries_of_numbers_and_dates():
    table = in_library(long_pl(ids=(7, 3)), "pyarrow")
    expected = ee.Forecaster(2).fit(table).predict()
    for i, name in enumerate(table.column_names[:2]):
        encoded = table.set_column(i, name, table[name].dictionary_encode())
        ahead = ee.Forecaster(2).fit(encoded).predict()
        assert ahead["forecast"].to_pylist() == expected["forecast"].to_pylist()
        assert ahead["unique_id"].to_pylist() == expected["unique_id"].to_pylist()


@pytest.mark.parametrize("make", ["pl.DataFrame(X, schema=['a', 'b'])", "pl.Series(X[:, 0])"])
def test_networks_classifiers_and_metrics_need_no_pandas(make):
    code = (
        "import sys\n"
        "sys.modules['pandas'] = None\n"
        "import numpy as np, polars as pl, eigenecho as ee\n"
        "X = np.sin(np.arange(80.0)).reshape(-1, 2)\n"
        f"data = {make}\n"
        "assert ee.metrics.nrmse(data, data) == 0\n"
        "if data.shape == X.shape:\n"
        "    esn = ee.LinearESN(10, seed=0).fit(data[:-1], data[1:])\n"
        "    plain = ee.LinearESN(10, seed=0).fit(X[:-1], X[1:])\n"
        "    assert list(esn.feature_names_in_) == ['a', 'b']\n"
        "    assert np.array_equal(esn.predict(data), plain.predict(X))\n"
        "    assert np.array_equal(esn.forecast(3, data), plain.forecast(3, X))\n"
        "    features = ee.ReservoirFeatures(time_constants=2, frequencies=2, phases=2)\n"
        "    features.fit([data, data[:9]]).transform([data])\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
