"""Joined spectra and laws: their properties, and their use in networks and searches."""

from __future__ import annotations

import copy
import pickle
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

import eigenecho as ee
from eigenecho import spectra
from eigenecho.errors import IllConditionedWarning
from eigenecho.spectra import LAWS, Spectrum, joined, law, log_ring, ring
from eigenecho.spectra.spectrum import JoinedLaw, whole_parts

NAMES = sorted(LAWS)
finite = st.floats(-1, 1, allow_nan=False, width=32)
upper = st.floats(2**-10, 1, width=32)


@st.composite
def spectrum(draw):
    real = draw(st.lists(finite, min_size=1, max_size=4))
    pairs = draw(st.lists(st.tuples(finite, upper), max_size=4))
    return Spectrum(real, [complex(a, b) for a, b in pairs])


def ordered(values):
    return values[np.lexsort((values.imag, values.real))]


# Spectra ---------------------------------------------------------------------------------------


@given(spectrum(), spectrum(), spectrum())
@settings(deadline=None)
@pytest.mark.filterwarnings("ignore::eigenecho.errors.IllConditionedWarning")
def test_spectra_add_up(a, b, c):
    whole = a + b
    assert whole.units == a.units + b.units
    assert whole.real.tolist() == [*a.real, *b.real]
    assert whole.pairs.tolist() == [*a.pairs, *b.pairs]
    np.testing.assert_array_equal(ordered(whole.values), ordered(whole.values.conj()))
    np.testing.assert_array_equal(ordered(whole.values), ordered((b + a).values))
    assert (a + b) + c == a + (b + c) == joined(a, b, c) == a.join(b, c)
    assert whole.radius == max(a.radius, b.radius)


def count_repeats(*parts):
    """Count the eigenvalues that equal one of an earlier part up to rounding."""
    slack = 1e-14 * max(part.radius for part in parts)
    previous, count = list(parts[0].values), 0
    for part in parts[1:]:
        count += sum(any(abs(value - old) <= slack for old in previous) for value in part.values)
        previous += list(part.values)
    return count


@pytest.mark.parametrize(
    ("parts", "count"),
    [
        ([ring(12), ring(12)], 12),
        ([ring(12), ring(18)], 6),
        ([ring(12), ring(18), ring(12)], 18),
        ([ring(12), ring(18, sr=0.5), ring(18, sr=0.5)], 18),
        ([ring(6, sr=0.3), ring(9, sr=0.1 + 0.2)], 3),
        ([Spectrum([0.0]), Spectrum([0.0, -0.0])], 2),
        ([Spectrum([], [0.5 + 1e-3j, 0.5 + 2e-3j]), Spectrum([0.5], [0.5 + 2e-3j])], 2),
        ([Spectrum([1e-200]), Spectrum([1e-200 * (1 + 2**-52)])], 1),
    ],
)
def test_repeated_eigenvalues_are_counted(parts, count):
    assert count_repeats(*parts) == count
    units = sum(part.units for part in parts)
    with pytest.warns(
        IllConditionedWarning, match=f"^The {units} joined .* {count} duplicate.* no memory"
    ) as all:
        joined(*parts)
    assert len(all) == 1
    assert all[0].filename == __file__


