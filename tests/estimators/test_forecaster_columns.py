"""Columns of X in the frame of y, by name, and columns of categories."""

from __future__ import annotations

import numpy as np
import pytest

import eigenecho as ee

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

SPECTRUM = ee.Spectrum([0.95, 0.5], [0.3 + 0.8j])
T, H = 60, 3
DAYS = pd.date_range("2024-01-01", periods=T + H, name="day")
COLOURS = np.array(["red", "green", "blue"], dtype=object)


def drawn(seed=0):
    """Return sales that depend on a price, a colour and the weather of the day before."""
    rng = np.random.default_rng(seed)
    price, weather = rng.normal(size=T + H), rng.normal(size=T + H)
    colour = rng.integers(0, 3, T + H)
    effect = np.array([0.0, 5.0, -5.0])[colour]
    sales = 20 - 3 * price + effect + 2 * np.roll(weather, 1) + 0.1 * rng.normal(size=T + H)
    columns = {"sales": sales, "price": price, "colour": COLOURS[colour], "weather": weather}
    return pd.DataFrame(columns, DAYS)


def long(rows=T, start=0):
    parts = [drawn(seed)[start:rows].reset_index().assign(shop=f"s{seed}") for seed in (0, 1)]
    return pd.concat(parts, ignore_index=True)


def made(**options):
    names = {"id": "shop", "time": "day", "target": "sales"}
    columns = {"known": ["price", "colour"], "past": ["weather"]}
    return ee.Forecaster(H, **{"spectrum": SPECTRUM, "seasons": [7], **names, **columns, **options})


def polars(frame):
    return pl.from_pandas(frame)


def arrow(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


def column(frame, name):
    return np.array(frame[name].to_pylist() if isinstance(frame, pa.Table) else frame[name])


# One frame ----------------------------------------------------------------------------------------


def encoded(frame, beside):
    """Return the columns of X with a column of 0 and 1 for each colour."""
    X = frame[[*beside, "price", "weather"]].copy()
    for colour in sorted(COLOURS):
        X[f"colour={colour}"] = (frame["colour"] == colour).astype(float)
    return X


@pytest.fixture(scope="module")
def separate():
    """Return a forecaster of y and X in two frames, and the future of X."""
    beside = ["shop", "day"]
    forecaster = made(known=(), past=["weather"])
    forecaster.fit(long()[[*beside, "sales"]], encoded(long(), beside))
    return forecaster, encoded(long(T + H, T), beside).drop(columns="weather")


@pytest.mark.parametrize("convert", [lambda frame: frame, polars, arrow])
def test_long_frame_with_columns_equals_two_frames(convert, separate, tmp_path):
    other, X = separate
    forecaster = made().fit(convert(long()))
    ahead = convert(long(T + H, T)[["shop", "day", "price", "colour"]])
    expected = other.predict(X=X, interval=0.9)
    for one in (forecaster, _again(forecaster, tmp_path)):
        forecast = one.predict(X=ahead, interval=0.9)
        assert isinstance(forecast, type(ahead))
        for name in ("forecast", "lower", "upper"):
            np.testing.assert_allclose(column(forecast, name), expected[name], rtol=1e-9)


def _again(forecaster, folder):
    forecaster.save(folder / "file")
    return ee.load(folder / "file")


def test_context_rolling_update_and_backtest(separate):
    forecaster = made().fit(long())
    frame = long(T + H)
    expected = made().fit(frame[["shop", "day", "sales"]], frame.drop(columns="sales"))
    updated = made().fit(long()).update(long(T + H, T))
    assert updated.fitted_.panel.columns == expected.fitted_.panel.columns
    histories = updated.fitted_.panel.histories, expected.fitted_.panel.histories
    for one, two in zip(*histories, strict=True):
        assert np.array_equal(one.values, two.values)
        assert np.array_equal(one.known, two.known)
        assert np.array_equal(one.past, two.past)
    ahead = long(T + H, T)[["shop", "day", "price", "colour"]]
    forecast = forecaster.predict(X=ahead, context=long())
    pd.testing.assert_frame_equal(forecast, forecaster.predict(X=ahead))
    rolled = forecaster.rolling(frame, [T - 1])
    np.testing.assert_allclose(rolled["forecast"], forecast["forecast"])
    tested = made().backtest(frame, origins=[T - 1])
    np.testing.assert_allclose(tested.errors["forecast"], forecast["forecast"])


@pytest.mark.parametrize("convert", [None, polars, arrow])
def test_wide_frames_contain_columns(convert):
    frame, options = drawn(), {"time": "day"}
    y, X = frame[["sales"]][:T], frame.drop(columns="sales")
    expected = made(**options).fit(y, X[:T]).predict(X=X[["price", "colour"]][T:])
    rows, ahead = frame[:T], X[["price", "colour"]][T:]
    if convert is not None:
        rows, ahead = convert(rows.reset_index()), convert(ahead.reset_index())
    forecast = made(**options).fit(rows).predict(X=ahead)
    np.testing.assert_array_equal(column(forecast, "sales"), expected["sales"])
    if convert is None:  # the columns of several series are all that are not listed
        both = rows.rename(columns={"sales": "a"}).assign(b=rows["sales"] * 2)
        assert [*made(**options).fit(both).predict(X=ahead).columns] == ["a", "b"]


def test_unknown_columns():
    with pytest.raises(ValueError, match=r"'pric'.*Did you mean 'price'"):
        made(known=["pric"], past=()).fit(long())
    with pytest.raises(ValueError, match=r"column 'weather'.*known= or past="):
        made(past=()).fit(long())
    with pytest.raises(ValueError, match=r"column 'weather'.*known= or past="):
        made(past=()).fit(drawn()[:T])
    with pytest.raises(ValueError, match="but 'weather' is not"):
        made(past=()).fit(long()[["shop", "day", "sales"]], long().drop(columns="sales"))
    with pytest.raises(ValueError, match="each column to be listed only once"):
        made(known=["price", "colour", "weather"]).fit(long())
    with pytest.raises(ValueError, match=r"passed to fit\(\): price, colour, weather"):
        made().fit(long()).predict(context=long()[["shop", "day", "sales"]])


def test_numbers_of_columns_of_arrays():
    y, X = drawn()["sales"].to_numpy()[:T], drawn()[["price", "weather"]].to_numpy()
    forecaster = ee.Forecaster(H, spectrum=SPECTRUM, known=[0], past=[1]).fit(y, X[:T])
    expected = ee.Forecaster(H, spectrum=SPECTRUM, past=[1]).fit(y, X[:T]).predict(X=X[T:, :1])
    assert np.array_equal(forecaster.predict(X=X[T:, :1]), expected)


# Categories ---------------------------------------------------------------------------------------


KINDS = {
    "object": lambda x: x.astype(object),
    "string": lambda x: x.astype("string"),
    "category": lambda x: x.astype("category"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_categories_are_encoded(kind):
    frame = drawn()[["sales", "colour"]].assign(colour=lambda x: KINDS[kind](x["colour"]))
    forecaster = ee.Forecaster(H, spectrum=SPECTRUM).fit(frame["sales"][:T], frame[["colour"]][:T])
    assert forecaster.fitted_.panel.known_names == ("colour=blue", "colour=green", "colour=red")
    red = forecaster.predict(X=pd.DataFrame({"colour": ["red"] * H}, DAYS[T:]))
    green = forecaster.predict(X=pd.DataFrame({"colour": ["green"] * H}, DAYS[T:]))
    assert abs((green - red).iloc[0] - 5) < 2


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["red", "green", "blue"]), pl.String])
def test_categories_of_polars(dtype):
    frame = polars(drawn().reset_index()).with_columns(pl.col("colour").cast(dtype))
    options = {"known": ["colour"], "past": (), "time": "day"}
    rows = frame[["day", "sales", "colour"]]
    forecaster = made(**options).fit(rows[:T])
    expected = made(**options).fit(drawn()[["sales", "colour"]][:T])
    forecast = forecaster.predict(X=rows[["day", "colour"]][T:])
    assert np.array_equal(forecast["sales"], expected.predict(X=drawn()[["colour"]][T:])["sales"])


