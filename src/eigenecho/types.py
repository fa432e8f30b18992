"""Types of annotations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""A NumPy array of any floating dtype."""

Seed = int | np.random.Generator | None
"""What a random draw starts from; None for fresh entropy."""
