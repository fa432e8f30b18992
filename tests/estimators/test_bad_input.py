"""Errors name the argument, its value and a remedy, and a failed fit changes nothing."""

from __future__ import annotations

import dataclasses
import warnings
from collections import deque

import numpy as np
import pytest
from scipy import sparse
from sklearn import clone, config_context
from sklearn.exceptions import NotFittedError

from eigenecho import (
    DiagonalReservoir,
    LinearESN,
    Spectrum,
    diagonalize,
    metrics,
    search,
    spectra,
    tasks,
)
from eigenecho.errors import IllConditionedWarning, UnstableError, UnstableWarning

pd = pytest.importorskip("pandas")

T = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(T, 2))
Y = X[:, 0]
BASES = ["eigen", "neuron"]
BOTH = [LinearESN, DiagonalReservoir]


def network(**options):
    return LinearESN(10, seed=0, **options)


def spoiled(array, value, row=5):
    array = np.array(array, dtype=float)
    array[row, ...] = value
    return array


@pytest.fixture(scope="module")
def open_model():
    """Return a model that predicts its own two inputs."""
    return network().fit(X[:-1], X[1:])


@pytest.fixture(scope="module")
def closed_model():
    """Return a model with feedback of its own 1-D output."""
    return network(feedback=True, output_to_readout=True, ridge=1.0).fit(X, Y)


@pytest.fixture(scope="module")
def model_with_known_inputs():
    return network().fit(X[:-1], X[1:, 0])


# NaN and Inf ----------------------------------------------------------------------------------

NOT_FINITE = pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])


def gap(name, value, place):
    """Return the pattern of an error that names the argument and place of an invalid value."""
    word = {"nan": "NaN", "inf": "infinity", "-inf": "-infinity"}[str(value)]
    remedy = "Fill or drop missing" if word == "NaN" else "Replace or drop infinite"
    return rf"^Invalid {name}: got {word} in {place}; expected finite numbers\. {remedy} .*\.$"


@NOT_FINITE
@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    "hold", [lambda x: x, lambda x: np.stack([X, x]), lambda x: [X, x]], ids=["one", "3-D", "list"]
)
def test_x_in_fit(value, kind, hold):
    data = hold(spoiled(X, value))
    target = [Y, Y] if isinstance(data, list) else np.stack([Y, Y]) if data.ndim == 3 else Y
    place = "row 5, column 0" + (" of series 1" if np.ndim(target) > 1 else "")
    with pytest.raises(ValueError, match=gap("X", value, place)):
        kind(10, seed=0).fit(data, target)


@NOT_FINITE
@pytest.mark.parametrize(
    ("target", "place"), [(X, "row 5, column 0"), (Y, "row 5")], ids=["2-D", "1-D"]
)
def test_y_in_fit(value, target, place):
    with pytest.raises(ValueError, match=gap("y", value, place)):
        network().fit(X, spoiled(target, value))
    with pytest.raises(ValueError, match=gap("y", value, place + " of series 1")):
        network().fit([X, X], [target, spoiled(target, value)])
    with pytest.raises(ValueError, match=gap("y", value, place)):
        network(feedback=True).fit(None, spoiled(target, value))
    with pytest.raises(ValueError, match=gap("y", value, place)):
        network().fit(X, target).partial_fit(X, spoiled(target, value))


@NOT_FINITE
def test_x_after_fit(value, open_model):
    bad = spoiled(X, value)
    reservoir = DiagonalReservoir(10, seed=0).fit(X)
    for method in (open_model.predict, open_model.transform, open_model.states,
                   reservoir.transform, lambda x: open_model.score(x, X),
                   lambda x: open_model.partial_fit(x, x)):  # fmt: skip
        with pytest.raises(ValueError, match=gap("X", value, "row 5, column 0")):
            method(bad)
        with pytest.raises(ValueError, match=gap("X", value, "row 5, column 0 of series 1")):
            method([X, bad])


@NOT_FINITE
def test_y_in_score(value, open_model):
    with pytest.raises(ValueError, match=gap("y", value, "row 5, column 0")):
        open_model.score(X, spoiled(X, value))


@NOT_FINITE
def test_y_previous(value, closed_model):
    bad = spoiled(Y, value)
    with pytest.raises(ValueError, match=gap("y_previous", value, "row 5, column 0")):
        closed_model.predict(X, y_previous=bad)
    with pytest.raises(ValueError, match=gap("y_previous", value, "row 5, column 0 of series 1")):
        closed_model.predict([X, X], y_previous=[Y, bad])


@NOT_FINITE
def test_gaps_of_a_frame_are_named(value):
    frame = pd.DataFrame(X, columns=["load", "wind"])
    bad = frame.copy()
    bad.loc[7, "wind"] = value
    place = "row 7, column 'wind'"
    esn, reservoir = network().fit(frame[:-1], frame[1:]), DiagonalReservoir(10, seed=0).fit(frame)
    for name, call in (
        ("X", lambda: network().fit(bad, Y)),
        ("y", lambda: network().fit(frame, bad)),
        ("X", lambda: esn.predict(bad)),
        ("X", lambda: esn.transform(bad)),
        ("X", lambda: reservoir.transform(bad)),
        ("X", lambda: esn.score(bad, frame)),
        ("y", lambda: esn.score(frame, bad)),
        ("X", lambda: esn.partial_fit(bad, frame)),
        ("y", lambda: esn.partial_fit(frame, bad)),
        ("context", lambda: esn.forecast(3, context=bad)),
        ("X", lambda: esn.model_.predict(bad)),
    ):
        with pytest.raises(ValueError, match=gap(name, value, place)):
            call()


def test_first_invalid_value_is_reported():
    bad = spoiled(X, np.nan, 9)
    bad[5, 1], bad[7, 0] = -np.inf, np.inf
    with pytest.raises(ValueError, match=gap("X", -np.inf, "row 5, column 1")):
        network().fit(bad, Y)


@pytest.mark.parametrize(
    "missing",
    [
        pd.array([1, 2, None] * 20, dtype="Int64"),
        np.array([1.0, 2.0, None] * 20, dtype=object),
        [1.0, 2.0, np.nan] * 20,
    ],
    ids=["Int64", "object", "float"],
)
def test_all_missing_values_of_pandas_are_found(missing):
    frame = pd.DataFrame({"a": Y, "b": missing})
    with pytest.raises(ValueError, match=gap("X", np.nan, "row 2, column 'b'")):
        network().fit(frame, Y)
    with pytest.raises(ValueError, match=gap("X", np.nan, "row 2, column 'b'")):
        network().fit(X, Y).model_.predict(frame)


def test_masked_values_are_missing():
    mask = np.zeros(X.shape, bool)
    network().fit(np.ma.array(X, mask=mask), np.ma.array(Y, mask=mask[:, 0]))
    mask[3, 1] = True
    masked = np.ma.array(X, mask=mask)
    with pytest.raises(ValueError, match=gap("X", np.nan, "row 3, column 1")):
        network().fit(masked, Y)
    with pytest.raises(ValueError, match=gap("X", np.nan, "row 3, column 1 of series 0")):
        network().fit(np.ma.stack([masked, masked]), np.stack([Y, Y]))
    with pytest.raises(ValueError, match=gap("y", np.nan, "row 3")):
        network().fit(X, masked[:, 1])
    with pytest.raises(ValueError, match=r"X.*masked"):
        network().fit(list(masked[:, 1:]), Y)


