"""Compare both kernel implementations with textbook loops, for each form and dtype."""

from __future__ import annotations

import functools
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
from eigenecho import kernels, spectra, threads
from eigenecho.kernels import compiled, reference
from eigenecho.kernels.compiled import modes, scans, steps
from eigenecho.transition import Dense, Diagonal, Sparse
from eigenecho.transition.diagonal import block_diagonal

FAST = SimpleNamespace(
    **(vars(compiled) | {k: getattr(kernels, k) for k in ("scan", "scan_readout")})
)
"""Compiled kernels, and the dispatched functions that run whole series."""

IMPLEMENTATIONS = [FAST, reference]
FORMS = ["diagonal", "dense", "sparse"]
DTYPES = ["float64", "float32"]
DRIVES = [0, 1, 3, 9, 20]
UNITS = [1, 2, 7, 100]
TOLERANCE = {"float64": 1e-13, "float32": 2e-5}

each_implementation = pytest.mark.parametrize(
    "implementation", IMPLEMENTATIONS, ids=["compiled", "reference"]
)
each_form = pytest.mark.parametrize("form", FORMS)
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
each_drive = pytest.mark.parametrize("D", DRIVES)


@functools.cache
def transition(form, dtype, N):
    """Return a form with a spectral radius of about 0.9 and the matrix that it represents."""
    if form == "diagonal":
        spectrum = spectra.golden(N, sr=0.9, seed=N)
        return Diagonal(spectrum).form(dtype), block_diagonal(spectrum)
    rng = np.random.default_rng(N)
    W = rng.normal(size=(N, N))
    if form == "sparse":
        W[rng.random((N, N)) < 0.6] = 0.0
    W = 0.9 * W / (np.abs(np.linalg.eigvals(W)).max() or 1.0)
    if form == "dense":
        return Dense(W).form(dtype), W
    return Sparse(scipy.sparse.csr_matrix(W)).form(dtype), W


class Problem:
    """Random network with D drive columns: a form, its matrix W, and all arrays."""

    def __init__(self, form, dtype, N, D, T, D_out=3, seed=0):
        rng = np.random.default_rng([seed, N, D, T])

        def array(*shape, scale=1.0):
            return (scale * rng.normal(size=shape)).astype(dtype)

        self.form, self.W = transition(form, dtype, N)
        self.B, self.drive = array(D, N), array(T, D)
        self.r0 = array(N)
        self.weights = array(D_out, N, scale=0.3 / N)
        self.feedback = array(D_out, N, scale=0.3)
        self.readout = kernels.Readout(array(D_out), array(D_out, D_out, scale=0.1), self.weights)
        self.y0 = array(D_out)
        self.dtype, self.N, self.T, self.D_out = dtype, N, T, D_out

    def states(self):
        return naive.states(self.W, self.B, self.drive, r0=self.r0)

    def close(self, actual, expected):
        assert actual.dtype == self.dtype
        assert actual.shape == expected.shape
        size = max(np.abs(expected).max(initial=0.0), 0.1)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE[self.dtype] * size)


def closed_loop(implementation, form, B, drive, feedback, readout, state, y, noise=None):
    """Run a closed loop. Compiled kernels for one exist only for modes, and others run by steps."""
    if implementation is reference or isinstance(form, kernels.DiagonalForm):
        return implementation.run_closed_loop(form, B, drive, feedback, readout, state, y, noise)
    zero, infinite, before = np.zeros(y.size), np.full(y.size, np.inf), np.tile(y, (len(drive), 1))
    loop = kernels.Feedback(drive.shape[1], zero, zero + 1, -infinite, infinite)
    columns, B = np.concatenate([drive, before], axis=1), np.concatenate([B, feedback])
    valid, last = implementation.run_readout(form, B, columns, readout, before, loop, state, noise)
    out = np.full((len(drive), y.size), np.nan, state.dtype)
    out[: len(valid)] = valid
    return out, last


