"""Readouts: statistics that merge, and ridge solutions from them."""

from eigenecho.readout.factorised import EPS, Factorised
from eigenecho.readout.gram import Gram
from eigenecho.readout.lags import Lags, against, correlate, transform_length
from eigenecho.readout.likelihood import (
    Likeliest,
    Likelihood,
    check_targets,
    likeliest,
    log_density,
)
from eigenecho.readout.moments import Moments, products, resonant
from eigenecho.readout.normal_equations import NormalEquations, factors, solved
from eigenecho.readout.penalty import Penalty
from eigenecho.readout.remainder import Remainder
from eigenecho.readout.statistic import Accumulated, Residuals, Statistic
from eigenecho.readout.triangle import Triangle, annihilate, check_upper, is_regular
