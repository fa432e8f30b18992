"""Drawing reservoirs: validation of recipes, random streams, and distributions of weights."""

from __future__ import annotations

import dataclasses
import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse

import eigenecho as ee
import naive
from eigenecho import kernels, spectra
from eigenecho.basis import eigendecomposition
from eigenecho.errors import IllConditionedWarning, UnstableError
from eigenecho.progress import Progress
from eigenecho.reservoir import Cache, Recipe, Reservoir, Streams, draw, streams
from eigenecho.spectra import LAWS, Spectrum
from eigenecho.transition import Sparse
from eigenecho.transition.diagonal import block_diagonal

SOURCES = [*sorted(LAWS), "matrix"]


def weights(reservoir):
    return {name: getattr(reservoir, name) for name in ("W_in", "bias", "W_fb")}


# Validation of recipes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sr": -1}, "sr[=:]"),
        ({"sr": np.nan}, "sr[=:]"),
        ({"sr": "0.9"}, "sr[=:]"),
        ({"lr": 0}, r"lr.*≤ 1"),
        ({"lr": 1.1}, "lr[=:]"),
        ({"lr": np.nan}, "lr[=:]"),
        ({"lr": [0.5, 0.5]}, "lr[=:]"),
        ({"lr": "0.5"}, "lr[=:]"),
        ({"basis": "eigne"}, "Unknown basis='eigne'.*Did you mean 'eigen'"),
        ({"input_connectivity": 0}, "input_connectivity[=:]"),
        ({"input_connectivity": 1.5}, "input_connectivity[=:]"),
        ({"rc_connectivity": 0}, "rc_connectivity[=:]"),
        ({"rc_connectivity": None}, "rc_connectivity[=:]"),
        ({"fb_scaling": np.inf}, "fb_scaling[=:]"),
        ({"fb_scaling": "1"}, "fb_scaling[=:]"),
        ({"dtype": "float16"}, "Unknown dtype='float16'"),
        ({"dtype": "int64"}, "dtype[=:]"),
    ],
)
def test_recipe_rejects_invalid_options(options, message):
    with pytest.raises(ValueError, match=message):
        Recipe(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"units": 0}, "units[=:]"),
        ({"units": 10.0}, "units[=:]"),
        ({"units": True}, "units[=:]"),
        ({"units": 0, "spectrum": "matrix"}, "units[=:]"),
        ({"spectrum": "goldn"}, "Unknown spectrum='goldn'.*Did you mean 'golden'"),
        ({"spectrum": "matrx"}, "Did you mean 'matrix'"),
        ({"spectrum": np.ones((2, 3))}, "spectrum.*square"),
        ({"spectrum": np.full((2, 2), np.nan)}, "spectrum.*finite"),
        ({"spectrum": [1j]}, "conjugat"),
        ({"spectrum": lambda n, sr, seed: np.ones(n - 1)}, "from <lambda>"),
        ({"spectrum": None}, "spectrum=None"),
        ({"spectrum": 3.0}, "spectrum[=:]"),
        ({"input_scaling": [1.0, 2.0, 3.0]}, r"an array \(2,\) of finite numbers"),
        ({"input_scaling": [[1.0, 2.0]]}, "input_scaling[=:]"),
        ({"input_scaling": np.nan}, "input_scaling.*finite"),
        ({"input_scaling": "big"}, "input_scaling[=:]"),
    ],
)
def test_draw_rejects_invalid_options(options, message):
    with pytest.raises(ValueError, match=message):
        draw(Recipe(**{"units": 10, **options}), D_in=2, seed=0)


@pytest.mark.parametrize("seed", [-1, 0.5, "x"])
def test_draw_rejects_invalid_seeds(seed):
    with pytest.raises(ValueError, match=r"seed[=:]"):
        draw(Recipe(), 1, seed=seed)


# Shapes and the reservoir itself


