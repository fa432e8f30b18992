"""Nonlinear features of reservoir states, used by a readout in addition to the states.

polynomial                   products of states
cosines, tanh                random nonlinear projections of states
joined                       several kinds together
custom                       a function of your own

The rows of the readout are then [1, y(t−1), s, φ(s)], where s are the states, standardised over the
training rows, and φ are the features. The outputs are still linear in the weights, so that training
remains a linear least-squares problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from eigenecho.checks import check_count, check_finite, check_known, check_number, generator
from eigenecho.errors import Words, bad_argument
from eigenecho.kernels import CustomForm, FeatureForm
from eigenecho.scaling import Scaling
from eigenecho.types import Array, PositiveArray

__all__ = ["Features", "cosines", "custom", "joined", "polynomial", "tanh"]

DEGREES = {"quadratic": 2, "cubic": 3}
"""Degrees of the named polynomials."""

PROJECTIONS = ("cosines", "tanh")
"""Kinds of features computed by random projections."""

MOST = 100_000
"""Largest number of features, for which the triangular factor takes 80 GB."""


class Part(NamedTuple):
    """Features of one kind. ``size`` is the degree of a polynomial, or the number of features."""

    kind: str
    size: int
    scale: float = 1.0
    seed: int | None = None
    function: Callable[[Array], Array] | None = None

    def __repr__(self) -> str:
        arguments = [str(self.size)]
        if self.function is not None:
            name = getattr(self.function, "__name__", str(self.function))
            arguments = [name, f"size={self.size}"]
        if self.kind in PROJECTIONS:
            arguments.append(f"scale={self.scale:g}")
        if self.seed is not None:
            arguments.append(f"seed={self.seed}")
        return f"{self.kind}({', '.join(arguments)})"


@dataclass(frozen=True)
class Features:
    """Nonlinear features for ``LinearESN(features=)``, created by the functions of this module.

    See Also
    --------
    eigenecho.features.cosines : Bounded features, a good first choice.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.features.joined(ee.features.polynomial(2), ee.features.cosines(100, seed=0))
    joined(polynomial(2), cosines(100, scale=1, seed=0))
    """

    parts: tuple[Part, ...] = ()

    def draw(self, columns: Array, rng: np.random.Generator) -> FeatureMap | CustomMap:
        """Draw the map for some columns of the states, using ``rng`` for parts without a seed."""
        n = len(columns)
        products = np.zeros((0, 2), np.int64)
        projections = {kind: [(np.zeros((n, 0)), np.zeros(0))] for kind in PROJECTIONS}
        functions = []
        for part, stream in zip(self.parts, rng.spawn(len(self.parts)), strict=True):
            if part.function is not None:
                functions.append(part)
            elif part.kind == "polynomial":
                products = _products(n, part.size)
            else:
                draws = stream if part.seed is None else generator(part.seed)
                projections[part.kind].append(_projection(part, n, draws))
        weights = [
            np.concatenate(arrays, axis=-1)
            for kind in PROJECTIONS
            for arrays in zip(*projections[kind], strict=True)
        ]
        builtin = FeatureMap(columns, np.zeros(n), np.ones(n), products, *weights)
        return CustomMap(builtin, tuple(functions)) if functions else builtin

    def check(self) -> None:
        """Raise if parts from a file are invalid."""
        for kind, size, scale, seed, _ in self.parts:
            check_known(kind, "features", ("polynomial", *PROJECTIONS))
            _ = polynomial(size) if kind == "polynomial" else _random(kind, size, scale, seed)
        joined(self)

    def __repr__(self) -> str:
        text = ", ".join(map(repr, self.parts))
        return text if len(self.parts) == 1 else f"joined({text})"


def polynomial(degree: int) -> Features:
    """Return polynomial features: all products of 2 to ``degree`` states.

    Closed loops with polynomials may diverge, because the products are unbounded.

    Parameters
    ----------
    degree : int
        Largest number of factors, at least 2. N states have (N + degree choose degree) − N − 1
        products.

    See Also
    --------
    eigenecho.features.cosines : Bounded features.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.features.polynomial(2)
    polynomial(2)
    """
    return Features((Part("polynomial", check_count(degree, "degree", "a degree", 2, 10)),))


def cosines(count: int, scale: float = 1.0, seed: int | None = None) -> Features:
    """Return the features cos(s A + b), which are cosines of random projections.

    The entries of A are normal with standard deviation ``scale`` / √n for n states, and the entries
    of b are uniform in [0, 2π].

    Parameters
    ----------
    count : int
        Number of cosines.
    scale : float
        Larger scales make the cosines vary faster with the states.
    seed : int, optional
        Seed of the projection; by default, that of the network.

    See Also
    --------
    eigenecho.features.tanh : Random sigmoids.

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.lorenz(600)
    >>> esn = ee.LinearESN(
    ...     24, features=ee.features.cosines(100), ridge=1e-10, warmup=50, seed=0
    ... )
    >>> esn.fit(series[:-1], series[1:]).forecast(10).shape
    (10, 3)
    """
    return _random("cosines", count, scale, seed)


def tanh(count: int, scale: float = 1.0, seed: int | None = None) -> Features:
    """Return the features tanh(s A + b), which are sigmoids of random projections.

    The entries of A are normal with standard deviation ``scale`` / √n for n states, and the entries
    of b are normal with standard deviation ``scale``.

    Parameters
    ----------
    count : int
        Number of sigmoids.
    scale : float
        Larger scales make the sigmoids steeper.
    seed : int, optional
        Seed of the projection; by default, that of the network.

    See Also
    --------
    eigenecho.features.cosines : Random cosines.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.features.tanh(100, seed=1)
    tanh(100, scale=1, seed=1)
    """
    return _random("tanh", count, scale, seed)


def joined(*features: Any) -> Features:
    """Combine several kinds of features.

    Parameters
    ----------
    *features : Features, str or callable
        Features in any form that ``LinearESN(features=)`` accepts, with at most one polynomial.

    See Also
    --------
    eigenecho.features.Features : Class of the result.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.features.joined("quadratic", ee.features.tanh(50))
    joined(polynomial(2), tanh(50, scale=1))
    """
    parts = tuple(part for kind in features for part in (resolve(kind) or Features()).parts)
    if not parts:
        raise bad_argument("features", features, "at least one kind of features")
    if sum(part.kind == "polynomial" for part in parts) > 1:
        raise bad_argument("features", features, "at most one polynomial")
    return Features(parts)


def custom(function: Callable[[Array], Array], size: int) -> Features:
    """Return features computed by a Python function.

    Closed loops and streams call the function at every step, so they are much slower than with
    other features. Networks with custom features cannot be saved.

    Parameters
    ----------
    function : callable
        Maps standardised states (T, n) to features (T, size), row by row.
    size : int
        Number of features.

    See Also
    --------
    eigenecho.features.polynomial : Products of states, compiled.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> ee.features.custom(np.abs, size=24)
    custom(absolute, size=24)
    """
    if not callable(function):
        raise bad_argument("function", function, "a function of states (T, n)")
    size = check_count(size, "size", "a number of features", 1, MOST)
    return Features((Part("custom", size, function=function),))


def resolve(value: Any) -> Features | None:
    """Return the features that a parameter describes, or raise if it is invalid."""
    if value is None or isinstance(value, Features):
        return value
    if isinstance(value, str):
        check_known(value, "features", DEGREES)
        return polynomial(DEGREES[value])
    if callable(value) and hasattr(value, "size"):
        return custom(value, value.size)
    expected = "None, 'quadratic', 'cubic', a Features object, or a callable with attribute 'size'"
    remedy = "Wrap a function with eigenecho.features.custom(function, size)."
    raise bad_argument("features", value, expected, remedy if callable(value) else "")


def _random(kind: str, count: int, scale: float, seed: int | None) -> Features:
    count = check_count(count, "count", "a number of features", 1, MOST)
    scale = check_number(scale, "scale", "> 0")
    if seed is not None:
        check_count(seed, "seed", "a seed")
    return Features((Part(kind, count, scale, seed),))


def _products(n: int, degree: int) -> Array:
    """Return the indices (P, 2) of the two factors of each product in [s, products].

    Each product of k states is a product of k − 1 states, multiplied by a state whose index is at
    least that of the last factor.
    """
    size = comb(n + degree, degree) - n - 1
    if size > MOST:
        got = Words(f"degree {degree} of {n} states, which gives {size} products")
        raise bad_argument("features", got, f"at most {MOST} products")
    pairs: list[tuple[int, int]] = []
    level = [(i, i) for i in range(n)]  # entries, and the last state in each
    for _ in range(degree - 1):
        new = [(entry, j) for entry, last in level for j in range(last, n)]
        level = [(n + len(pairs) + k, j) for k, (_, j) in enumerate(new)]
        pairs += new
    return np.array(pairs, np.int64).reshape(-1, 2)


def _projection(part: Part, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw the weights (n, size) and offsets (size,) of a random projection."""
    weights = rng.normal(0.0, part.scale / np.sqrt(max(n, 1)), (n, part.size))
    if part.kind == "cosines":
        return weights, rng.uniform(0.0, 2 * np.pi, part.size)
    return weights, rng.normal(0.0, part.scale, part.size)


