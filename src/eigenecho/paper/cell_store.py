"""Store of finished cells, with one file per cell."""

from __future__ import annotations

import io
import json
import shutil
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast
from zipfile import BadZipFile

import numpy as np

from eigenecho.pages import write_file
from eigenecho.paper.experiment import Cell, Experiment, Key


class StoreError(RuntimeError):
    """Error raised for a stored cell that cannot be read."""


class StoredCell(NamedTuple):
    """A finished cell, its duration in seconds, and the machine and versions that computed it."""

    cell: Cell
    seconds: float
    machine: Mapping[str, str]


class CellStore:
    """Store of finished cells, by the parameters of their experiments and by key.

    Each cell is written to a file as soon as it is finished, and files are always complete, so that
    a run that is killed loses only unfinished cells.

    Parameters
    ----------
    folder : Path
        Folder of the files. It is created if necessary.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, experiment: Experiment, key: Key, result: StoredCell) -> None:
        """Write a finished cell, and replace an older version."""
        about = json.dumps([result.seconds, result.machine])
        packed = io.BytesIO()
        np.savez_compressed(packed, about=about, **cast(Any, result.cell))
        write_file(self._path(experiment, key), packed.getvalue())

    def missing(self, experiment: Experiment) -> list[Key]:
        """Return the keys of the cells that are not stored."""
        return [key for key in experiment.cells() if not self._path(experiment, key).exists()]

    def load(self, experiment: Experiment) -> dict[Key, StoredCell]:
        """Return the stored cells by key, in the order of the experiment."""
        paths = {key: self._path(experiment, key) for key in experiment.cells()}
        return {key: _read(path) for key, path in paths.items() if path.exists()}

    def forget(self, experiment: Experiment) -> None:
        """Delete the stored cells of an experiment with these parameters."""
        shutil.rmtree(self._folder(experiment), ignore_errors=True)

    def _folder(self, experiment: Experiment) -> Path:
        return self.folder / f"{experiment.name}-{experiment.identity}"

    def _path(self, experiment: Experiment, key: Key) -> Path:
        return self._folder(experiment) / f"{'-'.join(map(str, key))}.npz"


def _read(path: Path) -> StoredCell:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            cell = {name: arrays[name] for name in arrays.files}
        return StoredCell(cell, *json.loads(str(cell.pop("about"))))
    except (BadZipFile, zlib.error, EOFError, KeyError, ValueError, OSError) as error:
        raise StoreError(
            f"Cannot read the result {path}: {error}. Delete the file and run the command again."
        ) from error
