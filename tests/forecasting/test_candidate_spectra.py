"""Candidate spectra have distinct modes for every length of series and season."""

import warnings

import numpy as np
import pytest

from eigenecho.forecasting.views import candidate_spectra


def colliding_rows(season):
    """Return lengths at which a slow mode has the time constant of a ring."""
    for lasts in (2 * season, 3 * season):
        yield from (4 * lasts, 2 * lasts**2)


@pytest.mark.parametrize("season", [2, 3, 4, 5, 7, 12, 24])
def test_modes_are_distinct(season):
    for rows in {*colliding_rows(season), 4 * season, 8 * season + 1, 40}:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = candidate_spectra(rows, (season,))
        for spectrum in found.values():
            modes = np.concatenate([spectrum.real, spectrum.pairs])
            apart = np.abs(modes[:, None] - modes) + np.eye(len(modes))
            assert apart.min() > 1e-6


def test_slow_modes_decay_over_a_quarter_of_the_rows():
    slow = candidate_spectra(200, (12,))["season 12"]
    np.testing.assert_allclose(-1 / np.log(slow.radius), 50, rtol=1e-12)