def rows(implementation, D):
    """Return enough rows to cross a chunk border when wide drives are projected in chunks."""
    return (
        scans.MAX_CHUNK_ROWS + 9 if implementation is FAST and scans.MIN_BLAS_COLUMNS <= D else 25
    )


# Against the textbook loops


@each_implementation
@each_form
@each_dtype
@each_drive
def test_scan(implementation, form, dtype, D):
    for N in UNITS:
        p = Problem(form, dtype, N, D, rows(implementation, D))
        states, last = implementation.scan(p.form, p.B, p.drive, p.r0)
        p.close(states, p.states())
        np.testing.assert_array_equal(last, states[-1])
        out = np.full_like(states, 7)
        assert implementation.scan(p.form, p.B, p.drive, p.r0, out)[0] is out
        np.testing.assert_array_equal(out, states)


@each_implementation
@each_form
@each_dtype
@each_drive
def test_step(implementation, form, dtype, D):
    for N in UNITS:
        p = Problem(form, dtype, N, D, 12)
        result = [p.r0]
        for row in p.drive:
            result.append(implementation.step(p.form, p.B, row, result[-1]))
        p.close(np.array(result[1:]), p.states())


@each_implementation
@each_form
@each_dtype
@each_drive
@pytest.mark.parametrize("D_out", [1, 3])
def test_scan_readout(implementation, form, dtype, D, D_out):
    for N in UNITS:
        p = Problem(form, dtype, N, D, rows(implementation, D), D_out)
        outputs, last = implementation.scan_readout(p.form, p.B, p.drive, p.weights, p.r0)
        expected = p.states()
        p.close(outputs, expected @ p.weights.T.astype(float))
        p.close(last, expected[-1])


@each_implementation
@each_form
@each_dtype
@each_drive
@pytest.mark.parametrize("D_out", [1, 3])
def test_closed_loop(implementation, form, dtype, D, D_out):
    for N in UNITS:
        p = Problem(form, dtype, N, D, 40, D_out)
        arguments = p.form, p.B, p.drive, p.feedback, p.readout, p.r0, p.y0
        outputs, last = closed_loop(implementation, *arguments)
        expected, (r, _) = naive.predict(
            p.W,
            p.B,
            np.concatenate([p.readout.offset[None], p.readout.previous, p.weights.T]),
            p.drive,
            W_fb=p.feedback,
            output_to_readout=True,
            r0=p.r0,
            y0=p.y0,
            return_state=True,
        )
        p.close(outputs, expected)
        p.close(last, r)


@each_implementation
@each_form
@each_dtype
@pytest.mark.parametrize("D_out", [1, 3])
def test_noise_in_a_closed_loop(implementation, form, dtype, D_out):
    p = Problem(form, dtype, 7, 2, 30, D_out)
    noise = np.random.default_rng(0).normal(size=(p.T, D_out)).astype(dtype)
    arguments = p.form, p.B, p.drive, p.feedback, p.readout
    outputs, _ = closed_loop(implementation, *arguments, p.r0, p.y0, noise)
    y, r, expected = p.y0.astype(float), p.r0.astype(float), []
    for a, n in zip(p.drive, noise, strict=True):
        r = r @ p.W + a @ p.B + y @ p.feedback
        y = p.readout.offset + y @ p.readout.previous + p.weights @ r + n
        expected.append(y)
    p.close(outputs, np.array(expected))


# Compiled against the reference


@given(
    form=st.sampled_from(FORMS),
    N=st.integers(1, 40),
    D=st.integers(0, 12),
    T=st.integers(0, 30),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=60)
def test_compiled_equals_reference(form, N, D, T, seed):
    p = Problem(form, "float64", N, D, T, 2, seed)
    ends = []
    for implementation in IMPLEMENTATIONS:
        loop = p.form, p.B, p.drive, p.feedback, p.readout, p.r0, p.y0
        states = implementation.scan(p.form, p.B, p.drive, p.r0)
        outputs = implementation.scan_readout(p.form, p.B, p.drive, p.weights, p.r0)
        ends.append((*states, *outputs, *closed_loop(implementation, *loop)))
    for ours, theirs in zip(*ends, strict=True):
        p.close(ours, theirs)


