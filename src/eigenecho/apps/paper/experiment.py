"""What an experiment is: a configuration, cells that are computed once, and what they show."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ClaimVerdict = Literal["holds", "holds in part", "does not hold"]
C = TypeVar("C", bound="Config")
Key = tuple[Any, ...]
"""What tells cells of one experiment apart: names and numbers."""

Cell = dict[str, Array]
"""What is computed under a key: named arrays."""


@dataclass(frozen=True)
class Config:
    """The values an experiment is run with, the paper's by default."""

    seeds: int = field(default=10, metadata={"identity": False})
    """How much is computed, not what: finished cells outlive a change of it."""

    def identity(self) -> str:
        """A digest of all that decides over what a cell computes."""
        names = [f.name for f in fields(self) if f.metadata.get("identity", True)]
        values = asdict(self)
        text = json.dumps({name: values[name] for name in names}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def with_seeds(self: C, seeds: int | None) -> C:
        """The same with another number of seeds."""
        return self if seeds is None else replace(self, seeds=seeds)


@dataclass(frozen=True)
class TextTable:
    """A table of a report: cells are text, ``bold`` holds (row, column) of the best."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    bold: frozenset[tuple[int, int]] = frozenset()
    note: str = ""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, what was measured, and whether it holds."""

    claim: str
    measured: str
    verdict: ClaimVerdict

    @classmethod
    def judged(cls, claim: str, measured: str, whole: object, part: object = False) -> Claim:
        """A claim that holds as a ``whole``, or else in ``part``, or else not."""
        verdict: ClaimVerdict = "holds" if whole else "holds in part" if part else "does not hold"
        return cls(claim, measured, verdict)


@dataclass(frozen=True)
class Section:
    """What an experiment contributes to the report."""

    text: str
    tables: Sequence[TextTable] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict)
    """By file name, without a suffix."""
    captions: Mapping[str, str] = field(default_factory=dict)
    """Of the figures; they serve as their alternative text too."""
    claims: Sequence[Claim] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    headline: str = ""
    """The key result in a few words, for the summary."""


class Experiment(ABC, Generic[C]):
    """One table or figure. ``run`` computes a cell; ``section`` reads stored results only."""

    name: str
    title: str
    paper: str
    """Which table or figure of the paper it reproduces, or that it is ours."""
    config: C
    quick: C
    exclusive: bool = False
    """Whether cells need the machine for themselves, as timings do."""
    version: int = 1
    """Goes up when the code computes something else from the same configuration."""

    @abstractmethod
    def cells(self, config: C) -> list[Key]:
        """The keys of all cells."""

    @abstractmethod
    def run(self, config: C, key: Key) -> Cell:
        """Compute one cell; pure, so that it gives the same on any worker."""

    @abstractmethod
    def section(self, config: C, results: Mapping[Key, Cell]) -> Section:
        """Figures, tables, claims and numbers from stored results."""

    def identity(self, config: C) -> str:
        """Under which finished cells are stored."""
        return f"{config.identity()}-{self.version}"


def encode(key: Key) -> str:
    """A key as text, for the store."""
    return json.dumps(key)
