"""Base class of experiments, and the parts of the report that they return."""

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
"""Names and numbers that identify a cell of an experiment. The last element is often a seed."""

Cell = dict[str, Array]
"""Result of a cell: arrays by name."""


class Results(dict[Key, Cell]):
    """Results of all cells by key, in the order of ``Experiment.cells``."""

    def stack(self, key: Key, name: str) -> Array:
        """Return an array of the cells ``(*key, seed)``, stacked over seeds."""
        return np.array([cell[name] for other, cell in self.items() if other[:-1] == key])

    def means(self, key: Key, names: Iterable[str]) -> dict[str, float]:
        """Return the means over seeds of numbers in the cells ``(*key, seed)``."""
        return {name: float(np.mean(self.stack(key, name))) for name in names}


class TextTable(NamedTuple):
    """A table of the report. Entries are text; ``bold`` contains the (row, column) of the best."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    bold: Collection[tuple[Any, Any]]
    note: str


class ReportFigure(NamedTuple):
    """A figure of the report. ``name`` is its file name without a suffix.

    The caption is also the alternative text.
    """

    name: str
    figure: Any
    caption: str


class Claim(NamedTuple):
    """A claim, the measured result, and the verdict.

    Claim and result are sentences without a final full stop. The verdict is "holds", "holds in
    part" or "does not hold". If the claim does not fully hold, ``quote`` is the text of the paper
    and ``why`` explains the difference.
    """

    claim: str
    measured: str
    verdict: str
    quote: str = ""
    why: str = ""


def listed(items: Iterable[str]) -> str:
    """Join items as in "a, b and c"."""
    texts = [*items]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def fit_ridge(X: Array, y: Array, ridge: float) -> Array:
    """Return the weights w that minimise ‖y − X w‖² + ridge ‖w‖²."""
    root = np.sqrt(ridge) * np.eye(X.shape[1])
    zeros = np.zeros((len(root), *y.shape[1:]))
    stacked = np.concatenate([X, root]), np.concatenate([y, zeros])
    return np.linalg.lstsq(*stacked, rcond=None)[0]


@dataclass
class Section:
    """Section of the report about an experiment."""

    text: str
    headline: str
    """Key result for the summary, as a short sentence without a full stop."""
    numbers: Mapping[str, Any]
    """All numbers for the JSON file."""
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
        """Add a table. Formats apply to the numbers of a row; the last format is repeated."""
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
        """Add a claim, which holds if all cases are true, and holds in part if some are true.

        ``quote`` and ``why`` are displayed unless the claim holds.
        """
        verdict = "holds" if all(cases) else "holds in part" if any(cases) else "does not hold"
        explanation = ("", "") if all(cases) else (quote, why)
        self.claims.append(Claim(claim, measured, verdict, *explanation))


@dataclass(frozen=True)
class Experiment(ABC):
    """Base class for a table or figure of the paper.

    Fields are the parameters, whose defaults are the values of the paper. ``run`` computes a cell,
    which is stored, and ``section`` uses only stored cells.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    """The corresponding table or figure of the paper, or "not in the paper"."""
    quick: ClassVar[Mapping[str, Any]]
    """Parameters of a quick run, if they differ from the defaults."""
    exclusive: ClassVar[bool] = False
    """True if cells must run alone on the machine, because they measure time."""
    version: ClassVar[int] = 1
    """Version of the code, which must be increased if results change for the same parameters."""

    seeds: int = 10
    """Number of seeds. It is not part of the identity: stored cells stay valid if it changes."""

    @abstractmethod
    def cells(self) -> list[Key]:
        """Return the keys of all cells."""

    @abstractmethod
    def run(self, key: Key) -> Cell:
        """Compute a cell. The result must not depend on the worker."""

    @abstractmethod
    def section(self, results: Results) -> Section:
        """Create the section of the report from the results of all cells."""

    @property
    def identity(self) -> str:
        """Identifier of the stored cells: a hash of the parameters, and the version."""
        parameters = asdict(self)
        del parameters["seeds"]
        text = json.dumps(parameters, sort_keys=True)
        return f"{hashlib.sha256(text.encode()).hexdigest()[:16]}-{self.version}"
