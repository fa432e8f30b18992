"""Measures of accuracy as M3, M4 and GIFT-Eval define them.

For test rows y, forecasts f and forecasts f_q of quantiles q = 0.1, …, 0.9,

- MASE = mean |y − f| / mean |x(t) − x(t − m)|, where x are the training rows and m is the season;
- sMAPE = mean 200 |y − f| / (|y| + |f|);
- WQL = Σ 2 (y − f_q) (q − [y ≤ f_q]) / Σ |y|, averaged over q. The sums are over all series.

MASE and sMAPE of a set are means over its series. Series whose training rows never change have no
MASE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LEVELS = tuple(round(0.1 * i, 1) for i in range(1, 10))


@dataclass(frozen=True)
class Score:
    """Scores of one forecast; WQL is the ratio of two sums, which are added up over series."""

    mase: float
    smape: float
    quantile_loss: float
    size: float
    seconds: float
    failed: bool


@dataclass(frozen=True)
class SetScore:
    """Scores of a method on a set."""

    mase: float
    smape: float
    wql: float
    seconds: float
    failed: int

    @classmethod
    def of(cls, scores: Sequence[Score]) -> SetScore:
        """Combine the scores of all series."""
        size = sum(score.size for score in scores)
        return cls(
            mase=float(np.nanmean([score.mase for score in scores])),
            smape=float(np.mean([score.smape for score in scores])),
            wql=sum(score.quantile_loss for score in scores) / size if size else float("nan"),
            seconds=float(np.mean([score.seconds for score in scores])),
            failed=sum(score.failed for score in scores),
        )


def mase(train: np.ndarray, truth: np.ndarray, forecast: np.ndarray, season: int) -> float:
    """Return the MASE, or NaN if the training rows never change.

    If there are no more rows than the season has, the scale is the mean step from row to row.
    """
    lag = season if len(train) > season else 1
    steps = np.abs(train[lag:] - train[:-lag])
    scale = np.nanmean(steps) if np.isfinite(steps).any() else 0.0
    error = np.nanmean(np.abs(truth - forecast))
    return float(error / scale) if scale > 0 else float("nan")


def smape(truth: np.ndarray, forecast: np.ndarray) -> float:
    """Return the sMAPE between 0 and 200; steps where both values are 0 have no error."""
    size = np.abs(truth) + np.abs(forecast)
    errors = 200 * np.abs(truth - forecast) / np.where(size > 0, size, 1)
    return float(np.nanmean(errors))


def quantile_loss(truth: np.ndarray, quantiles: np.ndarray) -> float:
    """Return the sum over steps of the mean loss over ``LEVELS``; quantiles are (H, 9)."""
    below = truth[:, None] <= quantiles
    losses = 2 * (truth[:, None] - quantiles) * (np.array(LEVELS) - below)
    return float(np.nansum(losses) / len(LEVELS))
