"""Saved forecasters are restored exactly, and invalid files are rejected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crafted
import eigenecho as ee
from eigenecho.errors import StorageError
from eigenecho.forecasting.candidates import Ensemble
from eigenecho.forecasting.prior import NO_PRIOR
from eigenecho.forecasting.selection import MOST

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore::eigenecho.errors.FewRowsWarning")

KINDS = ("single", "columns", "list", "series", "wide", "long", "short")


@pytest.fixture(scope="module")
def forecasters():
    return dict(zip(KINDS, crafted.forecasters(), strict=True))


def same(one, other):
    if isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other, check_exact=True, check_freq=False)
    elif isinstance(one, pd.Series):
        pd.testing.assert_series_equal(one, other, check_exact=True, check_freq=False)
    elif isinstance(one, (list, tuple)):
        assert type(one) is type(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    else:
        assert isinstance(one, np.ndarray)
        assert np.array_equal(one, other)


def loaded(forecaster, path):
    forecaster.save(path)
    return ee.load(path)


def further(kind, forecaster):
    """Return new rows of y and X, and the known columns after the end."""
    if kind == "single":
        return np.array([0.1, np.nan, -0.2]), np.ones((3, 2)), np.ones((2, 1))
    if kind == "columns":
        return np.array([[5.0, 4.0], [5.1, np.nan]]), None, None
    if kind == "list":
        return [np.array([5.0]), np.array([])], None, None
    if kind == "wide":
        clock = forecaster.fitted_.panel.histories[0].clock
        X = pd.DataFrame({"promo": 1.0, "größe": 0.5}, clock.ahead(4))
        return pd.DataFrame(5.0, clock.ahead(2), [0, 1]), X, None
    if kind == "series":
        clock = forecaster.fitted_.panel.histories[0].clock
        return pd.Series([5.0, 6.0], clock.ahead(2), name="sales"), None, None
    if kind == "long":
        return pd.DataFrame({"shop": [1], "ds": [35], "y": [3.0]}), None, None
    return np.array([5.0, 6.0, 7.0]), None, None


@pytest.mark.parametrize("kind", KINDS)
def test_forecasts_intervals_and_updates_are_equal_after_loading(kind, forecasters, tmp_path):
    forecaster = loaded(forecasters[kind], tmp_path / "first")  # do not modify the shared fixture
    again = loaded(forecaster, tmp_path / "second")
    y, X, ahead = further(kind, forecaster)
    for _ in range(2):
        same(again.predict(X=ahead), forecaster.predict(X=ahead))
        if kind != "short":
            same(again.predict(X=ahead, interval=0.8), forecaster.predict(X=ahead, interval=0.8))
            levels = [0.1, 0.5]
            same(
                again.predict(1, X=_first(ahead), quantiles=levels),
                forecaster.predict(1, X=_first(ahead), quantiles=levels),
            )
        forecaster.update(y, X)
        again.update(y, X)
        y, X, ahead = further(kind, forecaster) if kind != "long" else (
            pd.DataFrame({"shop": [3, 1], "ds": [40, 36], "y": 1.0}), None, None
        )  # fmt: skip
    assert again.members_ == forecaster.members_
    assert again.seasons_ == forecaster.seasons_
    if kind != "short":
        same(np.atleast_1d(again.expected_error_), np.atleast_1d(forecaster.expected_error_))


def _first(ahead):
    return None if ahead is None else ahead[:1]


@pytest.mark.parametrize("kind", KINDS)
def test_fitted_attributes_are_restored(kind, forecasters, tmp_path):
    forecaster = forecasters[kind]
    again = loaded(forecaster, tmp_path / "file")
    assert repr(again) == repr(forecaster)
    assert again.get_params() == forecaster.get_params()
    one, other = forecaster.fitted_, again.fitted_
    assert other.panel.cycles == one.panel.cycles
    assert [h.name for h in other.panel.histories] == [h.name for h in one.panel.histories]
    assert replace(other.config, prior=NO_PRIOR) == replace(one.config, prior=NO_PRIOR)
    assert np.array_equal(other.config.prior.values, one.config.prior.values)
    for name in ("is_own", "tried", "prior_share"):
        assert getattr(other, name) == getattr(one, name)
    for a, b in zip(other.ensemble.members, one.ensemble.members, strict=True):
        assert np.array_equal(a.weights, b.weights)
        assert all(map(np.array_equal, a.own, b.own))
        assert a.baseline == b.baseline
        assert a.view.filter.spectrum == b.view.filter.spectrum


def test_several_known_columns_are_equal_after_loading(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(140, 3))
    y = np.sin(np.arange(140) / 3) + X @ [1.0, 0.5, -0.2] + 0.1 * rng.normal(size=140)
    forecaster = ee.Forecaster(4, past=[1]).fit(y[:130], X[:130])
    again = loaded(forecaster, tmp_path / "file")
    same(again.predict(X=X[130:134, [0, 2]]), forecaster.predict(X=X[130:134, [0, 2]]))
    for updated in (forecaster, again):
        updated.update(y[130:136], X[130:136])
    same(again.predict(X=X[136:, [0, 2]]), forecaster.predict(X=X[136:, [0, 2]]))


def test_rolling_forecasts_are_equal_after_loading(forecasters, tmp_path):
    for kind in ("columns", "list"):
        forecaster = forecasters[kind]
        again = loaded(forecaster, tmp_path / "file")
        rng = np.random.default_rng(0)
        y = rng.normal(size=(20, 2))
        y = y if kind == "columns" else list(y.T)
        same(again.rolling(y, [5, 19]), forecaster.rolling(y, [5, 19]))


@pytest.mark.parametrize(
    "options",
    [
        {"past": "a"},
        {"past": ["b", "a"], "seasons": np.array([7, 3])},
        {"past": ("a",), "seasons": 4, "validation": np.int64(12)},
        {"seasons": [3.5], "sharing": "shared", "strategy": "recursive", "seed": None},
    ],
)
def test_parameters_are_restored(options, tmp_path):
    t = np.arange(40.0)
    X = pd.DataFrame({"a": np.sin(t), "b": np.cos(t)}, index=range(42)[:40])
    y = pd.Series(np.sin(0.5 * t))
    forecaster = ee.Forecaster(2, spectrum=ee.Spectrum([0.9]), **options)
    again = loaded(forecaster.fit(y, X if "past" in options else None), tmp_path / "file")
    for name, value in options.items():
        result = getattr(again, name)
        assert type(result) is (list if isinstance(value, np.ndarray) else type(value)) or (
            isinstance(value, np.integer)
        )
        assert np.array_equal(result, value) if value is not None else result is None
    assert again.spectrum == ee.Spectrum([0.9])
    again.fit(y, X if "past" in options else None)  # it can still be fitted


def test_random_generator_is_not_stored(tmp_path):
    forecaster = ee.Forecaster(1, seed=np.random.default_rng(0)).fit(np.arange(4.0))
    with pytest.warns(UserWarning, match="seed.* cannot be saved"):
        forecaster.save(tmp_path / "file")
    assert ee.load(tmp_path / "file").seed is None


def test_invalid_parameters_are_not_saved(tmp_path):
    forecaster = ee.Forecaster(2).fit(np.arange(4.0)).set_params(strategy="none")
    with pytest.raises(ValueError, match="Unknown strategy='none'"):
        forecaster.save(tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_all_members_and_a_thousand_series_fit_into_a_header(tmp_path):
    y = np.random.default_rng(0).normal(size=(3, 1000))
    many = ee.Forecaster(2).fit(pd.DataFrame(y))
    (member,) = many.fitted_.ensemble.members  # too short for model selection
    many.fitted_ = replace(many.fitted_, ensemble=Ensemble((member,) * MOST))
    again = loaded(many, tmp_path / "file")
    assert len(again.members_) == MOST
    assert again.members_ == many.members_
    assert len(again.fitted_.panel) == 1000


@pytest.mark.parametrize("kind", KINDS)
def test_effects_are_restored(kind, forecasters, tmp_path):
    effects = forecasters[kind].fitted_.effects
    found = loaded(forecasters[kind], tmp_path / "file").fitted_.effects
    assert found.periods == effects.periods
    assert found.filter.spectrum == effects.filter.spectrum
    assert found.removed == effects.removed
    for weights, expected in zip(found.weights, effects.weights, strict=True):
        assert all(map(np.array_equal, weights, expected))


def test_forecasters_have_effects_of_all_kinds(forecasters):
    # Otherwise the tests above would not cover files with effects.
    learnt = {moved for one in forecasters.values() for moved in one.fitted_.effects.removed}
    assert len(learnt) == 6
    members = [member for one in forecasters.values() for member in one.members_]
    for name in ("calendar", "known", "past"):
        assert any(member[name] for member in members)


# Invalid files ------------------------------------------------------------------------------------


def _drop(name):
    return lambda tensors, values: tensors.pop(f"fitted.{name}")


def _place(values, path):
    """Return the object that holds the last name of a path, and that name."""
    *parents, key = (int(part) if part.isdigit() else part for part in path.split("/"))
    for parent in parents:
        values = values[parent]
    return values, key


def _tensor(name, change):
    """Replace an array and the numbers of rows of the arrays in it; ``name`` is its path."""
    path = f"fitted.{name.replace('/', '.')}"

    def damage(tensors, values):
        tensors[path] = np.ascontiguousarray(change(tensors[path]))
        if f"{path}.rows" in tensors:
            _resize(tensors, path, len(tensors[path]))

    return damage


def _resize(tensors, path, size):
    rows = tensors[f"{path}.rows"]
    rows[-1] += size - rows.sum()


def _rows(name, rows):
    def damage(tensors, values):
        tensors[f"fitted.{name.replace('/', '.')}.rows"] = np.array(rows)

    return damage


def _value(path, value):
    def damage(tensors, values):
        place, key = _place(values, path)
        place[key] = value

    return damage


def _fitted(path, value):
    return _value(f"fitted/{path}", value)


def _member(name, value):
    return _fitted(f"ensemble/members/0/{name}", value)


def _view(name, value):
    return _fitted(VIEWS + name, value)


VIEWS = "ensemble/members/0/view/"
SERIES, KNOWN, WEIGHTS = "panel/series", "panel/known", "ensemble/members/0/weights"


def _emptied(path):
    """Remove all items of a list and their arrays."""

    def damage(tensors, values):
        place, key = _place(values["fitted"], path)
        place[key] = []
        prefix = f"fitted.{path.replace('/', '.')}."
        for name in [name for name in tensors if name.startswith(prefix)]:
            del tensors[name]

    return damage


REPEATED = {"logarithm": False, "known": True, "calendar": False}
LABELS = {"items": [0], "levels": [None], "kind": "int64"}
REMOVED = "effects/weights/0/removed/"
DAMAGES = [
    ("single", _drop("panel.series"), "The array 'fitted.panel.series' is missing"),
    ("single", _rows(SERIES, [41]), "panel.series"),
    ("single", _rows(SERIES, [-40]), "panel.series"),
    ("single", _rows(SERIES, [40.0]), "panel.series"),
    ("single", _tensor(SERIES, lambda a: a[1:]), "Invalid (known|times)"),
    ("single", _tensor(SERIES, lambda a: np.full_like(a, np.nan)), "only NaN"),
    ("single", _tensor(SERIES, lambda a: a + np.inf), "panel.series"),
    ("single", _tensor(SERIES, lambda a: a * 1e200), "numbers up to 1e[+]150"),
    ("single", _tensor(SERIES, lambda a: a.astype(np.float32)), "series[=:]"),
    ("single", _tensor(KNOWN, lambda a: np.hstack([a, a])), "Invalid (known|times)"),
    ("single", _tensor("panel/past", lambda a: a[1:]), "past[=:]"),
    ("single", _tensor(WEIGHTS, lambda a: a[1:]), "weights[=:]"),
    ("single", _tensor(WEIGHTS, lambda a: a[:, :1]), "weights[=:]"),
    ("single", _tensor(WEIGHTS, lambda a: a * np.nan), "finite numbers"),
    ("single", _tensor(VIEWS + "filter/spectrum/real", lambda a: a + 1e6), "do not overflow"),
    ("single", _tensor("bands/growth", lambda a: a[1:]), "growth[=:]"),
    ("single", _tensor("bands/growth", np.zeros_like), "finite numbers > 0"),
    ("single", _tensor("bands/ratios", lambda a: a[::-1]), "sorted errors"),
    ("single", _tensor("config/spectrum/pairs", np.zeros_like), "conjugate"),
    ("single", _value("params/given", None), "params: "),
    ("single", _value("params/values/horizon", 0), "horizon=0"),
    ("single", _value("params/values/horizon", 10**30), "horizon=1"),
    ("single", _value("params/values/past", {"set": [1]}), "label[=:]"),
    ("single", _value("params/values/past", {"tuple": 1}), "label[=:]"),
    ("single", _value("params/values/past", [[1]]), "label[=:]"),
    ("single", _value("params/values/seed", -1), "seed=-1"),
    ("single", _value("params/values/seasons", [[7]]), "label[=:]"),
    ("single", _value("params/values/progress", 1), "progress=1"),
    ("single", _value("params/values/more", 1), "params[=:]"),
    ("single", _fitted("config/horizon", 3), "Invalid (weights|growth)"),
    ("single", _fitted("config/periods", [4.0] * 21), "at most 20"),
    ("single", _fitted("config/periods", [4.0] * 398), "398 periods"),
    ("single", _fitted("config/sharing", "not"), "sharing='not'"),
    ("single", _fitted("config/validation", 1), "validation=1"),
    ("list", _fitted("config/multivariate", True), "multivariate=True"),
    ("single", _fitted("bands/blocks", 0.0), "blocks=0"),
    ("single", _tensor("bands/means", lambda a: -a - 1), "means[=:]"),
    ("single", _tensor("effects/filter/spectrum/real", lambda a: a + 1e6), "do not overflow"),
    ("single", _tensor("effects/weights/0/columns", lambda a: a[1:]), "columns[=:]"),
    ("single", _tensor("effects/weights/0/one_step", lambda a: a[1:]), "one_step[=:]"),
    ("single", _fitted("effects/weights/1/removed", REPEATED), "distinct effects"),
    ("single", _fitted(REMOVED + "calendar", []), "removed.calendar"),
    ("single", _fitted(REMOVED + "calendar", 0), "removed.calendar=0"),
    ("single", _fitted("effects/weights", 2), "weights"),
    ("single", _fitted("config/periods", [0.5]), "periods[=:]"),
    ("single", _fitted("config/periods", 4.0), "periods=4"),
    ("single", _fitted("config/periods", ["a"]), "periods"),
    ("single", _fitted("config/periods", []), "periods[=:]"),
    ("single", _drop("effects.weights.0.columns"), "is missing"),
    ("single", _tensor("effects/weights/0/one_step", lambda a: a * np.inf), "finite numbers"),
    ("columns", _tensor("bands/means", lambda a: a[:1]), "means[=:]"),
    ("single", _fitted("bands/kind", None), "bands[=:]"),
    ("single", _fitted("bands", {}), "bands[=:]"),
    ("single", _fitted("is_own", True), "own[=:]"),
    ("single", _fitted("prior_share", 1.5), "prior_share=1.5"),
    ("single", _tensor("config/prior/values", lambda a: a[1:]), "values[=:]"),
    ("single", _fitted("tried", -1), "tried=-1"),
    ("single", _fitted("config/refit", "no"), "refit='no'"),
    ("single", _fitted("panel/form", []), "form"),
    ("single", _fitted("panel/labels", LABELS), "labels[=:]"),
    ("wide", _fitted("panel/series", 10**15), "panel.series"),
    ("wide", _fitted("panel/labels/items", [0]), "each of 2 series"),
    ("wide", _fitted("panel/labels", None), "labels[=:]"),
    ("single", _tensor("panel/times/last", lambda a: a + 1), "row numbers"),
    ("single", _fitted("panel/form/is_range", False), "True for arrays"),
    ("single", _fitted("panel/columns/past", [7]), "names of existing columns"),
    ("single", _member("ridge", []), "ridge[=:]"),
    ("single", _fitted("ensemble/members", 10**15), "members"),
    ("single", _value("more", 1), "values[=:]"),
    ("single", _view("removed/known", 1), "removed.known=1"),
    ("single", _view("name", 3), "name=3"),
    ("single", _emptied("effects/weights"), "removed[=:]"),
    ("single", _member("baseline/kind", "none"), "kind='none'"),
    ("single", _member("baseline/season", 2**40), "baseline[=:]"),
    ("single", _member("baseline/season", 10**9), "season="),
    ("single", _member("kind", "none"), "kind='none'"),
    ("single", _member("ridge", -1.0), "ridge=-1"),
    ("short", _emptied("ensemble/members"), "members[=:]"),
    ("columns", _fitted("is_own", False), "own[=:]"),
    ("columns", _tensor("ensemble/members/0/own", lambda a: a[:-1]), "weights[=:]"),
    ("columns", _member("own", 1), "own"),
    ("columns", _rows(SERIES, [41, 39]), "different lengths"),
    ("columns", _fitted("panel/form/kind", "list"), "multivariate=True|Invalid times"),
    ("list", _member("ridge", 1.0), "a number for direct"),
    ("series", _fitted("panel/labels/items", ["a", "b"]), "2 labels"),
    ("wide", _fitted("panel/columns/labels", ["promo"]), "columns[=:]"),
    ("long", _fitted("panel/labels/items", [1]), "1 label"),
]  # fmt: skip


def _damaged(forecaster, folder, damage):
    """Return the path of a forecaster's file with changed arrays or values."""
    path = folder / "file"
    forecaster.save(path)
    crafted.change_file(path, lambda values, tensors: damage(tensors, values))
    return path


