"""Loops over time, one signature each: a readable reference and compiled ones.

``kernels.reference`` is the specification; what this package exports is the compiled path.
"""

from eigenecho.kernels.compiled import (
    absorb_row,
    back_substitute,
    closed_loop,
    run_readout,
    step,
    step_readout,
)
from eigenecho.kernels.forms import (
    Cascade,
    Dense,
    Diagonal,
    Form,
    Loop,
    Readout,
    Sparse,
    cascade,
    check_compressed,
    dense,
    diagonal,
    sparse,
)
from eigenecho.kernels.stages import scan, scan_readout

__all__ = [
    "Cascade",
    "Dense",
    "Diagonal",
    "Form",
    "Loop",
    "Readout",
    "Sparse",
    "absorb_row",
    "back_substitute",
    "cascade",
    "check_compressed",
    "closed_loop",
    "dense",
    "diagonal",
    "run_readout",
    "scan",
    "scan_readout",
    "sparse",
    "step",
    "step_readout",
]