@pytest.mark.parametrize("spectrum", SOURCES)
@pytest.mark.parametrize("basis", ["eigen", "neuron"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_shapes(spectrum, basis, dtype):
    recipe = Recipe(20, spectrum=spectrum, basis=basis, input_bias=True, dtype=dtype)
    drawn = draw(recipe, D_in=3, D_fb=2, seed=0)
    reservoir = drawn.reservoir
    assert reservoir.units == 20
    assert reservoir.W_in.shape == (3, 20)
    assert reservoir.bias.shape == (20,)
    assert reservoir.W_fb.shape == (2, 20)
    assert reservoir.B.shape == (6, 20)
    assert reservoir.dtype == dtype
    assert all(a.dtype == dtype for a in weights(reservoir).values())
    assert isinstance(
        reservoir.form, kernels.DiagonalForm if basis == "eigen" else kernels.DenseForm
    )
    assert (drawn.basis is None) is (basis == "neuron")


def test_optional_parts_are_omitted():
    reservoir = draw(Recipe(5), D_in=1, seed=0).reservoir
    assert reservoir.bias is None
    assert reservoir.W_fb is None
    generator = draw(Recipe(5), D_in=0, D_fb=1, seed=0).reservoir
    assert generator.W_in.shape == (0, 5)
    assert generator.B.shape == (1, 5)


def test_drive_columns():
    u, y = np.arange(6.0).reshape(3, 2), np.arange(3.0)[:, None]
    plain = draw(Recipe(4), 2, seed=0).reservoir
    np.testing.assert_array_equal(plain.drive(u, None), u)
    full = draw(Recipe(4, input_bias=True), 2, 1, seed=0).reservoir
    expected = [[0, 1, 1, 0], [2, 3, 1, 1], [4, 5, 1, 2]]
    np.testing.assert_array_equal(full.drive(u, y), expected)
    np.testing.assert_array_equal(full.B, [*full.W_in, full.bias, *full.W_fb])


@pytest.mark.parametrize("basis", ["eigen", "neuron"])
@pytest.mark.parametrize("lr", [1.0, 0.3])
def test_scan_equals_the_textbook_loop(basis, lr):
    recipe = Recipe(15, basis=basis, lr=lr, input_bias=True)
    reservoir = draw(recipe, 2, 1, seed=0).reservoir
    rng = np.random.default_rng(0)
    u, y = rng.normal(size=(30, 2)), rng.normal(size=(30, 1))
    actual, last = reservoir.scan(reservoir.drive(u, y))
    expected = naive.states(
        reservoir.transition.matrix,
        reservoir.W_in,
        u,
        bias=reservoir.bias,
        W_fb=reservoir.W_fb,
        y_previous=y,
    )
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_array_equal(last, actual[-1])


def test_scan_writes_into_out():
    reservoir = draw(Recipe(5), 1, seed=0).reservoir
    out = np.empty((4, 5))
    assert reservoir.scan(np.ones((4, 1)), out=out)[0] is out


@pytest.mark.parametrize(
    ("part", "shape"),
    [("W_in", (2, 4)), ("W_in", (3,)), ("bias", (4,)), ("bias", (1, 3)), ("W_fb", (1, 2))],
)
def test_reservoir_rejects_inconsistent_shapes(part, shape):
    parts = {"W_in": np.ones((1, 3)), part: np.ones(shape)}
    with pytest.raises(ValueError, match=f"Invalid {part}"):
        Reservoir(Spectrum([0.1, 0.2, 0.3]), **parts)


# Leak and scalings


@pytest.mark.parametrize("spectrum", ["golden", "matrix"])
@pytest.mark.parametrize("basis", ["eigen", "neuron"])
def test_leaking_rate_applies_to_all_weights(spectrum, basis):
    recipe = Recipe(12, spectrum=spectrum, basis=basis, input_bias=True)
    plain = draw(recipe, 2, 1, seed=3)
    leaky = draw(dataclasses.replace(recipe, lr=0.25), 2, 1, seed=3)
    np.testing.assert_allclose(
        leaky.reservoir.transition.matrix,
        0.25 * plain.reservoir.transition.matrix + 0.75 * np.eye(12),
        atol=1e-14,
    )
    for name, value in weights(plain.reservoir).items():
        np.testing.assert_allclose(getattr(leaky.reservoir, name), 0.25 * value, atol=1e-15)
    if plain.spectrum is not None:
        assert leaky.spectrum == plain.spectrum  # before the leak
        assert leaky.reservoir.spectrum.radius == pytest.approx(
            plain.spectrum.leak(0.25).radius, rel=1e-10
        )


@pytest.mark.parametrize("eigenvectors", [True, False])
def test_input_scaling_per_feature(eigenvectors):
    recipe = Recipe(12, eigenvectors=eigenvectors, input_bias=True)
    plain = draw(recipe, 3, 1, seed=3).reservoir
    recipe = dataclasses.replace(recipe, input_scaling=[2.0, 0.0, -5.0])
    scaled = draw(recipe, 3, 1, seed=3).reservoir
    np.testing.assert_allclose(scaled.W_in, plain.W_in * [[2.0], [0.0], [-5.0]], atol=1e-14)
    np.testing.assert_allclose(scaled.bias, plain.bias * np.mean([2.0, 0.0, 5.0]), atol=1e-14)
    np.testing.assert_array_equal(scaled.W_fb, plain.W_fb)


def test_scalar_input_scaling_also_scales_the_bias():
    plain = draw(Recipe(12, input_bias=True), 3, 1, seed=3).reservoir
    recipe = Recipe(12, input_bias=True, input_scaling=0.1, fb_scaling=7.0)
    scaled = draw(recipe, 3, 1, seed=3).reservoir
    np.testing.assert_allclose(scaled.W_in, 0.1 * plain.W_in, atol=1e-15)
    np.testing.assert_allclose(scaled.bias, 0.1 * plain.bias, atol=1e-15)
    np.testing.assert_allclose(scaled.W_fb, 7.0 * plain.W_fb, atol=1e-14)


def test_weights_are_uniform_in_the_neuron_basis():
    reservoir = draw(Recipe(500, basis="neuron", spectrum="ring"), 8, 8, seed=0).reservoir
    for W in (reservoir.W_in, reservoir.W_fb):
        assert np.abs(W).max() <= 1
        assert W.var() == pytest.approx(1 / 3, rel=0.05)
        assert W.mean() == pytest.approx(0.0, abs=0.03)


def test_input_connectivity_drops_weights_without_redrawing():
    full = draw(Recipe(300, basis="neuron", spectrum="ring"), 10, seed=1).reservoir.W_in
    recipe = Recipe(300, basis="neuron", spectrum="ring", input_connectivity=0.2)
    sparse = draw(recipe, 10, seed=1).reservoir.W_in
    kept = sparse != 0
    assert kept.mean() == pytest.approx(0.2, abs=0.03)
    np.testing.assert_array_equal(sparse[kept], full[kept])


# Seeds


def test_streams_are_independent_and_repeatable():
    first, second = streams(3), streams(3)
    assert first._fields == ("spectrum", "eigenvectors", "W_in", "W_fb", "bias", "features")
    draws = [rng.random(4) for rng in first]
    np.testing.assert_array_equal(draws, [rng.random(4) for rng in second])
    for a, b in itertools.combinations(draws, 2):
        assert not np.any(a == b)
    assert isinstance(streams(np.random.default_rng(0)), Streams)


def test_generator_gives_new_streams_each_time():
    rng = np.random.default_rng(0)
    assert streams(rng).W_in.random() != streams(rng).W_in.random()


BASE = Recipe(30, input_bias=True)


@pytest.mark.parametrize("spectrum", SOURCES)
@pytest.mark.parametrize("basis", ["eigen", "neuron"])
def test_same_seed_gives_the_same_reservoir(spectrum, basis):
    recipe = dataclasses.replace(BASE, spectrum=spectrum, basis=basis)
    a, b, other = (draw(recipe, 2, 1, seed=s).reservoir for s in (5, 5, 6))
    np.testing.assert_array_equal(a.transition.dense, b.transition.dense)
    for name, value in weights(a).items():
        np.testing.assert_array_equal(value, getattr(b, name))
        assert not np.any(value == getattr(other, name))
    generator = draw(recipe, 2, 1, seed=np.random.default_rng(5)).reservoir
    np.testing.assert_array_equal(generator.B, a.B)


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({"sr": 0.5}, {"Q", "W_in", "bias", "W_fb"}),
        ({"lr": 0.5}, {"spectrum", "Q"}),
        ({"input_scaling": 3.0}, {"spectrum", "Q", "W_fb"}),
        ({"input_connectivity": 0.3}, {"spectrum", "Q", "bias", "W_fb"}),
        ({"fb_scaling": 2.0}, {"spectrum", "Q", "W_in", "bias"}),
        ({"input_bias": False}, {"spectrum", "Q", "W_in", "W_fb"}),
        ({"spectrum": "uniform"}, {"Q", "W_in", "bias", "W_fb"}),
        ({"spectrum": "noisy_golden"}, {"Q", "W_in", "bias", "W_fb"}),
    ],
)
def test_changing_one_option_does_not_redraw_the_others(change, kept):
    def parts(drawn):
        return {"spectrum": drawn.spectrum.values, "Q": drawn.basis.Q, **weights(drawn.reservoir)}

    before = parts(draw(BASE, 2, 1, seed=4))
    after = parts(draw(dataclasses.replace(BASE, **change), 2, 1, seed=4))
    for name in before:
        same = after[name] is not None and np.array_equal(before[name], after[name])
        assert same is (name in kept), name