@pytest.mark.parametrize(
    "parts",
    [
        [ring(12, sr=0.9), ring(12, sr=0.95)],
        [ring(168, sr=0.99), log_ring(100, sr=0.999, seed=0)],
        [Spectrum([0.5]), Spectrum([0.5 + 1e-12])],
        [Spectrum([0.5, 0.5]), Spectrum([], [0.5 + 1e-12j])],
    ],
)
def test_distinct_eigenvalues_cause_no_warning(parts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        joined(*parts)


def test_repeats_add_no_memory():
    once = ee.tasks.memory_capacity(
        ee.LinearESN(spectrum=ring(10, sr=0.9), ridge=1e-10, seed=0), seed=0
    )
    with pytest.warns(IllConditionedWarning, match="The 20 .* 10 duplicates"):
        both = ring(10, sr=0.9) + ring(10, sr=0.9)
    twice = ee.tasks.memory_capacity(ee.LinearESN(spectrum=both, ridge=1e-10, seed=0), seed=0)
    assert twice.total == pytest.approx(once.total, rel=1e-2)


# Laws ------------------------------------------------------------------------------------------


@given(st.sampled_from(NAMES), st.integers(1, 60), st.floats(0.4, 0.99), st.integers(0, 2**32))
@settings(deadline=None, max_examples=40)
def test_sr_scales_only_the_drawn_part(name, n, sr, seed):
    fixed = Spectrum([0.123], [0.3 + 0.456j])
    for made in (
        (fixed + law(name))(n + 3, sr=sr, seed=seed),
        joined(fixed, name)(n + 3, sr, seed),
    ):
        alone = law(name)(n, sr=sr, seed=seed)
        assert made == fixed + alone
        assert made.units == n + 3
        np.testing.assert_array_equal(ordered(made.values), ordered(made.values.conj()))
    assert (law(name) + fixed)(n + 3, sr=sr, seed=seed) == alone + fixed


@given(st.integers(1, 500), st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6))
def test_sizes_of_parts_follow_the_shares(n, shares):
    n += len(shares)
    parts = whole_parts(n, shares)
    expected = n * np.array(shares) / sum(shares)
    assert sum(parts) == n
    assert min(parts) >= 1
    if expected.min() >= 1:
        assert np.all(np.abs(parts - expected) < 1)


def test_several_laws_share_the_remaining_units():
    made = joined(ring(7, sr=0.5), "time_constants", spectra.golden, share=[3, 1])
    spectrum = made(47, sr=0.8, seed=3)
    assert spectrum.units == 47
    assert spectrum.real[1:31].tolist() == spectra.time_constants(30, sr=0.8).real.tolist()
    assert spectrum == made(47, sr=0.8, seed=np.random.default_rng(3))
    assert spectrum != made(47, sr=0.8, seed=4)
    # Each law has its own random stream, so the two golden parts differ.
    one, other = np.split(joined("golden", "golden")(40, sr=0.9, seed=0).pairs, 2)
    assert np.abs(one[:, None] - other).min() > 1e-6


def test_laws_join_in_any_grouping():
    fixed = ring(5, sr=0.7)
    laws = [spectra.golden, spectra.uniform, log_ring]
    a, b, c = laws
    groupings = [
        fixed + a + b + c,
        (fixed + a) + joined(b, c),
        joined(fixed, a) + b + c,
        joined(joined(fixed, a, b), c),
        joined(fixed, joined(a, b), c),
    ]
    assert len(set(groupings)) == 1
    assert len({hash(grouping) for grouping in groupings}) == 1
    assert groupings[0](50, sr=0.9, seed=1) == groupings[-1](50, sr=0.9, seed=1)
    assert (a + fixed) + c == joined(a, fixed, c) == a + (fixed + c)
    # A nested joined law divides its own share.
    assert joined(joined(a, b, share=[3, 1]), c, share=[1, 1]) == joined(
        a, b, c, share=[0.75, 0.25, 1]
    )


def test_repr_of_a_joined_law():
    made = ring(24, sr=0.99) + log_ring
    assert repr(made) == "joined(Spectrum(24 units: 2 real, 11 pairs, radius 0.99), log_ring)"
    slow = partial(log_ring, shortest=4.0)
    assert repr(joined("ring", slow, share=(3, 0.5))) == (
        "joined(ring, partial(log_ring, shortest=4.0), share=[3, 0.5])"
    )


