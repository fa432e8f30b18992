"""Stored results of all runs, and statistics of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

TIE = 5e-4
"""Differences of mean accuracies up to this are ties; one test series of a set counts more."""


class Results:
    """Results by method, set and seed in one JSON file, which is written after every run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._runs: dict[str, dict] = json.loads(path.read_text()) if path.exists() else {}

    def get(self, method: str, name: str, seed: int, key: str) -> dict[str, Any] | None:
        """Return the result of a run with the same data and code, or None."""
        entry = self._runs.get(f"{method}/{name}/{seed}")
        return entry["result"] if entry is not None and entry["key"] == key else None

    def put(self, method: str, name: str, seed: int, key: str, result: dict[str, Any]) -> None:
        """Store the result of a run; the file is replaced atomically."""
        self._runs[f"{method}/{name}/{seed}"] = {"key": key, "result": result}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self._runs, indent=1))
        part.replace(self.path)


@dataclass(frozen=True)
class SetScore:
    """Mean results of a method over the seeds, for one set."""

    accuracy: float
    fit: float
    predict: float

    @classmethod
    def of(cls, runs: Sequence[dict[str, Any]]) -> SetScore:
        """Return the mean of the accuracies, and the smallest times."""
        accuracy = float(np.mean([run["accuracy"] for run in runs]))
        return cls(accuracy, *(min(run[part] for run in runs) for part in ("fit", "predict")))


@dataclass(frozen=True)
class Comparison:
    """Wins, ties and losses of one method against another, and Wilcoxon's signed-rank test."""

    wins: int
    ties: int
    losses: int
    p_value: float

    @classmethod
    def of(cls, ours: Sequence[float], theirs: Sequence[float]) -> Comparison:
        """Compare mean accuracies of the same sets."""
        from scipy.stats import wilcoxon

        differences = np.subtract(ours, theirs)
        wins, losses = int(np.sum(differences > TIE)), int(np.sum(differences < -TIE))
        # Equal accuracies may differ by rounding.
        p = float(wilcoxon(np.round(differences, 6)).pvalue) if wins + losses else 1.0
        return cls(wins, len(differences) - wins - losses, losses, p)
