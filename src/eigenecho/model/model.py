"""A trained network as a value: reservoir and readout."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eigenecho import kernels, storage
from eigenecho.arrays import to_host
from eigenecho.basis import Basis, DrawnBasis
from eigenecho.checks import check_flag, check_known, check_range, check_real
from eigenecho.errors import Shown, bad_argument
from eigenecho.model.certificate import Certificate
from eigenecho.model.forecast import are_several, forecast, forecast_several
from eigenecho.model.intervals import with_interval
from eigenecho.model.learner import Learner
from eigenecho.model.predict import predict_series
from eigenecho.model.reduce import reduce
from eigenecho.model.reduction import Reduction
from eigenecho.model.state import State
from eigenecho.model.stream import Stream
from eigenecho.progress import Report
from eigenecho.readout import Penalty
from eigenecho.reservoir import Reservoir
from eigenecho.scaling import Scaling
from eigenecho.schema import NOT_STORED
from eigenecho.series import as_rows, as_series
from eigenecho.spectra import Spectrum
from eigenecho.tensors import checked_device, takes_tensors
from eigenecho.threads import one_blas_thread
from eigenecho.training import Learnt, Problem, check_rates, filled
from eigenecho.transition import Diagonal
from eigenecho.types import Array


class Matrices(NamedTuple):
    """The weights of the plain equations, the leaking rate included.

    r(t) = r(t−1) W + u(t) W_in + bias + y(t−1) W_fb;  y(t) = [1, y(t−1), r(t)] W_out

    See Also
    --------
    eigenecho.LinearModel : ``matrices`` gives them

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(20, spectrum="matrix", warmup=50, seed=0).fit(series[:-1], series[1:])
    >>> plain = esn.model_.matrices()
    >>> plain.W.shape, plain.W_in.shape, plain.W_out.shape
    ((20, 20), (1, 20), (21, 1))
    """

    W: Any
    W_in: Array
    bias: Array | None
    W_fb: Array | None
    W_out: Array


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel:
    """y(t) = [1, y(t−1), r(t)] W_out on a reservoir.

    Parameters
    ----------
    reservoir : Reservoir
    W_out : array (N', D_out)
        Rows [1, y(t−1), r], the first two where the flags say so.
    readout_bias, output_to_readout : bool
        Whether W_out has a row for the constant, and rows for y(t−1).
    basis : Basis, optional
        The basis that the reservoir is in, where it is known and not that of the neurons.
    inputs, outputs : Scaling, optional
        Standardisation around the network, in force in closed loops too.
    certificate : Certificate or Reduction, optional
        Of a converted network: how it steps, and how far it is from the original. Of one that was
        made smaller: what it keeps, and what it promises.
    device : str, optional
        Where answers lie that no tensor says the device of; None for NumPy arrays.

    See Also
    --------
    eigenecho.LinearESN : trains one, its ``model_``
    eigenecho.diagonalize : converts weights into one

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(50, warmup=50, ridge=1e-10, seed=0).fit(series[:-1], series[1:])
    >>> model = esn.model_
    >>> model.units, model.predict(series).shape
    (50, (400, 1))
    """

    reservoir: Reservoir
    W_out: Array
    readout_bias: bool = True
    output_to_readout: bool = False
    basis: Basis | DrawnBasis | None = None
    inputs: Scaling | None = None
    outputs: Scaling | None = None
    certificate: Certificate | Reduction | None = None
    device: str | None = field(default=None, metadata=NOT_STORED)

    def __post_init__(self) -> None:
        check_flag(self.readout_bias, "readout_bias")
        check_flag(self.output_to_readout, "output_to_readout")
        if np.ndim(self.W_out) != 2 or np.shape(self.W_out)[1] < 1:
            raise bad_argument("W_out", Shown(f"shape {np.shape(self.W_out)}"), "shape (N', D_out)")
        check_real(self.W_out, "W_out")
        if self.W_out.dtype not in (np.float32, np.float64):
            object.__setattr__(self, "W_out", self.W_out.astype(np.float64))
        size = self.readout_bias + self.output_to_readout * self.D_out + self.reservoir.units
        if len(self.W_out) != size:
            rows = "1 + " * self.readout_bias + "D_out + " * self.output_to_readout + "N"
            raise bad_argument("W_out", Shown(f"shape {self.W_out.shape}"), f"{rows} = {size} rows")
        W_fb = self.reservoir.W_fb
        if W_fb is not None and len(W_fb) != self.D_out:
            raise bad_argument("W_fb", Shown(f"shape {W_fb.shape}"), f"D_out = {self.D_out} rows")
        layout = self.reservoir.transition.layout
        basis = self.basis
        if basis is not None and (basis.units, (basis.block, basis.n_real)) != (self.units, layout):
            raise bad_argument("basis", basis, f"the basis of {self.reservoir.transition!r}")
        for name, columns in (("inputs", self.D_in), ("outputs", self.D_out)):
            scaling = getattr(self, name)
            if scaling is not None and np.shape(scaling.mean) != (columns,):
                got = Shown(f"scaling of {np.size(scaling.mean)} columns")
                raise bad_argument(name, got, f"a scaling of {columns} columns")

    def check(self) -> None:
        """Raise where numbers of a file are beyond the range of the model's dtype."""
        check_range(self.W_out, "W_out", self.reservoir.dtype)
        for name, scaling in (("inputs", self.inputs), ("outputs", self.outputs)):
            if scaling is not None:
                check_range(scaling.mean, name, self.reservoir.dtype)
                check_range(scaling.scale, name, self.reservoir.dtype)

    @classmethod
    def of(cls, problem: Problem, weights: Array) -> LinearModel:
        """The network of a problem with the weights (N', D_out) that solve it."""
        return cls(
            problem.reservoir,
            np.ascontiguousarray(weights, problem.reservoir.dtype),
            problem.fit_bias,
            problem.output_to_readout,
            problem.basis,
            *problem.scalings,
        )

    def problem(
        self, inputs: list[Array], outputs: list[Array], penalty: Penalty, starts: list[Any]
    ) -> Problem:
        """The problem of training it further, on series in the caller's units."""
        targets, observed = filled([self.from_user(y) for y in outputs])
        return Problem(
            self.reservoir,
            [self.own_inputs(u) for u in inputs],
            targets,
            penalty,
            self.readout_bias,
            self.output_to_readout,
            self.basis,
            (self.inputs, self.outputs),
            [None if s is None else (s.r, self.from_user(np.asarray(s.y))) for s in starts],
            observed,
        )

    @property
    def units(self) -> int:
        """N."""
        return self.reservoir.units

    @property
    def D_in(self) -> int:
        """The number of input columns."""
        return len(self.reservoir.W_in)

    @property
    def D_out(self) -> int:
        """The number of output columns."""
        return int(np.shape(self.W_out)[1])

    @property
    def is_diagonal(self) -> bool:
        """Whether every state is a mode of its own, a step N multiplications."""
        return isinstance(self.reservoir.transition, Diagonal)

    @property
    def closed(self) -> bool:
        """Whether the output comes back, into the reservoir or the readout."""
        return self.reservoir.W_fb is not None or self.output_to_readout

    @cached_property
    def readout(self) -> kernels.Readout:
        """W_out in the parts that the kernels take."""
        W_out = np.asarray(self.W_out, self.reservoir.dtype)
        D = self.D_out
        head = int(self.readout_bias)
        tail = head + D * self.output_to_readout
        return kernels.Readout(
            W_out[0].copy() if head else np.zeros(D, W_out.dtype),
            W_out[head:tail].copy() if tail > head else np.zeros((D, D), W_out.dtype),
            np.ascontiguousarray(W_out[tail:].T),
        )

    @property
    def spectrum(self) -> Spectrum:
        """The eigenvalues, the leak included."""
        return self.reservoir.spectrum

    @property
    def effective_radius(self) -> float:
        """Max |λ'|, the leak included."""
        return self.reservoir.spectrum.radius

    @takes_tensors
    def inference(self, series: int | Array) -> str:
        """How ``predict`` computes a series (T, D_in), or an ordinary one of that many steps.

        "closed loop" step by step on its own output, "scan" step by step with the readout fused
        in, or "convolution" with the impulse response, whose cost does not depend on the units.
        A series with a spike is not ordinary: it is scanned, since a convolution would spread
        the spike's rounding over the steps around it.
        """
        if self.closed:
            return "closed loop"
        reservoir = self.reservoir
        drive, steps = None, series
        if not isinstance(series, (int, np.integer)):
            u = as_rows(series, "series", self.D_in, reservoir.dtype)
            drive, steps = reservoir.drive(self.own_inputs(u), None), len(u)
        columns = len(reservoir.B)
        fast = kernels.convolves(reservoir.form, int(steps), columns, self.D_out, drive)
        return "convolution" if fast else "scan"

    def zero_state(self) -> State:
        """R(0) = 0 and y(0) = 0, the latter in the network's own units."""
        y = np.zeros(self.D_out, self.reservoir.dtype)
        return State(self.reservoir.zero_state(), y if self.outputs is None else self.to_user(y))

    def from_user(self, y: Array) -> Array:
        """Outputs in the network's own units."""
        return y if self.outputs is None else self.outputs.forward(y)

    def to_user(self, y: Array) -> Array:
        """Outputs in the caller's units."""
        return y if self.outputs is None else self.outputs.backward(y)

    def covariance_to_user(self, covariance: Array) -> Array:
        """A covariance of outputs in the caller's units."""
        if self.outputs is None:
            return covariance
        scale = self.outputs.scale
        with np.errstate(over="ignore"):  # what no float can hold is infinite
            squares = np.outer(scale, scale)
            if np.all(np.isfinite(squares)):
                return covariance * squares
            return covariance * scale[:, None] * scale

    def own_inputs(self, u: Array) -> Array:
        """Inputs in the network's own units."""
        return u if self.inputs is None else self.inputs.forward(u)

    def to(self, device: Any) -> LinearModel:
        """The same network, which answers on a device of torch where no tensor says which.

        Weights are those of the host, and so are files: a network can be loaded anywhere.
        """
        return replace(self, device=checked_device(device))

    @property
    def _device(self) -> str | None:
        return self.device

    @one_blas_thread()
    def matrices(self, basis: str = "neuron") -> Matrices:
        """All weights, in the basis of ``"neuron"`` or as they are at ``"work"``.

        For standardised data they act on standardised columns.
        """
        r = self.reservoir
        check_known(basis, "basis", ("neuron", "work"))
        W = r.transition
        if basis == "work" or W.in_neuron_basis:
            return Matrices(W.matrix, r.W_in, r.bias, r.W_fb, self.W_out)
        known = self.need_basis()
        head = len(self.W_out) - self.units
        W_out = np.concatenate(
            [self.W_out[:head], known.weights_to_neuron(np.asarray(self.W_out[head:]))]
        )
        W_in, bias, W_fb = r.weights(known.states_to_neuron)
        return Matrices(known.matrix(W.dense), W_in, bias, W_fb, W_out)

    def need_basis(self) -> Basis:
        """The eigenbasis, or an error that says why there is none."""
        if self.basis is None and isinstance(self.certificate, Reduction):
            raise ValueError(
                "the neuron basis is unknown: a network that was made smaller has new modes, which "
                "are no neuron's. Ask for basis='work'."
            )
        if self.basis is None:
            raise ValueError(
                "the neuron basis is unknown: with a named spectrum, penalty='identity' draws "
                "the input weights in the eigenbasis directly. Use penalty='neuron', or ask for "
                "basis='work'."
            )
        return self.basis

    @takes_tensors(stays=True)
    def predict(
        self,
        X: Any,
        *,
        y_previous: Any = None,
        initial_state: Any = None,
        return_state: bool = False,
        progress: Report | None = None,
    ) -> Any:
        """Outputs for every row of ``X``, in its shapes.

        Parameters
        ----------
        X : array (T, D_in), array (series, T, D_in) or list of arrays
        y_previous : array (T, D_out), optional
            Row t holds y(t−1): teacher-forces feedback and readout, which otherwise run on the
            model's own output.
        initial_state : State, or one for each series, optional
            Zero by default, whatever ran before.
        return_state : bool
            Return ``(outputs, state)`` instead, with the state at the end of each series.
        progress : callable (done, total), optional
            Called with steps several times a second; changes no bit of the outputs.
        """
        if self.closed and y_previous is None:  # step by step, which no device speeds up
            X = to_host(X)
        series, container = as_series(X, "X", self.D_in, self.reservoir.dtype)
        return predict_series(
            self, series, container, y_previous, initial_state, return_state, progress
        )

    @takes_tensors(stays=True)
    def forecast(
        self,
        horizon: int,
        context: Any = None,
        inputs: Any = None,
        *,
        state: State | None = None,
        interval: float | None = None,
        noise: Any = None,
    ) -> Any:
        """The series that follows ``context`` (or ``state``), each output the next input.

        Parameters
        ----------
        horizon : int
            Number of steps.
        context : array (T, D_in), or several of them, optional
            The series so far. Several, a 3-D array or a list, are forecast together.
        inputs : array (horizon, D_known), optional
            Further input columns that are known ahead, as for ``LinearESN.forecast``.
        state : State, optional
            Where to go on from instead of a context.
        interval : float, optional
            A probability: (mean, lower, upper) come back, for one-step errors of that ``noise``.
        noise : array (D_out, D_out), optional
            Their covariance.
        """
        if context is not None and are_several(context):
            mean = forecast_several(self, horizon, context, inputs, state)
        else:
            mean = forecast(self, horizon, to_host(context), to_host(inputs), state).outputs
        return mean if interval is None else with_interval(self, mean, noise, interval)

    def stream(self, state: State | None = None) -> Stream:
        """An online run with explicit state: ``stream.step(u)``."""
        return Stream(self, state)

    def learner(
        self,
        ridge: float,
        state: State | None = None,
        *,
        forgetting: float = 1.0,
        penalize_bias: bool = True,
    ) -> Learner:
        """An online run that goes on learning: ``learner.step(u, target)``, O(N'²) a step.

        Parameters
        ----------
        ridge : float
            Pulls to the present readout, in the neuron basis where that is known.
        state : State, optional
            Where to start, zero by default.
        forgetting : float
            In ]0, 1]: rows that lie k steps back weigh its k-th power.
        penalize_bias : bool
            Whether the ridge acts on the constant of the readout.
        """
        check_rates(ridge, forgetting)
        free = int(self.readout_bias and not penalize_bias)
        penalty = Penalty(len(self.W_out), free, self.basis)
        known = Learnt.nothing(self.W_out, penalty, ridge)
        return Learner(self, known, penalty, ridge, forgetting, 0, state)

    def reduce(
        self, units: int | None = None, tol: float | None = None, data: Any = None
    ) -> LinearModel:
        """A smaller network of modes, by balanced truncation, with a certificate of how near it is.

        Without ``data`` all inputs count alike, and the error from a zero state is bounded,

            ‖y − ŷ‖₂ ≤ tol ‖G‖∞ ‖u‖₂ for every input,   G the transfer function

        in the network's own units (of standardised columns, where it standardises); a bias counts
        as one more unit impulse. With ``data`` its rows count: it is the smallest stable order
        whose rms error on them is at most ``tol`` times the deviation of y. The last fifth of each
        series is not weighed, and has to keep to it all the same.

        Eigenvalues and all weights are new. The gain of a constant bias is kept exactly, and so are
        the scaling, the readout of y(t−1) and what it means to feed the output back; the neuron
        basis is lost.

        Parameters
        ----------
        units : int, optional
            The number of modes; with ``tol`` the most that there may be.
        tol : float, optional
            The relative error, in ]0, 1[.
        data : X or (X, y), optional
            Series as ``predict`` takes them, and targets: their deviation is what errors are
            measured by, else that of the outputs. A network with y(t−1) needs both.

        Returns
        -------
        LinearModel
            Whose ``certificate`` is a ``Reduction``.
        """
        return reduce(self, units, tol, data).model

    def save(self, path: Any) -> None:
        """Write to a safetensors file; ``eigenecho.load`` reads it back."""
        storage.save(path, self)

    def __repr__(self) -> str:
        loop = ", closed loop" if self.closed else ""
        return (
            f"LinearModel({self.D_in} inputs → {self.units} units "
            f"({self.reservoir.transition.name}) → {self.D_out} outputs{loop})"
        )