@pytest.mark.parametrize("other", [1, 0.5, "ring", [0.5], None])
def test_unsupported_operands_of_addition(other):
    for one in (ring(4), ring(4) + log_ring):
        with pytest.raises(TypeError, match="unsupported operand"):
            one + other
        with pytest.raises(TypeError, match=r"unsupported operand|concatenate"):
            other + one


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: joined(), "parts.*one or more"),
        (lambda: joined(ring, 0.5), r"parts=\(.*0.5\).*name of a law"),
        (lambda: joined("rings", "golden"), "Did you mean 'ring'"),
        (lambda: joined("ring", "golden", share=[1]), r"share=\[1\].*2 positive numbers.*each law"),
        (lambda: joined("ring", share="1"), "share='1'.*1 positive number"),
        (lambda: joined("ring", "golden", share=[1, 0]), "share.*2 positive numbers"),
        (lambda: joined("ring", "golden", share=[1, np.nan]), "share.*2 positive numbers"),
        (lambda: joined(ring(4), ring(5), share=[1, 1]), "share.*expected None.*Spectrum objects"),
        (lambda: (ring(10) + log_ring)(10), "n=10.*at least 11, because each law"),
        (lambda: joined("ring", "golden")(1), "n=1.*at least 2"),
        (lambda: (ring(10) + log_ring)(20.0), "n=20.0.*int"),
        (
            lambda: (ring(10) + (lambda n, sr, seed: ["a"] * n))(12),
            r"spectrum: got .*from <lambda>\(2\)",
        ),
        (lambda: (ring(10) + (lambda n, sr, seed: ring(3)))(12), "2 eigenvalues"),
    ],
)
def test_invalid_joined_laws(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Use in networks ------------------------------------------------------------------------------

WAVES = ee.tasks.mso(3, 401)
X, Y = WAVES[:-1], WAVES[1:]
LAW = ring(12, sr=0.99) + log_ring


def network(**options):
    return ee.LinearESN(30, **({"spectrum": LAW, "sr": 0.95, "warmup": 50, "seed": 0} | options))


def test_network_draws_from_a_joined_law():
    esn = network().fit(X, Y)
    assert esn.spectrum_.real[:2].tolist() == ring(12, sr=0.99).real.tolist()
    assert esn.effective_radius_ == pytest.approx(0.99)
    moduli = np.abs(esn.spectrum_.pairs[5:])
    assert moduli.max() == pytest.approx(0.95)
    assert esn.score(X, Y) > 0.99
    alone = network(spectrum=esn.spectrum_).fit(X, Y)
    np.testing.assert_array_equal(alone.predict(X), esn.predict(X))
    states = ee.DiagonalReservoir(30, spectrum=LAW, sr=0.95, seed=0).fit_transform(X)
    assert states.shape == (400, 30)


def test_given_part_uses_up_units():
    with pytest.raises(ValueError, match=r"n=12.*at least 13.*Increase units"):
        network().set_params(units=12).fit(X, Y)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_search_over_radii(workers):
    grid = {"sr": [0.2, 0.95], "ridge": [1e-8]}
    result = ee.search(network(), grid, X, Y, workers=workers)
    for number, sr in enumerate(grid["sr"]):
        drawn = LAW(30, sr=sr, seed=np.random.default_rng(0).spawn(5)[0])
        alone = ee.search(network(spectrum=drawn), {"ridge": [1e-8]}, X, Y)
        assert result.errors[number] == pytest.approx(alone.errors[0], rel=1e-6)
    assert result.errors[0] != pytest.approx(result.errors[1], rel=1e-3)
    assert result.best_estimator.spectrum == LAW


def test_copies_keep_the_law():
    for made in (pickle.loads(pickle.dumps(LAW)), copy.deepcopy(LAW), clone(network()).spectrum):
        assert isinstance(made, JoinedLaw)
        assert made == LAW
        assert made(30, sr=0.9, seed=5) == LAW(30, sr=0.9, seed=5)
    grid = GridSearchCV(network(), {"sr": [0.2, 0.95]}, cv=TimeSeriesSplit(2))
    assert grid.fit(X, Y).best_params_["sr"] in (0.2, 0.95)


def test_file_keeps_the_drawn_spectrum(tmp_path):
    path = tmp_path / "esn.safetensors"
    esn = network().fit(X, Y)
    with pytest.warns(UserWarning, match=r"spectrum=joined\(Spectrum\(12 .*log_ring\) cannot"):
        esn.save(path)
    loaded = ee.load(path)
    assert loaded.spectrum == esn.spectrum_
    np.testing.assert_array_equal(loaded.predict(X), esn.predict(X))
    np.testing.assert_array_equal(clone(loaded).fit(X, Y).predict(X), esn.predict(X))


def test_repeats_cause_a_warning_in_a_fit_but_not_in_a_search():
    twice = joined("ring", "ring")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ee.search(network(spectrum=twice), {"sr": [0.5, 0.9]}, X, Y, refit=False)
    assert np.all(np.isfinite(result.errors))
    with pytest.warns(IllConditionedWarning, match="The 30 .* 15 duplicates"):
        network(spectrum=twice, ridge=1e-4).fit(X, Y)
