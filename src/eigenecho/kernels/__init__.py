"""Loops over time, one signature each.

``reference`` is the specification, as readable loops over *forms*, which are tuples of plain
arrays that describe W. ``compiled`` has the same signatures for NumPy arrays and ``tensors`` for
torch. ``dispatch`` selects a kernel by the kind of array and the form, and a scan or a
convolution by their cost (``costs``).

- Modes are independent of each other, so ``compiled.modes`` computes eight steps of a mode (four
  where it sums over modes) before it continues with the next: states stay in registers. Rows
  shorter than 256 are computed in a spare block and copied, as eight short streams at once are
  slow to write.
- Each thread writes columns of its own, at least 256. In fresh memory threads would wait for the
  same page; there each writes rows of its own, after replaying the steps before them in cache.
- Readouts are summed over tiles of at most 512 units, which are added in order. The tiles are the
  same for any number of threads.
- Inf times anything stays Inf or NaN, so the last row of a scan shows whether any row overflowed.
  Sparse products leave zeros out: there every row is checked.
- Cuts change no bit. A state or a sum results from the same operations in the same order wherever
  a pass begins. Where BLAS works on chunks (eight drive columns or outputs, or more), this holds
  for cuts at multiples of 256 rows.
- There is no full fast-math, because overflow checks need NaN and Inf. Sums over modes may be
  reordered. Every compiled function declares its fast-math flags: otherwise numba takes those of
  the first caller, and bits would depend on what was compiled first.
- Threads live for one call, so that no pool can conflict with a fork.
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