def test_columns_of_input_and_feedback_do_not_redraw_the_others():
    base = draw(BASE, 2, 1, seed=4)
    wider = draw(BASE, 5, 3, seed=4)
    alone = draw(BASE, 2, 0, seed=4)
    assert base.spectrum == wider.spectrum == alone.spectrum
    np.testing.assert_array_equal(base.basis.Q, wider.basis.Q)
    # Products with Q can round differently for another number of rows.
    np.testing.assert_allclose(base.reservoir.W_in, wider.reservoir.W_in[:2], atol=1e-14)
    np.testing.assert_allclose(base.reservoir.W_fb, wider.reservoir.W_fb[:1], atol=1e-14)
    np.testing.assert_array_equal(base.reservoir.bias, wider.reservoir.bias)
    np.testing.assert_array_equal(base.reservoir.W_in, alone.reservoir.W_in)


def test_connectivity_of_the_matrix_does_not_redraw_the_inputs():
    full = draw(Recipe(30, spectrum="matrix", basis="neuron"), 2, seed=4).reservoir
    recipe = Recipe(30, spectrum="matrix", basis="neuron", rc_connectivity=0.5)
    sparse = draw(recipe, 2, seed=4).reservoir
    np.testing.assert_array_equal(full.W_in, sparse.W_in)
    kept = sparse.transition.matrix != 0
    ratio = sparse.transition.matrix[kept] / full.transition.matrix[kept]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)  # the same weights, rescaled