@pytest.mark.parametrize(("kind", "damage", "words"), DAMAGES)
def test_inconsistent_parts_are_rejected(kind, damage, words, forecasters, tmp_path):
    with pytest.raises(StorageError, match=words):
        ee.load(_damaged(forecasters[kind], tmp_path, damage))


def test_effect_needs_known_columns(forecasters, tmp_path):
    def more(tensors, values):
        removed = {"logarithm": False, "known": True, "calendar": False}
        values["fitted"]["effects"]["weights"] = [
            {"removed": removed, "one_step": True, "columns": True}
        ]
        tensors["fitted.effects.weights.0.one_step"] = np.zeros(7)
        tensors["fitted.effects.weights.0.columns"] = np.zeros(0)

    with pytest.raises(StorageError, match="columns and periods that exist"):
        ee.load(_damaged(forecasters["list"], tmp_path, more))


def test_side_filter_needs_side_columns(forecasters, tmp_path):
    def more(tensors, values):
        view = values["fitted"]["ensemble"]["members"][0]["view"]
        view["side"] = {"spectrum": {"real": True, "pairs": True}}
        tensors["fitted.ensemble.members.0.view.side.spectrum.real"] = np.array([0.5])
        tensors["fitted.ensemble.members.0.view.side.spectrum.pairs"] = np.zeros((0, 2))

    with pytest.raises(StorageError, match="None without past columns"):
        ee.load(_damaged(forecasters["list"], tmp_path, more))