# Maps of the states of one network ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """Map from states to the columns of a readout, as defined by ``FeatureForm``."""

    columns: Array
    mean: Array
    scale: PositiveArray
    products: Array
    cos_weights: Array
    cos_offsets: Array
    tanh_weights: Array
    tanh_offsets: Array

    @property
    def size(self) -> int:
        """Number of columns M."""
        return FeatureForm(*vars(self).values()).size

    def standardized(self, scaling: Scaling) -> FeatureMap:
        """Return the map with the given standardisation of the states."""
        return replace(self, mean=scaling.mean, scale=scaling.scale)

    def form(self, dtype: DTypeLike = np.float64) -> FeatureForm:
        """Return the arrays that the kernels take."""
        dtypes = (np.int64, dtype, dtype, np.int64, dtype, dtype, dtype, dtype)
        parts = zip(vars(self).values(), dtypes, strict=True)
        form = FeatureForm(*(np.ascontiguousarray(array, kind) for array, kind in parts))
        # A tiny scale must not become 0 in single precision.
        return form._replace(scale=np.maximum(form.scale, np.finfo(dtype).tiny))

    def check_units(self, units: int) -> None:
        """Raise if the arrays are invalid for N states, which compiled code does not check."""
        n, P = self.columns.size, len(self.products)
        entries = n + np.arange(P)[:, None]
        shapes = [(n,), (n,), (n,), (P, 2)]
        for offsets in (self.cos_offsets, self.tanh_offsets):
            shapes += [(n, offsets.size), (offsets.size,)]
        parts = vars(self)
        fits = [np.shape(array) for array in parts.values()] == shapes
        fits = fits and all(parts[name].dtype.kind in "iu" for name in ("columns", "products"))
        fits = fits and bool(np.all((self.columns >= 0) & (self.columns < units)))
        if not fits or not np.all((self.products >= 0) & (self.products < entries)):
            raise bad_argument("features", Words("inconsistent arrays"), f"maps of {units} states")
        for name, array in parts.items():
            check_finite(array, name)


