"""Which ridge: one that the training rows themselves speak for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenecho.errors import IllConditionedWarning, bad_argument, warn
from eigenecho.readout import (
    Gram,
    LeftOut,
    Likeliest,
    Likelihood,
    Triangle,
    likeliest,
    steadiest,
)
from eigenecho.threads import even_split
from eigenecho.training.gather import check_range
from eigenecho.training.passes import Passes
from eigenecho.training.problem import Block, Fold, Problem, Settings

BLOCKS = 10
"""Parts that the rows are cut into, each left out in turn."""


def told(problems: Sequence[Problem], settings: Settings, block: Block) -> float:
    """The ridge that is given, or that the rows of a block speak for, one for all problems.

    Where an orthogonal factorisation takes long, sums decide as long as they can.
    """
    passes = list(map(Passes, problems))
    if settings.ridge == "blocks":
        return by_blocks(passes, block)
    if settings.ridge != "auto":
        return settings.ridge[0]
    exact = settings.solver == "qr" or all(problem.is_small for problem in problems)
    if settings.solver == "gram" or not exact:
        sums = _gathered(passes, Gram, block)
        chosen = by_likelihood(passes, sums, block)
        if settings.solver == "gram":
            warn_if_unresolved(chosen, sums[0])
        if settings.solver == "gram" or chosen.is_resolved:
            return chosen.ridge
    return by_likelihood(passes, _gathered(passes, Triangle, block), block).ridge


def _gathered(passes: Sequence[Passes], kind: type[Any], block: Block) -> list[Any]:
    found = [each.gather(kind, Fold(block)).statistics for each in passes]
    for each, statistics in zip(passes, found, strict=True):
        check_range(statistics, each.problem.reservoir)
    return found


def by_likelihood(
    passes: Sequence[Passes], statistics: Sequence[Gram | Triangle], block: Block
) -> Likeliest:
    """The ridge under which the targets of a block are likeliest, one for all problems."""
    each = zip(passes, statistics, strict=True)
    return likeliest([Likelihood.of(s, p.problem.penalty, p.squares(block)) for p, s in each])


def warn_if_unresolved(chosen: Likeliest, statistics: Gram | Triangle) -> None:
    """Say where sums cannot tell how small the ridge should be; a triangle has no more to say."""
    if isinstance(statistics, Gram) and not chosen.is_resolved:
        warn(
            f"normal equations cannot tell ridges below {chosen.ridge:.0e} from rounding, and the "
            "targets ask for one: they are nearly free of noise. solver='qr' resolves more.",
            IllConditionedWarning,
        )


def by_blocks(passes: Sequence[Passes], everything: Block) -> float:
    """The ridge that predicts blocks of rows best, each from the rows of all others."""
    groups = []
    for each in passes:
        problem, fold = each.problem, Fold([(0, 0) for _ in everything], cut(everything))
        parts = [part for part in each.gather(Triangle, fold).held_out if part.rows]
        if len(parts) < 2:
            raise bad_argument(
                "ridge", "blocks", "one value: of one sample nothing can be left out",
                "'auto' asks for no other rows.",
            )  # fmt: skip
        for part in parts:
            check_range(part, problem.reservoir)
        groups.append(LeftOut.of(parts, problem.penalty))
    return steadiest(groups)


def cut(everything: Block) -> tuple[Block, ...]:
    """Rows of all series, one after another, in blocks of equal length give or take one."""
    lengths = [stop - start for start, stop in everything]
    ends = np.cumsum(lengths)
    return tuple(
        [
            (start + _within(first - before, n), start + _within(last - before, n))
            for (start, _), n, before in zip(everything, lengths, ends - lengths, strict=True)
        ]
        for first, last in even_split(int(ends[-1]), BLOCKS)
    )


def _within(row: int, count: int) -> int:
    return int(min(max(row, 0), count))
