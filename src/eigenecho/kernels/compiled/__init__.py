"""The kernels of ``reference`` for NumPy arrays, compiled by numba."""

from eigenecho.kernels.compiled.scans import (
    observe,
    run_closed_loop,
    run_readout,
    scan,
    scan_readout,
    step,
    step_readout,
)
from eigenecho.kernels.compiled.steps import absorb_row, back_substitute
