"""What things cost on one core: the numbers by which one way is taken rather than another.

Nanoseconds a step, operations, bytes: measured once. Their ratios decide, everywhere the same, so
that a choice never depends on what else a machine is doing.
"""

# Steps of each form of W

MODE = 0.6
"""A mode."""

CONNECTION, UNIT = 0.6, 1.0
"""A connection of a sparse W, and a unit of it."""

ENTRY = 0.3
"""An entry of a dense matrix that meets one state at a time."""

COUPLING = 0.1
"""An entry of a dense matrix that meets a chunk of states at once."""

STAGE = 120.0
"""Having a block at all."""

WORTH_A_BASIS = 0.5
"""Cost of a cascade, over that of W itself, from which it is not worth a change of basis."""

SPARSE_BELOW = 0.2
"""Density up to which a compiled sparse product is cheaper than BLAS."""

# Outputs of a whole series

ALONE = 0.17
"""A mode with the readout fused in, for one column of drive and one output."""

FUSED, PER_COLUMN = 0.35, 0.1
"""A mode with more of them, and what each drive column and each output adds."""

TRANSFORM, PRODUCT = 10.0, 4.0
"""A column transformed for a convolution, and a pair of columns multiplied."""

WORTH_A_TRANSFORM = 0.5
"""Cost of a convolution, over that of the scan, from which it is not worth its detours."""

# Sums over time

STEP, SUM = 0.5, 0.15
"""A unit in one step, and what each column that it is summed against adds."""

CORRELATION, PAIR = 15.0, 0.2
"""A sample of a column in a correlation, and a pair of columns over one column."""

SPECTRA_BYTES = 1 << 26
"""What correlations of all columns with each other may take."""

# Readouts, in operations

QUICK_FLOPS = 4e9
"""Up to this many (a fraction of a second) the orthogonal solver is taken outright."""

QR_FLOPS = 4e11
"""Up to this many (seconds) it is preferred to normal equations that cost as many."""