def test_assume_finite_of_scikit_learn_is_respected():
    with config_context(assume_finite=True):
        DiagonalReservoir(10, seed=0).fit(spoiled(X, np.nan))
    with pytest.raises(ValueError, match="NaN"):
        DiagonalReservoir(10, seed=0).fit(spoiled(X, np.nan))


@NOT_FINITE
@pytest.mark.parametrize("part", ["r", "y"])
def test_initial_state(value, part, closed_model):
    state = closed_model.final_state_
    bad = state._replace(**{part: spoiled(getattr(state, part), value, 0)})
    with pytest.raises(
        ValueError, match=r"initial_state: got NaN or infinity.*expected finite numbers"
    ):
        closed_model.predict(X, initial_state=bad)
    with pytest.raises(ValueError, match=r"state: got NaN or infinity.*expected finite numbers"):
        closed_model.stream(bad)


@NOT_FINITE
def test_context(value, open_model):
    with pytest.raises(ValueError, match=gap("context", value, "row 5, column 0")):
        open_model.forecast(3, context=spoiled(X, value))


@NOT_FINITE
def test_context_of_a_generator(value):
    generator = network(feedback=True, ridge=1.0).fit(None, Y)
    with pytest.raises(ValueError, match=gap("context", value, "row 5, column 0")):
        generator.forecast(3, context=spoiled(Y, value))


@NOT_FINITE
def test_inputs(value, model_with_known_inputs):
    with pytest.raises(ValueError, match=gap("inputs", value, "row 1, column 0")):
        model_with_known_inputs.forecast(3, inputs=spoiled(np.ones((3, 1)), value, 1))


@NOT_FINITE
def test_stream(value, closed_model):
    stream = closed_model.stream()
    stream.step(X[0])
    before = stream.state
    with pytest.raises(ValueError, match=r"u: got (NaN|-?infinity) in column 1.*unchanged"):
        stream.step([0.0, value])
    with pytest.raises(
        ValueError, match=r"y_previous: got (NaN|-?infinity) in column 0.*unchanged"
    ):
        stream.step(X[1], y_previous=value)
    np.testing.assert_array_equal(stream.state.r, before.r)


@NOT_FINITE
@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_w(value, basis, form):
    W = np.diag([0.5, 0.2, 0.1])
    W[1, 2] = value
    with pytest.raises(ValueError, match=r"spectrum: got NaN or infinity.*finite numbers.*Clean"):
        network(spectrum=form(W), basis=basis).fit(X, Y)


@NOT_FINITE
def test_spectrum(value):
    for make in (
        lambda: Spectrum([0.1, value]),
        lambda: Spectrum([0.1], [complex(0.1, value)]),
        lambda: Spectrum.from_values([0.1, value]),
        lambda: network(spectrum=[0.1, value]).fit(X, Y),
    ):
        with pytest.raises(ValueError, match="expected a list of finite numbers"):
            make()


@NOT_FINITE
@pytest.mark.parametrize("name", ["sr", "lr", "ridge", "input_scaling", "fb_scaling"])
def test_parameters(value, name):
    with pytest.raises(ValueError, match=rf"^Invalid {name}=.*(nan|inf).*"):
        network(**{name: value}).fit(X, Y)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # raised by NumPy during the cast
def test_too_large_for_float32():
    said = r"X: got 1.25\d*e\+299 in row 0, column 0.*within the range of float32.*dtype='float64'"
    with pytest.raises(ValueError, match=said):
        network(dtype="float32").fit(1e300 * X, Y)


# Lengths and shapes ---------------------------------------------------------------------------


def test_lengths_of_x_and_y():
    with pytest.raises(ValueError, match=r"X has 60 rows and y has 57.*same number of rows"):
        network().fit(X, Y[:-3])
    with pytest.raises(
        ValueError, match=r"of series 1 have inconsistent lengths: X has 60 rows and y has 57"
    ):
        network().fit([X, X], [Y, Y[:-3]])
    with pytest.raises(ValueError, match="X has 60 rows and y has 57"):
        network().fit(X, Y).score(X, Y[:-3])


def test_numbers_of_series():
    with pytest.raises(ValueError, match=r"y: got 1 series.*expected 2 series"):
        network().fit([X, X], [Y])
    with pytest.raises(ValueError, match=r"y: got shape \(120,\).*several series, as in X"):
        network().fit([X, X], np.concatenate([Y, Y]))


def test_lengths_of_y_previous(closed_model, open_model):
    with pytest.raises(ValueError, match=r"y_previous: got lengths \[59\].*lengths \[60\]"):
        closed_model.predict(X, y_previous=Y[1:])
    with pytest.raises(ValueError, match=r"y_previous: got shape \(60, 2\).*1 column"):
        closed_model.predict(X, y_previous=X)
    with pytest.raises(ValueError, match=r"y_previous.*neither feedback nor output_to_readout"):
        open_model.predict(X, y_previous=X)


def test_shapes_of_initial_state(closed_model):
    state = closed_model.final_state_
    with pytest.raises(ValueError, match=r"initial_state: got shapes \(3,\) and \(1,\).*\(10,\)"):
        closed_model.predict(X, initial_state=(state.r[:3], state.y))
    with pytest.raises(ValueError, match=r"initial_state=3.*a pair \(r, y\)"):
        closed_model.predict(X, initial_state=3)
    with pytest.raises(ValueError, match=r"initial_state.*one state per series"):
        closed_model.predict([X, X, X], initial_state=[state, state])


def test_feature_count(open_model):
    reservoir = DiagonalReservoir(10, seed=0).fit(X)
    for method in (open_model.predict, open_model.transform, reservoir.transform):
        for wrong in (X[:, :1], np.ones((5, 3)), [X, X[:, :1]]):
            with pytest.raises(ValueError, match=r"has [13] features, but .* expecting 2"):
                method(wrong)
    with pytest.raises(ValueError, match=r"has 1 features, but LinearESN is expecting 2"):
        network().fit([X, X[:, :1]], [Y, Y])
    with pytest.raises(ValueError, match=r"u: got shape \(3,\).*one row with 2 numbers"):
        open_model.stream().step([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"Invalid X=None: expected a series with 2 features"):
        open_model.predict(None)


def test_columns_of_y():
    with pytest.raises(ValueError, match="y: got series with different numbers of columns"):
        network().fit([X, X], [X, X[:, :1]])


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("flat", "how"),
    [
        (Y, r"X\.reshape\(-1, 1\) for one column, X\.reshape\(1, -1\) for one row"),
        (Y.tolist(), r"np\.array\(X\)\.reshape\(-1, 1\) for one column, .*"),
        (pd.Series(Y, name="load"), r"X\.to_frame\(\) for one column"),
    ],
    ids=["array", "list", "Series"],
)
def test_error_of_one_dimensional_x_explains_reshaping(kind, flat, how):
    said = rf"X: got shape \(60,\).*expected a 2-D series.* Reshape your data: {how}\.$"
    with pytest.raises(ValueError, match=said):
        kind(10).fit(flat, Y)
    with pytest.raises(ValueError, match=said):
        kind(10).fit(X, Y).transform(flat)


