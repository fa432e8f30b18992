"""Store of finished cells: an SQLite file with one row per cell, safe against interruption."""

from __future__ import annotations

import io
import json
import sqlite3
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from zipfile import BadZipFile

import numpy as np

from eigenecho.paper.experiment import Cell, Experiment, Key

TABLE = """CREATE TABLE IF NOT EXISTS cells (experiment TEXT, config TEXT, key TEXT, result BLOB,
    seconds REAL, finished REAL, machine TEXT, PRIMARY KEY (experiment, config, key)) WITHOUT ROWID
"""
WHERE = "FROM cells WHERE experiment = ? AND config = ?"


class StoreError(RuntimeError):
    """A store that cannot be used. The message names the file and the remedy."""


class CellStore:
    """Finished cells by experiment, its parameters, and key.

    Each cell is written in one transaction when it finishes, so a killed run loses only unfinished
    cells.

    Parameters
    ----------
    path : Path
        The SQLite file. It is created if it does not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._explain_errors():
            self._connection = sqlite3.connect(path, timeout=60)
            # Detect a damaged file before any work is done.
            if self._connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise sqlite3.DatabaseError("it has damaged pages")
            self._connection.execute(TABLE)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add(
        self,
        experiment: Experiment,
        key: Key,
        cell: Cell,
        seconds: float,
        machine: Mapping[str, str],
    ) -> None:
        """Write a finished cell, and replace an older one."""
        packed = io.BytesIO()
        np.savez_compressed(packed, **cast(Any, cell))
        result = (packed.getvalue(), seconds, time.time(), json.dumps(machine))
        row = (experiment.name, experiment.identity, json.dumps(key), *result)
        with self._explain_errors(), self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?)", row
            )

    def missing(self, experiment: Experiment) -> list[Key]:
        """Return the keys of the cells that are not stored."""
        stored = {key for (key,) in self._execute("SELECT key", experiment)}
        return [key for key in experiment.cells() if json.dumps(key) not in stored]

    def load(self, experiment: Experiment) -> dict[Key, tuple[Cell, float]]:
        """Return the stored cells as (arrays, seconds) by key, in the order of the experiment."""
        loaded = {}
        for key, packed, seconds in self._execute("SELECT key, result, seconds", experiment):
            with self._explain_errors(), np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
                loaded[key] = ({name: arrays[name] for name in arrays.files}, seconds)
        texts = ((key, json.dumps(key)) for key in experiment.cells())
        return {key: loaded[text] for key, text in texts if text in loaded}

    def machines(self, experiment: Experiment) -> list[dict[str, str]]:
        """Return the machines and versions that computed the stored cells."""
        rows = self._execute("SELECT DISTINCT machine", experiment, " ORDER BY machine")
        return [json.loads(machine) for (machine,) in rows]

    def forget(self, experiment: Experiment) -> None:
        """Delete the stored cells of an experiment with these parameters."""
        self._execute("DELETE", experiment)

    def _execute(self, action: str, experiment: Experiment, order: str = "") -> list[Any]:
        names = (experiment.name, experiment.identity)
        with self._explain_errors(), self._connection:
            return self._connection.execute(f"{action} {WHERE}{order}", names).fetchall()

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, BadZipFile, zlib.error, EOFError, ValueError, OSError) as error:
            raise StoreError(
                f"cannot use the store {self.path}: {error}. Finished cells are kept: check the "
                "disk space and run again. If the file is damaged, delete it."
            ) from error