def test_flags_are_one_column():
    frame = drawn().assign(open=lambda x: x["colour"] == "red")
    forecaster = ee.Forecaster(H, spectrum=SPECTRUM).fit(frame["sales"][:T], frame[["open"]][:T])
    assert forecaster.fitted_.panel.known_names == ("open",)


def test_categories_known_up_to_the_present_are_filled():
    frame = drawn()[:T]
    frame.iloc[5, 2] = None
    forecaster = ee.Forecaster(H, past="colour", spectrum=SPECTRUM)
    past = forecaster.fit(frame["sales"], frame[["colour"]]).fitted_.panel.histories[0].past
    assert np.array_equal(past[5], past[4])
    with pytest.raises(ValueError, match=r"NaN in column 'colour=blue' at 2024-01-06"):
        ee.Forecaster(H, spectrum=SPECTRUM).fit(frame["sales"], frame[["colour"]])


def test_new_categories_are_rejected():
    frame = drawn()
    forecaster = ee.Forecaster(H, spectrum=SPECTRUM).fit(frame["sales"][:T], frame[["colour"]][:T])
    X = pd.DataFrame({"colour": ["red", "pink", "red"]}, DAYS[T:])
    with pytest.raises(ValueError, match=r"a new category 'pink' in column 'colour'.*blue, green"):
        forecaster.predict(X=X)


def test_too_many_categories():
    for rows, most in ((15, 10), (60, 30), (250, 100)):
        frame = pd.DataFrame({"y": np.arange(rows), "code": [str(i) for i in range(rows)]})
        with pytest.raises(
            ValueError, match=rf"{rows} categories in column 'code'.*most {most} categories"
        ):
            ee.Forecaster(H).fit(frame["y"], frame[["code"]])


def test_columns_with_the_name_of_a_category_are_rejected():
    y = pd.DataFrame({"sales": np.random.default_rng(0).normal(size=60).cumsum()})
    X = pd.DataFrame({"promotion": ["none", "sale"] * 30, "promotion=sale": np.arange(60.0)})
    with pytest.raises(ValueError, match=r"column 'promotion=sale'.* Rename the first column\."):
        ee.Forecaster(3).fit(y, X)