@dataclass(frozen=True, eq=False)
class CustomMap:
    """Map with columns computed by Python functions from the standardised states."""

    builtin: FeatureMap
    functions: tuple[Part, ...]

    @property
    def columns(self) -> Array:
        """Indices of the states that the features depend on."""
        return self.builtin.columns

    @property
    def size(self) -> int:
        """Number of columns M."""
        return self.builtin.size + sum(part.size for part in self.functions)

    def standardized(self, scaling: Scaling) -> CustomMap:
        """Return the map with the given standardisation of the states."""
        return replace(self, builtin=self.builtin.standardized(scaling))

    def form(self, dtype: DTypeLike = np.float64) -> CustomForm:
        """Return the arrays that the reference kernels use."""
        return CustomForm(self.builtin.form(dtype), self._compute)

    def check_units(self, units: int) -> None:
        """Raise if the arrays are invalid for N states."""
        self.builtin.check_units(units)

    def _compute(self, states: Array) -> Array:
        return np.concatenate([_call(part, states) for part in self.functions], axis=1)


def _call(part: Part, states: Array) -> Array:
    """Return the features (T, size) that a function computes, or raise if its result is invalid."""
    assert part.function is not None
    values = np.asarray(part.function(states))
    if values.shape != (len(states), part.size) or values.dtype.kind not in "fiub":
        got = Words(f"{part!r}, which returned {values.dtype} of shape {values.shape}")
        expected = f"real numbers of shape {(len(states), part.size)} for states {states.shape}"
        raise bad_argument("features", got, expected)
    return values
