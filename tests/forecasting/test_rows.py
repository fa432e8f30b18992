"""Sums of rows and forecasts from rows, against loops."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenecho.forecasting import rows as rows_module
from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.rows import Sums, ViewRows
from eigenecho.forecasting.views import Filter, View
from eigenecho.spectra import Spectrum
from filtered_rows import all_rows, batch_of

FILTER = Filter(Spectrum([0.8], [0.3 + 0.6j]))
BASES = [Baseline("level"), Baseline("season", 4)]
H, T, UNIT = 3, 40, 1.7


def signal(gaps=True, beside=0):
    rng = np.random.default_rng(0)
    values = 20 + rng.normal(size=T).cumsum()
    if gaps:
        values[[9, 10, 22, 31]] = np.nan
    return batch_of(values, past=rng.normal(size=(1, T, beside)), unit=np.ones(1))


def rows_of(gaps=True, beside=0):
    side = Filter(Spectrum([0.5, 0.2])) if beside else None
    return ViewRows.of(View("", FILTER, side=side), signal(gaps, beside))


def summed(rows, bases, first, start, stop):
    """Return sums over rows whose targets lie before ``stop``, but not before ``start``."""
    x, level, truth = all_rows(rows.rows) / UNIT, rows.values, rows.truth[0]
    size, own = x.shape[1], FILTER.size
    ahead, products = np.zeros((size, size)), np.zeros((size, H * len(bases)))
    next_one, product = np.zeros((own, own)), np.zeros((own, 1))
    seen, counts, squares = np.zeros(H * len(bases)), [0, 0, 0], 0.0
    for t in range(first, stop):
        if start < t + H + 1 <= stop:
            counts[0] += 1
            ahead += np.outer(x[t], x[t])
            for b, base in enumerate(bases):
                made = base.forecast(rows.values, np.array([t]), H)[0, 0]
                for h in range(H):
                    target = (truth[t + 1 + h] - made[h]) / UNIT
                    if not np.isnan(target):
                        products[:, b * H + h] += x[t] * target
                        seen[b * H + h] += 1
        if start < t + 2 <= stop:
            counts[1] += 1
            next_one += np.outer(x[t, :own], x[t, :own])
            target = (truth[t + 1] - level[0, t]) / UNIT
            if not np.isnan(target):
                product[:, 0] += x[t, :own] * target
                counts[2] += 1
                squares += target**2
    return ahead, products, counts[0], seen, next_one, product, counts[1], counts[2], squares


def parts(sums):
    values = (
        sums.XtX, sums.XtY, sums.rows, sums.seen, sums.next_XtX, sums.next_Xty[..., None],
        sums.next_rows, sums.next_seen, sums.next_squares,
    )  # fmt: skip
    return [value[0] for value in values]


@pytest.mark.parametrize("bases", [BASES, BASES[:1]])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("beside", [0, 2])
@pytest.mark.parametrize(("start", "stop"), [(0, T), (0, 20), (20, T), (20, 22), (30, 30)])
def test_sums_equal_those_of_a_loop(bases, gaps, beside, start, stop):
    rows = rows_of(gaps, beside)
    first = 0 if start else max(base.needs for base in bases)
    found = rows.sums(bases, H, start, stop, np.full(1, UNIT))
    wanted = summed(rows, bases, first, start, stop)
    for one, other in zip(parts(found), wanted, strict=True):
        assert_allclose(one, other, rtol=1e-11, atol=1e-11)


def test_later_gap_does_not_change_sums():
    values = 20 + np.random.default_rng(0).normal(size=T).cumsum()
    later = np.where(np.arange(T) < 34, values, np.nan)
    both = [ViewRows.of(View("", FILTER), batch_of(one)) for one in (values, later)]
    found = [parts(rows.sums(BASES[:1], H, 0, 30, np.full(1, UNIT))) for rows in both]
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))


def test_results_do_not_depend_on_chunks(monkeypatch):
    rows = rows_of()
    whole = rows.sums(BASES, H, 0, T, np.full(1, UNIT))
    monkeypatch.setattr(rows_module, "CHUNK", 25)
    for one, other in zip(
        parts(rows.sums(BASES, H, 0, T, np.full(1, UNIT))), parts(whole), strict=True
    ):
        assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_merged_increments_equal_the_whole():
    rows = rows_of()
    stops = [18, 19, 25, 39, T]
    some = [
        rows.sums(BASES, H, start, stop, np.full(1, UNIT))
        for start, stop in zip([0, *stops], stops, strict=False)
    ]
    merged, whole = reduce(Sums.__add__, some), rows.sums(BASES, H, 0, T, np.full(1, UNIT))
    for one, other in zip(parts(merged), parts(whole), strict=True):
        assert_allclose(one, other, rtol=1e-11, atol=1e-11)


def test_too_few_rows_for_a_horizon():
    found = rows_of().sums(BASES, H, 0, 3, np.full(1, UNIT))
    assert found.rows[0] == 0
    assert found.next_rows[0] == 2


def test_forecast_is_the_base_plus_weighted_rows():
    rows = rows_of()
    weights = np.random.default_rng(1).normal(size=(FILTER.size, H))
    origins = np.array([5, 38, 39])
    made = rows.forecast(BASES[1], weights, origins)
    for i, t in enumerate(origins):
        for h in range(H):
            base = BASES[1].forecast(rows.values, np.array([t]), H)[0, 0, h]
            wanted = base + all_rows(rows.rows)[t] @ weights[:, h]
            assert made[0, i, h] == pytest.approx(wanted, rel=1e-12)


def test_unit_is_the_typical_step_of_known_rows():
    rows = rows_of(gaps=False)
    steps = np.diff(rows.values[0, :15])
    assert rows.unit(15)[0] == pytest.approx(np.sqrt(np.mean(steps**2)))
    assert rows.unit(1)[0] == 1.0