@pytest.mark.parametrize("basis", ["eigen", "neuron"])
@pytest.mark.parametrize("spectrum", SOURCES)
def test_shared_cache_does_not_change_draws(spectrum, basis):
    cache = Cache()
    for change in ({}, {"sr": 0.5}, {"lr": 0.3, "input_scaling": 2.0}, {"rc_connectivity": 0.5}):
        for name in (spectrum, "golden"):
            recipe = Recipe(20, **{"spectrum": name, "basis": basis, **change})
            actual = draw(recipe, 2, 1, seed=3, cache=cache).reservoir
            expected = draw(recipe, 2, 1, seed=3).reservoir
            np.testing.assert_array_equal(actual.transition.dense, expected.transition.dense)
            np.testing.assert_array_equal(actual.B, expected.B)


def test_shared_cache_distinguishes_matrices():
    """The cache does not use ids of matrices, which Python can reuse."""
    cache = Cache()
    for seed in range(50):
        W = np.random.default_rng(seed).normal(size=(6, 6))
        drawn = draw(Recipe(spectrum=W), 1, seed=0, cache=cache)
        assert drawn.spectrum == eigendecomposition(W)[0]
        del W, drawn


# One network in two bases


@pytest.mark.parametrize("spectrum", SOURCES)
@pytest.mark.parametrize("lr", [1.0, 0.4])
def test_both_bases_draw_the_same_network(spectrum, lr):
    recipe = Recipe(18, spectrum=spectrum, lr=lr, input_bias=True)
    modes = draw(recipe, 2, 1, seed=2)
    neurons = draw(dataclasses.replace(recipe, basis="neuron"), 2, 1, seed=2).reservoir
    Q = modes.basis.Q
    tol = 1e-12 * modes.basis.condition
    np.testing.assert_allclose(
        neurons.transition.dense @ Q, Q @ modes.reservoir.transition.matrix, atol=tol
    )
    for name, value in weights(neurons).items():
        np.testing.assert_allclose(value @ Q, getattr(modes.reservoir, name), atol=1e-13)


