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

from eigenecho.apps.paper.experiment import Cell

SCHEMA = 1
"""Increased when the meaning of the stored data changes."""


class StoreError(RuntimeError):
    """A store that cannot be used. The message names the file and the remedy."""


class UnusableStoreError(StoreError):
    """A store that is damaged or was written by another version, and must be replaced."""


class CellStore:
    """Finished cells by experiment, configuration and key.

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
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        with self._explain_errors():
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if tables and version != SCHEMA:
                raise UnusableStoreError(
                    f"the store {self.path} was written by another version (schema {version}, "
                    f"expected {SCHEMA}). Use --fresh to replace it, or move the file away."
                )
            # Detect a damaged file before any work is done.
            status = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if status != "ok":
                raise sqlite3.DatabaseError(status)
            with self._connection:
                self._connection.execute(
                    "CREATE TABLE IF NOT EXISTS cells (experiment TEXT, config TEXT, key TEXT, "
                    "result BLOB, seconds REAL, finished REAL, machine TEXT, "
                    "PRIMARY KEY (experiment, config, key)) WITHOUT ROWID"
                )
                self._connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def keys(self, experiment: str, config: str) -> set[str]:
        """Return the keys of finished cells."""
        return {key for (key,) in self._select("key", experiment, config)}

    def add(
        self,
        experiment: str,
        config: str,
        key: str,
        cell: Cell,
        seconds: float,
        machine: Mapping[str, Any],
    ) -> None:
        """Write a finished cell, and replace an older one."""
        packed = io.BytesIO()
        np.savez_compressed(packed, **cast(Any, cell))
        result = (packed.getvalue(), seconds, time.time(), json.dumps(machine))
        sql = "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?)"
        with self._explain_errors(), self._connection:
            self._connection.execute(sql, (experiment, config, key, *result))

    def load(self, experiment: str, config: str) -> dict[str, tuple[Cell, float]]:
        """Return all finished cells as (arrays, seconds) by key."""
        loaded = {}
        for key, packed, seconds in self._select("key, result, seconds", experiment, config):
            with self._explain_errors(), np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
                loaded[key] = ({name: arrays[name] for name in arrays.files}, seconds)
        return loaded

    def machines(self, experiment: str, config: str) -> list[dict[str, str]]:
        """Return the machines and versions that computed the finished cells."""
        unique = {machine for (machine,) in self._select("machine", experiment, config)}
        return [json.loads(machine) for machine in sorted(unique)]

    def _select(self, columns: str, experiment: str, config: str) -> list[Any]:
        sql = f"SELECT {columns} FROM cells WHERE experiment = ? AND config = ?"
        with self._explain_errors():
            return self._connection.execute(sql, (experiment, config)).fetchall()

    def forget(self, experiment: str, config: str) -> None:
        """Delete the finished cells of one configuration."""
        with self._explain_errors(), self._connection:
            self._connection.execute(
                "DELETE FROM cells WHERE experiment = ? AND config = ?", (experiment, config)
            )

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"cannot use the store {self.path}: {error}. Check the disk space and the "
                "permissions of the folder, and run again: finished cells are kept."
            ) from error
        except (
            sqlite3.DatabaseError, BadZipFile, zlib.error, EOFError, ValueError, OSError
        ) as error:  # fmt: skip
            raise UnusableStoreError(
                f"the store {self.path} is damaged ({error}). Use --fresh to replace it, or move "
                "the file away."
            ) from error
