"""Base class of the experiments, and the parts of the report that they return."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, repeat
from typing import Any, ClassVar, NamedTuple

import numpy as np

from eigenecho.types import Array

Key = tuple[Any, ...]
"""Names and numbers that identify a cell within its experiment; the last one is often a seed."""

Cell = dict[str, Array]
"""Result of one cell: arrays by name."""


class Results(dict[Key, Cell]):
    """Results of all cells by key, in the order of ``Experiment.cells``."""

    def stack(self, key: Key, name: str) -> Array:
        """Return one array of the cells ``(*key, seed)``, stacked over seeds."""
        return np.array([cell[name] for other, cell in self.items() if other[:-1] == key])

    def means(self, key: Key, names: Iterable[str]) -> dict[str, float]:
        """Return the means of some numbers of the cells ``(*key, seed)`` over seeds."""
        return {name: float(np.mean(self.stack(key, name))) for name in names}


class TextTable(NamedTuple):
    """A table of the report. Cells are text; ``bold`` holds the (row, column) of the best."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    bold: Collection[tuple[Any, Any]]
    note: str


class ReportFigure(NamedTuple):
    """A figure of the report. ``name`` is its file name without a suffix.

    The caption is the alternative text too.
    """

    name: str
    figure: Any
    caption: str


class Claim(NamedTuple):
    """A claim, the measured result, and the verdict.

    Claim and result are sentences without the last full stop. The verdict is "holds", "holds in
    part" or "does not hold". If the claim does not hold in full, ``quote`` is the text of the paper
    and ``why`` explains the difference.
    """

    claim: str
    measured: str
    verdict: str
    quote: str = ""
    why: str = ""


def listed(items: Iterable[str]) -> str:
    """Return items as text: "a, b and c"."""
    texts = [*items]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


@dataclass
class Section:
    """Contribution of an experiment to the report. Tables, figures and claims are added to it."""

    text: str
    headline: str
    """Key result as a short sentence without a full stop, for the summary."""
    numbers: Mapping[str, Any]
    """All numbers, for the JSON file."""
    tables: list[TextTable] = field(default_factory=list)
    figures: list[ReportFigure] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def add_table(
        self,
        title: str,
        columns: Sequence[str],
        rows: Iterable[Iterable[Any]],
        formats: Sequence[str] = ("",),
        bold: Collection[tuple[Any, Any]] = (),
        note: str = "",
    ) -> None:
        """Add a table. Numbers in a row use the formats in order; the last format is repeated."""
        texts = []
        for row in rows:
            remaining = chain(formats, repeat(formats[-1]))
            texts.append([c if isinstance(c, str) else format(c, next(remaining)) for c in row])
        self.tables.append(TextTable(title, columns, texts, bold, note))

    def add_figure(self, name: str, figure: Any, caption: str) -> None:
        """Add a figure."""
        self.figures.append(ReportFigure(name, figure, caption))

    def judge(
        self, claim: str, measured: str, *cases: object, quote: str = "", why: str = ""
    ) -> None:
        """Add a claim, which holds if all cases are true, and holds in part if any is.

        ``quote`` and ``why`` are shown unless the claim holds.
        """
        verdict = "holds" if all(cases) else "holds in part" if any(cases) else "does not hold"
        explanation = ("", "") if all(cases) else (quote, why)
        self.claims.append(Claim(claim, measured, verdict, *explanation))


@dataclass(frozen=True)
class Experiment(ABC):
    """One table or figure. Fields are its parameters, with the paper's values as defaults.

    ``run`` computes a cell, which is stored; ``section`` only reads stored cells.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    """The table or figure of the paper that it reproduces, or "not in the paper"."""
    quick: ClassVar[Mapping[str, Any]]
    """Parameters of a quick run that differ from the defaults."""
    exclusive: ClassVar[bool] = False
    """True if cells must run alone on the machine, as timings must."""
    version: ClassVar[int] = 1
    """Version of the code; increase it if results change for the same parameters."""

    seeds: int = 10
    """Number of repetitions. It is not part of the identity, so changing it keeps stored cells."""

    @abstractmethod
    def cells(self) -> list[Key]:
        """Return the keys of all cells."""

    @abstractmethod
    def run(self, key: Key) -> Cell:
        """Compute one cell. The result does not depend on the worker."""

    @abstractmethod
    def section(self, results: Results) -> Section:
        """Return tables, figures, claims and numbers from the results of all cells."""

    @property
    def identity(self) -> str:
        """Name under which the store keeps the cells: a hash of all parameters, and the version."""
        parameters = asdict(self)
        del parameters["seeds"]
        text = json.dumps(parameters, sort_keys=True)
        return f"{hashlib.sha256(text.encode()).hexdigest()[:16]}-{self.version}"
