"""Test series as arrays and as Dask arrays."""

import dask.array as da
import numpy as np

import eigenecho as ee


def recall(T, D=1, seed=0):
    """Return inputs (T, D) and two noisy targets that remember them."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(T, D))
    y = np.roll(u[:, :1], 3, axis=0) - 0.5 * np.roll(u[:, -1:], 7, axis=0)
    return u, np.concatenate([y, y**2], axis=1) + 0.01 * rng.normal(size=(T, 2))


def cut(array, rows):
    """Return a Dask array in chunks of the given number of rows."""
    return da.from_array(array, chunks=(rows, *array.shape[1:]))


def esn(**params):
    return ee.LinearESN(**{"units": 40, "ridge": 1e-2, "seed": 0, **params})


def same(actual, reference, X, close=1e-10):
    """Assert that predictions, states and noise equal those of one machine."""
    for x in X if isinstance(X, list) else [X]:
        expected = reference.predict(x)
        size = np.abs(expected).max()
        np.testing.assert_allclose(actual.predict(x), expected, rtol=0, atol=close * size)
    assert actual.solver_ == reference.solver_
    np.testing.assert_allclose(actual.ridge_, reference.ridge_, rtol=1e-5)
    np.testing.assert_allclose(actual.final_state_.r, reference.final_state_.r, atol=1e-10)
    np.testing.assert_array_equal(actual.final_state_.y, reference.final_state_.y)
    np.testing.assert_allclose(actual.noise_, reference.noise_, rtol=1e-5)
