"""Types of annotations."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""A NumPy array of any floating dtype."""

Seed = int | np.random.Generator | None
"""What a random draw starts from; None for fresh entropy."""

# Fields of stored classes whose numbers need not be real and finite.
ComplexArray = Annotated[Array, "complex"]
GappyArray = Annotated[Array, "NaN"]
UnboundedArray = Annotated[Array, "Inf"]
AnyFloat = Annotated[float, "NaN or Inf"]
