"""Training: from series to the weights of a readout, in one batch, in parts, or row by row.

Read in this order: ``settings`` → ``problem`` (series, and passes over their rows) → ``train``
(solver and ridge).

- ``structured``: a reservoir that settles within the series is trained from lagged correlations,
  which do not depend on the reservoir, so that ``search`` computes them once. Others are run, in
  cache.
- ``refine``: the Cholesky factor of XᵀX corrects weights by the true residuals of the series. A
  round shrinks the error by a factor that measures how far off XᵀX was. Two or three rounds are
  usual; a factor above 0.3 leads to ``qr`` instead. The effect of a step δ = A⁻¹g is known before
  it is taken, from gᵀδ, so that the last step needs no pass over the rows.
- ``train``: tries solvers in turn. One function selects the ridge, by marginal likelihood
  ("auto", see ``readout.likelihood``) or by errors on held-out rows.
  ``Evidence`` holds statistics, penalty, ridge and weights, stored so that training can continue.
  Outputs that are missing at different rows have different XᵀX, and are groups with one ridge.
- ``update``: new rows are merged. Merged normal equations are not solved anew, which would lose
  half of the digits: only the change that the new rows require is solved for. The effect of
  rounding is estimated, with a warning if it is large.
- ``recursive``: a learner rotates each row into a triangle, O(N²), and never squares it.
"""

from eigenecho.training.problem import (
    AbstractProblem,
    Problem,
    check_lengths,
    check_same_length,
    check_warmup,
    fill_missing,
    pose,
)
from eigenecho.training.recursive import RecursiveLeastSquares, TrainingState, check_rates
from eigenecho.training.settings import SOLVERS, Settings
from eigenecho.training.train import (
    Evidence,
    GroupEvidence,
    TrainedReadout,
    held_out_errors,
    hold_out,
    lowest,
    select_ridge,
    train,
)
from eigenecho.training.update import update
