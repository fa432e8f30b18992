"""Make the forecasts of a set that are not stored yet, and score them.

Forecasts are stored in one file per set and method, with one JSON object per line. They are
identified by a version of the method and a digest of the training rows, of all series of a panel.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from forecasts.panel_methods import QuantileForecast, forecast
from forecasts.panel_scores import Score, mase, quantile_loss, smape
from forecasts.panel_sets import Item, PanelSet
from forecasts.store import digest, slug


class ForecastFile:
    """Stored forecasts of one set and method; finished ones survive an interruption."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self._entries: dict[str, dict[str, Any]] = {}
        for line in lines:
            if line.endswith("}"):  # an interrupted write leaves an incomplete line
                entry = json.loads(line)
                self._entries[entry["key"]] = entry

    def get(self, key: str) -> QuantileForecast | None:
        """Return a stored forecast, or None."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        mean, quantiles = np.array(entry["mean"]), np.array(entry["quantiles"])
        return QuantileForecast(mean, quantiles, entry["seconds"], entry["failed"])

    def put(self, keys: Sequence[str], forecasts: Sequence[QuantileForecast]) -> None:
        """Append forecasts to the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            for key, made in zip(keys, forecasts, strict=True):
                entry = {
                    "key": key,
                    "mean": made.mean.tolist(),
                    "quantiles": made.quantiles.tolist(),
                    "seconds": made.seconds,
                    "failed": made.failed,
                }
                self._entries[key] = entry
                file.write(f"\n{json.dumps(entry)}")


def score_set(
    series_set: PanelSet,
    method: str,
    version: str,
    folder: Path,
    *,
    make: bool = True,
    announce: Callable[[int], None] = lambda done: None,
) -> list[Score | None]:
    """Return the scores of all items; None is a missing forecast if ``make`` is False."""
    file = ForecastFile(folder / slug(series_set.name) / f"{slug(method)}.jsonl")
    is_panel = method.startswith("panel")
    groups = series_set.panels if is_panel else [[item] for item in series_set.items]
    scores: dict[int, Score] = {}
    for done, group in enumerate(groups):
        announce(done)
        values = [item.train for item in group]
        stem = f"{version} {digest(np.concatenate(values))} {series_set.horizon}"
        keys = [f"{stem} {item.name}" if is_panel else stem for item in group]
        if make and file.get(keys[0]) is None:
            made = forecast(method, values, series_set.horizon, series_set.period.season)
            file.put(keys, made)
        for key, item in zip(keys, group, strict=True):
            stored = file.get(key)
            if stored is not None:
                scores[id(item)] = score(item, stored, series_set.period.scale)
    return [scores.get(id(item)) for item in series_set.items]


def score(item: Item, made: QuantileForecast, season: int) -> Score:
    """Score the forecast of one item."""
    mean, quantiles = made.mean[: len(item.test)], made.quantiles[: len(item.test)]
    return Score(
        mase=mase(item.train, item.test, mean, season),
        smape=smape(item.test, mean),
        quantile_loss=quantile_loss(item.test, quantiles),
        size=float(np.nansum(np.abs(item.test))),
        seconds=made.seconds,
        failed=made.failed is not None,
    )
