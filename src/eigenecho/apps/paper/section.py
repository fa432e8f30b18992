"""Parts of the report: text, tables, figures and claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ClaimVerdict = Literal["holds", "holds in part", "does not hold"]


@dataclass(frozen=True)
class TextTable:
    """A table of the report. Cells are text; ``bold`` holds the (row, column) of the best."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    bold: frozenset[tuple[int, int]] = frozenset()
    note: str = ""


@dataclass(frozen=True)
class ReportFigure:
    """A figure of the report. ``name`` is its file name without a suffix.

    The caption is the alternative text too.
    """

    name: str
    figure: Figure
    caption: str


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, the measured result, and the verdict."""

    claim: str
    measured: str
    verdict: ClaimVerdict

    @classmethod
    def judge(cls, claim: str, measured: str, holds: object, in_part: object = False) -> Claim:
        """Return a claim that holds, or else holds in part, or else does not hold."""
        verdict: ClaimVerdict = (
            "holds" if holds else "holds in part" if in_part else "does not hold"
        )
        return cls(claim, measured, verdict)

    @classmethod
    def judge_cases(cls, claim: str, measured: str, cases: Iterable[object]) -> Claim:
        """Return a claim that holds if all cases do, and in part if any case does."""
        outcomes = list(cases)
        return cls.judge(claim, measured, all(outcomes), any(outcomes))


@dataclass(frozen=True)
class Section:
    """Contribution of an experiment to the report."""

    text: str
    headline: str
    """Key result in a few words, for the summary."""
    tables: Sequence[TextTable] = ()
    figures: Sequence[ReportFigure] = ()
    claims: Sequence[Claim] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)


def format_rows(rows: Mapping[str, Iterable[float]], *formats: str) -> list[list[str]]:
    """Return table rows of a label and formatted numbers; the last format is repeated."""
    return [
        [label, *map(format, row, chain(formats, repeat(formats[-1])))]
        for label, row in rows.items()
    ]


def bold_best(rows: Array, first_column: int) -> frozenset[tuple[int, int]]:
    """Return the table position of the smallest number of each row."""
    return frozenset((i, first_column + int(np.argmin(row))) for i, row in enumerate(rows))
