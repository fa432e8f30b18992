"""Conversion of networks from other libraries, and adapters for these libraries."""

from eigenecho.interop.reservoirpy_models import from_reservoirpy

__all__ = ["from_reservoirpy"]
