"""Copies cached on a device are released with their arrays, and do not accumulate."""

import gc

import numpy as np
import pytest
from test_kernels_of_tensors import FORMS, poisoned, problem, tensor

from eigenecho import arrays, kernels
from eigenecho.kernels import convolution

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.tensors


@pytest.fixture
def count():
    """Return a function that counts the objects cached since the start of the test."""
    gc.collect()
    before = set(arrays._computed)

    def counted():
        gc.collect()
        return len(set(arrays._computed) - before)

    return counted


def run(form, B, drive, weights, device):
    a = tensor(drive, device)
    for E in (2, 0):
        kernels.scan_readout(form, B, a, weights[:E], a.new_zeros(B.shape[1]))
    kernels.scan(form, B, a, a.new_zeros(B.shape[1]))


@pytest.mark.parametrize("kind", FORMS)
def test_cache_does_not_grow_in_a_second_run_and_is_released_with_the_arrays(kind, count, device):
    form, B, drive, _, weights = problem(kind, 9, 70, 2)
    run(form, B, drive, weights, device)
    first = count()
    assert first > 0
    run(form, B, 2 * drive, weights, device)
    assert count() == first
    del form, B, weights
    assert count() == 0


def test_copies_ignore_later_changes_of_an_array_and_are_released_with_it(count, device):
    array = np.arange(3.0)
    copy = arrays.to_like(array, torch.ones(1, dtype=torch.float64, device=device))
    array[:] = 7.0
    assert copy.tolist() == [0.0, 1.0, 2.0]
    del array
    assert count() == 0


def test_last_states_of_all_lengths_share_few_tables(count, device):
    form, B, drive, _, _ = problem("diagonal", 8, 300, 1)
    a, none = tensor(drive, device), np.empty((0, 8))
    for T in range(1, 300):
        kernels.scan_readout(form, B, a[:T], none, a.new_zeros(8))
    assert count() < 20


def test_convolutions_of_all_lengths_share_few_spectra(count, device):
    form, B, drive, _, weights = problem("diagonal", 8, 4000, 1)
    kernels_of_tensors, a = kernels.backend(tensor(drive, device)), tensor(drive, device)
    K = int(convolution.settling_steps(form))
    for T in range(4 * K, 4000, 97):
        given = form, B, a[:T], weights, a.new_zeros(8), poisoned((T, 2), a)
        convolution.convolve_readout(kernels_of_tensors, *given)
    spectra = [
        key for *_, key in arrays._computed if isinstance(key, tuple) and key[0] == "spectra"
    ]
    assert len(spectra) <= 3