@pytest.mark.parametrize("spectrum", SOURCES)
def test_named_spectra_use_the_spectrum_stream(spectrum):
    recipe = Recipe(25, spectrum=spectrum, sr=0.7)
    drawn = draw(recipe, 1, seed=9)
    if spectrum == "matrix":
        W = spectra.random_matrix(25, streams(9).spectrum)
        expected, _ = eigendecomposition(W)
        expected = expected.scaled(0.7)
    else:
        expected = LAWS[spectrum](25, sr=0.7, seed=streams(9).spectrum)
    assert drawn.spectrum == expected
    if spectrum not in ("uniform", "noisy_golden"):
        assert drawn.reservoir.spectrum.radius == pytest.approx(0.7, rel=1e-12)


def test_given_spectra_and_matrices_are_used_unchanged():
    given = Spectrum([0.3], [0.1 + 1.5j])
    for source in (given, given.values, given.values.tolist()):
        drawn = draw(Recipe(999, spectrum=source, sr=0.1, rc_connectivity=0.5), 1, seed=0)
        assert drawn.spectrum == given
        assert drawn.reservoir.units == 3
    W = np.random.default_rng(0).normal(size=(6, 6))
    for source in (W, W.tolist(), scipy.sparse.csr_array(W)):
        for basis in ("eigen", "neuron"):
            recipe = Recipe(999, spectrum=source, basis=basis, sr=0.1, rc_connectivity=0.5)
            drawn = draw(recipe, 1, seed=0)
            assert drawn.reservoir.units == 6
            assert drawn.reservoir.spectrum.radius == pytest.approx(
                np.abs(np.linalg.eigvals(W)).max(), rel=1e-10
            )


def test_callable_receives_size_radius_and_generator():
    seen = {}

    def mine(n, sr, seed):
        seen.update(n=n, sr=sr, seed=seed)
        return Spectrum(np.full(n, sr))

    drawn = draw(Recipe(4, spectrum=mine, sr=0.6), 1, seed=0)
    assert drawn.spectrum == Spectrum([0.6] * 4)
    assert (seen["n"], seen["sr"]) == (4, 0.6)
    assert isinstance(seen["seed"], np.random.Generator)


# Weights drawn directly in the eigenbasis


@pytest.mark.parametrize("connectivity", [1.0, 0.25])
def test_direct_weights_have_the_variances_of_projected_uniform_ones(connectivity):
    """The variance is 1/3 for a real mode and 1/6 for each of Re and Im, times the connectivity."""
    spectrum = Spectrum(np.linspace(-0.9, 0.9, 100), 0.5j * np.linspace(0.1, 1, 100))
    recipe = Recipe(
        spectrum=spectrum,
        eigenvectors=False,
        input_connectivity=connectivity,
        input_scaling=2.0,
        fb_scaling=3.0,
    )
    drawn = draw(recipe, D_in=400, D_fb=400, seed=0)
    assert drawn.basis is None
    projected = draw(dataclasses.replace(recipe, eigenvectors=True), 400, 400, seed=0)
    for reservoir in (drawn.reservoir, projected.reservoir):
        # Three standard errors of a variance over 40 000 draws are 2%.
        for W, scale in ((reservoir.W_in, 4 * connectivity), (reservoir.W_fb, 9.0)):
            real, re, im = W[:, :100], W[:, 100::2], W[:, 101::2]
            assert real.var() == pytest.approx(scale / 3, rel=0.03)
            assert re.var() == pytest.approx(scale / 6, rel=0.03)
            assert im.var() == pytest.approx(scale / 6, rel=0.03)
            assert abs(np.mean(re * im)) < 0.02 * scale / 6
            assert abs(W.mean()) < 0.02 * np.sqrt(scale)
    # The fourth moment of a Gaussian is three times the squared variance, also when projected.
    for reservoir in (drawn.reservoir, projected.reservoir):
        real = reservoir.W_fb[:, :100]
        assert np.mean(real**4) / real.var() ** 2 == pytest.approx(3.0, rel=0.06)


