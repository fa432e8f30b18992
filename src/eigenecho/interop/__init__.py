"""Networks of other libraries, and our models for use inside them."""

from eigenecho.interop.npz import from_npz
from eigenecho.interop.reservoirpy_models import from_reservoirpy

__all__ = ["from_npz", "from_reservoirpy"]