def test_one_dimensional_x_among_several():
    with pytest.raises(ValueError, match=r"X\[1\]: got shape \(60,\).* X\[1\]\.reshape"):
        network().fit([X, Y], [Y, Y])


def test_one_dimensional_rows_elsewhere(open_model, model_with_known_inputs):
    with pytest.raises(ValueError, match=r"context.*context\.reshape\(-1, 1\)"):
        open_model.forecast(3, context=Y)
    with pytest.raises(ValueError, match=r"inputs.*inputs\.reshape\(-1, 1\)"):
        model_with_known_inputs.forecast(3, inputs=np.ones(3))
    with pytest.raises(ValueError, match=r"X: got shape \(60,\).*X\.reshape\(-1, 1\)"):
        open_model.model_.predict(Y)


def test_no_rows(open_model):
    for call in (lambda: network().fit(X[:0], Y[:0]), lambda: open_model.predict(X[:0])):
        with pytest.raises(ValueError, match=r"0 sample\(s\).*minimum of 1 is required"):
            call()
    with pytest.raises(ValueError, match=r"context: got 0 rows.*at least one row"):
        open_model.forecast(3, context=X[:0])


EMPTY = {
    "no series": (np.empty((0, T, 2)), np.empty((0, T, 1)), ": got 0 series.*at least one series"),
    "nothing": ([], [], r": got shape \(0,\).*a 2-D series"),
    "an empty one": ([X, X[:0]], [Y, Y[:0]], ": got 0 rows in series 1.*at least one row"),
    "only empty ones": (np.empty((3, 0, 2)), np.empty((3, 0, 1)), ": got 0 rows in series 0"),
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_series(name):
    x, y, message = EMPTY[name]
    fitted = network().fit([X, X], [Y, Y])
    before = dict(vars(fitted))
    reservoir = DiagonalReservoir(10, seed=0).fit(X)
    for call in (
        lambda: network().fit(x, y),
        lambda: fitted.fit(x, y),
        lambda: fitted.partial_fit(x, y),
        lambda: fitted.predict(x),
        lambda: fitted.transform(x),
        lambda: fitted.states(x, basis="neuron"),
        lambda: fitted.score(x, y),
        lambda: DiagonalReservoir(10).fit(x),
        lambda: reservoir.transform(x),
    ):
        with pytest.raises(ValueError, match=f"Invalid X{message}"):
            call()
    assert vars(fitted) == before


def test_empty_targets():
    for y in (np.empty((0, T)), [], [Y, Y[:0]]):
        with pytest.raises(ValueError, match="y: got 0 "):
            network().fit([X, X], y)
    with pytest.raises(ValueError, match="y: got 0 series"):
        network(feedback=True).fit(None, np.empty((0, T, 1)))


SINE = np.sin(0.2 * np.arange(81.0))[:, None]


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (SINE[:-1].T, SINE[1:].T, r"X has a single time step.*X\.T"),
        (SINE[:-1, None], SINE[1:, None], r"X has a single time step.*np\.concatenate\(X\)"),
        ([*SINE[:-1, None]], [*SINE[1:, None]], r"single time step.*np\.concatenate\(X\)"),
        (None, SINE.T, r"y has a single time step.*y\.T"),
    ],
)
def test_series_of_one_step_cause_a_warning(x, y, message):
    options = {"feedback": x is None, "ridge": 1e-2}
    with pytest.warns(UserWarning, match=message) as caught:
        network(**options).fit(x, y)
    assert len(caught) == 1
    if x is None:
        return
    with pytest.warns(UserWarning, match=message):
        DiagonalReservoir(10, seed=0).fit(x)
    esn = network(**options).fit(SINE[:-1], SINE[1:])
    if np.ndim(x) == 3:
        with pytest.warns(UserWarning, match=message):
            esn.partial_fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # single rows and longer series cause no warning
        esn.partial_fit(SINE[:1], SINE[1:2], initial_state=esn.final_state_)
        network(ridge=1e-2).fit(SINE[:-1].reshape(2, 40, 1), SINE[1:].reshape(2, 40, 1))


@pytest.mark.parametrize(
    ("rows", "units", "ridge", "few"),
    [(50, 100, 1e-8, True), (50, 100, 10.0, False), (50, 20, 1e-8, False)],
)
def test_fewer_rows_than_units_with_a_small_ridge_cause_a_warning(rows, units, ridge, few):
    x, y = RNG.normal(size=(rows + 30, 1)), RNG.normal(size=rows + 30)
    esn = LinearESN(units, ridge=ridge, warmup=30, seed=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        esn.fit(x, y)
    assert len(caught) == few
    for warning in caught:
        assert warning.category is IllConditionedWarning
        assert f"{units + 1} weights for {rows} training rows" in str(warning.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # partial_fit may start with few rows
        LinearESN(units, ridge=ridge, warmup=30, seed=0).partial_fit(x, y)


def test_missing_x_or_y():
    with pytest.raises(ValueError, match=r"target y is None.*fit\(X\[:-1\], X\[1:\]\)"):
        network().fit(X)
    with pytest.raises(ValueError, match=r"X=None.*an input series.*feedback=True"):
        network().fit(None, Y)


def test_other_kinds_of_data():
    with pytest.raises(TypeError, match=r"(?i)sparse.*toarray"):
        network().fit(sparse.csr_matrix(X), Y)
    with pytest.raises(ValueError, match=r"X: got dtype complex128 in column 0.*Complex data not"):
        network().fit(1j * X, Y)
    with pytest.raises(
        ValueError, match=r"^Invalid X: got 'a' in row 0, column 0.*string to float: 'a'"
    ):
        network().fit([["a"], ["b"]], [1.0, 2.0])


def complex_objects(array):
    """Return NumPy's own complex scalars as objects: a cast to floats only warns about them."""
    objects = np.empty(np.shape(array), object)
    for i in np.ndindex(objects.shape):
        objects[i] = np.complex128(array[i] + 1j)
    return objects


COMPLEX = {
    "dtype": lambda a: a + 1j,
    "objects": complex_objects,
    "frame": lambda a: pd.DataFrame(complex_objects(a)),
    "masked": lambda a: np.ma.masked_array(a + 1j, np.arange(a.size).reshape(a.shape) == 3),
}


@pytest.mark.parametrize("hold", COMPLEX.values(), ids=COMPLEX)
def test_complex_numbers_are_rejected_in_all_series(open_model, closed_model, hold):
    bad = hold(X)
    y = hold(Y[:, None])
    small = {"units": 3}
    calls = {
        "X of fit": lambda: network().fit(bad, Y),
        "y of fit": lambda: network(missing="skip").fit(X, y),
        "X of transform": lambda: DiagonalReservoir(10, seed=0).fit_transform(bad),
        "X of predict": lambda: open_model.predict(bad),
        "X of a model": lambda: open_model.model_.predict(bad),
        "y_previous": lambda: closed_model.predict(X, y_previous=y),
        "context": lambda: open_model.forecast(3, bad),
        "rows": lambda: open_model.stream().run(bad),
        "data": lambda: open_model.reduce(**small, data=(X, bad)),
        "X of search": lambda: search(network(), {"sr": [0.5, 0.9]}, bad, Y),
        "y of search": lambda: search(network(missing="skip"), {"sr": [0.5, 0.9]}, X, y),
        "X of from_data": lambda: spectra.from_data(bad, Y, **small),
        "y of metrics": lambda: metrics.nrmse(Y[:, None], y),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=r"real (numbers|array)"):
            pytest.fail(f"{name} took {call()}")


def test_complex_numbers_are_rejected_in_labelled_rows():
    frame = pd.DataFrame(X, columns=["a", "b"])
    stream = network().fit(frame, Y).stream()
    with pytest.raises(ValueError, match=r"u.*real numbers"):
        stream.step(pd.Series({"a": np.complex64(1 + 2j), "b": 1.0}, dtype=object))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"a": Y}, ": got an object of type dict; expected a 2-D series .*DataFrame"),
        (iter(X), ": got an object of type iterator; expected a 2-D series"),
        (3.0, r"=3\.0: expected a 2-D series"),
        ("data.csv", r"='data\.csv': expected a 2-D series"),
        ([], r": got shape \(0,\); expected a 2-D series \(T, D\)\.$"),
        ([[1.0], [1.0, 2.0]], ": got rows of different lengths.*list of 2-D arrays"),
        (X[None, None], r": got shape \(1, 1, 60, 2\).*or several series \(series, T, D\)"),
        (np.empty((0, 5, 2)), ": got 0 series.*at least one series"),
    ],
    ids=["dict", "iterator", "number", "path", "empty", "ragged", "4-D", "no series"],
)
def test_invalid_series(x, message):
    with pytest.raises(ValueError, match=f"^Invalid X{message}"):
        network().fit(x, Y)