def test_direct_bias_has_the_law_of_an_input_row():
    spectrum = Spectrum(np.zeros(2000) + 0.5, np.full(2000, 0.5j))
    recipe = Recipe(spectrum=spectrum, eigenvectors=False, input_bias=True)
    bias = draw(recipe, 1, seed=0).reservoir.bias
    assert bias[:2000].var() == pytest.approx(1 / 3, rel=0.1)
    assert bias[2000:].var() == pytest.approx(1 / 6, rel=0.1)


def test_direct_weights_need_no_square_matrix():
    import tracemalloc

    tracemalloc.start()
    draw(Recipe(20_000, eigenvectors=False), 1, seed=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6  # an N×N matrix would be 3.2e9 bytes


def test_a_matrix_is_diagonalised_with_or_without_eigenvectors():
    for eigenvectors in (True, False):
        drawn = draw(Recipe(9, spectrum="matrix", eigenvectors=eigenvectors), 1, seed=0)
        assert drawn.basis is not None


# Matrices that are sparse, defective or without cycles


def test_sparse_matrix_remains_sparse():
    W = scipy.sparse.random(50, 50, 0.05, random_state=0, format="csc")
    for lr in (1.0, 0.5):
        reservoir = draw(Recipe(spectrum=W, basis="neuron", lr=lr), 1, seed=0).reservoir
        assert isinstance(reservoir.transition, Sparse)
        assert isinstance(reservoir.form, kernels.SparseForm)
        expected = lr * W.toarray() + (1 - lr) * np.eye(50)
        np.testing.assert_allclose(reservoir.transition.matrix.toarray(), expected, atol=1e-15)
        assert reservoir.transition.matrix.nnz <= W.nnz + (50 if lr < 1 else 0)


def test_drawn_matrices_are_sparse_if_that_is_cheaper():
    sparse = draw(Recipe(60, spectrum="matrix", basis="neuron", rc_connectivity=0.1), 1, seed=0)
    full = draw(Recipe(60, spectrum="matrix", basis="neuron", rc_connectivity=0.5), 1, seed=0)
    assert isinstance(sparse.reservoir.form, kernels.SparseForm)
    assert isinstance(full.reservoir.form, kernels.DenseForm)
    for drawn in (sparse, full):
        assert drawn.reservoir.spectrum.radius == pytest.approx(0.9, rel=1e-9)


def without_cycles(basis, spectrum="matrix"):
    for seed in range(200):
        recipe = Recipe(6, spectrum=spectrum, basis=basis, rc_connectivity=0.05)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            drawn = draw(recipe, 1, seed=seed)
        if drawn.reservoir.spectrum.radius == 0:
            return drawn, seed, [str(w.message) for w in caught]
    raise AssertionError("every draw had a cycle")


@pytest.mark.parametrize("basis", ["eigen", "neuron"])
def test_radius_zero_is_not_rescaled_and_causes_a_warning(basis):
    drawn, seed, said = without_cycles(basis)
    assert any("spectral radius 0" in message for message in said)
    if basis == "neuron":
        W = spectra.random_matrix(6, streams(seed).spectrum, connectivity=0.05)
        np.testing.assert_array_equal(drawn.reservoir.transition.dense, W)


def test_radius_zero_of_a_simulated_spectrum_causes_a_warning():
    _, _, said = without_cycles("eigen", "sim")
    assert any("spectral radius 0" in message for message in said)


def test_nearly_defective_matrix_causes_a_warning():
    W = 0.5 * np.eye(4) + np.diag(np.ones(3), 1)
    with pytest.warns(IllConditionedWarning, match="nearly defective"):
        draw(Recipe(spectrum=W), 1, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(Recipe(spectrum=W, basis="neuron"), 1, seed=0)


def test_matrix_of_a_reservoir_in_modes_is_block_diagonal():
    drawn = draw(Recipe(8), 1, seed=0)
    np.testing.assert_array_equal(drawn.reservoir.transition.matrix, block_diagonal(drawn.spectrum))


@pytest.mark.parametrize("basis", ["eigen", "neuron"])
@pytest.mark.parametrize("source", SOURCES)
def test_cache_distinguishes_seeds(source, basis):
    """Draws of several seeds with a shared cache equal draws without a cache."""
    cache = Cache()
    recipe = Recipe(12, spectrum=source, basis=basis)
    for seed in (0, np.int64(1), 0, 2):
        shared, alone = draw(recipe, 2, 1, seed, cache), draw(recipe, 2, 1, seed)
        np.testing.assert_array_equal(
            shared.reservoir.transition.dense, alone.reservoir.transition.dense
        )
        for name, value in weights(alone.reservoir).items():
            np.testing.assert_array_equal(getattr(shared.reservoir, name), value)
    rng = np.random.default_rng(0)
    one, two = (draw(recipe, 2, 1, rng, cache).reservoir for _ in range(2))
    assert not np.array_equal(one.W_in, two.W_in)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"input_scaling": 1e39, "dtype": "float32"}, "input_scaling=1e.39.*range of float32"),
        ({"input_scaling": 1.7e308, "eigenvectors": False}, "input_scaling.*range of float64"),
        ({"fb_scaling": -1e50, "dtype": "float32"}, "fb_scaling=-1e.50.*range of float32"),
    ],
)
def test_overflowing_scales_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        draw(Recipe(200, **options), 1, 1, seed=0)


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (1.5 * np.eye(3), r"at step 1[67]\d\d \(effective radius 1\.5\)"),
        (np.full((8, 8), 1e308), r"at step 1\. "),  # so large that its eigenvalues overflow too
    ],
    ids=["radius", "none"],
)
def test_overflow_of_states_reports_the_radius_if_known(W, message):
    reservoir = Reservoir(W, np.ones((1, len(W))))
    with pytest.raises(UnstableError, match=message):
        reservoir.states(np.ones((2000, 1)), None, Progress())


