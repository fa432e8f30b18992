"""Tables of other libraries, and dates among numbers, are rejected rather than misread.

Polars and pyarrow are not needed: stand-ins have the attributes that identify their tables.
"""

from __future__ import annotations

import datetime
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import eigenecho as ee
from optional import optional

pd = optional("pandas")

NOISE = np.random.default_rng(0).normal(size=60)
DAYS = pd.date_range("2024-01-01", periods=60)
SPECTRUM = ee.spectra.ring(6, sr=0.9)


class PolarsFrame:
    """Table whose array contains dates as numbers, like a polars DataFrame."""

    def __init__(self, columns):
        self._frame = pd.DataFrame(columns)

    @property
    def columns(self):
        return list(self._frame.columns)

    @property
    def schema(self):
        return dict(self._frame.dtypes)

    @property
    def dtypes(self):
        return list(self._frame.dtypes)

    @property
    def shape(self):
        return self._frame.shape

    def __getitem__(self, key):
        return self._frame.iloc[key]

    def __len__(self):
        return len(self._frame)

    def __array__(self, dtype=None, copy=None):
        return self._frame.astype("int64").to_numpy(dtype=dtype or np.float64)

    def to_pandas(self):
        return self._frame


class ArrowTable:
    """Table that NumPy cannot read if its columns have different types."""

    columns = property(lambda self: [])
    schema = property(lambda self: "")
    shape = property(lambda self: self._shape)

    def __init__(self, columns):
        self._columns = list(columns.values())
        self._shape = (len(self._columns[0]), len(self._columns))

    def __len__(self):
        return self._shape[0]

    def __dataframe__(self):
        raise NotImplementedError

    def __array__(self, dtype=None, copy=None):
        return np.column_stack([np.asarray(column) for column in self._columns])

    def to_pandas(self):
        raise NotImplementedError


class LazyFrame:
    """Table without rows or a length."""

    columns = property(lambda self: ["ds", "y"])
    schema = property(lambda self: {})

    def __init__(self, columns):
        pass


class ModinFrame:
    """Table that behaves like a pandas DataFrame, but is not one."""

    def __init__(self, columns):
        self._frame = pd.DataFrame(columns)

    iloc = property(lambda self: self._frame.iloc)

    def __getattr__(self, name):
        return getattr(self._frame, name)

    def __getitem__(self, key):
        return self._frame[key]

    def __len__(self):
        return len(self._frame)


class PolarsSeries:
    """Column that can be converted to an array."""

    def __init__(self, values):
        self._values = np.asarray(values)

    shape = property(lambda self: self._values.shape)
    dtype = property(lambda self: self._values.dtype)

    def __len__(self):
        return len(self._values)

    def __arrow_c_stream__(self, requested_schema=None):
        raise NotImplementedError

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype)


TABLES = [PolarsFrame, ArrowTable, LazyFrame, ModinFrame]


def made(horizon=3):
    return ee.Forecaster(horizon, spectrum=SPECTRUM)


@pytest.fixture(scope="module")
def fitted():
    return {
        "array": made().fit(NOISE, NOISE[::-1]),
        "series": made().fit(pd.Series(NOISE, DAYS), pd.Series(NOISE[::-1], DAYS)),
    }


