"""Results on disk: one row a finished cell, in SQLite, safe against interruption."""

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
"""Goes up when the meaning of what is stored changes."""


class StoreError(RuntimeError):
    """A store that cannot be used; the message names the file and the way out."""


class UnusableStoreError(StoreError):
    """A store that is damaged, or that another version wrote: only starting anew helps."""


class CellStore:
    """Finished cells, by experiment, configuration and key.

    A cell is written in one transaction as it finishes, so that a killed run loses only what it
    was computing.

    Parameters
    ----------
    path : Path
        The SQLite file; made if it does not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._explained():
            self._connection = sqlite3.connect(path, timeout=60)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        with self._explained():
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if tables and version != SCHEMA:
                raise UnusableStoreError(
                    f"the store {self.path} was written by another version (schema {version}, "
                    f"this is {SCHEMA}). Start anew with --fresh, or move the file away."
                )
            # Better to hear of a torn page now than after the work.
            found = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise sqlite3.DatabaseError(found)
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
        """The cells that are finished."""
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
        """Write a finished cell; one that is there already is replaced."""
        packed = io.BytesIO()
        np.savez_compressed(packed, **cast(Any, cell))
        computed = (packed.getvalue(), seconds, time.time(), json.dumps(machine))
        sql = "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?)"
        with self._explained(), self._connection:
            self._connection.execute(sql, (experiment, config, key, *computed))

    def load(self, experiment: str, config: str) -> dict[str, tuple[Cell, float]]:
        """All finished cells: key to (arrays, seconds)."""
        loaded = {}
        for key, packed, seconds in self._select("key, result, seconds", experiment, config):
            with self._explained(), np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
                loaded[key] = ({name: arrays[name] for name in arrays.files}, seconds)
        return loaded

    def machines(self, experiment: str, config: str) -> list[dict[str, str]]:
        """The machines and versions that the finished cells were computed with."""
        unique = {machine for (machine,) in self._select("machine", experiment, config)}
        return [json.loads(machine) for machine in sorted(unique)]

    def _select(self, columns: str, experiment: str, config: str) -> list[Any]:
        """Those columns of all finished cells."""
        sql = f"SELECT {columns} FROM cells WHERE experiment = ? AND config = ?"
        with self._explained():
            return self._connection.execute(sql, (experiment, config)).fetchall()

    def forget(self, experiment: str, config: str) -> None:
        """Drop the finished cells of one configuration, so that they are computed anew."""
        with self._explained(), self._connection:
            self._connection.execute(
                "DELETE FROM cells WHERE experiment = ? AND config = ?", (experiment, config)
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"cannot use the store {self.path}: {error}. Free some space or check that the "
                "folder can be written, and start again: what is finished is kept."
            ) from error
        except (
            sqlite3.DatabaseError, BadZipFile, zlib.error, EOFError, ValueError, OSError
        ) as error:  # fmt: skip
            raise UnusableStoreError(
                f"the store {self.path} is damaged ({error}). Start anew with --fresh, "
                "or move the file away."
            ) from error
