"""Readouts: mergeable statistics, and ridge solutions computed from them.

- ``Triangle`` reflects new rows into the triangle with LAPACK's ``tpqrt``. It
  determines EᵀE of the residuals for any weights without squaring rounding errors, so errors on
  held-out rows are true residuals.
- A single ridge is solved on [R; √α L], so that L is never inverted. Several ridges share one
  factorisation (``factorised``). So do input scalings, because scaling the states is equivalent to
  scaling the ridge.
- An unpenalised bias is the first column: eliminating it drops the first row of R.
- The columns [1, y(t−1)] are nearly parallel if y is far from zero, so their weights are also
  computed by an orthogonal factorisation.
- ``Gram`` keeps half of the digits of the rows, so its solution is refined with true residuals
  (``training.refine``).
- ``moments`` computes XᵀX without states: r(t) = λ r(t−1) + a(t) B makes Σ r_i r_j a quotient of a
  few sums over time. ``lags`` computes these sums from correlations of the data alone. The
  denominator is 1 − λ_i λ_j. Modes for which the denominator is below 1e-2 are summed directly.
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
from eigenecho.readout.statistic import Accumulator, Residuals
from eigenecho.readout.triangle import Triangle, annihilate, check_upper, is_regular

Statistic = Gram | Triangle
"""Statistics from which a readout can be solved."""
