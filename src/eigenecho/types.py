"""Types for annotations."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
"""A NumPy array of any dtype. ``schema`` uses this annotation to check the fields of files."""

Seed = int | np.random.Generator | None
"""Seed of a random generator; None gives unpredictable numbers."""

# Types of fields whose numbers may be complex or not finite, or must be within bounds. These marks
# define what constructors and files accept. A tuple as mark lists the accepted values.
ComplexArray = Annotated[Array, "complex"]
GappyArray = Annotated[Array, "NaN"]
UnboundedArray = Annotated[Array, "Inf"]
PositiveArray = Annotated[Array, "> 0"]
GappyPositiveArray = Annotated[Array, "> 0", "NaN"]
NonNegativeArray = Annotated[Array, "≥ 0"]
AnyFloat = Annotated[float, "NaN", "Inf"]
Positive = Annotated[float, "> 0"]
NonNegative = Annotated[float, "≥ 0"]
Fraction = Annotated[float, "> 0", "≤ 1"]
Count = Annotated[int, "≥ 0"]
PositiveInt = Annotated[int, "> 0"]


class Hint(NamedTuple):
    """Classes that an annotation allows, and its marks."""

    kinds: tuple[Any, ...]
    optional: bool
    marks: tuple[Any, ...]


@cache
def parse_hint(hint: Any) -> Hint:
    """Return a parsed annotation. A mark that is a class or a union replaces the annotation."""
    marks: list[Any] = []
    if get_origin(hint) is Annotated:
        hint, *marks = get_args(hint)
        hint = next((mark for mark in marks if not isinstance(mark, str | tuple)), hint)
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    present = tuple(kind for kind in kinds if kind is not NoneType)
    if get_origin(present[0]) is Annotated:
        return parse_hint(present[0])._replace(optional=True)
    own = tuple(mark for mark in marks if isinstance(mark, str | tuple))
    return Hint(present, len(present) < len(kinds), own)


def rebuilt(record: Any) -> tuple[Any, ...]:
    """Return the ``__reduce__`` of a dataclass whose constructor makes arrays read-only."""
    return type(record), tuple(getattr(record, field.name) for field in fields(record))


def brief_repr(record: Any) -> str:
    """Return the repr of a named tuple or dataclass, with shapes instead of arrays."""
    names = getattr(record, "_fields", None) or [field.name for field in fields(record)]
    parts = ", ".join(f"{name}={_brief(getattr(record, name))}" for name in names)
    return f"{type(record).__name__}({parts})"


def _brief(value: Any) -> str:
    if isinstance(value, list):
        return f"<list of {len(value)}>"
    shape = getattr(value, "shape", ())
    return f"<{type(value).__name__} {tuple(shape)}>" if len(shape) else repr(value)


class Forecast(NamedTuple):
    """Forecast and bounds of its prediction interval, as three arrays of the same shape.

    See Also
    --------
    eigenecho.LinearESN : ``forecast(interval=)`` returns a Forecast.
    eigenecho.Forecaster : ``predict(interval=)`` returns a Forecast if y is an array.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> series = ee.tasks.mso(3, steps=400) + np.random.default_rng(0).normal(0, 0.1, (400, 1))
    >>> esn = ee.LinearESN(50, warmup=50, ridge="auto", seed=0).fit(series[:-1], series[1:])
    >>> mean, lower, upper = esn.forecast(20, interval=0.9)
    >>> bool(((lower < mean) & (mean < upper)).all())
    True
    """

    mean: Any
    lower: Any
    upper: Any

    def __repr__(self) -> str:
        return brief_repr(self)
