"""Labelled sets of series with their official splits, read from files.

Sets come from a file, or from all files of a folder:

- ``*.npz``: arrays ``NAME/Xtr``, ``NAME/ytr``, ``NAME/Xte`` and ``NAME/yte`` for any number of
  sets. Series are (series, T), or (series, D, T) as in aeon. ``NAME/minirocket`` is the published
  accuracy of MiniRocket on this split, if it is known.
- ``NAME/NAME_TRAIN.ts`` and ``NAME/NAME_TEST.ts``: the format of the UCR and UEA archives, read by
  aeon. The datasets in aeon's own package have this form.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PARTS = ("Xtr", "ytr", "Xte", "yte")

DESIGN = {
    "BME", "BeetleFly", "DistalPhalanxOutlineAgeGroup", "ECGFiveDays", "GunPoint",
    "GunPointMaleVersusFemale", "MiddlePhalanxOutlineAgeGroup", "Plane", "PowerCons",
    "ProximalPhalanxOutlineAgeGroup", "ProximalPhalanxOutlineCorrect", "ShapeletSim",
    "SonyAIBORobotSurface1", "ToeSegmentation1", "Trace", "UMD",
}  # fmt: skip
"""Sets whose accuracies were used to choose the grid, the thresholds and the ridges.

They are a random half of 32 sets, drawn before the first experiment. All other sets were evaluated
once, after these choices.
"""


@dataclass(frozen=True, eq=False)
class LabelledSet:
    """Training and test series (series, D, T), or lists of (D, T_i), with their labels."""

    name: str
    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    published: float | None = None

    @property
    def shape(self) -> str:
        """Sizes in words: training and test series, channels and lengths."""
        lengths = {x.shape[1] for x in self.X}
        length = f"{min(lengths)}–{max(lengths)}" if len(lengths) > 1 else str(max(lengths))
        return f"{len(self.X)} / {len(self.X_test)} | {self.X[0].shape[0]} | {length}"

    @property
    def digest(self) -> str:
        """A digest of all values and labels."""
        digest = hashlib.sha256()
        for x in (*self.X, *self.X_test):
            digest.update(np.ascontiguousarray(x, dtype=np.float64))
        digest.update("\n".join(map(str, (*self.y, *self.y_test))).encode())
        return digest.hexdigest()[:16]


def read_sets(path: Path, only: Container[str] | None = None) -> Iterator[LabelledSet]:
    """Yield all complete sets of a file or a folder, or ``only`` those with some names."""
    files = [path] if path.is_file() else sorted(path.glob("*.npz"))
    for file in files:
        yield from _read_npz(file, only)
    for train in sorted(path.glob("*/*_TRAIN.ts")):
        name = train.name.removesuffix("_TRAIN.ts")
        test = train.with_name(f"{name}_TEST.ts")
        wanted = test.exists() and (only is None or name in only)
        if wanted and (labelled := _read_ts(name, train, test)) is not None:
            yield labelled


def _read_npz(path: Path, only: Container[str] | None) -> Iterator[LabelledSet]:
    with np.load(path) as file:
        for name in sorted({key.rpartition("/")[0] for key in file.files if "/" in key}):
            is_complete = all(f"{name}/{part}" in file.files for part in PARTS)
            if not is_complete or (only is not None and name not in only):
                continue
            X, y, X_test, y_test = (file[f"{name}/{part}"] for part in PARTS)
            key = f"{name}/minirocket"
            published = float(file[key]) if key in file.files else None
            yield LabelledSet(name, _stacked(X), y, _stacked(X_test), y_test, published)


def _stacked(X: np.ndarray) -> np.ndarray:
    return np.asarray(X if X.ndim == 3 else X[:, None], np.float64)


def _read_ts(name: str, train: Path, test: Path) -> LabelledSet | None:
    """Return the set of two files, or None if its targets are numbers."""
    from aeon.datasets import load_from_ts_file

    header = train.read_text(encoding="utf-8", errors="replace")[:20_000].lower()
    if "@classlabel true" not in header:
        return None
    (X, y), (X_test, y_test) = (load_from_ts_file(str(path)) for path in (train, test))
    return LabelledSet(name, X, y, X_test, y_test)
