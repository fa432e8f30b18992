"""Training: from series to the weights of a readout, in one batch, in parts, or row by row."""

from eigenecho.training.evidence import Evidence
from eigenecho.training.gaps import PartedEvidence, TrainedParts, train_with_gaps
from eigenecho.training.gather import Gathered, check_range, gather, rows_of
from eigenecho.training.passes import Passes
from eigenecho.training.posterior import Part, Posterior
from eigenecho.training.problem import (
    RULES,
    SOLVERS,
    Block,
    Fold,
    Problem,
    Settings,
    check_lengths,
    filled,
    pose,
)
from eigenecho.training.recursive import Learnt, RecursiveLeastSquares, check_rates
from eigenecho.training.ridges import told
from eigenecho.training.train import Trained, lowest, train, train_by
from eigenecho.training.update import update
