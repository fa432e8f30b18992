"""Compare eigenvalue laws with literal loops of the paper's algorithms."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import eigenecho as ee
from eigenecho import spectra
from eigenecho.checks import generator
from eigenecho.spectra import LAWS, Spectrum, from_matrix, law
from eigenecho.spectra.spectrum import real_count

NAMES = sorted(LAWS)
PAPER = ["golden", "noisy_golden", "uniform"]
SIZES = range(1, 61)


def assert_same_values(a, b, tol):
    """Assert that two multisets of complex numbers are equal, by greedy matching."""
    a, b = list(np.asarray(a, complex)), np.asarray(b, complex)
    assert len(a) == len(b)
    taken = np.zeros(len(b), bool)
    for value in a:
        distance = np.where(taken, np.inf, np.abs(b - value))
        nearest = int(np.argmin(distance))
        assert distance[nearest] <= tol
        taken[nearest] = True


def paper_real_count(n):
    """Return the number of real eigenvalues by lines 2-5 of the uniform algorithm."""
    count = math.floor(math.sqrt(2 * n / math.pi))
    if count % 2 != n % 2:
        count = count + 1
    return count


def paper_uniform(n, sr, rng):
    n_real = paper_real_count(n)
    m = (n - n_real) // 2
    real = rng.uniform(-1, 1, n_real)
    U = rng.uniform(0, 1, m)
    Theta = math.pi - math.pi * rng.uniform(0, 1, m)
    return [sr * x for x in real], [
        sr * math.sqrt(U[j]) * complex(math.cos(Theta[j]), math.sin(Theta[j])) for j in range(m)
    ]


def paper_golden(n, sr, rng, noise=None):
    """Run the golden algorithm, ``N_real += (N − N_real) mod 2``; noise is a standard deviation."""
    n_real = math.floor(math.sqrt(2 * n / math.pi))
    n_real += (n - n_real) % 2
    n_cpx = (n - n_real) // 2
    real = list(rng.uniform(-1, 1, n_real))
    cpx = [0j] * n_cpx
    j, k, v = 0, 0, rng.uniform(0, 2)
    while j < n_cpx:
        k = k + 1
        v = (v + 3 - math.sqrt(5)) % 2
        if v < 1:
            angle = math.pi * v
            cpx[j] = math.sqrt(k / (2 * n_cpx)) * complex(math.cos(angle), math.sin(angle))
            j = j + 1
    scale = sr / max([abs(x) for x in real] + [abs(z) for z in cpx])
    real = [scale * x for x in real]
    cpx = [scale * z for z in cpx]
    if noise is not None:
        re, im = rng.normal(size=n_cpx), rng.normal(size=n_cpx)
        cpx = [z + noise * complex(a, b) for z, a, b in zip(cpx, re, im, strict=True)]
        # A value below the axis is the lower member of the same pair.
        cpx = [z if z.imag > 0 else z.conjugate() for z in cpx]
    return real, cpx


# Laws of the paper


@pytest.mark.parametrize("n", SIZES)
def test_uniform_equals_the_loop_of_the_paper(n):
    spectrum = spectra.uniform(n, sr=0.8, seed=n)
    real, pairs = paper_uniform(n, 0.8, np.random.default_rng(n))
    # Vectorised sin and cos differ from those of the loop in the last digits on some CPUs.
    np.testing.assert_allclose(spectrum.real, real, rtol=0, atol=1e-14)
    np.testing.assert_allclose(spectrum.pairs, pairs, rtol=0, atol=1e-14)


@pytest.mark.parametrize("n", [*SIZES, 500])
def test_golden_equals_the_loop_of_the_paper(n):
    spectrum = spectra.golden(n, sr=1.3, seed=n)
    real, pairs = paper_golden(n, 1.3, np.random.default_rng(n))
    np.testing.assert_allclose(spectrum.real, real, rtol=0, atol=1e-13)
    # The loop accumulates the angle, with one rounding per step.
    np.testing.assert_allclose(spectrum.pairs, pairs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("absolute", [False, True])
def test_noisy_golden_equals_the_loop_of_the_paper(n, absolute):
    spectrum = spectra.noisy_golden(n, sr=0.9, seed=n, sigma=0.3, absolute=absolute)
    noise = 0.3 if absolute else 0.3 / math.sqrt(n)
    real, pairs = paper_golden(n, 0.9, np.random.default_rng(n), noise)
    np.testing.assert_allclose(spectrum.real, real, rtol=0, atol=1e-13)
    np.testing.assert_allclose(spectrum.pairs, pairs, rtol=0, atol=1e-12)


def test_sim_is_a_scaled_gaussian_matrix():
    spectrum = spectra.sim(40, sr=0.7, seed=3)
    values = np.linalg.eigvals(np.random.default_rng(3).normal(size=(40, 40)))
    # Eigenvalues depend on the kernels of LAPACK by their condition times the rounding.
    assert_same_values(spectrum.values, 0.7 * values / np.abs(values).max(), 1e-12)


def test_sigma_is_relative_to_the_spacing_by_default():
    def spread(n, **options):
        golden = spectra.golden(n, seed=1).pairs
        moved = spectra.noisy_golden(n, seed=1, sigma=0.05, **options).pairs
        # Use values far from the axis, which are not conjugated.
        return np.std((moved - golden)[golden.imag > 0.3].real)

    assert spread(4000, absolute=True) == pytest.approx(0.05, rel=0.1)
    assert spread(4000) == pytest.approx(0.05 / math.sqrt(4000), rel=0.1)


# Number of real eigenvalues


@pytest.mark.parametrize("n", SIZES)
def test_counts_by_hand(n):
    assert real_count(n) == paper_real_count(n)
    assert (n - real_count(n)) % 2 == 0
    for name in PAPER:
        spectrum = law(name)(n, seed=n)
        assert spectrum.real.size == paper_real_count(n)
        assert spectrum.units == len(spectrum) == n


def test_counts_of_a_few_known_sizes():
    assert [real_count(n) for n in (1, 2, 3, 4, 5, 6, 7, 100, 1000)] == [1, 2, 1, 2, 1, 2, 3, 8, 26]


@given(st.integers(1, 10**12))
def test_real_count_has_the_parity_of_n(n):
    count = real_count(n)
    assert (n - count) % 2 == 0
    assert 0 <= count - math.sqrt(2 * n / math.pi) + 1 <= 2 + 1e-6


@pytest.mark.parametrize("m", [1, 2, 3, 7, 50, 399, 5000])
def test_spiral_always_fills_its_pairs(m):
    n = next(k for k in range(2 * m, 3 * m + 3) if (k - real_count(k)) // 2 == m)
    for seed in range(40):
        assert spectra.golden(n, seed=seed).pairs.size == m


# Properties of every law


@pytest.mark.parametrize("name", NAMES)
def test_every_law_gives_n_values_closed_under_conjugation(name):
    for n in SIZES:
        spectrum = law(name)(n, sr=0.9, seed=5)
        assert spectrum.units == n
        assert spectrum.values.shape == (n,)
        assert np.all(spectrum.pairs.imag > 0)
        assert_same_values(spectrum.values, spectrum.values.conj(), 0.0)
        # The characteristic polynomial of a real matrix is real.
        assert np.abs(np.poly(spectrum.values).imag).max() < 1e-10


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    n=st.integers(1, 200),
    sr=st.floats(0.4, 0.999),
    seed=st.integers(0, 2**32),
)
def test_laws_hold_for_any_size_radius_and_seed(name, n, sr, seed):
    spectrum = law(name)(n, sr=sr, seed=seed)
    assert spectrum.units == n
    assert spectrum == law(name)(n, sr=sr, seed=seed)
    if name == "uniform":
        assert spectrum.radius < sr
    elif name != "noisy_golden":
        assert spectrum.radius == pytest.approx(sr, rel=1e-14)


@pytest.mark.parametrize("sr", [1e-3, 0.5, 1.0, 1.25])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 101])
def test_radii_of_the_papers_laws(n, sr):
    assert spectra.golden(n, sr=sr, seed=0).radius == pytest.approx(sr, rel=4e-16)
    assert spectra.sim(n, sr=sr, seed=0).radius == pytest.approx(sr, rel=4e-16)
    assert spectra.uniform(n, sr=sr, seed=0).radius < sr
    rescaled = spectra.noisy_golden(n, sr=sr, seed=0, rescale=True)
    assert rescaled.radius == pytest.approx(sr, rel=4e-16)


def test_uniform_is_not_rescaled():
    ratios = [spectra.uniform(300, sr=1.0, seed=s).radius for s in range(20)]
    assert 0.97 < np.mean(ratios) < 0.9999
    assert len(set(ratios)) == 20


def test_noise_is_added_after_the_scaling():
    radii = [spectra.noisy_golden(100, sr=0.9, seed=s).radius for s in range(30)]
    assert max(radii) > 0.9
    assert max(radii) < 1.0  # noise of 0.02 on each part at N = 100
    literal = spectra.noisy_golden(100, sr=0.9, seed=0, absolute=True)
    assert literal.radius > 1.0
    rescaled = spectra.noisy_golden(100, sr=0.9, seed=0, absolute=True, rescale=True)
    np.testing.assert_allclose(
        rescaled.values, 0.9 / literal.radius * literal.values, rtol=0, atol=1e-15
    )


@pytest.mark.parametrize("name", ["golden", "uniform", "noisy_golden", "sim", "ring"])
def test_radius_zero_is_all_zero(name):
    spectrum = law(name)(9, sr=0, seed=0)
    assert spectrum.units == 9
    assert spectrum.radius == 0.0
    assert np.all(spectrum.values == 0)


@pytest.mark.parametrize("name", PAPER)
def test_uniform_cover_of_the_half_disk(name):
    pairs = law(name)(20_000, sr=1.0, seed=0).pairs
    assert np.mean(np.abs(pairs) ** 2) == pytest.approx(0.5, abs=0.02)
    assert np.mean(np.angle(pairs)) == pytest.approx(np.pi / 2, abs=0.03)


# Seeds


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_gives_the_same_spectrum(name):
    make = law(name)
    assert make(50, sr=0.9, seed=7) == make(50, sr=0.9, seed=7)
    assert make(50, sr=0.9, seed=7) == make(50, sr=0.9, seed=np.random.default_rng(7))
    assert make(50, sr=0.9, seed=np.int64(7)) == make(50, sr=0.9, seed=7)
    if name not in ("ring", "time_constants"):
        assert make(50, sr=0.9, seed=7) != make(50, sr=0.9, seed=8)
        assert make(50, sr=0.9) != make(50, sr=0.9)


def test_generator_advances():
    rng = np.random.default_rng(0)
    assert spectra.golden(20, seed=rng) != spectra.golden(20, seed=rng)


def test_seed_draws_the_shape_and_sr_only_scales_it():
    for name in ("golden", "uniform", "sim"):
        small, large = law(name)(30, sr=0.3, seed=4), law(name)(30, sr=0.9, seed=4)
        np.testing.assert_allclose(3 * small.values, large.values, rtol=0, atol=1e-14)


def test_noisy_golden_without_noise_is_golden():
    assert spectra.noisy_golden(77, seed=3, sigma=0) == spectra.golden(77, seed=3)


def test_laws_do_not_use_the_global_generator():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    for name in NAMES:
        law(name)(20, sr=0.9)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, [1, 2], np.random.RandomState(0)])
def test_bad_seeds(seed):
    with pytest.raises(ValueError, match=r"seed[=:].*non-negative int"):
        generator(seed)
    with pytest.raises(ValueError, match="seed="):
        spectra.golden(5, seed=seed)


# Designed laws


@pytest.mark.parametrize("n", SIZES)
def test_ring_is_a_weighted_cycle(n):
    cycle = 0.95 * np.roll(np.eye(n), 1, axis=1)
    assert_same_values(spectra.ring(n, sr=0.95).values, np.linalg.eigvals(cycle), 1e-12)


def test_ring_of_one_and_two():
    assert spectra.ring(1, sr=0.5) == Spectrum([0.5])
    assert spectra.ring(2, sr=0.5) == Spectrum([0.5, -0.5])


@pytest.mark.parametrize("n", [2, 3, 10, 41])
def test_time_constants_are_geometric(n):
    spectrum = spectra.time_constants(n, sr=0.99, shortest=2.0)
    assert spectrum.pairs.size == 0
    tau = -1 / np.log(spectrum.real)
    assert tau.max() == pytest.approx(-1 / math.log(0.99), rel=1e-12)
    assert tau.min() == pytest.approx(2.0, rel=1e-12)
    ratios = np.sort(tau)[1:] / np.sort(tau)[:-1]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-10)


@pytest.mark.parametrize("n", [4, 5, 10, 41])
def test_log_ring_has_geometric_moduli_and_angles_off_the_axis(n):
    spectrum = spectra.log_ring(n, sr=0.99, seed=1, shortest=2.0)
    assert spectrum.real.tolist() == [0.99] * (n % 2)
    tau = -1 / np.log(np.abs(spectrum.pairs))
    assert tau.max() == pytest.approx(-1 / math.log(0.99), rel=1e-12)
    assert tau.min() == pytest.approx(2.0, rel=1e-12)
    ratios = np.sort(tau)[1:] / np.sort(tau)[:-1]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-10)
    margin = np.pi / (4 * spectrum.pairs.size) * (1 - 1e-12)
    angles = np.angle(spectrum.pairs)
    assert np.all((angles >= margin) & (angles <= np.pi - margin))


@pytest.mark.parametrize("name", ["log_ring", "time_constants"])
@pytest.mark.parametrize("sr", [0, 0.0, 1.5, math.nextafter(1, 2)])
def test_time_constants_need_a_radius_up_to_one(name, sr):
    with pytest.raises(ValueError, match=r"sr[=:].*radius in \(0, 1\]"):
        law(name)(10, sr=sr)


RADII = st.one_of(
    st.floats(0, 1, exclude_min=True),
    st.sampled_from([1.0, math.nextafter(1, 0), math.exp(-1), 0.1, 1e-3, 1e-300, 5e-324]),
)


@pytest.mark.parametrize("name", ["log_ring", "time_constants"])
@given(
    n=st.integers(1, 200),
    radii=st.tuples(RADII, RADII).map(sorted),
    shortest=st.sampled_from([0.3, 1.0, 50.0]),
)
def test_laws_of_time_constants_accept_every_radius(name, n, radii, shortest):
    smaller, larger = (law(name)(n, sr=sr, seed=2, shortest=shortest) for sr in radii)
    for spectrum, sr in zip((smaller, larger), radii, strict=True):
        assert spectrum.units == n
        assert np.all(np.isfinite(spectrum.values))
        # exp(ln sr) loses as many digits as ln sr has before the decimal point.
        assert spectrum.radius == pytest.approx(sr, rel=1e-12, abs=1e-323)
        np.testing.assert_array_equal(
            np.sort_complex(spectrum.values), np.sort_complex(spectrum.values.conj())
        )
    # The slowest mode comes first, and a larger radius makes each mode slower.
    if name == "time_constants":
        assert np.all(np.diff(smaller.real) <= 0)
        assert np.all(np.diff(larger.real) <= 0)
    moduli = [np.sort(np.abs(spectrum.values)) for spectrum in (smaller, larger)]
    assert np.all(moduli[0] <= moduli[1] * (1 + 1e-12) + 1e-323)


@pytest.mark.parametrize("n", [1, 2, 9, 100])
def test_radius_of_one_does_not_decay(n):
    """The other eigenvalues equal those for the largest number below 1."""
    real = spectra.time_constants(n, sr=1.0).real
    np.testing.assert_array_equal(real[0], 1.0)
    np.testing.assert_array_equal(real[1:], spectra.time_constants(n, sr=1 - 2**-53).real[1:])
    assert spectra.log_ring(n, sr=1, seed=0).radius == pytest.approx(1, rel=1e-15)


@pytest.mark.parametrize("sr", [0.01, 0.1, 0.3])
def test_radius_below_the_shortest_time_constant_has_modes_below_it(sr):
    tau = -1 / np.log(spectra.time_constants(20, sr=sr).real)
    longest = -1 / math.log(sr)
    np.testing.assert_allclose(tau, longest ** np.linspace(1, 2, 20), rtol=1e-10)


@pytest.mark.parametrize("name", ["log_ring", "time_constants"])
def test_search_over_radii_of_time_constants(name):
    waves = ee.tasks.mso(2, 301)
    result = ee.search(
        ee.LinearESN(20, spectrum=name, warmup=50, seed=0),
        {"sr": [0.1, 0.5, 1.0], "ridge": [1e-6]},
        waves[:-1],
        waves[1:],
    )
    for sr in (0.1, 0.5, 1.0):
        esn = ee.LinearESN(20, spectrum=name, sr=sr, warmup=50, ridge=1e-6, seed=0)
        assert np.all(np.isfinite(esn.fit(waves[:-1], waves[1:]).predict(waves)))
        assert esn.effective_radius_ == pytest.approx(sr)
    assert result.best_params["sr"] in (0.1, 0.5, 1.0)


@pytest.mark.parametrize("shortest", [0, -1.0, np.nan, np.inf])
def test_shortest_is_positive(shortest):
    with pytest.raises(ValueError, match="shortest="):
        spectra.time_constants(10, sr=0.9, shortest=shortest)


# Spectra of matrices and of lists


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_from_matrix_dense_and_sparse(n):
    W = np.random.default_rng(n).normal(size=(n, n))
    W[np.abs(W) < 0.8] = 0
    values = np.linalg.eigvals(W)
    dense = from_matrix(W)
    assert dense.units == n
    assert_same_values(dense.values, values, 1e-12)
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.coo_array, scipy.sparse.csc_matrix):
        assert from_matrix(kind(W)) == dense
    assert from_matrix(W.tolist()) == dense


def test_from_matrix_keeps_the_scale():
    assert from_matrix(np.diag([3.0, -2.0])) == Spectrum([-2.0, 3.0])
    assert from_matrix([[0, 1], [-1, 0]]) == Spectrum([], [1j])


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.ones((2, 3)), "square"),
        (np.ones(4), "square"),
        (np.ones((0, 0)), "square"),
        (np.eye(2) * 1j, "real"),
        (np.array([["a", "b"], ["c", "d"]]), "real"),
        (np.array([[np.nan, 0], [0, 1]]), "finite"),
        (np.array([[np.inf, 0], [0, 1]]), "finite"),
    ],
)
def test_from_matrix_rejects_invalid_matrices(W, message):
    with pytest.raises(ValueError, match=rf"W[=:].*{message}"):
        from_matrix(W)


def test_random_matrix_drops_connections_without_redrawing():
    full = spectra.random_matrix(200, seed=1)
    sparse = spectra.random_matrix(200, seed=1, connectivity=0.1)
    kept = sparse != 0
    assert kept.mean() == pytest.approx(0.1, abs=0.01)
    np.testing.assert_array_equal(sparse[kept], full[kept])


@pytest.mark.parametrize("connectivity", [0, -0.1, 1.1, np.nan, "half", None])
def test_connectivity_is_a_probability(connectivity):
    with pytest.raises(ValueError, match="connectivity="):
        spectra.random_matrix(5, seed=0, connectivity=connectivity)


def test_sim_of_a_matrix_without_cycles_is_zero():
    spectrum = next(
        s
        for s in (spectra.sim(6, sr=0.9, seed=k, connectivity=0.05) for k in range(100))
        if s.radius == 0
    )
    assert spectrum == Spectrum(np.zeros(6))


finite = st.floats(-3, 3, allow_nan=False, width=32)
upper = st.floats(2**-10, 3, width=32)


@given(
    real=st.lists(finite, max_size=6),
    pairs=st.lists(st.tuples(finite, upper), max_size=6),
    order=st.randoms(use_true_random=False),
)
def test_from_values_finds_the_pairs_in_any_order(real, pairs, order):
    if not real and not pairs:
        return
    spectrum = Spectrum(real, [complex(a, b) for a, b in pairs])
    values = spectrum.values.tolist()
    order.shuffle(values)
    again = Spectrum.from_values(values)
    assert again.real.size == spectrum.real.size
    assert_same_values(again.values, spectrum.values, 0.0)


@pytest.mark.parametrize("gap", [1e-9, 1e-10, 1e-11, 1e-14])
@pytest.mark.parametrize("direction", [1, 1j])
def test_from_values_separates_close_pairs(gap, direction):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        a = complex(rng.uniform(-1, 1), rng.uniform(0.1, 1))
        b = a + gap * direction
        for values in itertools.permutations([a, b, a.conjugate(), b.conjugate()]):
            assert_same_values(Spectrum.from_values(values).values, values, 0.0)


def test_from_values_accepts_rounded_conjugates_and_nearly_real_values():
    spectrum = Spectrum.from_values([0.5 + 1e-15j, 0.3 + 0.4j, 0.3 - (0.4 + 1e-14) * 1j])
    assert spectrum.real.tolist() == [0.5]
    assert spectrum.pairs.tolist() == [0.3 + 0.4j]
    assert Spectrum.from_values([0.5 + 0.1j, 0.5 - 0.1j], tol=0.5).real.tolist() == [0.5, 0.5]
    assert spectra.from_values([1.0]) == Spectrum([1.0])


@pytest.mark.parametrize(
    "values",
    [
        [1j],
        [1j, 1j],
        [1j, -1j, 2j],
        [0.5 + 0.1j, 0.5 - 0.11j],
        [0.5 + 0.1j, 0.4 - 0.1j],
        [0.5 + 0.1j, 0.5 + 0.1j, 0.5 - 0.1j, 0.3],
    ],
)
def test_from_values_rejects_values_not_closed_under_conjugation(values):
    with pytest.raises(ValueError, match="closed under conjugation"):
        Spectrum.from_values(values)


@pytest.mark.parametrize("values", [[np.nan], [1, np.inf], [[1.0, 2.0]], []])
def test_from_values_rejects_anything_but_a_list_of_numbers(values):
    with pytest.raises(ValueError, match=r"values=|at least one"):
        Spectrum.from_values(values)


# Leak, scaling


@given(lr=st.floats(0.01, 1.0), n=st.integers(1, 30), seed=st.integers(0, 100))
@settings(deadline=None)
def test_leak_equals_that_of_the_matrix(lr, n, seed):
    spectrum = spectra.golden(n, seed=seed)
    leaky = spectrum.leak(lr)
    np.testing.assert_allclose(leaky.values, lr * spectrum.values + 1 - lr, rtol=0, atol=1e-15)
    assert leaky.real.size == spectrum.real.size


def test_leak_of_a_matrix():
    W = np.random.default_rng(0).normal(size=(12, 12)) / 4
    leaky = from_matrix(0.3 * W + 0.7 * np.eye(12))
    # Eigenvalues depend on the kernels of LAPACK by their condition times the rounding.
    assert_same_values(from_matrix(W).leak(0.3).values, leaky.values, 1e-12)


def test_leak_of_one_changes_nothing():
    spectrum = spectra.golden(10, seed=0)
    assert spectrum.leak(1.0) == spectrum
    assert spectrum.leak(1) == spectrum


@pytest.mark.parametrize("lr", [0, -0.5, 1.5, np.nan])
def test_invalid_leaking_rates(lr):
    with pytest.raises(ValueError, match=r"lr[=:]"):
        spectra.golden(5, seed=0).leak(lr)


def test_scaled_and_times():
    spectrum = Spectrum([0.5], [1j])
    assert spectrum.times(2.0) == Spectrum([1.0], [2j])
    assert spectrum.scaled(3.0) == Spectrum([1.5], [3j])
    assert spectrum.times(0.0) == Spectrum([0.0, 0.0, 0.0])
    assert Spectrum([0.0]).scaled(2.0) == Spectrum([0.0])
    # A pair whose imaginary part underflows becomes two real values.
    flat = Spectrum([], [1 + 1e-300j]).times(1e-30)
    assert flat == Spectrum([1e-30, 1e-30])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sr", [-0.1, np.nan, np.inf, None, "0.9", 1j, [0.9]])
def test_bad_radius(name, sr):
    with pytest.raises(ValueError, match=r"Invalid sr=.*expected a finite number"):
        law(name)(5, sr=sr, seed=0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [0, -3, 2.0, True, "5", None])
def test_bad_size(name, n):
    with pytest.raises(ValueError, match=r"n[=:].*int ≥ 1"):
        law(name)(n, sr=0.9, seed=0)


@pytest.mark.parametrize("sigma", [-0.1, np.nan, np.inf])
def test_bad_sigma(sigma):
    with pytest.raises(ValueError, match="sigma="):
        spectra.noisy_golden(5, seed=0, sigma=sigma)


# The Spectrum class


def test_values_list_real_eigenvalues_before_pairs():
    spectrum = Spectrum([0.1, -0.2], [0.3 + 0.4j, 1j])
    assert spectrum.values.tolist() == [0.1, -0.2, 0.3 + 0.4j, 0.3 - 0.4j, 1j, -1j]
    assert spectrum.units == 6
    assert spectrum.radius == 1.0


def test_spectrum_cannot_be_changed():
    given = np.array([0.5, 0.25])
    spectrum = Spectrum(given, [1j])
    given[0] = 9.0
    assert spectrum.real.tolist() == [0.5, 0.25]
    for array in (spectrum.real, spectrum.pairs):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        spectrum.real = np.zeros(2)


def test_equality_and_hash():
    a, b = Spectrum([0.5], [1j]), Spectrum([0.5], [1j])
    assert a == b
    assert hash(a) == hash(b)
    assert a != Spectrum([0.5], [2j])
    assert a != Spectrum([0.25], [1j])
    assert a != Spectrum([0.5])
    assert a != "golden"
    assert len({a, b, Spectrum([0.25])}) == 2


def test_hash_ignores_the_sign_of_zero():
    for a, b in [
        (Spectrum([0.0]), Spectrum([-0.0])),
        (Spectrum([], [complex(0.0, 1.0)]), Spectrum([], [complex(-0.0, 1.0)])),
    ]:
        assert a == b
        assert hash(a) == hash(b)


def test_repr():
    assert repr(Spectrum([0.5], [1j])) == "Spectrum(3 units: 1 real, 1 pairs, radius 1)"


def test_scalars_and_integers_are_accepted():
    assert Spectrum(1) == Spectrum([1.0])
    assert Spectrum([], 1j) == Spectrum(np.empty(0), np.array([1j]))


@pytest.mark.parametrize(
    ("real", "pairs", "message"),
    [
        ([1j], [], "real="),
        ([], [], "at least one eigenvalue"),
        ([np.nan], [], "real="),
        ([np.inf], [], "real="),
        ([[1.0]], [], "real="),
        ([0.1], [-1j], "positive imaginary part"),
        ([0.1], [0.5], "positive imaginary part"),
        ([0.1], [1j * np.nan], "pairs="),
    ],
)
def test_invalid_spectra_cannot_exist(real, pairs, message):
    with pytest.raises(ValueError, match=message):
        Spectrum(np.array(real), np.array(pairs))


# The catalogue


def test_catalogue():
    assert set(LAWS) == {
        "uniform",
        "golden",
        "noisy_golden",
        "sim",
        "ring",
        "log_ring",
        "time_constants",
    }
    for name in NAMES:
        assert law(name) is getattr(spectra, name)


def test_unknown_name_suggests_a_similar_name():
    with pytest.raises(ValueError, match=r"Unknown spectrum='goldne'.*Did you mean 'golden'"):
        law("goldne")
    with pytest.raises(ValueError, match="Did you mean 'matrix'"):
        law("matrx", also=("matrix",))
    with pytest.raises(ValueError, match=r"expected one of golden, log_ring.*\.$"):
        law("zzz")
