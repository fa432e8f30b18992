"""Trained networks: a reservoir with its readout."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from eigenecho import files, kernels
from eigenecho.arrays import resolve_device, takes_tensors, to_host
from eigenecho.basis import interleave, separate
from eigenecho.checks import as_array, check_finite, check_known, check_real, check_shape, generator
from eigenecho.errors import Words, bad_argument, counted
from eigenecho.model.export import ExportReport, export
from eigenecho.model.forecast import are_several, forecast, forecast_several
from eigenecho.model.intervals import check_sampling, each_context, sampled
from eigenecho.model.learner import Learner
from eigenecho.model.network import Network, State
from eigenecho.model.predict import predict_series
from eigenecho.model.reduce import reduce
from eigenecho.model.stream import Stream
from eigenecho.progress import Report
from eigenecho.readout import Penalty
from eigenecho.series import as_rows, as_series
from eigenecho.threads import one_blas_thread
from eigenecho.training import TrainingState, check_rates
from eigenecho.types import Array, Seed, brief_repr


class Matrices(NamedTuple):
    """Weights of a network as matrices, including the leaking rate.

    r(t) = r(t−1) W + u(t) W_in + bias + y(t−1) W_fb;  y(t) = [1, y(t−1), r(t)] W_out

    See Also
    --------
    eigenecho.LinearModel : ``matrices`` returns them.

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

    def __repr__(self) -> str:
        return brief_repr(self)


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel(Network):
    """Linear echo state network: a reservoir with the readout y(t) = [1, y(t−1), r(t)] W_out.

    Parameters
    ----------
    reservoir : Reservoir
        Reservoir, including its input weights.
    W_out : array (N', D_out)
        Readout weights of [1, y(t−1), r], where the first two parts are optional.
    readout_bias, output_to_readout : bool
        True if W_out has a row for the constant, and if it has rows for y(t−1).
    basis : Basis, optional
        Eigenbasis of the reservoir. None if it is unknown, or if states are in the neuron basis.
    inputs, outputs : Scaling, optional
        Standardisation of inputs and outputs, which also applies in closed loops.
    certificate : Certificate or Reduction, optional
        Differences between a converted or reduced network and the original.
    output_range : OutputRange, optional
        Range of the training targets. Forecasts of a network with features end if they leave it.
    device : str, optional
        Torch device of the results if no argument is a tensor. If None, results are NumPy arrays.

    See Also
    --------
    eigenecho.LinearESN : Estimator whose attribute ``model_`` is a trained model.
    eigenecho.diagonalize : Convert the weights of a network to a model.

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(50, warmup=50, ridge=1e-10, seed=0).fit(series[:-1], series[1:])
    >>> model = esn.model_
    >>> model.units, model.predict(series).shape
    (50, (400, 1))
    """

    @takes_tensors
    def inference(self, series: int | Array) -> str:
        """Return the method of ``predict`` for a series (T, D_in), or for a number of steps.

        The methods are "closed loop" (step by step, with the output fed back), "scan" (step by
        step, with a fused readout) and "convolution" (with the impulse response, at a cost that
        does not depend on the number of units). A series with a spike is scanned, because a
        convolution would spread the rounding error of the spike to neighbouring steps.
        """
        if self.closed:
            return "closed loop"
        reservoir = self.reservoir
        if reservoir.features is not None:
            return "scan"
        drive, steps = None, series
        if not isinstance(series, (int, np.integer)):
            u = as_rows(series, "series", self.D_in, reservoir.dtype)
            drive, steps = reservoir.drive(self.own_inputs(u), None), len(u)
        columns = len(reservoir.B)
        fast = kernels.should_convolve(reservoir.form, int(steps), columns, self.D_out, drive)
        return "convolution" if fast else "scan"

    def to(self, device: Any) -> LinearModel:
        """Return a network whose results are by default on a torch device.

        The weights stay on the host, so a saved network can be loaded anywhere.
        """
        return replace(self, device=resolve_device(device))

    @property
    def _device(self) -> str | None:
        return self.device

    @one_blas_thread()
    def matrices(self, basis: str = "neuron") -> Matrices:
        """Return all weights in the ``"neuron"`` basis or in the working basis, ``"work"``.

        With standardisation, the weights apply to standardised columns.
        """
        r = self.reservoir
        check_known(basis, "basis", ("neuron", "work"))
        W = r.transition
        if basis == "work" or W.in_neuron_basis:
            return Matrices(W.matrix, r.W_in, r.bias, r.W_fb, self.W_out)
        self.need_states("W_out in the neuron basis")
        Q = self.need_basis()
        head, states = np.split(np.asarray(self.W_out), [len(self.W_out) - self.units])
        W_out = np.concatenate([head, Q.weights_to_neuron(states)])
        W_in, bias, W_fb = r.weights(Q.states_to_neuron)
        return Matrices(Q.matrix(W.dense), W_in, bias, W_fb, W_out)

    def with_input_weights(self, W_in: Any) -> LinearModel:
        """Return the same network with other input weights (1, N), in the working basis.

        They are those of ``matrices("work").W_in``, not of ``LinearESN(W_in=)``. States of the
        original network are not states of the new one.

        The weight of the state of each mode is divided by the ratio of its new and old input
        weights, so that the outputs do not change. If the network was trained with ``W_in="ones"``
        on the states R(t), this recovers W_out = γ ⊘ w_in. It requires modes, a single input, no
        feedback to the reservoir, no bias and no features.
        """
        r = self.reservoir
        if not (self.is_diagonal and self.D_in == 1 and r.bias is r.W_fb is r.features is None):
            raise ValueError(
                "Input weights can be exchanged only in networks of modes with a single input, "
                "without feedback to the reservoir, an input bias or features."
            )
        W_in = as_array(W_in, "W_in", f"an array (1, {self.units})")
        check_real(W_in, "W_in")
        check_shape(W_in, "W_in", r.W_in.shape)
        new = replace(r, W_in=W_in.astype(r.dtype))
        n = r.spectrum.real.size
        w_old, w_new = (separate(A[0].astype(np.float64), n) for A in (r.W_in, new.W_in))
        if not np.all(w_new):
            raise bad_argument("W_in", Words("0"), "weights other than 0, to divide W_out by them")
        head, states = np.split(np.asarray(self.W_out), [len(self.W_out) - self.units])
        # w_Re Re r + w_Im Im r = Re(conj(w) r), so readout weights are divided by the conjugate.
        with np.errstate(over="ignore", invalid="ignore"):  # check_finite below reports it
            weights = separate(states.T, n) * np.conj(w_old / w_new)
        states = interleave(weights[:, :n].real, weights[:, n:]).T
        W_out = np.concatenate([head, states], dtype=self.W_out.dtype)
        check_finite(W_out, "W_out", "Use input weights of at least moderate size.")
        return replace(self, reservoir=new, W_out=W_out)

    @takes_tensors(on_device=True)
    def predict(
        self,
        X: Any,
        *,
        y_previous: Any = None,
        initial_state: Any = None,
        return_state: bool = False,
        progress: Report | None = None,
    ) -> Any:
        """Return the output for every row of ``X``, as an array or list like ``X``.

        Parameters
        ----------
        X : array (T, D_in), array (series, T, D_in) or list of arrays
            Input rows of one or several series.
        y_previous : array (T, D_out), optional
            Row t is y(t−1), which replaces the output of the model in the feedback and in the
            readout (teacher forcing).
        initial_state : State, or one for each series, optional
            Initial state, zero by default.
        return_state : bool
            If True, return ``(outputs, state)``, with the state at the end of each series.
        progress : callable (done, total), optional
            Function that is called several times per second with the number of finished steps and
            the total number of steps.
        """
        if self.closed and y_previous is None:  # sequential, so a device would not be faster
            X = to_host(X)
        series, container = as_series(X, "X", self.D_in, self.reservoir.dtype)
        return predict_series(
            self, series, container, y_previous, initial_state, return_state, progress
        )

    @takes_tensors(on_device=True)
    def forecast(
        self,
        horizon: int,
        context: Any = None,
        inputs: Any = None,
        *,
        state: State | None = None,
        interval: float | None = None,
        paths: int | None = None,
        noise: Any = None,
        seed: Seed = 0,
        clip: bool = False,
    ) -> Any:
        """Forecast the series after ``context`` or ``state``; each output is the next input.

        Parameters
        ----------
        horizon : int
            Number of steps.
        context : array (T, D_in), or several of them, optional
            Rows before the forecast. A 3-D array or a list contains several series.
        inputs : array (horizon, D_known), optional
            Further input columns that are known in advance, as in ``LinearESN.forecast``.
        state : State, optional
            State at the forecast origin, as an alternative to a context.
        interval : float, optional
            Coverage of prediction intervals. If it is given, return (mean, lower, upper).
        paths : int, optional
            Number of sample paths. If it is given, return (paths, horizon, D_out).
        noise : array (D_out, D_out), optional
            Covariance of one-step errors, for intervals and paths.
        seed : int or Generator
            Seed of the paths.
        clip : bool
            If True, limit the forecasts of networks with features, as in ``LinearESN.forecast``.
        """
        check_sampling(interval, paths)
        if are_several(context) and (interval is not None or paths is not None):
            options: dict[str, Any] = {"interval": interval, "paths": paths, "noise": noise}
            options |= {"seed": generator(seed), "clip": clip}
            return each_context(
                lambda item: self.forecast(horizon, item, **options), context, inputs, state
            )
        if are_several(context):
            return forecast_several(self, horizon, context, inputs, state, clip)
        run = forecast(self, horizon, to_host(context), to_host(inputs), state, clip)
        return sampled(self, run, noise, None, interval, paths, seed, clip)

    def stream(self, state: State | None = None) -> Stream:
        """Return a stream, which computes one output at a time with ``stream.step(u)``."""
        return Stream(self, state)

    def learner(
        self,
        ridge: float,
        state: State | None = None,
        *,
        forgetting: float = 1.0,
        penalize_bias: bool = True,
    ) -> Learner:
        """Return a learner, which learns one row at a time with ``learner.step(u, target)``.

        Parameters
        ----------
        ridge : float
            Penalty on the distance from the current readout, in the neuron basis if it is known.
        state : State, optional
            Initial state, zero by default.
        forgetting : float
            Forgetting factor in (0, 1]. The weight of a row k steps ago is forgetting^k.
        penalize_bias : bool
            If True, the ridge also penalises the constant of the readout.
        """
        check_rates(ridge, forgetting)
        free = int(self.readout_bias and not penalize_bias)
        penalty = Penalty(len(self.W_out), free, self.basis)
        training_state = TrainingState.initial(self.W_out, penalty, ridge)
        return Learner(self, training_state, penalty, ridge, forgetting, 0, state)

    @takes_tensors
    def reduce(
        self, units: int | None = None, tol: float | None = None, data: Any = None
    ) -> LinearModel:
        """Reduce the number of modes by balanced truncation; return a network with a certificate.

        Without ``data``, all inputs have equal weight, and the error from a zero state is bounded,

            ‖y − ŷ‖₂ ≤ tol ‖G‖∞ ‖u‖₂ for every input,   where G is the transfer function

        in standardised units if the network standardises. A bias counts as an additional unit
        impulse. With ``data``, the result is the smallest stable order whose RMS error on these
        rows is at most ``tol`` times the standard deviation of y. The last fifth of each series is
        held out, and must meet ``tol`` as well.

        The eigenvalues and weights change. The gain of a constant bias, the scaling and the output
        feedback stay the same. The neuron basis is lost.

        Parameters
        ----------
        units : int, optional
            Number of modes, or the maximum number if ``tol`` is given.
        tol : float, optional
            Relative error in (0, 1).
        data : X or (X, y), optional
            Series as in ``predict``, and targets. Errors are relative to the standard deviation of
            the targets, or of the outputs if there are none. A network with feedback needs both.

        Returns
        -------
        LinearModel
            The reduced network. Its ``certificate`` is a ``Reduction``.
        """
        self.need_states("Reduction")
        return reduce(self, units, tol, data)[0]

    def save(self, path: Any) -> None:
        """Write the network to a safetensors file, which ``eigenecho.load`` reads."""
        files.save(path, self)

    def export(
        self, path: Any, *, dtype: str | None = None, state: State | None = None
    ) -> ExportReport:
        """Write the network as C99 or JavaScript source code with a self-test.

        ``network.c`` is written with ``network.h``, and its functions are ``network_init``,
        ``network_step``, ``network_forecast_step`` and ``network_selftest``. ``network.js`` is an
        ES module with the functions ``init``, ``step``, ``forecastStep`` and ``selftest``. See
        :doc:`/guides/deploying`.

        Parameters
        ----------
        path : str or Path
            The suffix, ``.c`` or ``.js``, selects the language. For C, the name must be a C
            identifier.
        dtype : {"float64", "float32"}, optional
            Data type of all numbers and operations, by default that of the network.
        state : State, optional
            Initial state, zero by default.

        Returns
        -------
        ExportReport
            The size of the network. If a compiler (for JavaScript, node) is installed, also the
            largest difference between the exported code and the reference.
        """
        return export(self, path, dtype, state)

    def __repr__(self) -> str:
        loop = ", closed loop" if self.closed else ""
        reservoir = self.reservoir
        features = "" if reservoir.features is None else f" → {reservoir.columns} features"
        return (
            f"LinearModel({counted(self.D_in, 'input')} → {counted(self.units, 'unit')} "
            f"({reservoir.transition.name}){features} → {counted(self.D_out, 'output')}{loop})"
        )