def test_subset_of_modes_steps_as_in_the_full_reservoir():
    spectrum = Spectrum([0.5, -0.2], [0.3 + 0.4j, 0.1 + 0.7j])
    rng = np.random.default_rng(0)
    reservoir = Reservoir(spectrum, *(rng.normal(size=s) for s in ((2, 6), 6, (1, 6))))
    modes = np.array([False, True, False, True])
    columns = spectrum.columns(modes)
    np.testing.assert_array_equal(columns, [1, 4, 5])
    few, drive = reservoir.only(modes), rng.normal(size=(50, 4))
    assert few.spectrum == spectrum.only(modes) == Spectrum([-0.2], [0.1 + 0.7j])
    whole, some = (r.scan(drive)[0] for r in (reservoir, few))
    np.testing.assert_array_equal(some, whole[:, columns])


def test_states_do_not_depend_on_the_number_of_threads(monkeypatch):
    u = np.random.default_rng(0).normal(size=(3001, 1))
    reservoir = ee.DiagonalReservoir(400, seed=0).fit(u)
    results = []
    for count in ("1", "2", "3", "9"):
        monkeypatch.setenv("EIGENECHO_NUM_THREADS", count)
        results.append(reservoir.transform(u))
        results.append(reservoir.transform(u, out=np.empty((3001, 400))))
    assert all(np.array_equal(results[0], other) for other in results)
