"""Training: from series to the weights of a readout, in one batch, in parts, or row by row.

- ``structured``: a reservoir that settles within the series is trained from lagged correlations,
  which do not depend on the reservoir, so that ``search`` computes them once. Others are run, in
  cache.
- ``refine``: the Cholesky factor of XᵀX corrects weights by the true residuals of the series. A
  round shrinks the error by a factor that measures how far off XᵀX was. Two or three rounds are
  usual; a factor above 0.3 leads to ``qr`` instead. The effect of a step δ = A⁻¹g is known before
  it is taken, from gᵀδ, so that the last step needs no pass over the rows.
- ``ridge``: one function selects the ridge, by marginal likelihood ("auto", see
  ``readout.likelihood``) or by errors on held-out rows.
- ``evidence``: statistics, penalty, ridge and weights, kept so that training can continue.
  Outputs that are missing at different rows have different XᵀX, and are groups with one ridge.
- ``update``: new rows are merged. Merged normal equations are not solved anew, which would lose
  half of the digits: only the change that the new rows require is solved for.
  ``rounding_error`` estimates what rounding costs, and warns.
- ``recursive``: a learner rotates each row into a triangle, O(N²), and never squares it.
- ``posterior``: x A⁻¹ xᵀ of new rows gives the uncertainty of the weights in prediction
  intervals.
"""

from eigenecho.training.evidence import Evidence, GroupEvidence
from eigenecho.training.gather import Block, Fold, Gathered, check_range, gather
from eigenecho.training.posterior import Part, Posterior
from eigenecho.training.problem import Problem, check_lengths, filled, hold_out, pose
from eigenecho.training.recursive import Learnt, RecursiveLeastSquares, check_rates
from eigenecho.training.ridge import held_out_errors, lowest, select_ridge
from eigenecho.training.settings import SOLVERS, Settings
from eigenecho.training.train import Trained, train
from eigenecho.training.update import update
