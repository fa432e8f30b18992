"""Compare the kernels for tensors with the specification, for each form, shape and dtype."""

import numpy as np
import pytest

from eigenecho import kernels
from eigenecho.kernels import (
    DenseForm,
    DiagonalForm,
    SparseForm,
    convolution,
    reference,
)

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.tensors

FORMS = ["diagonal", "dense", "sparse"]
SHAPES = [(1, 1, 1), (2, 5, 1), (7, 64, 3), (20, 333, 2), (21, 40, 9)]
"""Numbers of units, steps and drive columns."""


def form_of(kind, N, rng):
    """Return a stable form of N units."""
    n = 1 + (N - 1) % 2
    modes = 0.95 * np.sqrt(rng.uniform(size=(N - n) // 2))
    modes = modes * np.exp(1j * rng.uniform(0, np.pi, modes.size))
    parts = rng.uniform(-0.9, 0.9, n), modes.real.copy(), modes.imag.copy()
    W = 0.9 * rng.normal(size=(N, N)) / np.sqrt(N)
    if kind == "diagonal":
        return DiagonalForm(*parts), N
    if kind == "dense":
        return DenseForm(W), N
    W[rng.uniform(size=W.shape) < 0.6] = 0.0
    rows, columns = np.nonzero(W.T)
    indptr = np.searchsorted(rows, np.arange(N + 1)).astype(np.uint64)
    return SparseForm(indptr, columns.astype(np.uint32), W.T[rows, columns]), N


def problem(kind, N, T, D, dtype=np.float64):
    rng = np.random.default_rng([N, T, D])
    form, units = form_of(kind, N, rng)
    form = type(form)(*(p.astype(dtype) if p.dtype.kind == "f" else p for p in form))
    drawn = (
        rng.normal(size=shape).astype(dtype) for shape in ((D, units), (T, D), units, (2, units))
    )
    return form, *drawn


def specified(form, B, drive, state):
    """Return the states by the specification, in double precision, and the last one."""
    double = [p.astype(np.float64) if p.dtype.kind == "f" else p for p in form]
    arrays = (part.astype(np.float64) for part in (B, drive, state))
    return reference.scan(type(form)(*double), *arrays)


def tensor(array, device):
    return torch.tensor(array, device=device)


def poisoned(shape, like):
    return torch.full(shape, torch.nan, dtype=like.dtype, device=like.device)


def assert_close(actual, expected, dtype):
    digits = 1e-12 if dtype == np.float64 else 3e-5
    np.testing.assert_allclose(
        actual.cpu().numpy(), expected, rtol=0, atol=digits * np.abs(expected).max(initial=1.0)
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", FORMS)
def test_scans_equal_the_specification(kind, shape, dtype, device):
    form, B, drive, state, weights = problem(kind, *shape, dtype)
    states, last = specified(form, B, drive, state)
    a, r = tensor(drive, device), tensor(state, device)
    out = poisoned(states.shape, a)
    for actual, end in (kernels.scan(form, B, a, r), kernels.scan(form, B, a, r, out)):
        assert_close(actual, states, dtype)
        assert_close(end, last, dtype)
    assert_close(out, states, dtype)
    outputs, end = kernels.scan_readout(form, B, a, weights, r)
    assert_close(outputs, states @ weights.T, dtype)
    assert_close(end, last, dtype)
    assert torch.equal(r, tensor(state, device))


@pytest.mark.parametrize("kind", FORMS)
def test_stack_equals_its_separate_series(kind, device):
    form, B, drive, state, weights = problem(kind, 9, 70, 2)
    states, last = specified(form, B, drive, state)
    a, r = (
        tensor(np.stack([drive, -2 * drive]), device),
        tensor(np.stack([state, -2 * state]), device),
    )
    assert_close(kernels.scan(form, B, a, r)[0], np.stack([states, -2 * states]), np.float64)
    out, end = kernels.scan_readout(form, B, a, weights, r)
    assert_close(out, np.stack([states, -2 * states]) @ weights.T, np.float64)
    assert_close(end, np.stack([last, -2 * last]), np.float64)


@pytest.mark.parametrize("kind", FORMS)
def test_scan_in_pieces_carries_the_state(kind, device):
    form, B, drive, state, _ = problem(kind, 8, 50, 1)
    states, last = specified(form, B, drive, state)
    a, r = tensor(drive, device), tensor(state, device)
    out = poisoned(states.shape, a)
    for rows in (slice(0, 17), slice(17, 17), slice(17, 50)):
        out[rows], r = kernels.scan(form, B, a[rows], r)
    assert_close(out, states, np.float64)
    assert_close(r, last, np.float64)


def test_empty_output_keeps_the_last_state(device):
    form, B, drive, state, weights = problem("diagonal", 9, 300, 2)
    _, last = specified(form, B, drive, state)
    a, r = tensor(drive, device), tensor(state, device)
    assert_close(kernels.scan_readout(form, B, a, weights[:0], r)[1], last, np.float64)


@pytest.mark.parametrize("kind", FORMS)
def test_states_evolve_without_a_drive(kind, device):
    form, B, drive, state, weights = problem(kind, 9, 40, 1)
    states, last = specified(form, 0 * B, drive, state)
    a, r = tensor(drive[:, :0], device), tensor(state, device)
    assert_close(kernels.scan(form, B[:0], a, r)[0], states, np.float64)
    out, end = kernels.scan_readout(form, B[:0], a, weights, r)
    assert_close(out, states @ weights.T, np.float64)
    assert_close(end, last, np.float64)


def test_undriven_mode_stays_at_zero(device):
    # Powers of 4 overflow, and zero times infinity would be NaN.
    form = DiagonalForm(np.array([4.0, 0.5]), np.empty(0), np.empty(0))
    drive = np.ones((3000, 1))
    B = np.array([[0.0, 1.0]])
    out, _ = kernels.scan(form, B, tensor(drive, device), tensor(np.zeros(2), device))
    assert out[:, 0].abs().max() == 0
    assert_close(out[-1, 1], 2.0, np.float64)


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_convolutions_equal_scans(start, device):
    form, B, drive, state, weights = problem("diagonal", 20, 20000, 3)
    state *= start
    a, r = tensor(drive, device), tensor(state, device)
    by_transform, backend = poisoned((20000, 2), a), kernels.backend(a)
    by_scan, last = backend.scan_readout(form, B, a, weights, r)
    end = convolution.convolve_readout(backend, form, B, a, weights, r, by_transform)
    assert_close(by_transform, by_scan.cpu().numpy(), np.float64)
    assert_close(end, last.cpu().numpy(), np.float64)


def test_copies_on_the_device_live_as_long_as_the_network(device):
    from eigenecho.arrays import compute_once, to_like

    array, like = np.ones(3), torch.zeros(1, dtype=torch.float64, device=device)
    assert to_like(array, like) is to_like(array, like)
    made = []
    del array
    other = np.ones(3)
    compute_once([other], "once", lambda: made.append(1))
    compute_once([other], "once", lambda: made.append(1))
    assert made == [1]
    assert to_like(2 * other, like).cpu().tolist() == [2, 2, 2]
    assert to_like(3 * other, like).cpu().tolist() == [3, 3, 3]
