"""Costs on one core, used to choose between algorithms.

They were measured once and are constants, so that a choice never depends on the load of a machine.
Names that end with ``_NS`` are in nanoseconds.
"""

# Steps of each form of W

MAX_SPARSE_DENSITY = 0.2
"""Share of nonzero entries of W up to which a compiled sparse product is faster than BLAS."""

# Outputs of a whole series

READOUT_NS = 0.02
"""Time of one mode in one step, in nanoseconds."""

READOUT_COLUMN_NS = 0.08
"""Additional time of one mode for each drive column and each output, in nanoseconds per step."""

TRANSFORM_NS = 10.0
"""Time of the Fourier transforms of one drive column or output, in nanoseconds per step."""

PRODUCT_NS = 4.0
"""Time to multiply the spectra of one drive column and one output, in nanoseconds per step."""

MAX_CONVOLUTION_COST = 0.7
"""Cost of a convolution relative to that of a scan, below which the convolution is preferred.

Smaller savings do not justify a convolution.
"""

# Sums over time

SUMS_NS = 1.5e5
"""Time of one pass over a short series, in nanoseconds."""

STATE_SUM_STEP_NS = 30.0
"""Time of one step of a run that sums states over time, in nanoseconds."""

STATE_SUM_NS = 0.2
"""Additional time of one unit in one step, in nanoseconds."""

STATE_SUM_COLUMN_NS = 0.1
"""Additional time of one unit for each column by which states are multiplied, in nanoseconds."""

CORRELATION_NS = 5.0
"""Time of one value of one column in a correlation by Fourier transforms, in nanoseconds."""

CORRELATION_PAIR_COST = 0.2
"""Cost of one pair of columns in a correlation, relative to that of one column."""

LAG_SUM_NS = 0.1
"""Time of one unit for each lag and each column of a correlation, in nanoseconds."""

MAX_CORRELATION_BYTES = 1 << 26
"""Largest memory, in bytes, for the spectra of all pairs of columns of a correlation."""

# Readouts

PAIR_SUM_NS = 10.0
"""Time of one entry of XᵀX that is assembled from sums over time, in nanoseconds."""

CHOLESKY_NS = 0.02
"""Time of one entry of XᵀX and one row of a Cholesky factorisation, in nanoseconds."""

QR_COLUMN_NS = 8.0
"""Time of one column of one row in a QR factorisation, in nanoseconds."""

QR_PAIR_NS = 0.034
"""Additional time of one pair of columns of one row, in nanoseconds."""

TRIANGLE_NS = 0.045
"""Time of one entry and one row of the triangle to which the ridge is added, in nanoseconds."""

QUICK_QR_FLOPS = 4e9
"""Operations up to which QR is preferred if updates need all digits: a tenth of a second."""

MAX_QR_FLOPS = 4e11
"""Operations up to which QR is preferred to normal equations from states: a few seconds."""
