"""Parts of an experiment: its configuration, and cells that are computed and stored."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Generic, TypeVar

import numpy as np

from eigenecho.apps.paper.section import Section
from eigenecho.types import Array

C = TypeVar("C", bound="Config")
Key = tuple[Any, ...]
"""Names and numbers that identify a cell within its experiment."""

Cell = dict[str, Array]
"""Result of one cell: arrays by name."""

Results = Mapping[Key, Cell]
"""Results of all cells by key."""


@dataclass(frozen=True)
class Config:
    """Parameters of an experiment; the defaults are those of the paper."""

    seeds: int = field(default=10, metadata={"identity": False})
    """Number of repetitions. It is not part of the identity, so changing it keeps stored cells."""

    def identity(self) -> str:
        """Return a hash of all parameters that affect the result of a cell."""
        names = [f.name for f in fields(self) if f.metadata.get("identity", True)]
        values = asdict(self)
        text = json.dumps({name: values[name] for name in names}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def with_seeds(self: C, seeds: int | None) -> C:
        """Return a copy with another number of seeds; None keeps the number."""
        return self if seeds is None else replace(self, seeds=seeds)


class Experiment(ABC, Generic[C]):
    """One table or figure. ``run`` computes a cell; ``section`` only reads stored cells."""

    name: str
    title: str
    paper: str
    """The table or figure of the paper that it reproduces, or "ours"."""
    config: C
    quick: C
    exclusive: bool = False
    """True if cells must run alone on the machine, as timings must."""
    version: int = 1
    """Increased when the code computes something else for the same configuration."""

    @abstractmethod
    def cells(self, config: C) -> list[Key]:
        """Return the keys of all cells."""

    @abstractmethod
    def run(self, config: C, key: Key) -> Cell:
        """Compute one cell. The result does not depend on the worker."""

    @abstractmethod
    def section(self, config: C, results: Results) -> Section:
        """Return tables, figures, claims and numbers from the results of all cells."""

    def identity(self, config: C) -> str:
        """Return the name under which the store keeps the cells of a configuration."""
        return f"{config.identity()}-{self.version}"


def encode(key: Key) -> str:
    """Return a key as text, for the store."""
    return json.dumps(key)


def stack_seeds(results: Results, seeds: int, key: Key, name: str) -> Array:
    """Return one array of the cells ``(*key, seed)``, stacked over seeds."""
    return np.array([results[(*key, seed)][name] for seed in range(seeds)])


def mean_over_seeds(
    results: Results, seeds: int, key: Key, names: Iterable[str]
) -> dict[str, float]:
    """Return the means of some numbers of the cells ``(*key, seed)`` over seeds."""
    return {name: float(np.mean(stack_seeds(results, seeds, key, name))) for name in names}