# Lengths and pieces


@each_implementation
@each_form
@each_drive
def test_empty_drive_changes_nothing(implementation, form, D):
    p = Problem(form, "float64", 7, D, 0)
    loop = p.form, p.B, p.drive, p.feedback, p.readout, p.r0, p.y0
    for results, last in (
        implementation.scan(p.form, p.B, p.drive, p.r0),
        implementation.scan_readout(p.form, p.B, p.drive, p.weights, p.r0),
        closed_loop(implementation, *loop),
    ):
        assert len(results) == 0
        np.testing.assert_array_equal(last, p.r0)


@each_form
@each_drive
def test_one_row(form, D):
    p = Problem(form, "float64", 7, D, 1)
    p.close(kernels.scan(p.form, p.B, p.drive, p.r0)[0], p.states())
    p.close(kernels.scan_readout(p.form, p.B, p.drive, p.weights, p.r0)[1], p.states()[0])


@each_form
@each_dtype
@each_drive
def test_scan_in_pieces_carries_the_state(form, dtype, D):
    p = Problem(form, dtype, 33, D, 2 * scans.MAX_CHUNK_ROWS + 20)
    whole, last = kernels.scan(p.form, p.B, p.drive, p.r0)
    read, same = kernels.scan_readout(p.form, p.B, p.drive, p.weights, p.r0)
    pieces, read_pieces, r, s = np.empty_like(whole), np.empty_like(read), p.r0, p.r0
    borders = [0, 1, 2, 100, 255, 256, 257, 400, 513, p.T]
    for a, b in itertools.pairwise(borders):
        pieces[a:b], r = kernels.scan(p.form, p.B, p.drive[a:b], r)
        read_pieces[a:b], s = kernels.scan_readout(p.form, p.B, p.drive[a:b], p.weights, s)
    p.close(pieces, whole)
    p.close(r, last)
    p.close(read_pieces, read)
    p.close(s, same)
    if (
        form == "diagonal" and scans.MIN_BLAS_COLUMNS > D
    ):  # without BLAS, all pieces use the same operations
        np.testing.assert_array_equal(pieces, whole)
        np.testing.assert_array_equal(read_pieces, read)


@each_form
def test_closed_loop_in_pieces(form):
    p = Problem(form, "float64", 20, 2, 50)
    whole, last = closed_loop(FAST, p.form, p.B, p.drive, p.feedback, p.readout, p.r0, p.y0)
    r, y, pieces = p.r0, p.y0, np.empty((50, 3))
    for a, b in [(0, 1), (1, 30), (30, 50)]:
        some = p.form, p.B, p.drive[a:b], p.feedback, p.readout
        pieces[a:b], r = closed_loop(FAST, *some, r, y)
        y = pieces[b - 1]
    np.testing.assert_allclose(pieces, whole, rtol=0, atol=1e-14)
    np.testing.assert_allclose(r, last, rtol=0, atol=1e-14)


@each_form
def test_no_outputs(form):
    """A readout without columns only moves the state, as the rows of a context do."""
    for D in (2, 20):
        p = Problem(form, "float64", 9, D, 300, 0)
        p.close(kernels.scan_readout(p.form, p.B, p.drive, p.weights, p.r0)[1], p.states()[-1])


@each_implementation
@each_form
def test_inputs_are_not_modified(implementation, form):
    p = Problem(form, "float64", 7, 3, 10)
    arrays = (*p.form, p.B, p.drive, p.weights, *p.readout[:3], p.r0, p.y0)
    before = [a.copy() for a in arrays]
    previous = np.tile(p.y0, (10, 1))
    bound = np.full(3, np.inf)
    for loop in (None, kernels.Feedback(0, np.zeros(3), np.ones(3), -bound, bound)):
        implementation.run_readout(p.form, p.B, p.drive, p.readout, previous, loop, p.r0)
    np.testing.assert_array_equal(previous, np.tile(p.y0, (10, 1)))
    implementation.step(p.form, p.B, p.drive[0], p.r0)
    implementation.scan(p.form, p.B, p.drive, p.r0)
    implementation.scan_readout(p.form, p.B, p.drive, p.weights, p.r0)
    closed_loop(implementation, p.form, p.B, p.drive, p.feedback, p.readout, p.r0, p.y0)
    for a, b in zip(before, arrays, strict=True):
        np.testing.assert_array_equal(a, b)


