"""The array type of annotations: a NumPy array of any floating dtype."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
