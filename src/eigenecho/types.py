"""Types of annotations."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
"""A NumPy array of any floating dtype. ``schema`` reads it, so it is no alias of NumPy's."""

Seed = int | np.random.Generator | None
"""What a random draw starts from; None for fresh entropy."""

# Fields whose numbers need not be real and finite, or must be above 0, in files.
ComplexArray = Annotated[Array, "complex"]
GappyArray = Annotated[Array, "NaN"]
UnboundedArray = Annotated[Array, "Inf"]
PositiveArray = Annotated[Array, "> 0"]
GappyPositiveArray = Annotated[Array, "> 0", "NaN"]
NonNegativeArray = Annotated[Array, "≥ 0"]
AnyFloat = Annotated[float, "NaN", "Inf"]
Positive = Annotated[float, "> 0"]
NonNegative = Annotated[float, "≥ 0"]
Count = Annotated[int, "≥ 0"]
PositiveInt = Annotated[int, "> 0"]
