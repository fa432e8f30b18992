"""Loops over time, with the same signatures for all kinds of arrays.

``reference`` is the specification: readable loops over *forms*, which are tuples of plain arrays
that describe W. ``compiled`` has the same functions for NumPy arrays, and ``tensors`` for torch.
``dispatch`` selects a kernel by the kind of array and the form, and chooses between a scan and a
convolution by their costs (``costs``).

- Loops over modes are plain and planar (see ``compiled.modes``), so the compiler vectorises them.
  For a single drive column and many units, four steps of a mode are computed before the next one,
  so that states stay in registers.
- Readouts are computed for tiles of at most 512 units on threads, and their results are added in
  order. The tiles are the same for any number of threads. Several series share a call.
- Inf times any number is Inf or NaN, so the last row of a scan shows whether any row overflowed.
  Sparse products skip zeros, so every row is checked.
- Results do not depend on how a series is split: a state or a sum results from the same
  operations in the same order wherever a pass begins. If BLAS works on chunks (for eight or more
  drive columns or outputs), this holds for splits at multiples of 256 rows.
- Full fast-math is not used, because overflow checks need NaN and Inf. Sums over modes may be
  reordered. Every compiled function declares its fast-math flags; otherwise, numba would use those
  of the first caller, and results would depend on the order of compilation.
- Threads exist only during a call, so that they cannot conflict with a fork.
"""

from eigenecho.kernels.dispatch import (
    backend,
    observe,
    read_out,
    scan,
    scan_readout,
    should_convolve,
)
from eigenecho.kernels.forms import (
    CustomForm,
    DenseForm,
    DiagonalForm,
    FeatureForm,
    Feedback,
    Form,
    Readout,
    SparseForm,
)
