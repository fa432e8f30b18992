"""Loops over time, one signature each.

``reference`` is the specification, as readable loops; ``compiled`` the same for NumPy arrays, fast;
``dispatch`` takes the one that fits.
"""

from eigenecho.kernels.dispatch import backend, convolves, outputs, scan, scan_readout
from eigenecho.kernels.forms import (
    CascadeForm,
    DenseForm,
    DiagonalForm,
    Form,
    Loop,
    Readout,
    SparseForm,
)
