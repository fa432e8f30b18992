"""Variants of the best views of long series."""

from __future__ import annotations

import numpy as np
import pytest

from eigenecho.forecasting.rows import ViewRows
from eigenecho.forecasting.selection import ForecastConfig, variants
from eigenecho.forecasting.views import LONG, SLOW, Filter, View, candidate_spectra
from filtered_rows import batch_of

NAMED = candidate_spectra(LONG, (24,))


@pytest.mark.parametrize("name", NAMED)
def test_each_variant_differs_in_one_property(name):
    view = View(name, Filter(168.0, NAMED[name]))
    config = ForecastConfig(24, (24.0,))
    rings, weighted = variants(view, LONG, config, 3)
    assert rings.filter.spectrum.units == view.filter.spectrum.units - SLOW
    assert rings.filter.memory == 168.0
    assert weighted.by_deviation
    assert weighted.filter == view.filter
    assert variants(view, LONG, config, 1) == [rings]
    given = ForecastConfig(24, (24.0,), spectrum=NAMED[name])
    assert variants(view, LONG, given, 3) == [weighted]


def test_sums_are_scaled_by_the_deviation():
    y = np.random.default_rng(0).normal(size=50).cumsum()
    view = View("", Filter(0.0, NAMED["long"]), by_deviation=True)
    assert ViewRows.of(view, batch_of(y)).unit(40)[0] == pytest.approx(np.std(y[:40]))
    flat = batch_of(np.r_[np.zeros(45), 1.0, 2.0])
    assert np.array_equal(ViewRows.of(view, flat).unit(40), flat.unit)
