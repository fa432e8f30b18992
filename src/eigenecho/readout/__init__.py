"""Readouts: mergeable statistics, and ridge solutions computed from them.

- ``Triangle`` reflects new rows into the triangle with LAPACK's ``tpqrt``. It gives EᵀE of the
  residuals of any weights without squaring rounding errors, so that errors on held-out rows are
  true residuals.
- A single ridge is solved on [R; √α L], so that L is never inverted. Several ridges share one
  factorisation (``factorised``), and so do input scalings: they scale the states, and so the
  ridge.
- An unpenalised bias is the first column: eliminating it drops the first row of R.
- The columns [1, y(t−1)] are nearly parallel where y is far from zero, so their weights come from
  an orthogonal solution, too.
- ``Gram`` holds half of the digits of the rows. It is used directly with ``solver="gram"``, and
  otherwise refined on true residuals (``training.refine``).
- XᵀX without states: r(t) = λ r(t−1) + a(t) B makes Σ r_i r_j a quotient of a few sums over time
  (``moments``), which follow from correlations of the data alone (``lags``). The quotient divides
  by 1 − λ_i λ_j: modes for which that is below 1e-2 are summed directly.
"""

from eigenecho.readout.factorised import EPS, Factorisation
from eigenecho.readout.gram import Gram, Remainder
from eigenecho.readout.lags import Lags, against, correlate, transform_length
from eigenecho.readout.likelihood import (
    Likelihood,
    SelectedRidge,
    check_targets,
    likeliest,
    log_density,
)
from eigenecho.readout.moments import Moments, products, resonant
from eigenecho.readout.normal_equations import NormalEquations, factors, solved
from eigenecho.readout.penalty import Penalty
from eigenecho.readout.statistic import Accumulator, PassResult, Residuals
from eigenecho.readout.triangle import Triangle, annihilate, check_upper, is_regular

Statistic = Gram | Triangle
"""A statistic that a readout is solved from."""
