"""Conversion of networks from other libraries, and adapters for these libraries."""

from eigenecho.interop.npz import from_npz
from eigenecho.interop.reservoirpy_models import from_reservoirpy

__all__ = ["from_npz", "from_reservoirpy"]