CALLS = {
    "y": lambda f, data, table: made().fit(table),
    "y[0]": lambda f, data, table: made().fit([table, table]),
    "X": lambda f, data, table: made().fit(data, table),
    "X of predict": lambda f, data, table: f.predict(X=table),
    "context": lambda f, data, table: f.predict(X=data[:3], context=table, context_X=data),
    "context_X": lambda f, data, table: f.predict(X=data[:3], context=data, context_X=table),
    "y of rolling": lambda f, data, table: f.rolling(table, 2, data),
    "X of rolling": lambda f, data, table: f.rolling(data, 2, table),
    "y of backtest": lambda f, data, table: f.backtest(table, origins=2),
    "X of backtest": lambda f, data, table: f.backtest(data, table, origins=2),
    "y_new": lambda f, data, table: f.update(table, data),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("held", ["array", "series"])
@pytest.mark.parametrize("call", CALLS)
def test_forecasters_reject_foreign_tables(call, held, kind, fitted):
    if kind is LazyFrame and call == "y[0]":
        pytest.skip("what has no length is no series")
    table = kind({"ds": DAYS, "y": NOISE})
    data = NOISE if held == "array" else pd.Series(NOISE, DAYS)
    name = re.escape(call.partition(" ")[0])
    with pytest.raises(
        ValueError, match=rf"{name}: got .*{kind.__name__}.*expected .*arrays?"
    ) as error:
        CALLS[call](fitted[held], data, table)
    assert "array" in str(error.value)


def test_new_columns_of_x_are_rejected(fitted):
    table = PolarsFrame({"ds": DAYS, "y": NOISE})
    with pytest.raises(ValueError, match=r"X_new: got .*PolarsFrame"):
        fitted["array"].update(NOISE, table)


@pytest.mark.parametrize("kind", [PolarsFrame, ArrowTable])
def test_tables_of_numbers_are_rejected(kind):
    with pytest.raises(ValueError, match=rf"{kind.__name__}.*pandas or polars DataFrame"):
        made().fit(kind({"a": NOISE, "b": NOISE}))


def test_columns_of_numbers_are_arrays():
    expected = made().fit(NOISE).predict()
    assert_array_equal(made().fit(PolarsSeries(NOISE)).predict(), expected)
    several = made().fit([PolarsSeries(NOISE), PolarsSeries(NOISE[:40])]).predict()
    for one, other in zip(several, made().fit([NOISE, NOISE[:40]]).predict(), strict=True):
        assert_array_equal(one, other)


def test_subclasses_of_pandas_are_pandas():
    class Frame(pd.DataFrame):
        pass

    wide = pd.DataFrame({"a": NOISE, "b": NOISE[::-1]}, DAYS)
    expected = made().fit(wide).predict()
    pd.testing.assert_frame_equal(made().fit(Frame(wide)).predict(), expected)


# Networks -------------------------------------------------------------------------------------


NETWORKS = {
    "X of fit": lambda table: ee.LinearESN(5, seed=0).fit(table, NOISE),
    "y of fit": lambda table: ee.LinearESN(5, seed=0).fit(NOISE[:, None], table),
    "X of a reservoir": lambda table: ee.DiagonalReservoir(5, seed=0).fit(table),
    "X of search": lambda table: ee.search(
        ee.LinearESN(5, seed=0), {"sr": [0.5, 0.9]}, table, NOISE
    ),
}


@pytest.mark.parametrize("kind", [PolarsFrame, ArrowTable])
@pytest.mark.parametrize("call", NETWORKS)
def test_networks_reject_dates_in_tables(call, kind):
    with pytest.raises(ValueError, match=rf"^Invalid {call[0]}: got .*(real numbers|DataFrame)"):
        NETWORKS[call](kind({"ds": DAYS, "y": NOISE}))


def test_list_of_columns_is_not_read_as_rows():
    with pytest.raises(ValueError, match="list of 1-D arrays"):
        ee.DiagonalReservoir(5, seed=0).fit([PolarsSeries(NOISE), PolarsSeries(NOISE)])


# Dates among numbers --------------------------------------------------------------------------


def objects(values):
    result = np.empty(len(values), object)
    result[:] = list(values)
    return result


DATES = {
    "datetime64": DAYS.to_numpy(),
    "timedelta64": (DAYS - DAYS[0]).to_numpy(),
    "datetime64 objects": objects(DAYS.to_numpy()),
    "datetime64 of days, objects": objects(DAYS.to_numpy().astype("M8[D]")),
    "timedelta64 objects": objects((DAYS - DAYS[0]).to_numpy()),
    "Timestamps": objects(DAYS),
    "Timedeltas": objects(DAYS - DAYS[0]),
    "dates": objects([day.date() for day in DAYS]),
    "durations": objects([datetime.timedelta(days) for days in range(60)]),
}


@pytest.mark.parametrize("dates", DATES)
def test_dates_are_not_numbers(dates):
    dates = DATES[dates]
    calls = [
        lambda: made().fit(dates),
        lambda: made().fit(PolarsSeries(dates)),
        lambda: made().fit(NOISE, dates),
        lambda: made().fit(pd.Series(dates, DAYS)),
        lambda: made().fit(pd.Series(dates, DAYS).astype(object)),
        lambda: made().fit(pd.DataFrame({"unique_id": "a", "ds": DAYS, "y": dates})),
        lambda: made().fit(pd.Series(NOISE, DAYS), pd.Series(dates, DAYS)),
        lambda: ee.LinearESN(5, seed=0).fit(NOISE[:, None], dates),
        lambda: ee.LinearESN(5, seed=0).fit(dates[:, None], NOISE),
        lambda: ee.DiagonalReservoir(5, seed=0).fit(dates[:, None]),
    ]
    for call in calls:
        with pytest.raises((ValueError, TypeError), match=r"real numbers|a column of dates"):
            call()


@pytest.mark.parametrize("kind", ["date32[pyarrow]", "timestamp[us][pyarrow]"])
def test_dates_of_pyarrow_in_an_index_are_dates(kind):
    pytest.importorskip("pyarrow")
    expected = made().fit(pd.Series(NOISE, DAYS)).predict()
    days = pd.Index(DAYS).astype(kind)
    assert_array_equal(made().fit(pd.Series(NOISE, days)).predict(), expected)
    table = pd.DataFrame({"unique_id": "a", "ds": days, "y": NOISE})
    assert_array_equal(made().fit(table).predict()["forecast"], expected)