def test_read_only_drive_is_accepted():
    p = Problem("diagonal", "float64", 7, 1, 10)
    p.drive.setflags(write=False)
    p.close(kernels.scan(p.form, p.B, p.drive, p.r0)[0], p.states())


@each_form
def test_memory_after_an_empty_drive_is_not_read(form):
    """The kernels do not read the NaN that follow the empty arrays in memory."""
    p = Problem(form, "float64", 7, 0, 5)
    B, drive = np.full((1, 7), np.nan)[:0], np.full((5, 1), np.nan)[:, :0]
    state = p.r0
    for row in np.full((5, 2), np.nan)[:, :0]:
        state = compiled.step(p.form, B, row, state)
    p.close(state, p.states()[-1])
    p.close(kernels.scan(p.form, B, drive, p.r0)[0], p.states())


# Several steps in a pass


def plain_states(form, B, drive, state):
    """Compute the states step by step in NumPy, in the kernels' documented order of operations."""
    n = form.real.size
    out = np.empty((len(drive), state.size), state.dtype)
    for row, x in zip(out, drive[:, 0], strict=True):
        push = x * B[0]
        p, q = state[n::2], state[n + 1 :: 2]
        row[:n] = form.real * state[:n] + push[:n]
        row[n::2] = form.re * p - form.im * q + push[n::2]
        row[n + 1 :: 2] = form.im * p + form.re * q + push[n + 1 :: 2]
        state = row
    return out


@each_dtype
@pytest.mark.parametrize("N", [1, 2, 33, modes.MIN_PASS_UNITS - 1, modes.MIN_PASS_UNITS, 700])
def test_passes_equal_single_steps_exactly(dtype, N):
    p = Problem("diagonal", dtype, N, 1, 29)
    states, last = kernels.scan(p.form, p.B, p.drive, p.r0)
    assert states.tobytes() == plain_states(p.form, p.B, p.drive, p.r0).tobytes()
    _, same = kernels.scan_readout(p.form, p.B, p.drive, p.weights[:1], p.r0)
    assert same.tobytes() == last.tobytes()


@given(
    N=st.sampled_from([3, 40, 300, 600, 1100]),
    D=st.sampled_from([1, 2, 3]),
    D_out=st.sampled_from([0, 1, 2]),
    cuts=st.sets(st.integers(1, 29), max_size=4),
)
@settings(deadline=None, max_examples=60)
def test_cutting_a_series_does_not_change_results(N, D, D_out, cuts):
    p = Problem("diagonal", "float64", N, D, 30, D_out)
    results = []
    for borders in ([0, 30], [0, *sorted(cuts), 30]):
        r, s = p.r0, p.r0
        states, read = np.empty((30, N)), np.empty((30, D_out))
        for a, b in itertools.pairwise(borders):
            states[a:b], r = kernels.scan(p.form, p.B, p.drive[a:b], r)
            read[a:b], s = kernels.scan_readout(p.form, p.B, p.drive[a:b], p.weights, s)
        results.append((states.tobytes(), read.tobytes(), r.tobytes(), s.tobytes()))
    assert results[0] == results[1]


