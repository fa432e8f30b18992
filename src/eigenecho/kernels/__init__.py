"""Loops over time, one signature each: a readable reference and compiled ones.

``kernels.reference`` is the specification; what this package exports is the compiled path.
"""

from eigenecho.kernels.compiled import (
    absorb_row,
    back_substitute,
    closed_loop,
    scan,
    scan_readout,
    step,
    step_readout,
)
from eigenecho.kernels.forms import Dense, Diagonal, Form, Readout, Sparse, dense, diagonal, sparse

__all__ = [
    "Dense",
    "Diagonal",
    "Form",
    "Readout",
    "Sparse",
    "absorb_row",
    "back_substitute",
    "closed_loop",
    "dense",
    "diagonal",
    "scan",
    "scan_readout",
    "sparse",
    "step",
    "step_readout",
]