LABELS = ["a", "b"]
NO_NUMBERS = {
    "dates": (
        pd.date_range("2024-01-01", periods=T, freq="h"),
        "dtype datetime64.* in column 'when'",
    ),
    "zoned": (
        pd.date_range("2024-01-01", periods=T, tz="UTC"),
        r"dtype datetime64\[.*, UTC\] in column 'when'",
    ),
    "durations": (pd.to_timedelta(range(T), unit="h"), "dtype timedelta64.* in column 'when'"),
    "periods": (
        pd.period_range("2024-01", periods=T, freq="M"),
        r"Period\('2024-01', 'M'\) in row 0, column 'when', of dtype period\[M\]",
    ),
    "text": (["low", "high"] * (T // 2), "'low' in row 0, column 'when', of dtype (str|object)"),
    "late text": (
        pd.Series([1.0] * (T - 1) + ["n/a"], dtype=object),
        f"'n/a' in row {T - 1}, column 'when', of dtype object",
    ),
    "categories": (
        pd.Categorical(["u", "v"] * (T // 2)),
        "'u' in row 0, column 'when', of dtype category",
    ),
}


@pytest.mark.parametrize("case", NO_NUMBERS)
def test_column_without_numbers_is_named(case):
    column, said = NO_NUMBERS[case]
    frame = pd.DataFrame(X, columns=LABELS)
    bad = frame.assign(when=column)
    remedy = r"; expected real numbers.* Encode these values as numbers, or drop them\.$"
    esn = network().fit(frame.assign(when=0.0), Y)
    for name, call in (
        ("X", lambda: network().fit(bad, Y)),
        ("X", lambda: DiagonalReservoir(10).fit(bad)),
        ("X", lambda: esn.predict(bad)),
        ("y", lambda: network().fit(X, bad)),
        ("X", lambda: esn.model_.predict(bad)),
    ):
        with pytest.raises((ValueError, TypeError), match=f"^Invalid {name}: got {said}.*{remedy}"):
            call()
    with pytest.raises((ValueError, TypeError), match=r"'when' of series 1"):
        network().fit([frame.assign(when=0.0), bad], [Y, Y])


def test_dates_are_not_numbers():
    days = np.arange(T).astype("datetime64[D]")
    with pytest.raises(ValueError, match=r"X: got dtype datetime64\[D\] in column 0"):
        network().fit(days.reshape(-1, 1), Y)
    with pytest.raises(ValueError, match=r"y: got dtype datetime64.* in column 0"):
        network().fit(X, pd.Series(days))


@pytest.mark.parametrize("dtype", [object, "Int64", "int8", bool, "category"])
def test_columns_of_other_numeric_dtypes_are_accepted(dtype):
    values = pd.Series([1, 0] * (T // 2))
    frame = pd.DataFrame({"a": Y, "b": values.astype(dtype)})
    plain = np.column_stack([Y, values])
    esn = network().fit(frame, frame["a"])
    np.testing.assert_array_equal(esn.predict(frame), network().fit(plain, Y).predict(plain))
    np.testing.assert_array_equal(esn.model_.predict(frame), esn.model_.predict(plain))


class OtherFrame:
    """Minimal frame interface that libraries other than pandas share."""

    def __init__(self, **columns):
        self.columns, self._data = list(columns), {k: np.asarray(v) for k, v in columns.items()}
        self.dtypes = [type("Float64", (), {})()] * len(columns)
        self.shape = (len(next(iter(self._data.values()))), len(columns))

    def __getitem__(self, place):
        return self._data[self.columns[place[1]]]

    def __len__(self):
        return self.shape[0]

    def __array__(self, dtype=None, copy=None):
        return np.column_stack(list(self._data.values())).astype(dtype or object)


def test_frames_of_other_libraries():
    frame = OtherFrame(a=X[:, 0], b=X[:, 1])
    esn = network().fit(frame, Y)
    np.testing.assert_array_equal(esn.predict(frame), network().fit(X, Y).predict(X))
    with pytest.raises(ValueError, match=gap("X", np.nan, "row 5, column 'b'")):
        network().fit(OtherFrame(a=Y, b=spoiled(Y, np.nan)), Y)
    with pytest.raises(ValueError, match=r"X: got 'x' in row 0, column 'b', of dtype"):
        network().fit(OtherFrame(a=Y, b=np.array(["x"] * T, object)), Y)


def test_columns_of_y_in_score(open_model):
    with pytest.raises(ValueError, match=r"y: got 1 column; expected 2 columns, as passed to fit"):
        open_model.score(X, Y)


def test_out():
    estimator = DiagonalReservoir(10, seed=0).fit(X)
    frozen = np.empty((T, 10))
    frozen.setflags(write=False)
    wrong = [
        np.empty((T, 9)),
        np.empty((T, 10), np.float32),
        np.empty((T, 10), order="F"),
        [[0.0] * 10] * T,
        frozen,
    ]
    for out in wrong:
        with pytest.raises(ValueError, match=r"out.*contiguous float64 .*shape \(60, 10\)"):
            estimator.transform(X, out=out)
    with pytest.raises(ValueError, match=r"out.*only for a single series"):
        estimator.transform([X, X], out=np.empty((T, 10)))
    with pytest.raises(ValueError, match=r"out: got an object of type list.*a single series"):
        estimator.transform([X, X[:9]], out=[np.empty((T, 10)), np.empty((9, 10))])


# Parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("warmup", [T, T + 5])
def test_warmup_not_shorter_than_the_series(warmup):
    with pytest.raises(
        ValueError, match=rf"warmup={warmup}.*than the 60 rows.*Use a smaller warmup"
    ):
        network(warmup=warmup).fit(X, Y)


def test_warmup_not_shorter_than_every_series():
    with pytest.raises(ValueError, match=r"warmup=20.*the 20 rows of series 1.*drop the short"):
        network(warmup=20).fit([X, X[:20]], [Y, Y[:20]])
    esn = network(warmup=20).fit([X, X[:21]], [Y, Y[:21]])
    with pytest.raises(ValueError, match=r"warmup=20.*fewer steps than the 20 rows to score"):
        esn.score(X[:20], Y[:20])


@pytest.mark.parametrize("warmup", [-1, 2.5, True, "3", None])
def test_warmup_of_another_kind(warmup):
    with pytest.raises(ValueError, match=r"warmup.*an int ≥ 0"):
        network(warmup=warmup).fit(X, Y)


@pytest.mark.parametrize(
    "ridge", [-1e-9, np.nan, np.inf, [], [1.0, -1.0], [1.0, np.nan], [[1.0]], "1e-3", None, 1j]
)
def test_ridge(ridge):
    with pytest.raises(
        ValueError, match=r"ridge.*a finite number ≥ 0, a list of such numbers, .auto. or .loop."
    ):
        network(ridge=ridge).fit(X, Y)


def test_ridges_for_too_short_a_series():
    with pytest.raises(
        ValueError, match=r"ridge=\(1.0, 2.0\).*a single number.*too short to hold out"
    ):
        network(ridge=[1.0, 2.0]).fit(X[:1], Y[:1])


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("lr", [0, 0.0, -0.1, 1.0000001, 2, True, np.nan, "a", None, [0.5]])
def test_lr(kind, lr):
    with pytest.raises(ValueError, match=r"lr.*> 0 and ≤ 1"):
        kind(10, lr=lr).fit(X, Y)


def test_lr_of_a_spectrum():
    with pytest.raises(ValueError, match=r"lr=1.5.*≤ 1"):
        Spectrum([0.5]).leak(1.5)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("units", [0, -3, 2.5, "a", None, True], r"an int ≥ 1"),
        ("sr", [-0.1, True, "a", None, [0.5]], r"a finite number ≥ 0"),
        ("input_connectivity", [0, 1.1, True, np.nan, "a", None], r"a finite number > 0 and ≤ 1"),
        ("rc_connectivity", [0, 1.1, True, np.nan, "a", None], r"a finite number > 0 and ≤ 1"),
        ("input_scaling", ["a", None, [1, 2, 3], [[1, 2]]], r"a finite number, or an array"),
        ("seed", [-1, 1.5, "a", True, np.random.RandomState(0)], r"int, a numpy Generator or None"),
    ],
)
def test_parameters_of_both(kind, name, values, expected):
    for value in values:
        with pytest.raises(ValueError, match=f"^Invalid {name}=.*: expected.*{expected}"):
            kind(**{"units": 10, name: value}).fit(X, Y)


@pytest.mark.parametrize("value", ["a", None, [1.0, 2.0]])
def test_fb_scaling(value):
    with pytest.raises(ValueError, match=r"fb_scaling.*a finite number"):
        network(feedback=True, fb_scaling=value).fit(X, Y)


@pytest.mark.parametrize("horizon", [0, -1, 2.5, True, "3", None, np.nan])
def test_horizon(horizon, open_model):
    with pytest.raises(ValueError, match=r"horizon.*an int ≥ 1"):
        open_model.forecast(horizon)


@pytest.mark.parametrize(
    ("name", "typo", "known", "meant"),
    [
        ("spectrum", "goldn", "golden, .*matrix, .*uniform", "golden"),
        ("spectrum", "matrx", "golden", "matrix"),
        ("basis", "neurons", "eigen, neuron", "neuron"),
        ("penalty", "identiy", "identity, neuron", "identity"),
        ("solver", "QR", "auto, normal, qr", "qr"),
        ("solver", "norml", "auto, normal, qr", "normal"),
        ("dtype", "float16", "float32, float64", r"float\d\d"),
    ],
)
def test_unknown_names(name, typo, known, meant):
    suggestion = rf" Did you mean '{meant}'\?" if meant else ""
    with pytest.raises(ValueError, match=f"Unknown {name}='{typo}': expected one of .*{known}"
                       rf".*\.{suggestion}$"):  # fmt: skip
        network(**{name: typo}).fit(X, Y)


@pytest.mark.parametrize(("name", "typo"), [("spectrum", "goldn"), ("dtype", "float16")])
def test_unknown_names_of_a_transformer(name, typo):
    with pytest.raises(ValueError, match=f"Unknown {name}='{typo}'.*Did you mean"):
        DiagonalReservoir(10, **{name: typo}).fit(X)


def test_unknown_basis_of_states(open_model):
    with pytest.raises(ValueError, match=r"Unknown basis='neuro'.*Did you mean 'neuron'"):
        open_model.states(X, basis="neuro")
    with pytest.raises(ValueError, match=r"Unknown basis='neuro'.*Did you mean 'neuron'"):
        open_model.matrices("neuro")


@pytest.mark.parametrize("spectrum", [None, 3, 0.5])
def test_spectrum_of_another_kind(spectrum):
    with pytest.raises(ValueError, match=f"spectrum={spectrum}.*a name, a Spectrum, eigenvalues"):
        network(spectrum=spectrum).fit(X, Y)


def test_callable_that_returns_something_else():
    with pytest.raises(ValueError, match=r"spectrum: got .* from <lambda>"):
        network(spectrum=lambda n, sr, seed: np.ones(n - 1)).fit(X, Y)


def test_neuron_basis_may_be_unknown():
    esn = network(penalty="identity").fit(X, Y)
    for call in (lambda: esn.states(X, basis="neuron"), esn.matrices):
        with pytest.raises(ValueError, match=r"neuron basis is unknown.*penalty='neuron'"):
            call()


# Eigenvalues and matrices ---------------------------------------------------------------------


@pytest.mark.parametrize("values", [[0.5, 0.3 + 0.2j], [0.3 + 0.2j, 0.3 - 0.21j]])
def test_values_not_closed_under_conjugation(values):
    with pytest.raises(ValueError, match=r"closed under conjugation.*Spectrum\(real, pairs\)"):
        Spectrum.from_values(values)
    with pytest.raises(ValueError, match=r"closed under conjugation.*Spectrum\(real, pairs\)"):
        spectra.from_values(values)
    for kind in BOTH:
        with pytest.raises(ValueError, match=r"^Invalid spectrum.*closed under conjugation"):
            kind(spectrum=values).fit(X, Y)


@pytest.mark.parametrize("pairs", [[0.2 - 0.3j], [0.2], [0.1 + 0.1j, 0.1 - 0.1j]])
def test_invalid_pairs(pairs):
    with pytest.raises(ValueError, match=r"pairs[=:].*positive imaginary part.*from_values"):
        Spectrum([0.1], pairs)


def test_complex_values_as_real_ones():
    with pytest.raises(ValueError, match=r"real[=:].*real numbers.*pairs="):
        Spectrum([0.1 + 0.2j])


def test_no_eigenvalues():
    with pytest.raises(ValueError, match="at least one eigenvalue"):
        Spectrum([])


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_w_not_square(basis, form):
    with pytest.raises(ValueError, match=r"spectrum: got shape \(4, 6\).*square matrix \(N, N\)"):
        network(spectrum=form(np.ones((4, 6))), basis=basis).fit(X, Y)


@pytest.mark.parametrize("basis", BASES)
def test_w_of_other_kinds(basis):
    with pytest.raises(ValueError, match=r"spectrum: got shape \(1, 6, 6\).*square"):
        network(spectrum=np.ones((1, 6, 6)), basis=basis).fit(X, Y)
    with pytest.raises(ValueError, match=r"spectrum: got shape \(0, 0\).*N ≥ 1"):
        network(spectrum=np.ones((0, 0)), basis=basis).fit(X, Y)
    with pytest.raises(ValueError, match=r"spectrum: got dtype complex128.*real numbers"):
        network(spectrum=1j * np.eye(3), basis=basis).fit(X, Y)


# Growth ---------------------------------------------------------------------------------------

UNSTABLE = [
    Spectrum([1.5, 0.2]),
    Spectrum([0.1], [1.2 + 0.9j]),
    np.array([[1.5, 0.1], [0.0, 0.3]]),
    sparse.csr_matrix(np.diag([1.5] + 9 * [0.1])),
]
LONG = np.ones((2500, 1)) + 0.1 * RNG.normal(size=(2500, 1))
LAST_FINITE = 1600
"""Step at which 1.5^t is still finite, but its square is not."""


def quiet(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)
        return call()


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("solver", ["qr", "normal"])
@pytest.mark.parametrize("spectrum", UNSTABLE, ids=["real", "pair", "dense", "sparse"])
def test_overflow_in_fit(basis, solver, spectrum):
    esn = LinearESN(spectrum=spectrum, basis=basis, solver=solver, seed=0)
    with pytest.raises(UnstableError, match=r"states overflowed at step 1[67]\d\d .*radius 1\.5\).*"
                       "Lower sr or lr.*shorter series"):  # fmt: skip
        quiet(lambda: esn.fit(LONG, LONG))
    with pytest.raises(UnstableError, match=r"squares of the states overflowed .*radius 1\.5\)"):
        quiet(lambda: esn.fit(LONG[:LAST_FINITE], LONG[:LAST_FINITE]))
    with pytest.raises(NotFittedError):
        esn.predict(LONG)


@pytest.mark.parametrize("solver", ["qr", "normal"])
def test_overflow_from_the_data(solver):
    data = LONG[:300].copy()
    data[100] = 1e200
    with pytest.raises(UnstableError, match=r"squares of the states overflowed.*scale the data"):
        network(solver=solver).fit(data, LONG[:300])


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("spectrum", UNSTABLE, ids=["real", "pair", "dense", "sparse"])
def test_overflow_after_fit(basis, spectrum):
    esn = LinearESN(spectrum=spectrum, basis=basis, ridge=1e-3, seed=0).fit(LONG[:9], LONG[1:10])
    for call, what in (
        (lambda: esn.predict(LONG), r"output overflowed at step 1[67]\d\d"),
        (lambda: esn.transform(LONG), "states overflowed"),
        (lambda: esn.states(LONG), "states overflowed"),
        (lambda: esn.forecast(3, context=LONG), "states overflowed"),
        (lambda: esn.predict([LONG[:5], LONG]), "output overflowed"),
    ):
        with pytest.raises(UnstableError, match=what):
            call()


def test_overflow_of_a_transformer():
    reservoir = DiagonalReservoir(10, sr=1.5, seed=0).fit(LONG[:9])
    with pytest.raises(UnstableError, match=r"states overflowed at step 1[67]\d\d .*radius 1\.5\)"):
        reservoir.transform(LONG)
    assert np.all(np.isfinite(reservoir.transform(LONG[:LAST_FINITE])))


def test_overflow_on_several_threads():
    reservoir = DiagonalReservoir(500, sr=1.5, seed=0).fit(LONG[:9])  # 1.25 M states
    with pytest.raises(UnstableError, match=r"states overflowed at step 1[67]\d\d"):
        reservoir.transform(LONG)


CHAINS = {
    "long": (np.diag(np.full(399, 10.0), 1), 309),
    "short": (np.diag(np.full(5, 1e100), 1), 4),
    "sparse": (sparse.csr_matrix(np.diag(np.full(399, 10.0), 1)), 309),
}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("given", [False, True], ids=["", "out"])
def test_temporary_overflow_is_reported(chain, given):
    """Units outside all cycles forget the overflow, so only rows in the middle are not finite."""
    W, step = CHAINS[chain]
    pulse = np.zeros((1000, 1))
    pulse[0] = 1.0
    out = np.empty((1000, W.shape[0])) if given else None
    reservoir = DiagonalReservoir(spectrum=W, seed=0).fit(pulse)
    esn = LinearESN(spectrum=W, ridge=1e-2, seed=0).fit(pulse[:3] * 0, np.ones(3))
    for call in (
        lambda: reservoir.transform(pulse, out=out),
        lambda: esn.transform(pulse, out=out),
        lambda: esn.states(pulse),
        lambda: esn.predict(pulse),
        lambda: LinearESN(spectrum=W, ridge=1e-2, seed=0).fit(pulse, pulse),
        lambda: esn.partial_fit(pulse, np.ones(1000)),
    ):
        with pytest.raises(UnstableError, match=f"overflowed at step {step}[ .]"):
            call()
    assert np.all(np.isfinite(reservoir.transform(pulse[:step])))


def test_overflow_of_a_stream():
    stream = LinearESN(spectrum=UNSTABLE[0], seed=0).fit(LONG[:9], LONG[:9]).stream()
    with pytest.raises(UnstableError, match="output overflowed"):
        deque(map(stream.step, LONG), maxlen=0)
    assert np.all(np.isfinite(stream.state.r))


def test_overflow_of_closed_loops_is_explained():
    waves = tasks.mso(3, steps=401)
    esn = LinearESN(20, feedback=True, seed=0).fit(waves[:-1], waves[1:])
    assert esn.effective_radius_ < 1
    with pytest.raises(UnstableError, match=r"output overflowed at step .*own output.*larger ridge"
                       r".*fb_scaling.*y_previous="):  # fmt: skip
        esn.predict(waves)
    assert np.all(np.isfinite(esn.predict(waves[:-1], y_previous=waves[:-1])))
    growing = 1.3 ** np.arange(40.0).reshape(-1, 1)
    oscillator = network().fit(growing[:-1], growing[1:])
    with pytest.raises(UnstableError, match=r"output overflowed at step 2\d\d\d .*own output"):
        oscillator.forecast(3000)


@pytest.mark.parametrize("kind", BOTH)
def test_growth_causes_a_warning(kind):
    pattern = r"radius, 1\.5, exceeds 1, .*10\^18 over 100 .*Lower sr"
    with pytest.warns(UnstableWarning, match=pattern):
        kind(10, sr=1.5, seed=0).fit(LONG[:100], LONG[:100])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(10, sr=1.0, seed=0).fit(LONG[:100], LONG[:100])
        kind(10, sr=1.001, seed=0).fit(LONG[:100], LONG[:100])


def test_unstable_error_is_both_kinds():
    assert issubclass(UnstableError, ArithmeticError)
    assert issubclass(UnstableError, ValueError)


# Invalid forecasts ----------------------------------------------------------------------------


def test_forecast_of_another_series():
    esn = network().fit(X[:, :1], X)
    with pytest.raises(ValueError, match=r"own input: .* this model has only D_in=1"):
        esn.forecast(3)
    with pytest.raises(AttributeError, match="model that predicts its own input"):
        _ = esn.closed_loop_radius_


def test_known_inputs(model_with_known_inputs, open_model):
    with pytest.raises(ValueError, match=r"inputs=None.*shape \(3, 1\)"):
        model_with_known_inputs.forecast(3)
    with pytest.raises(ValueError, match=r"inputs: got 4 rows.*3 rows"):
        model_with_known_inputs.forecast(3, inputs=np.ones((4, 1)))
    with pytest.raises(ValueError, match=r"inputs: got shape \(3, 2\).*1 column"):
        model_with_known_inputs.forecast(3, inputs=np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"inputs: got shape \(3, 1\).*0 columns"):
        open_model.forecast(3, inputs=np.ones((3, 1)))


def test_contexts(open_model):
    with pytest.raises(ValueError, match=r"context: got shape \(60, 1\).*2 columns"):
        open_model.forecast(3, context=X[:, :1])
    with pytest.raises(ValueError, match=r"context: got shape \(60, 1\).*2 columns"):
        open_model.forecast(3, context=[X, X[:, :1]])
    with pytest.raises(ValueError, match=r"context: got several series.*a single series"):
        open_model.forecast(3, context=np.stack([X, X]), state=open_model.final_state_)
    with pytest.raises(ValueError, match=r"context=None.*a series.*state="):
        open_model.model_.forecast(3)


# A fit is all or nothing ----------------------------------------------------------------------

FAILURES = [
    pytest.param({}, (spoiled(X, np.nan), Y), id="NaN in X"),
    pytest.param({}, (X, spoiled(Y, np.inf)), id="Inf in y"),
    pytest.param({}, (X, Y[1:]), id="lengths"),
    pytest.param({}, (Y, Y), id="1-D X"),
    pytest.param({}, ([X, X[:, :1]], [Y, Y]), id="features"),
    pytest.param({"warmup": T}, (X, Y), id="warmup"),
    pytest.param({"ridge": -1.0}, (X, Y), id="ridge"),
    pytest.param({"lr": 0.0}, (X, Y), id="lr"),
    pytest.param({"spectrum": "nothing"}, (X, Y), id="name"),
    pytest.param({"spectrum": UNSTABLE[0]}, (LONG, LONG), id="overflow"),
    pytest.param({"dtype": "float16"}, (X, Y), id="dtype"),
    pytest.param({"seed": -1}, (X[:, :1], Y), id="seed"),
]


@pytest.mark.filterwarnings("ignore::eigenecho.errors.UnstableWarning")
@pytest.mark.parametrize(("params", "data"), FAILURES)
def test_failed_fit_leaves_an_estimator_unfitted(params, data):
    esn = network().set_params(**params)
    before = dict(vars(esn))
    with pytest.raises(ValueError):
        esn.fit(*data)
    assert vars(esn) == before
    with pytest.raises(NotFittedError, match="not fitted yet"):
        esn.predict(X)


@pytest.mark.filterwarnings("ignore::eigenecho.errors.UnstableWarning")
@pytest.mark.parametrize(("params", "data"), FAILURES)
def test_failed_fit_keeps_the_previous_fit(params, data):
    esn = network().fit(X[:-1], X[1:])
    radius = esn.closed_loop_radius_
    predicted, ahead, states = esn.predict(X), esn.forecast(4), esn.transform(X)
    original = esn.get_params()
    with pytest.raises(ValueError):
        esn.set_params(**params).fit(*data)
    esn.set_params(**{name: original[name] for name in params})
    np.testing.assert_array_equal(esn.predict(X), predicted)
    np.testing.assert_array_equal(esn.forecast(4), ahead)
    np.testing.assert_array_equal(esn.transform(X), states)
    assert esn.n_features_in_ == 2
    assert esn.closed_loop_radius_ == radius


@pytest.mark.parametrize("params", [{"lr": 0.0}, {"spectrum": "nothing"}, {"units": 0}])
def test_failed_fit_of_a_transformer(params):
    reservoir = DiagonalReservoir(10, seed=0)
    before = dict(vars(reservoir.set_params(**params)))
    with pytest.raises(ValueError):
        reservoir.fit(X)
    assert vars(reservoir) == before
    reservoir = DiagonalReservoir(10, seed=0).fit(X)
    states = reservoir.transform(X)
    with pytest.raises(ValueError):
        reservoir.set_params(**params).fit(X[:, :1])
    np.testing.assert_array_equal(reservoir.transform(X), states)


def test_interrupted_fit_keeps_the_previous_fit(monkeypatch):
    esn = network().fit(X[:-1], X[1:])
    predicted = esn.predict(X)

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("eigenecho.estimators.fitted.train", interrupt)
    with pytest.raises(KeyboardInterrupt):
        esn.fit(X[:, :1], Y)
    np.testing.assert_array_equal(esn.predict(X), predicted)


def test_failed_predict_changes_nothing(closed_model):
    before = closed_model.predict(X)
    with pytest.raises(ValueError):
        closed_model.predict(spoiled(X, np.nan))
    np.testing.assert_array_equal(closed_model.predict(X), before)


def test_invalid_callables():
    with pytest.raises(ValueError, match=r"spectrum.*law\(n, sr=, seed=\).*Calling the .* raised"):
        LinearESN(5, spectrum=lambda n: None, seed=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"got Spectrum\(22 units.*20 eigenvalues"):
        LinearESN(20, spectrum=lambda n, sr, seed: spectra.golden(22, sr), seed=0).fit(X, Y)


def test_list_of_1d_arrays_is_rejected():
    flat = [np.arange(30.0), np.arange(30.0)]
    with pytest.raises(ValueError, match=r"list of 1-D arrays.*\[x.reshape\(-1, 1\) for x in X\]"):
        LinearESN(5, seed=0).fit(flat, flat)


def test_defective_matrix_is_kept_if_no_form_is_cheaper():
    J = 0.9 * np.diag(np.ones(9), 1)
    u = np.random.default_rng(0).normal(size=(400, 1))
    y = np.roll(u[:, 0], 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = LinearESN(spectrum=J, seed=0, warmup=20).fit(u, y)
    neuron = LinearESN(spectrum=J, basis="neuron", seed=0, warmup=20).fit(u, y)
    np.testing.assert_array_equal(kept.predict(u), neuron.predict(u))
    assert not kept.model_.is_diagonal
    assert kept.states(u).shape == (400, 10)


def test_growing_loop_in_predict_causes_a_warning():
    waves = tasks.mso(3, steps=801)
    esn = LinearESN(30, seed=0, warmup=20, feedback=True).fit(waves[:-1], waves[1:])
    with pytest.warns(UnstableWarning, match="The output grew from .* unstable"):
        esn.predict(waves[:100])


def test_standardize_very_large_and_small_values():
    u = np.random.default_rng(0).normal(size=(300, 1))
    plain = LinearESN(10, seed=0, standardize=True).fit(u, np.roll(u, 1)).predict(u)
    for scale in (1e200, 1e-200):
        esn = LinearESN(10, seed=0, standardize=True).fit(scale * u, scale * np.roll(u, 1))
        np.testing.assert_allclose(esn.predict(scale * u) / scale, plain, rtol=1e-9, atol=1e-9)


SWAYING = np.sin(0.2 * np.arange(301.0))[:, None]
EXTREME_COLUMNS = {
    "constant, the smallest number": np.full((301, 1), 5e-324),
    "constant, denormal": np.full((301, 1), 1e-310),
    "constant, large": np.full((301, 1), 1e200),
    "nearly constant, its deviation denormal": 1e-300 * (1 + 1e-10 * SWAYING),
    "nearly constant, all denormal": 1e-310 * (1 + 1e-12 * SWAYING),
    "nearly constant, its deviation underflows": 1e-310 + 5e-324 * (np.arange(301.0)[:, None] % 2),
    "nearly constant, its variance overflows": 1e200 * (1 + 1e-15 * SWAYING),
    "denormal": 1e-310 * SWAYING,
    "its variance overflows": 1e200 * SWAYING,
}


@pytest.mark.parametrize("name", EXTREME_COLUMNS)
def test_standardised_columns_with_extreme_values(name):
    """The column is the target, an additional input, or a series that forecasts itself."""
    column, known = EXTREME_COLUMNS[name], SWAYING
    size = np.abs(column).max()
    options = {"standardize": True, "ridge": 1e-8, "warmup": 50}
    target = network(**options).fit(known[:-1], column[:-1])
    off = np.abs(target.predict(known[:-1]) / size - column[:-1] / size)[50:]
    assert off.max() < 1e-3
    both = np.hstack([known, column])[:-1]
    beside = network(**options).fit(both, known[1:])
    assert np.abs(beside.predict(both) - known[1:])[50:].max() < 2e-2
    alone = network(**options).fit(column[:-1], column[1:])
    ahead = alone.forecast(5) / size
    assert np.all(np.isfinite(ahead))
    assert np.abs(ahead).max() < 1.1
    learner, stream = alone.learner(alone.final_state_), alone.stream()
    assert np.isfinite(learner.step(column[-1], column[-1])[0])
    assert np.isfinite(stream.step(column[0])[0])
    assert not np.isnan(alone.noise_covariance_[0, 0])


@pytest.mark.parametrize(
    "name",
    ["feedback", "fit_bias", "penalize_bias", "output_to_readout", "standardize", "input_bias"],
)
def test_flags_are_true_or_false(name):
    with pytest.raises(ValueError, match=f"{name}='no'.*True or False"):
        network(**{name: "no"}).fit(X, Y)
    network(**{name: np.bool_(False)}).fit(X, Y)


def test_matrices_whose_rows_differ_in_length():
    fitted = network().fit(X, Y)
    before = fitted.predict(X)
    ragged = [[0.5, 0.1], [0.2]]
    with pytest.raises(ValueError, match=r"spectrum: got rows of different lengths;"):
        fitted.set_params(spectrum=ragged).fit(X, Y)
    np.testing.assert_array_equal(fitted.predict(X), before)
    with pytest.raises(ValueError, match=r"W: got rows of different lengths.*a square matrix"):
        diagonalize(ragged, np.ones((1, 2)))


# Values that NumPy would accept ------------------------------------------------------------------

HALF = np.ma.masked_array([0.5, 0.6], mask=[False, True])


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("ridge", lambda esn: LinearESN(10, ridge=HALF).fit(X, Y)),
        ("input_scaling", lambda esn: LinearESN(10, input_scaling=HALF).fit(X, Y)),
        ("spectrum", lambda esn: LinearESN(spectrum=HALF * np.eye(2)).fit(X, Y)),
        ("values", lambda esn: spectra.from_values(HALF)),
        ("u", lambda esn: esn.stream().step(HALF)),
        ("state", lambda esn: esn.stream((np.ma.masked_less(np.ones(10), 2), HALF))),
    ],
)  # fmt: skip
def test_masked_values_are_refused(open_model, name, call):
    with pytest.raises(ValueError, match=rf"{name}.*masked"):
        call(open_model)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("initial_state", lambda esn: esn.predict([X, X], initial_state=5)),
        ("return_state", lambda esn: esn.predict(X, return_state="no")),
        ("path", lambda esn: esn.save(None)),
        ("path", lambda esn: esn.export(None)),
        ("path", lambda esn: esn.stream().save(3)),
        ("readout_bias", lambda esn: dataclasses.replace(esn.model_, readout_bias="no")),
        ("real", lambda esn: Spectrum(["a"], [])),
        ("real", lambda esn: Spectrum([[0.1, 0.2], [0.3]])),
        ("pairs", lambda esn: Spectrum([], ["a"])),
        ("values", lambda esn: spectra.from_values(["a"])),
        ("lr", lambda esn: diagonalize(np.eye(2) / 2, np.ones((1, 2)), lr="a")),
        ("X", lambda esn: clone(esn).fit(X, Y).set_output(transform="pandas").transform([X, X])),
        ("sample_weight", lambda esn: esn.score(X, esn.predict(X), -np.ones(len(X)))),
        ("refit", lambda esn: search(esn, {"sr": [0.5]}, X, Y, refit="no")),
        ("units", lambda esn: clone(esn).set_params(units=10**30).fit(X, Y)),
    ],
)  # fmt: skip
def test_error_names_the_argument(open_model, name, call):
    with pytest.raises(ValueError, match=name):
        call(open_model)


def test_repeated_column_names_are_refused():
    frame = pd.DataFrame(X, columns=["a", "a"])
    with pytest.raises(ValueError, match="X: got two columns named 'a'"):
        LinearESN(10).fit(frame, Y)


def test_sizes_beyond_the_memory_are_refused():
    with pytest.raises(MemoryError, match="units=1000000000000"):
        LinearESN(10**12).fit(X, Y)
    esn = LinearESN(10, seed=0).fit(X[:-1], X[1:])
    with pytest.raises(MemoryError, match="horizon=1000000000000000"):
        esn.forecast(10**15)