def test_numpy_scalars_as_parameters(tmp_path):
    rng = np.random.default_rng(0)
    y, X = rng.normal(size=60).cumsum(), rng.normal(size=(60, 2)).cumsum(axis=0)
    given = ee.Forecaster(np.int64(3), past=np.array([1])).fit(y, X)
    plain = ee.Forecaster(3, past=[1]).fit(y, X)
    given.save(tmp_path / "one")
    again = ee.load(tmp_path / "one")
    ahead = np.ones((3, 1))
    for one in (plain, again):
        assert np.array_equal(one.predict(X=ahead), given.predict(X=ahead))
    assert (again.horizon, list(again.past)) == (3, [1])


# Error sizes of series ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def noisy():
    """Return a forecaster of series that differ in their noise."""
    rng = np.random.default_rng(0)
    waves = 20 * np.sin(2 * np.pi * np.arange(60) / 4)[:, None]
    y = waves + rng.normal(size=(60, 4)) * [0.3, 1, 3, 9]
    return ee.Forecaster(3, spectrum=ee.Spectrum([0.9])).fit(y)


def test_sizes_of_series_are_restored(noisy, tmp_path):
    again = loaded(noisy, tmp_path / "file")
    assert np.array_equal(again.fitted_.bands.sizes, noisy.fitted_.bands.sizes)
    same(again.predict(interval=0.8), noisy.predict(interval=0.8))
    lower, upper = noisy.predict(interval=0.8)[1:]
    assert np.all(np.diff((upper - lower).mean(axis=0)) > 0)  # otherwise sizes would not be tested


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_tensor("bands/sizes", lambda a: a[1:]), "sizes[=:]"),
        (_tensor("bands/sizes", lambda a: a[:0]), "scaled[=:]"),
        (_tensor("bands/sizes", lambda a: 0 * a), "sizes[=:]"),
        (_tensor("bands/sizes", lambda a: a * np.inf), "sizes[=:]"),
        (_tensor("bands/scaled", lambda a: a[::-1]), "scaled[=:]"),
        (_tensor("bands/scaled", lambda a: a[:0]), "scaled[=:]"),
        (_drop("bands.scaled"), "bands.scaled"),
        (_drop("bands.sizes"), "bands.sizes"),
    ],
)
def test_inconsistent_sizes_are_rejected(damage, words, noisy, tmp_path):
    with pytest.raises(StorageError, match=words):
        ee.load(_damaged(noisy, tmp_path, damage))


def test_series_without_a_size_is_restored(noisy, tmp_path):
    def unknown(tensors, values):
        tensors["fitted.bands.sizes"][1] = np.nan

    again = ee.load(_damaged(noisy, tmp_path, unknown))
    result, plain = again.fitted_.bands, noisy.fitted_.bands
    assert result.of_series(1) is result
    assert np.array_equal(result.of_series(2).growth, plain.of_series(2).growth)
