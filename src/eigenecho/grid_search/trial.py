"""Trials: candidates that are scored together on one fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eigenecho.readout import Lags
from eigenecho.reservoir import Cache
from eigenecho.rows import Fold
from eigenecho.training import Problem, Settings
from eigenecho.training.sums import sums_over
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Trial:
    """A problem, a fold, and the candidates to score on this fold.

    ``ridges`` and ``scales`` (C,) contain one value for each candidate; ridges vary fastest, and
    ``shape`` is (scalings, ridges). With ``auto``, each group of outputs that are missing in the
    same rows has its own ridge, which these settings select. Trials with the same data share a
    ``cache``. The ``key`` contains all settings that affect the rows, except for those of the
    reservoir.
    """

    problem: Problem
    fold: Fold
    shape: tuple[int, int]
    ridges: Array
    scales: Array
    cache: Cache
    key: tuple[Any, ...]
    auto: Settings | None = None

    @property
    def counts(self) -> list[float]:
        """Mean number of observed rows over the outputs, for each held-out block."""
        return [float(self.problem.counts(block).mean()) for block in self.fold.held_out]

    def lags(self, K: int) -> Lags:
        """Return the correlations of the training rows for at least K lags."""
        rows = tuple(map(tuple, self.fold.train))
        cached = self.cache.once(("lags", self.key, rows), dict)
        if "lags" not in cached or len(cached["lags"].rho) < K:
            # With a power of two, slightly slower reservoirs can use the same correlations.
            count = 1 << (K - 1).bit_length()
            cached["lags"] = sums_over(self.problem.in_double, self.fold.train, count)
        return cached["lags"]
