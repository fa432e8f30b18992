"""Base class of experiments, and the parts of the report that they return."""

from __future__ import annotations

import hashlib
import json
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import chain, repeat
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from eigenecho.paper.claims import Claim
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


def run_loop(step: Callable[[Array], Array], drive: Array) -> Array:
    """Return the states r(t) = step(r(t−1)) + drive(t) by a loop."""
    r, states = np.zeros_like(drive[0]), []
    for row in drive:
        states.append(r := step(r) + row)
    return np.array(states)


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


@cache
def load_texts(name: str) -> Any:
    """Return the content of ``templates/<name>.toml``."""
    return tomllib.loads((Path(__file__).parent / "templates" / f"{name}.toml").read_text("utf-8"))


@dataclass
class Section:
    """Section of the report about an experiment.

    ``texts`` are the entry of the experiment in ``sections.toml``, with names in braces for
    ``facts``. The headline is a short sentence without a full stop, for the summary. ``numbers``
    are the rows of the tables, for the JSON file.
    """

    texts: Mapping[str, Any]
    facts: Mapping[str, Any]
    numbers: dict[str, Any] = field(default_factory=dict)
    tables: list[TextTable] = field(default_factory=list)
    figures: list[ReportFigure] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Introduction, in paragraphs."""
        return self.texts["text"].format_map(self.facts)

    @property
    def headline(self) -> str:
        """Key result."""
        return self.texts["headline"].format_map(self.facts)

    def add_table(
        self,
        name: str,
        columns: Iterable[str],
        rows: Iterable[Iterable[Any]],
        formats: Sequence[str] = ("",),
        bold: Collection[tuple[Any, Any]] = (),
        **facts: Any,
    ) -> None:
        """Add a table. Formats apply to the numbers of a row; the last format is repeated."""
        cells, rows = [], [[*row] for row in rows]
        for row in rows:
            remaining = chain(formats, repeat(formats[-1]))
            cells.append([c if isinstance(c, str) else format(c, next(remaining)) for c in row])
        texts = self.texts["tables"][name]
        columns = [*columns, *texts.get("columns", {}).values()]
        title, note = (texts.get(k, "").format(**self.facts, **facts) for k in ("title", "note"))
        self.tables.append(TextTable(title, columns, cells, bold, note))
        self.numbers[title] = {"columns": columns, "rows": rows}

    def add_figure(self, name: str, figure: Any) -> None:
        """Add a figure."""
        caption = self.texts["figures"][name].format_map(self.facts)
        self.figures.append(ReportFigure(name, figure, caption))

    def judge(self, name: str, intervals: Mapping[str, Any], **facts: Any) -> None:
        """Judge a claim of ``claims.toml`` by intervals by place, if necessary for each rule."""
        texts = load_texts("claims")[name]
        self.claims.append(Claim.judge(texts, intervals, {**self.facts, **facts}))


@dataclass(frozen=True)
class Experiment(ABC):
    """Base class for a table or figure of the paper.

    Fields are the parameters, whose defaults are the values of the paper. ``run`` computes a cell,
    which is stored, and ``section`` uses only stored cells.
    """

    name: ClassVar[str]
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
    def texts(self) -> Mapping[str, Any]:
        """Texts of the section: title, corresponding part of the paper, and those in it."""
        return load_texts("sections")[self.name]

    @property
    def quick(self) -> Mapping[str, Any]:
        """Parameters of a quick run, if they differ from the defaults."""
        parameters = self.texts.get("quick", {}).items()
        return {name: tuple(v) if isinstance(v, list) else v for name, v in parameters}

    def columns(self, table: str) -> Mapping[str, str]:
        """Return the headings of columns by the names of measures."""
        return self.texts["tables"][table]["columns"]

    def start(self, **facts: Any) -> Section:
        """Return a section with the texts of this experiment, for numbers by name."""
        return Section(self.texts, {"e": self, **facts})

    @property
    def identity(self) -> str:
        """Identifier of the stored cells: a hash of the parameters, and the version."""
        parameters = asdict(self)
        del parameters["seeds"]
        text = json.dumps(parameters, sort_keys=True)
        return f"{hashlib.sha256(text.encode()).hexdigest()[:16]}-{self.version}"
