"""Test the Triton kernels for all dtypes and edge shapes, interpreted if there is no GPU."""

import os

import numpy as np
import pytest
from test_kernels_of_tensors import assert_close, poisoned, problem, specified, tensor

from eigenecho import kernels
from eigenecho.kernels import DiagonalForm

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

pytestmark = [
    pytest.mark.tensors,
    pytest.mark.skipif(
        os.environ.get("TRITON_INTERPRET") != "1" and not torch.cuda.is_available(),
        reason="neither a GPU nor TRITON_INTERPRET=1",
    ),
]


@pytest.fixture
def small(monkeypatch):
    """Use chunks and blocks so small that short series have several of them."""
    from eigenecho.kernels.tensors import fused

    for name, value in {
        "MAX_CHUNK_STEPS": 16,
        "MIN_CHUNK_STEPS": 8,
        "WRITE_COLUMNS": 16,
        "CARRY_MODES": 4,
    }.items():
        monkeypatch.setattr(fused, name, value)
    return fused


SHAPES = [(1, 1, 1), (2, 16, 1), (5, 17, 2), (20, 41, 1), (19, 33, 3), (5, 20, 0)]
"""Units, steps, columns: a minimum, a whole chunk, one more, several blocks, wide, no drive."""


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_states_equal_the_specification(shape, dtype, small, device):
    form, B, drive, state, _ = problem("diagonal", *shape, dtype)
    states, last = specified(form, B, drive, state)
    a, r = tensor(drive, device), tensor(state, device)
    out, end = kernels.scan(form, B, a, r)
    assert_close(out, states, dtype)
    assert_close(end, last, dtype)


@pytest.mark.parametrize("D", [1, 3])
def test_stack_is_written_in_one_call(D, small, device):
    form, B, drive, state, _ = problem("diagonal", 7, 20, D)
    states, _ = specified(form, B, drive, state)
    a = tensor(np.stack([drive, 3 * drive]), device)
    out, _ = kernels.scan(form, B, a, tensor(np.stack([state, 3 * state]), device))
    assert_close(out, np.stack([states, 3 * states]), np.float64)


def test_only_real_modes(small, device):
    form = DiagonalForm(np.array([0.5, -0.9, 0.99]), np.empty(0), np.empty(0))
    B, drive, state = np.ones((1, 3)), np.arange(20.0)[:, None], np.array([1.0, 2.0, 3.0])
    states, _ = specified(form, B, drive, state)
    out, _ = kernels.scan(form, B, tensor(drive, device), tensor(state, device))
    assert_close(out, states, np.float64)


def test_only_the_given_rows_of_a_larger_array_are_written(small, device):
    form, B, drive, state, _ = problem("diagonal", 6, 40, 1)
    states, _ = specified(form, B, drive, state)
    a, r = tensor(drive, device), tensor(state, device)
    out = poisoned((3, 45, 6), a)
    kernels.scan(form, B, a[None], r[None], out[1:2, 2:42])
    assert_close(out[1, 2:42], states, np.float64)
    assert torch.isnan(out).sum() == out.numel() - 240
