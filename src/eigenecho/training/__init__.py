"""Training: from series to the weights of a readout, in one batch, in parts, or row by row."""

from eigenecho.training.evidence import Evidence, GroupEvidence
from eigenecho.training.gather import Block, Fold, Gathered, check_range, gather
from eigenecho.training.posterior import Part, Posterior
from eigenecho.training.problem import Problem, check_lengths, filled, hold_out, pose
from eigenecho.training.recursive import Learnt, RecursiveLeastSquares, check_rates
from eigenecho.training.ridge import held_out_errors, lowest, select_ridge
from eigenecho.training.settings import SOLVERS, Settings
from eigenecho.training.train import Trained, train
from eigenecho.training.update import update