def test_steps_of_modes_do_not_use_fastmath():
    """Numba cannot pass the fastmath flags of a sum on to a step that is compiled later."""
    for step in (modes.turn, modes.stretch, modes.run_steps, modes.pass_reals, modes.pass_pairs):
        assert step.targetoptions["fastmath"] is False


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no extended precision here")
@pytest.mark.parametrize("D", [1, 3, 9])
def test_against_extended_precision_on_the_unit_circle(D):
    """Rounding errors of modes on the unit circle grow no faster than those of a plain loop."""
    T, angles = 1 << 14, np.linspace(0.1, 3.0, 12)
    spectrum = spectra.Spectrum([1.0, -1.0], np.exp(1j * angles) / np.abs(np.exp(1j * angles)))
    form, N = Diagonal(spectrum).form(), spectrum.units
    rng = np.random.default_rng(D)
    B, drive, weights = rng.normal(size=(D, N)), rng.normal(size=(T, D)), rng.normal(size=(2, N))
    long = kernels.DiagonalForm(*(part.astype(np.longdouble) for part in form))
    push = drive.astype(np.longdouble) @ B.astype(np.longdouble)
    exact = np.empty((T, N), np.longdouble)
    r = np.zeros(N, np.longdouble)
    for t in range(T):
        r = exact[t] = reference.advance(long, r) + push[t]

    def error(actual, truth):
        return float(np.abs(actual - truth).max() / np.abs(truth).max())

    states, _ = kernels.scan(form, B, drive, np.zeros(N))
    plain, _ = reference.scan(form, B, drive, np.zeros(N))
    read, _ = kernels.scan_readout(form, B, drive, weights, np.zeros(N))
    assert error(states, exact) < 1e-13
    # Both errors are random walks of T roundings. Biased errors would be √T times as large.
    assert error(states, exact) <= 4 * error(plain, exact)
    assert error(read, exact @ weights.T.astype(np.longdouble)) < 1e-13


# Threads


@pytest.fixture
def pieces(monkeypatch):
    """Record the number of pieces of each threaded call."""
    counts, run = [], threads.run

    def spy(task, pieces):
        counts.append(len(pieces))
        run(task, pieces)

    monkeypatch.setattr(threads, "run", spy)
    return counts


@each_dtype
@pytest.mark.parametrize(("D", "D_out"), [(1, 1), (1, 0), (1, 3), (2, 1)])
def test_readouts_on_any_number_of_threads(monkeypatch, pieces, dtype, D, D_out):
    N, T = 2 * scans.TILE_UNITS + 100, 500
    monkeypatch.setattr(scans, "MIN_THREADED_STATES", N * T)
    monkeypatch.setattr(scans, "MAX_PARTIAL_OUTPUTS", 3 * 300 * max(1, D_out))
    p = Problem("diagonal", dtype, N, D, T, D_out)
    actual = []
    for count in (1, 2, 3, 4):
        monkeypatch.setenv("EIGENECHO_NUM_THREADS", str(count))
        out, last = kernels.scan_readout(p.form, p.B, p.drive, p.weights, p.r0)
        actual.append(out.tobytes() + last.tobytes())
    assert pieces == [1, 1, 2, 2, 3, 3, 3, 3]
    assert len(set(actual)) == 1
    p.close(out, reference.scan_readout(p.form, p.B, p.drive, p.weights, p.r0)[0])


