"""Training of readouts from series, in one batch, in parts, or row by row.

Read in this order: ``settings`` → ``passes`` (what solvers need of a problem) →
``training_series`` and ``problem`` (series in memory, and passes over their rows) → ``solvers``.

- ``sums``: a reservoir that settles within the series is trained from lagged correlations.
  These do not depend on the reservoir, so ``search`` computes them once. Other reservoirs are run
  in chunks that fit into the cache.
- ``refine``: weights are corrected with the Cholesky factor of XᵀX and the true residuals of the
  series. Each round reduces the error by a factor that depends on the accuracy of XᵀX. Two or three
  rounds are usual; if the factor exceeds 0.3, the refinement fails. The effect of a step δ = A⁻¹g
  is known from gᵀδ before the step is taken, so the last step needs no pass over the rows.
- ``solvers``: ``normal`` refines the solution of normal equations, from sums over time where they
  apply, and ``qr`` factorises the rows. "auto" tries ``normal`` first if the costs in
  ``kernels.costs`` promise that it is faster, and uses ``qr`` if XᵀX has too few digits.
- ``selection``: the ridge is selected by marginal likelihood ("auto", see ``readout.likelihood``)
  or by errors on held-out rows.
- ``evidence``: statistics, penalty, ridge and weights, so that training can continue. Outputs that
  are missing in different rows have different XᵀX, so they are separate problems (``parts``).
- ``update``: new rows are merged. Solving merged normal equations again would lose half of the
  digits, so only the change of the weights is computed. The effect of rounding errors is estimated,
  and a warning is issued if it is large.
- ``recursive``: a learner rotates each row into a triangle in O(N²), without forming XᵀX.
"""

from eigenecho.training.evidence import Evidence
from eigenecho.training.passes import AbstractProblem
from eigenecho.training.problem import (
    Problem,
    check_lengths,
    check_same_length,
    check_warmup,
    drop_unweighted,
    fill_missing,
    pose,
)
from eigenecho.training.recursive import RecursiveLeastSquares, TrainingState, check_rates
from eigenecho.training.selection import held_out_errors, hold_out, lowest, select_ridge
from eigenecho.training.settings import SOLVERS, Settings, Solver, parameters_of
from eigenecho.training.solvers import TrainedReadout, train
from eigenecho.training.update import update
