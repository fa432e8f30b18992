"""Validation blocks in time order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eigenecho.errors import bad_argument
from eigenecho.model.rows import Block, Fold


def folds(validation: Any, test: Any, lengths: Sequence[int], warmup: int) -> list[Fold]:
    """One fold for each validation block, trained on all rows between warmup and the block.

    A share in ]0, 1[ is the end of every series; a list of (start, stop) is one block each. The
    last fold has the test rows as a second held-out block, where there are any.
    """
    if isinstance(validation, float) and 0 < validation < 1:
        blocks: list[Block] = [[(n - max(1, round(validation * (n - warmup))), n) for n in lengths]]
    elif isinstance(validation, tuple) and all(isinstance(edge, int) for edge in validation):
        raise bad_argument("validation", validation, f"a list of blocks, [{validation}]")
    elif isinstance(validation, (list, tuple)) and validation:
        blocks = [_block(edges, lengths, "validation") for edges in validation]
    else:
        raise bad_argument(
            "validation", validation, "a share in ]0, 1[, or a list of blocks (start, stop)"
        )
    made = [Fold([(warmup, start) for start, _ in block], (block,)) for block in blocks]
    for fold in made:
        if any(stop <= start for rows in (fold.train, *fold.held_out) for start, stop in rows):
            raise bad_argument(
                "validation",
                validation,
                f"blocks that leave rows to train on after a warmup of {warmup}, "
                f"within series of lengths {list(lengths)}",
                "Lower warmup, move the blocks, or use longer series.",
            )
    if test is not None:
        block = _block(test, lengths, "test")
        if not any(stop > start for start, stop in block):
            raise bad_argument(
                "test",
                test,
                f"rows (start, stop) with start < stop within series of lengths {list(lengths)}",
                "test=None scores no test rows.",
            )
        made[-1] = Fold(made[-1].train, (*made[-1].held_out, block))
    return made


def _block(edges: Any, lengths: Sequence[int], name: str) -> Block:
    if isinstance(edges, slice):
        if edges.step not in (None, 1):
            raise bad_argument(name, edges, "rows one after another, a slice without a step")
        return [_ordered(*edges.indices(n)[:2]) for n in lengths]
    try:
        start, stop = edges
        whole = start == int(start) and stop == int(stop)
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole:
        raise bad_argument(name, edges, "rows (start, stop)")
    start, stop = int(start), int(stop)
    if start < 0 or stop > max(lengths):
        raise bad_argument(name, edges, f"rows within series of lengths {list(lengths)}")
    return [_ordered(start, min(stop, n)) for n in lengths]


def _ordered(start: int, stop: int) -> tuple[int, int]:
    """Rows that can be counted: none, not less, where a series ends before they start."""
    return min(start, stop), stop
