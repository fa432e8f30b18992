"""Combinations of a grid, groups of combinations that share a reservoir, and folds."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from eigenecho.checks import generator
from eigenecho.errors import Words, bad_argument
from eigenecho.rows import Block, Fold
from eigenecho.spectra import Spectrum
from eigenecho.transition import DelayLine

Params = dict[str, Any]

EXTREME = 1e15
"""Magnitude from which input scalings and inputs count as extreme, as do those below its inverse.

If they are not extreme, scaled states overflow only if the states themselves nearly overflow.
"""


def expand(grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]) -> list[Params]:
    """Return all combinations of one or several grids.

    Seeds are converted to ints. The last parameter of a grid varies fastest.
    """
    grids = [grid] if isinstance(grid, Mapping) else list(grid) if np.iterable(grid) else [grid]
    if not all(isinstance(part, Mapping) for part in grids):
        raise bad_argument("grid", grid, "a dict of lists or a list of such dicts")
    combinations: list[Params] = []
    for part in grids:
        for name, values in part.items():
            _check_listed(name, values)
        lists = [map(int_seed, part[name]) if name == "seed" else part[name] for name in part]
        combinations += [
            dict(zip(part, values, strict=True)) for values in itertools.product(*lists)
        ]
    if not combinations:
        raise bad_argument("grid", grid, "at least one combination of parameters")
    return combinations


def int_seed(seed: Any) -> Any:
    """Return a seed as an int, so that it draws the same reservoir each time."""
    draws = generator(seed)
    return seed if isinstance(seed, (int, np.integer)) else int(draws.integers(2**31))


def _check_listed(name: str, values: Any) -> None:
    """Raise unless ``values`` is a list of values, and not a single value such as a matrix."""
    single = isinstance(values, (str, bytes, Mapping, Spectrum)) or not hasattr(values, "__len__")
    if getattr(values, "ndim", 1) != 1:
        single, values = True, Words(f"an array of shape {values.shape}")
    if single or not len(values):
        remedy = "Use [value] for a single value."
        raise bad_argument(f"grid[{name!r}]", values, "a list of values to try", remedy)


@dataclass(frozen=True)
class Group:
    """Combinations of ridges and input scalings that share one reservoir.

    Each element of ``members`` contains the indices of a combination, its scaling and its ridge. A
    combination with the ridge "auto" or "loop" has a separate group, whose ``params`` contain the
    ridge. Seeds are in ``params`` only if they are in the grid.
    """

    params: Params
    scalings: tuple[float, ...]
    ridges: tuple[Any, ...]
    members: tuple[tuple[int, int, int], ...]


def group_combinations(
    base: Params, combinations: Sequence[Params], size: float = 1.0
) -> list[Group]:
    """Group combinations that differ only in ``ridge`` and, if possible, ``input_scaling``.

    Without feedback or features, states are linear in the input, so scaling all inputs is
    equivalent to scaling the states. If scalings or inputs are extreme, W_in is scaled instead.
    ``size`` is the largest absolute input. Groups are in the order of their first members.
    """
    gathered: dict[Any, tuple[Params, list[tuple[int, float, Any]]]] = {}
    base_keys = {name: _key(value) for name, value in base.items()}
    for number, combination in enumerate(combinations):
        params = base | combination
        keys = base_keys | {name: _key(value) for name, value in combination.items()}
        scale, ridge = 1.0, params["ridge"]
        if isinstance(ridge, Real):
            ridge = float(ridge)
            del params["ridge"], keys["ridge"]
            linear = params["features"] is None and not isinstance(params["spectrum"], DelayLine)
            if linear and not params["feedback"] and _is_moderate(params, size):
                scale = float(params["input_scaling"])
                params["input_scaling"] = keys["input_scaling"] = 1.0
        elif not isinstance(ridge, str):  # A ridge that is selected depends on the scaling.
            expected = "a single number, 'auto' or 'loop' in each combination"
            raise bad_argument("ridge", ridge, expected)
        _, members = gathered.setdefault(tuple(keys.items()), (params, []))
        members.append((number, scale, ridge))
    groups = []
    for params, members in gathered.values():
        _, scales, all_ridges = zip(*members, strict=True)
        scalings, ridges = tuple(dict.fromkeys(scales)), tuple(dict.fromkeys(all_ridges))
        indices = tuple((n, scalings.index(s), ridges.index(a)) for n, s, a in members)
        groups.append(Group(params, scalings, ridges, indices))
    return groups


def _is_moderate(params: Params, size: float) -> bool:
    """Return True if input scaling and inputs are far from the limits of floating point."""
    scaling = params["input_scaling"]
    if not isinstance(scaling, Real):
        return False
    size = 1.0 if params["standardize"] else size
    return all(1 / EXTREME < x < EXTREME for x in (float(scaling), size, float(scaling) * size))


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
    """Return one fold per validation block, trained on all rows from the warmup to the block.

    A fraction in (0, 1) selects the last rows of every series. A list contains a pair (start, stop)
    for each block. The test rows, if any, are an additional held-out block of the last fold.
    """
    blocks = _blocks(validation, lengths, warmup)
    within = f"within series of lengths {[*lengths]}"
    result = [Fold([(warmup, start) for start, _ in block], (block,)) for block in blocks]
    for fold in result:
        if any(stop <= start for rows in (fold.train, *fold.held_out) for start, stop in rows):
            expected = f"blocks that start after the warmup (warmup={warmup}) {within}"
            raise bad_argument("validation", validation, expected)
    if test is not None:
        block = _block(test, lengths, "test")
        if not any(stop > start for start, stop in block):
            raise bad_argument("test", test, f"rows (start, stop) with start < stop {within}")
        result[-1] = Fold(result[-1].train, (*result[-1].held_out, block))
    return result


def _blocks(validation: Any, lengths: Sequence[int], warmup: int) -> list[Block]:
    if isinstance(validation, float) and 0 < validation < 1:
        return [[(n - max(1, round(validation * (n - warmup))), n) for n in lengths]]
    if isinstance(validation, tuple) and all(isinstance(edge, int) for edge in validation):
        raise bad_argument("validation", validation, f"a list of blocks, such as [{validation}]")
    if isinstance(validation, (list, tuple)) and validation:
        return [_block(edges, lengths, "validation") for edges in validation]
    expected = "a fraction in (0, 1) or a list of blocks (start, stop)"
    raise bad_argument("validation", validation, expected)


def _block(edges: Any, lengths: Sequence[int], name: str) -> Block:
    """Return the rows (start, stop) of a block in each series, which are empty in short series.

    Slices are accepted because the splits in ``tasks`` contain slices.
    """
    if isinstance(edges, slice) and edges.step in (None, 1):
        edges = edges.indices(max(lengths))[:2]
    try:
        start, stop = edges
        are_integers = start == int(start) and stop == int(stop)
    except (TypeError, ValueError, OverflowError):
        are_integers = False
    if not are_integers or start < 0 or stop > max(lengths):
        expected = f"rows (start, stop) within series of lengths {list(lengths)}"
        raise bad_argument(name, edges, expected)
    stops = [min(int(stop), n) for n in lengths]
    return [(min(int(start), end), end) for end in stops]
