"""Stored forecasts: one JSON file per series and method, so that runs can be resumed.

A forecast is identified by a digest of its training rows, and forecasts of eigenecho also by the
source code that made them.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from forecasts.methods import Prediction


@dataclass(frozen=True)
class StoredForecast:
    """A forecast from one origin, its time in seconds, and the error if it is a fallback."""

    prediction: Prediction
    seconds: float
    failed: str | None = None


class Store:
    """A folder of forecasts, ``<variant>/<series>.json``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(
        self, variant: str, series: str, origin: int, training: np.ndarray
    ) -> StoredForecast | None:
        """Return the forecast made from these rows, or None."""
        entry = self._read(variant, series).get(str(origin))
        if entry is None or entry["rows"] != digest(training):
            return None
        arrays = {
            name: None if entry[name] is None else np.array(entry[name], dtype=float)
            for name in ("mean", "lower", "upper")
        }
        prediction = Prediction(**arrays, claimed=entry["claimed"])
        return StoredForecast(prediction, entry["seconds"], entry["failed"])

    def put(
        self, variant: str, series: str, origin: int, training: np.ndarray, forecast: StoredForecast
    ) -> None:
        """Store a forecast; the file is replaced atomically."""
        path = self.path(variant, series)
        path.parent.mkdir(parents=True, exist_ok=True)
        entries = self._read(variant, series)
        prediction = forecast.prediction
        entries[str(origin)] = {
            "rows": digest(training),
            "mean": prediction.mean.tolist(),
            "lower": None if prediction.lower is None else prediction.lower.tolist(),
            "upper": None if prediction.upper is None else prediction.upper.tolist(),
            "claimed": prediction.claimed,
            "seconds": forecast.seconds,
            "failed": forecast.failed,
        }
        half = path.with_suffix(".half")
        half.write_text(json.dumps(entries))
        half.replace(path)

    def path(self, variant: str, series: str) -> Path:
        """Return the file of a series and a method."""
        return self.folder / slug(variant) / f"{slug(series)}.json"

    def _read(self, variant: str, series: str) -> dict[str, Any]:
        path = self.path(variant, series)
        return json.loads(path.read_text()) if path.exists() else {}


def slug(name: str) -> str:
    """Return a unique file name for a name."""
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def digest(values: np.ndarray) -> str:
    """Return a digest of the values."""
    return hashlib.sha256(np.ascontiguousarray(values, dtype=float).tobytes()).hexdigest()[:16]
