"""Costs on one core, by which one algorithm is preferred to another.

They are nanoseconds per step, operations or bytes, measured once, so that a choice never depends on
the load of a machine.
"""

# Steps of each form of W

MODE = 0.6
"""One mode."""

CONNECTION, UNIT = 0.6, 1.0
"""One connection of a sparse W, and one unit of it."""

ENTRY = 0.3
"""One entry of a dense matrix that multiplies one state at a time."""

COUPLING = 0.1
"""One entry of a dense matrix that multiplies a chunk of states."""

STAGE = 120.0
"""Fixed cost of a block."""

WORTH_A_BASIS = 0.5
"""Cost of a cascade, over that of W itself, below which it is preferred."""

SPARSE_BELOW = 0.2
"""Density up to which a compiled sparse product is cheaper than BLAS."""

# Outputs of a whole series

ALONE = 0.17
"""One mode with a fused readout, for one drive column and one output."""

FUSED, PER_COLUMN = 0.35, 0.1
"""One mode with more drive columns or outputs, and the addition for each of them."""

TRANSFORM, PRODUCT = 10.0, 4.0
"""One column transformed for a convolution, and one pair of columns multiplied."""

WORTH_A_TRANSFORM = 0.5
"""Cost of a convolution, over that of the scan, below which it is preferred."""

# Sums over time

STEP, SUM = 0.5, 0.15
"""One unit in one step, and the addition for each column that it is summed against."""

CORRELATION, PAIR = 15.0, 0.2
"""One sample of a column in a correlation, and a pair of columns relative to one column."""

SPECTRA_BYTES = 1 << 26
"""Largest memory for correlations of all columns with each other."""

# Readouts, in operations

QUICK_FLOPS = 4e9
"""Up to this many (a fraction of a second) the orthogonal solver is used without alternatives."""

QR_FLOPS = 4e11
"""Up to this many (seconds) it is preferred to normal equations that cost as many."""
