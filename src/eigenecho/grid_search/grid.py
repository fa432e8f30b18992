"""What is tried: combinations as scikit-learn lists them, groups that share a reservoir, folds."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from eigenecho.checks import check_known
from eigenecho.errors import Shown, bad_argument
from eigenecho.spectra import Spectrum
from eigenecho.training import Block, Fold

Params = dict[str, Any]


def expand(grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]) -> list[Params]:
    """All combinations, the last name varying fastest; several grids one after another."""
    grids = [grid] if isinstance(grid, Mapping) else list(grid) if np.iterable(grid) else [grid]
    if not all(isinstance(one, Mapping) for one in grids):
        raise bad_argument("grid", grid, "a dict of lists, or a list of such dicts")
    combinations: list[Params] = []
    for one in grids:
        for name, values in one.items():
            _check_listed(name, values)
        combinations += [
            dict(zip(one, values, strict=True)) for values in itertools.product(*one.values())
        ]
    if not combinations:
        raise bad_argument("grid", grid, "at least one combination of parameters")
    return combinations


def _check_listed(name: str, values: Any) -> None:
    """Raise unless ``values`` is a list of values to try, not one value such as a matrix."""
    single = isinstance(values, (str, bytes, Mapping, Spectrum)) or not hasattr(values, "__len__")
    if getattr(values, "ndim", 1) != 1:
        single, values = True, Shown(f"an array of shape {values.shape}")
    if single or not len(values):
        remedy = "Put a single value in a list, [value]; list(array) lists the rows of an array."
        raise bad_argument(f"grid[{name!r}]", values, "a list of values to try", remedy)


def check_names(combinations: Sequence[Params], known: Sequence[str]) -> None:
    """Every name in the grid is a parameter of the estimator."""
    for name in itertools.chain(*combinations):
        check_known(name, "grid", known)


@dataclass(frozen=True)
class Group:
    """Combinations that share one reservoir: all its ridges and input scalings at once.

    ``members[i]`` is the number of a combination; it stands at ``places[i]`` in the table of
    (scaling, ridge). A ridge that the rows choose is alone in its group, and in its ``params``.
    """

    params: Params
    scalings: tuple[float, ...]
    ridges: tuple[Any, ...]
    members: tuple[int, ...]
    places: tuple[tuple[int, int], ...]
    own_seed: bool = False

    def with_seed(self, seed: Any) -> Group:
        """The same combinations with another seed, unless the grid itself lists seeds."""
        return self if self.own_seed else replace(self, params=self.params | {"seed": seed})

    def alone(self, scaling: float) -> Group:
        """A reservoir drawn with one of the input scalings, rather than states times it."""
        return replace(self, params=self.params | {"input_scaling": scaling}, scalings=(1.0,))


def group(base: Params, combinations: Sequence[Params], size: float = 1.0) -> list[Group]:
    """Collapse what differs only in ``ridge`` and, without feedback, in ``input_scaling``.

    States are linear in the input, so that a scaling of all inputs is one of the states, as long
    as neither scaling nor inputs, the largest of which is ``size``, come near the ends of the
    range of floating point. Groups come in the order of their first member, whatever is done with
    them.
    """
    gathered: dict[Any, tuple[Params, bool, list[tuple[int, float, Any]]]] = {}
    base_keys = {name: _key(value) for name, value in base.items()}
    for number, combination in enumerate(combinations):
        params = base | combination
        keys = base_keys | {name: _key(value) for name, value in combination.items()}
        scale, ridge = 1.0, params["ridge"]
        # Rows choose a ridge for one scaling: each is a reservoir of its own.
        rule = isinstance(ridge, str) and ridge == "auto"
        if not rule and not isinstance(ridge, Real):
            raise bad_argument(
                "ridge",
                ridge,
                "one number for each combination, or 'auto'",
                "List the ridges in the grid.",
            )
        if not rule:
            del params["ridge"], keys["ridge"]
            if not params["feedback"] and _is_moderate(params, size):
                scale = float(params["input_scaling"])
                params["input_scaling"] = keys["input_scaling"] = 1.0
        own_seed = "seed" in combination  # the others take the seeds of the search
        key = (own_seed, rule, *keys.values())  # in the order of base, whatever the grid's is
        group = gathered.setdefault(key, (params, own_seed, []))
        group[2].append((number, scale, ridge if rule else float(ridge)))
    groups = []
    for params, own_seed, members in gathered.values():
        numbers, scales, all_ridges = zip(*members, strict=True)
        scalings, ridges = tuple(dict.fromkeys(scales)), tuple(dict.fromkeys(all_ridges))
        places = tuple((scalings.index(s), ridges.index(a)) for _, s, a in members)
        groups.append(Group(params, scalings, ridges, numbers, places, own_seed))
    return groups


def _is_moderate(params: Params, size: float) -> bool:
    """Whether input scaling and inputs are far from overflow and underflow, squares included."""
    scaling = params["input_scaling"]
    if not isinstance(scaling, Real):
        return False
    size = 1.0 if params["standardize"] else size
    largest = float(np.finfo(params["dtype"]).max) ** 0.25
    return all(1 / largest < x < largest for x in (float(scaling), size, float(scaling) * size))


def _key(value: Any) -> Any:
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return (value.shape, value.dtype.str, value.tobytes())
    if isinstance(value, list):
        return tuple(map(_key, value))
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value


def folds(validation: Any, test: Any, lengths: Sequence[int], warmup: int) -> list[Fold]:
    """One fold for each validation block, trained on all rows between warmup and the block.

    A share in ]0, 1[ is the end of every series; a list of (start, stop) is one block each. The
    last fold has the test rows as a second held-out block, where there are any.
    """
    blocks = _blocks(validation, lengths, warmup)
    within = f"within series of lengths {[*lengths]}"
    made = [Fold([(warmup, start) for start, _ in block], (block,)) for block in blocks]
    for fold in made:
        if any(stop <= start for rows in (fold.train, *fold.held_out) for start, stop in rows):
            wanted = f"blocks that leave rows to train on after a warmup of {warmup}, {within}"
            remedy = "Lower warmup, move the blocks, or use longer series."
            raise bad_argument("validation", validation, wanted, remedy)
    if test is not None:
        block = _block(test, lengths, "test")
        if not any(stop > start for start, stop in block):
            wanted = f"rows (start, stop) with start < stop {within}"
            raise bad_argument("test", test, wanted, "test=None scores no test rows.")
        made[-1] = Fold(made[-1].train, (*made[-1].held_out, block))
    return made


def _blocks(validation: Any, lengths: Sequence[int], warmup: int) -> list[Block]:
    if isinstance(validation, float) and 0 < validation < 1:
        return [[(n - max(1, round(validation * (n - warmup))), n) for n in lengths]]
    if isinstance(validation, tuple) and all(isinstance(edge, int) for edge in validation):
        raise bad_argument("validation", validation, f"a list of blocks, [{validation}]")
    if isinstance(validation, (list, tuple)) and validation:
        return [_block(edges, lengths, "validation") for edges in validation]
    raise bad_argument(
        "validation", validation, "a share in ]0, 1[, or a list of blocks (start, stop)"
    )


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
