"""Long runs report their progress, which does not change results."""

import numpy as np
import pytest

import eigenecho as ee
from eigenecho import progress
from eigenecho.progress import Progress


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch):
    """Report after every piece of the minimum length."""
    monkeypatch.setattr(progress, "INTERVAL", 0.0)


class Record:
    """Callback that records its calls."""

    def __init__(self):
        self.calls = []

    def __call__(self, done, total):
        self.calls.append((done, total))


def series(T, D=1):
    return np.random.default_rng(T).normal(size=(T, D))


def trained(D=1, D_out=1, **options):
    X = series(300, D)
    y = np.repeat(X[:, :1], D_out, axis=1)
    return ee.LinearESN(60, seed=0, ridge=1.0, **options).fit(X, y).model_


MODELS = {
    "scan": {"sr": 1.0},
    "several outputs": {"sr": 1.0, "D": 3, "D_out": 2},
    "wide": {"sr": 1.0, "D": 9, "D_out": 9},
    "closed loop": {"feedback": True, "fb_scaling": 0.1},
    "neuron": {"spectrum": "matrix", "basis": "neuron"},
    "standardised": {"sr": 1.0, "standardize": True},
}


@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS.keys())
def test_results_are_equal_with_and_without_progress(options):
    options = dict(options)
    D = options.pop("D", 1)
    model = trained(D, options.pop("D_out", 1), **options)
    X, messages = series(3 * progress.UNIT + 100, D), Record()
    whole, end = model.predict(X, return_state=True)
    pieces, same_end = model.predict(X, return_state=True, progress=messages)
    assert pieces.tobytes() == whole.tobytes()
    assert same_end.r.tobytes() == end.r.tobytes()
    assert messages.calls == [(k * progress.UNIT, len(X)) for k in (1, 2, 3)] + [(len(X), len(X))]


def test_convolution_reports_every_block():
    X = series(70_000)
    fitted = ee.LinearESN(500, sr=0.8, penalty="identity", seed=0, ridge=1.0)
    model = fitted.fit(X[:1000], X[:1000]).model_
    assert model.inference(X) == "convolution"
    messages = Record()
    assert model.predict(X, progress=messages).tobytes() == model.predict(X).tobytes()
    assert len(messages.calls) > 2
    assert messages.calls[-1] == (len(X), len(X))


def test_progress_counts_all_series():
    messages, model = Record(), trained(sr=1.0)
    model.predict([series(progress.UNIT + 5), series(7)], progress=messages)
    total = progress.UNIT + 12
    done = [progress.UNIT, progress.UNIT + 5, total]
    assert messages.calls == [(d, total) for d in done]


def test_transform_reports_progress():
    X, messages = series(2 * progress.UNIT + 1), Record()
    reservoir = ee.DiagonalReservoir(50, seed=0).fit(X)
    out = np.empty((len(X), 50))
    assert reservoir.transform(X, out=out, progress=messages) is out
    assert out.tobytes() == reservoir.transform(X).tobytes()
    assert [done for done, _ in messages.calls] == [progress.UNIT, 2 * progress.UNIT, len(X)]


def test_exception_in_the_callback_ends_the_run_safely():
    model, X = trained(sr=1.0), series(3 * progress.UNIT)
    before = model.predict(X)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.predict(X, progress=stop)
    assert model.predict(X).tobytes() == before.tobytes()


def test_pieces_grow_until_they_are_slow_enough(monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", 1e3)
    lengths = [rows.stop - rows.start for rows in Progress(Record(), 10**6).pieces(10**6)]
    assert lengths[:3] == [progress.UNIT, 4 * progress.UNIT, 16 * progress.UNIT]
    assert sum(lengths) == 10**6


def test_progress_must_be_callable():
    with pytest.raises(ValueError, match=r"progress=True.*callable \(done, total\)"):
        trained().predict(series(5), progress=True)


def test_estimators_pass_the_callback():
    X = series(9000)
    esn = ee.LinearESN(30, sr=1.0, seed=0, ridge=1.0).fit(X[:300], X[:300])
    record = Record()
    np.testing.assert_array_equal(esn.predict(X, progress=record), esn.predict(X))
    assert record.calls[-1] == (9000, 9000)
    assert len(record.calls) > 1