@given(reals=st.integers(0, 3000), pairs=st.integers(0, 3000))
def test_tiles_cover_every_mode_once(reals, pairs):
    assume(reals + pairs)
    form = kernels.DiagonalForm(np.empty(reals), np.empty(pairs), np.empty(pairs))
    N = reals + 2 * pairs
    edges = scans._cut_columns(form, -(-N // scans.TILE_UNITS))
    assert (edges[0], edges[-1]) == (0, N)
    assert all(0 <= b - a <= scans.TILE_UNITS + 1 for a, b in itertools.pairwise(edges))
    assert all(edge <= reals or (edge - reals) % 2 == 0 for edge in edges)
    tiles = [scans._select_modes(form, *span) for span in itertools.pairwise(edges)]
    for tile, (start, stop) in zip(tiles, itertools.pairwise(edges), strict=True):
        assert tile.real.size + 2 * tile.re.size == stop - start
    assert sum(t.real.size for t in tiles) == reals
    assert sum(t.re.size for t in tiles) == sum(t.im.size for t in tiles) == pairs


# NaN and Inf


@each_implementation
@each_form
@pytest.mark.parametrize("D", [1, 3, 9])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_nan_and_inf_propagate(implementation, form, D, bad):
    p = Problem(form, "float64", 7, D, 20)
    p.drive[5, -1] = bad
    out, state = implementation.scan(p.form, p.B, p.drive, p.r0)
    assert np.all(np.isfinite(out[:5]))
    assert not np.any(np.isfinite(out[5]))
    assert not np.all(np.isfinite(out[6:]), axis=1).any()
    assert not np.all(np.isfinite(state))
    read, _ = implementation.scan_readout(p.form, p.B, p.drive, p.weights, p.r0)
    assert np.all(np.isfinite(read[:5]))
    assert not np.any(np.isfinite(read[5:]))
    loop = p.form, p.B, p.drive, p.feedback, p.readout, p.r0, p.y0
    closed, _ = closed_loop(implementation, *loop)
    assert np.all(np.isfinite(closed[:5]))
    assert not np.any(np.isfinite(closed[5:]))


def test_compiler_does_not_assume_finite_numbers():
    """NaN and Inf must not depend on how the current LLVM version applies full fast-math."""
    assert isinstance(steps.FASTMATH, set)
    assert not steps.FASTMATH & {"fast", "nnan", "ninf"}


@each_implementation
def test_zero_times_nan_is_nan(implementation):
    form = Diagonal(spectra.Spectrum([0.0], [0.5j])).form()
    state = np.array([np.nan, 1.0, 1.0])
    row = implementation.step(form, np.zeros((1, 3)), np.ones(1), state)
    assert np.isnan(row[0])
    assert np.all(np.isfinite(row[1:]))
    row = implementation.step(form, np.zeros((1, 3)), np.full(1, np.nan), np.ones(3))
    assert np.all(np.isnan(row))


@each_implementation
@each_dtype
@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_overflow_is_reported_at_its_step(implementation, dtype):
    form = Diagonal(spectra.Spectrum([2.0])).form(dtype)
    steps = 1200 if dtype == "float64" else 200
    B, drive, state = np.zeros((1, 1), dtype), np.zeros((steps, 1), dtype), np.ones(1, dtype)
    out, _ = implementation.scan(form, B, drive, state)
    first = 1023 if dtype == "float64" else 127
    assert np.isfinite(out[first - 1, 0])
    assert np.all(np.isposinf(out[first:]))


@each_form
def test_advance_gives_the_same_result_outside_compiled_code(form):
    step, W = transition(form, "float64", 7)
    b, prev = np.random.default_rng(0).normal(size=(2, 7))
    row = np.empty(7)
    steps.advance(step, 0.5, b, prev, row)
    np.testing.assert_allclose(row, prev @ W + 0.5 * b, rtol=0, atol=1e-13)


# Single steps with a readout, and single rows of least squares


@each_implementation
@each_form
@each_dtype
@each_drive
def test_step_readout(implementation, form, dtype, D):
    for N in UNITS:
        p = Problem(form, dtype, N, D, 12)
        state, row, before, y = (np.array(a) for a in (p.r0, p.r0, p.y0, p.y0))
        states, outputs = [], []
        for a in p.drive:
            assert implementation.step_readout(p.form, p.B, a, p.readout, before, state, row, y)
            states.append(row.copy())
            outputs.append(y.copy())
            state, before = row.copy(), y.copy()
        p.close(np.array(states), p.states())
        offset, previous, weights, _ = p.readout
        y = p.y0
        for t, r in enumerate(p.states()):
            y = offset + y @ previous + weights @ r
            p.close(outputs[t], y)


@each_implementation
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", ["drive", "before", "state"])
@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_step_readout_reports_non_finite_values(implementation, value, place):
    p = Problem("diagonal", "float64", 5, 2, 1)
    given = {"drive": p.drive[0], "before": p.y0, "state": p.r0.copy()}
    given[place][-1] = value
    left = given["state"].copy()
    silent = kernels.Readout(*(np.zeros_like(part) for part in p.readout[:3]))
    result = implementation.step_readout(
        p.form, np.zeros_like(p.B), given["drive"], silent, given["before"], given["state"],
        np.empty(5), np.empty(3),
    )  # fmt: skip
    assert not result
    np.testing.assert_array_equal(given["state"], left)


@each_implementation
@each_form
@each_dtype
@each_drive
@pytest.mark.parametrize("closed", [False, True])
def test_run_readout_equals_step_readout_for_each_row(implementation, form, dtype, D, closed):
    for N in UNITS:
        p = Problem(form, dtype, N, D, 12)
        width = len(p.y0)
        mean, scale = np.linspace(-1.0, 1.0, width), np.linspace(0.5, 2.0, width)
        before = np.tile(p.y0, (12, 1))
        start = max(D - width, 0) if closed else D
        state, row, y = p.r0.copy(), p.r0.copy(), p.y0.copy()
        expected = []
        for a, b in zip(p.drive.copy(), before, strict=True):
            if closed and expected:
                messages = (expected[-1] * scale + mean).astype(dtype)
                b = ((messages - mean) / scale).astype(dtype)
                a[start:] = b[: D - start]
            assert implementation.step_readout(p.form, p.B, a, p.readout, b, state, row, y)
            expected.append(y.copy())
            state = row.copy()
        bound = np.full(width, np.inf)
        loop = kernels.Feedback(start, mean, scale, -bound, bound) if closed else None
        arguments = p.form, p.B, p.drive, p.readout, before, loop, p.r0
        outputs, last = implementation.run_readout(*arguments)
        assert len(outputs) == 12
        np.testing.assert_array_equal(outputs, expected)
        np.testing.assert_array_equal(last, state)


@each_implementation
@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_run_readout_stops_at_non_finite_values(implementation):
    p = Problem("diagonal", "float64", 5, 2, 9)
    drive, before = p.drive.copy(), np.tile(p.y0, (9, 1))
    drive[4, 0] = np.inf
    outputs, _ = implementation.run_readout(p.form, p.B, drive, p.readout, before, None, p.r0)
    assert len(outputs) == 4
    assert np.isfinite(outputs).all()


@each_implementation
@pytest.mark.parametrize("keep", [1.0, 0.95])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_absorbed_rows_give_the_least_squares_solution(implementation, keep, n):
    rng = np.random.default_rng(n)
    X, Y = rng.normal(size=(30, n)), rng.normal(size=(30, 2))
    X[3] = 0.0
    X[5, : n // 2] = 0.0
    R, Z, W = np.zeros((n, n)), np.zeros((n, 2)), np.empty((2, n))
    for t in range(30):
        implementation.absorb_row(R, Z, keep, X[t].copy(), Y[t].copy())
        assert np.all(np.tril(R, -1) == 0)
        weighted = keep ** np.arange(t, -1, -1)[:, None] * np.hstack([X[: t + 1], Y[: t + 1]])
        A, B = weighted[:, :n], weighted[:, n:]
        np.testing.assert_allclose(R.T @ R, A.T @ A, rtol=0, atol=1e-12)
        np.testing.assert_allclose(R.T @ Z, A.T @ B, rtol=0, atol=1e-12)
        if t > n:
            implementation.back_substitute(R, Z, W)
            np.testing.assert_allclose(W.T, np.linalg.lstsq(A, B)[0], rtol=0, atol=1e-10)


@each_implementation
def test_back_substitute_gives_zero_for_empty_rows(implementation):
    R, Z = np.diag([2.0, 0.0, 4.0]), np.array([[6.0], [0.0], [4.0]])
    R[0, 1] = 7.0
    W = np.full((1, 3), np.nan)
    implementation.back_substitute(R, Z, W)
    np.testing.assert_array_equal(W, [[3.0, 0.0, 1.0]])
