"""The linear echo state network as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
)
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from eigenecho import files
from eigenecho.arrays import read_only, resolve_device, takes_tensors, to_host
from eigenecho.checks import check_count, check_flag, check_known, check_range, generator
from eigenecho.errors import UnstableWarning, Words, bad_argument, place, warn
from eigenecho.estimators import validation
from eigenecho.estimators.fitted import FittedNetwork, fit_network, largest_targets
from eigenecho.estimators.parameters import Parameters
from eigenecho.model import Forecast, Learner, LinearModel, Matrices, State, Stream
from eigenecho.model.certificate import Reduction
from eigenecho.model.export import ExportReport, export
from eigenecho.model.forecast import are_several, forecast
from eigenecho.model.from_data import learn_spectrum
from eigenecho.model.intervals import check_sampling, each_context, sampled
from eigenecho.model.loop_validation import select_ridge_by_loop
from eigenecho.model.online import as_state, check_labels, initial_states
from eigenecho.model.predict import predict_series, states
from eigenecho.progress import Report
from eigenecho.series import Container
from eigenecho.spectra import Spectrum
from eigenecho.tables import column_labels
from eigenecho.threads import one_blas_thread
from eigenecho.training import (
    Evidence,
    Settings,
    TrainedReadout,
    TrainingState,
    check_lengths,
    check_rates,
    parameters_of,
    pose,
    update,
)
from eigenecho.types import Array, Seed


class LinearESN(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RegressorMixin, BaseEstimator):
    """Linear echo state network, trained by ridge regression and computed in its eigenbasis.

        r(t) = r(t−1) W + u(t) W_in + y(t−1) W_fb,   y(t) = [1, y(t−1), r(t)] W_out

    A series is an array (T, D); several series are a 3-D array (series, T, D) or a list of arrays
    (T_i, D). Every series starts from a zero state, in ``fit`` and in ``predict``.

    Parameters
    ----------
    units : int
        Number of reservoir units, N.
    spectrum : str, Spectrum, array, callable or delay line
        The eigenvalues. The name of a law in ``eigenecho.spectra`` ("uniform", "golden",
        "noisy_golden", "sim", "ring", "log_ring", "time_constants") samples them directly;
        "matrix" draws a random W and diagonalises it. Eigenvalues (a Spectrum or a list) and a
        square matrix are used without changes, and ``units``, ``sr`` and ``rc_connectivity`` are
        then ignored. A law can also be a callable ``(n, sr=, seed=) -> Spectrum``, the sum of a
        Spectrum and a law, or a result of ``spectra.joined``. "data" learns the eigenvalues from
        the training rows, as ``spectra.from_data`` does with ``sr`` as the radius of its large
        network, for a single input. The states of ``eigenecho.delay_line`` are the last input rows,
        and the ridge applies to all of them equally.
    basis : {"eigen", "neuron"}
        Compute in the eigenbasis, O(N) per step, or as the standard network with its matrix W. A
        matrix without an accurate eigenbasis, such as most sparse matrices, runs as W in both.
    sr : float
        Spectral radius, before the leak is applied.
    lr : float
        Leaking rate in (0, 1]: λ' = lr λ + 1 − lr.
    input_scaling : float or array (n_features,)
        Scale of W_in and of the input bias. If it is an array, the bias is scaled by the mean
        magnitude of its elements.
    input_connectivity, rc_connectivity : float
        Fraction of nonzero connections in W_in, and in W for "matrix" and "sim".
    input_bias : bool
        Also drive the reservoir with a constant.
    W_in : array (n_features, N), "ones" or None
        Input weights in the neuron basis, instead of random ones. "ones", for a single input, gives
        each mode the weight 1, so that the states are the R(t) of the paper: the states without
        input weights (see ``model_.with_input_weights``). Weights that are given are multiplied by
        ``input_scaling`` and ``lr``, like random weights.
    feedback : bool
        Drive the reservoir with the previous output: the target in ``fit``, the model's own output
        in ``predict``.
    fb_scaling, fb_connectivity : float
        Scale of W_fb, and fraction of its nonzero connections.
    W_fb : array (n_outputs, N) or None
        Feedback weights in the neuron basis, instead of random ones; they are multiplied by
        ``fb_scaling`` and ``lr``.
    fit_bias, penalize_bias : bool
        Include a constant in the readout, and apply the ridge to it.
    output_to_readout : bool
        Include the previous output in the readout.
    standardize : bool
        Scale inputs and outputs to mean 0 and standard deviation 1. All results, including
        forecasts, are in the original units.
    features : {None, "quadratic", "cubic"}, Features or callable
        Nonlinear features of the states, from ``eigenecho.features``. The rows of the readout are
        [1, y(t−1), s, φ(s)], where s are the states, standardised over the training rows, and φ are
        the features. The ridge applies to all of these columns equally, whatever ``penalty`` is.
    ridge : float, list of floats, "auto" or "loop"
        Ridge penalty α. From a list, the value with the smallest error on the last fifth of the
        training data is selected. "auto" maximises the marginal likelihood of the training
        targets (see :doc:`/ridge`). "loop" minimises the errors of forecasts on three parts of the
        training rows, each left out in turn (see :doc:`/guides/chaotic-systems`). With feedback,
        the selection requires targets whose squares do not overflow or underflow (about 1e-150 to
        1e150), or ``standardize=True``.
    penalty : {"neuron", "identity"}
        Apply the ridge in the neuron basis (αQᵀQ) or in the working basis (αI). With a named
        spectrum, "identity" avoids all N×N matrices and draws W_in directly in the eigenbasis, so
        the two penalties draw different weights from the same seed.
    solver : {"auto", "normal", "qr"}
        "normal" solves the normal equations, computed from sums over time if W is diagonal, and
        refines the solution with exact residuals to full precision. If that fails, "qr", an
        orthogonal factorisation of the rows, is used instead. "auto" uses "normal" if it is
        expected to be faster. ``solver_`` is the solver that was used.
    warmup : int
        Number of steps at the start of each series that are excluded from training and ``score``.
    missing : {"error", "skip"}
        Treat NaN in ``y`` as an error or as missing. With "skip", each output is trained and
        scored on the rows in which it is observed. Outputs that are missing in different rows are
        trained separately, each with its own ridge if it is selected; ``partial_fit``,
        ``learner`` and ``return_std`` are then not available.
    dtype : {"float64", "float32"}
        Type of states and outputs; training sums are always float64.
    seed : int, Generator or None
        Seed of the random weights. The spectrum, eigenvectors, W_in, W_fb, bias and features have
        separate random streams, so a change of one option does not change the others.

    Attributes
    ----------
    model_ : LinearModel
        Reservoir and readout as plain arrays.
    W_out_ : array (N', D_out)
        Readout weights in the working basis, for rows [1, y(t−1), r], or [1, y(t−1), s, φ(s)] with
        features.
    spectrum_ : Spectrum
        Eigenvalues before the leak is applied.
    effective_radius_ : float
        Largest ``|λ'|``, after the leak is applied.
    solver_, ridge_ : str, float
        The solver and the ridge that were used. ``ridge_`` is an array (D_out,) if outputs that
        are missing in different rows have different ridges.
    log_evidence_ : float
        Log marginal likelihood of the training targets, for the ridge that was used. With
        ``ridge="auto"``, it is the largest value among the ridges that pass cross-validation.
    final_state_ : State
        State (r, y) at the end of the last training series, from which ``forecast`` continues.
    noise_covariance_ : array (D_out, D_out)
        Covariance of the one-step errors, estimated from the training residuals.
    noise_ : array (D_out,)
        Variance of the one-step errors of each output, the diagonal of ``noise_covariance_``.

    See Also
    --------
    eigenecho.Forecaster : Automatic forecaster, which requires no choice of parameters.
    eigenecho.DiagonalReservoir : States of a reservoir, for other readouts.
    eigenecho.search : Hyperparameter search.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> X = ee.tasks.mso(3, steps=601)
    >>> esn = ee.LinearESN(units=50, warmup=100, seed=0).fit(X[:-1], X[1:])
    >>> esn.forecast(3).shape
    (3, 1)

    Select the ridge automatically, and get the uncertainty of predictions:

    >>> noisy = X + 0.1 * np.random.default_rng(0).normal(size=X.shape)
    >>> esn = ee.LinearESN(50, warmup=100, ridge="auto", seed=0).fit(noisy[:-1], noisy[1:])
    >>> mean, deviation = esn.predict(noisy, return_std=True)
    >>> bool(0.1 < deviation[-1, 0] < 0.2)
    True
    """

    def __init__(
        self,
        units: int = 100,
        *,
        spectrum: Any = "golden",
        basis: str = "eigen",
        sr: float = 0.9,
        lr: float = 1.0,
        input_scaling: Any = 1.0,
        input_connectivity: float = 1.0,
        rc_connectivity: float = 1.0,
        input_bias: bool = False,
        W_in: Any = None,
        feedback: bool = False,
        fb_scaling: float = 1.0,
        fb_connectivity: float = 1.0,
        W_fb: Any = None,
        fit_bias: bool = True,
        penalize_bias: bool = True,
        output_to_readout: bool = False,
        standardize: bool = False,
        features: Any = None,
        ridge: Any = 1e-8,
        penalty: str = "neuron",
        solver: str = "auto",
        warmup: int = 0,
        missing: str = "error",
        dtype: str = "float64",
        seed: Seed = None,
    ) -> None:
        self.units = units
        self.spectrum = spectrum
        self.basis = basis
        self.sr = sr
        self.lr = lr
        self.input_scaling = input_scaling
        self.input_connectivity = input_connectivity
        self.rc_connectivity = rc_connectivity
        self.input_bias = input_bias
        self.W_in = W_in
        self.feedback = feedback
        self.fb_scaling = fb_scaling
        self.fb_connectivity = fb_connectivity
        self.W_fb = W_fb
        self.fit_bias = fit_bias
        self.penalize_bias = penalize_bias
        self.output_to_readout = output_to_readout
        self.standardize = standardize
        self.features = features
        self.ridge = ridge
        self.penalty = penalty
        self.solver = solver
        self.warmup = warmup
        self.missing = missing
        self.dtype = dtype
        self.seed = seed

    @takes_tensors(on_device=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Draw the reservoir and train the readout.

        Parameters
        ----------
        X : array (T, D_in), array (series, T, D_in), list of arrays (T_i, D_in), or None
            Inputs. None for a generator without input, which requires ``feedback=True``.
        y : array (T,) or (T, D_out), or one for each series of ``X``
            Targets at the rows of ``X``. With ``missing="skip"``, NaN is a missing value.
        sample_weight : array (T,), or one for each series, optional
            Weight of the squared error of each row. A weight of 2 is equivalent to two rows with
            the same states and targets, and a weight of 0 to a missing target. So the noise, the
            intervals and ``ridge="auto"`` treat the sum of the weights as the number of rows.

        Warns
        -----
        UserWarning
            If every series has a single row, most likely because it is transposed.
        IllConditionedWarning
            If there are fewer training rows than weights and the ridge is too small to prevent
            overfitting.
        """
        with validation.all_or_nothing(self):
            self._fit(X, y, sample_weight, self._settings())
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, settings: Settings) -> None:
        inputs, outputs, container = validation.training_series(settings, X, y, self)
        weights = validation.row_weights(sample_weight, outputs, container)
        if weights is not None and (settings.recipe.learns_spectrum or settings.ridge == "loop"):
            expected = "None with spectrum='data' or ridge='loop', which do not use weights"
            raise bad_argument("sample_weight", Words("weights"), expected)
        if settings.recipe.learns_spectrum:
            settings = learn_spectrum(settings, inputs, outputs, self.seed)
        drawn = settings.draw(inputs[0].shape[1], outputs[0].shape[1], self.seed)
        problem = pose(settings, drawn, inputs, outputs, row_weights=weights)
        if not problem.counts(problem.everything(settings.warmup)).all():
            got = Words("weights of zero for all observed targets of a column after the warmup")
            raise bad_argument("sample_weight", got, "at least one positive weight")
        target = validation.target_kind(inputs, outputs)
        if settings.ridge == "loop":
            validation.check_target(target, "ridge='loop'")
            ridge = select_ridge_by_loop(problem, problem.everything(settings.warmup))
            settings = replace(settings, ridge=(ridge,))
        fitted = fit_network(
            settings,
            drawn,
            problem,
            largest_targets(outputs),
            to_host(outputs[-1][-1]),
            flat=container.flat,
            target=target,
            output_names=validation.output_names(y, series=True),
        )
        if weights is not None:
            fitted.warn_if_weights_are_small()
        fitted.attach_to(self)

    @takes_tensors(on_device=True)
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, initial_state: Any = None
    ) -> Self:
        """Train the readout on more series, as if they had been part of ``fit``.

        The first call is equivalent to ``fit``, but "auto" uses the solver "qr" if it takes at most
        a tenth of a second, because the statistics of "normal" lose digits in updates. Later calls
        keep the reservoir, the selected ridge and the standardisation of the first call. Statistics
        are merged, so the earlier series are not needed again.

        Parameters
        ----------
        X, y, sample_weight : same types as in ``fit``
            Inputs, targets and weights of the additional series.
        initial_state : State, or one for each series, optional
            Initial states of the series, such as ``final_state_`` to continue the last series. No
            rows are then excluded as warmup. By default, the initial states are zero, and
            ``warmup`` rows are excluded.
        """
        with validation.all_or_nothing(self):
            if hasattr(self, "model_"):
                self._fit_further(X, y, sample_weight, initial_state)
            elif initial_state is None:
                self._fit(X, y, sample_weight, replace(self._settings(), updates=True))
            else:
                expected = "None in the first call of partial_fit, which fits the network"
                raise bad_argument("initial_state", initial_state, expected)
        return self

    def _fit_further(self, X: Any, y: Any, sample_weight: Any, initial_state: Any) -> None:
        before, model = self._fitted, self.model_
        settings = Settings.of(parameters_of(self) | {"dtype": model.reservoir.dtype})
        inputs, outputs, container = validation.training_series(settings, X, y, self, reset=False)
        validation.output_names(y, before.output_names, series=True)
        if initial_state is None:
            validation.warn_if_single_rows([len(u) for u in inputs])
        starts = initial_states(model, initial_state, len(inputs), container.kind)
        if model.is_diagonal:
            validation.warn_if_unstable(self.effective_radius_, max(map(len, inputs)))
        skipped = [settings.warmup if start is None else 0 for start in starts]
        check_lengths(inputs, outputs, max(skipped, default=0))
        evidence = before.need_evidence()
        weights = validation.row_weights(sample_weight, outputs, container)
        problem = model.problem(inputs, outputs, evidence.penalty, starts, weights)
        if len(problem.parts) > 1:
            got = Words("missing values in different rows")
            expected = "missing values in the same rows of all columns"
            raise bad_argument("y", got, expected, "Use fit on all rows at once.")
        block = [(skip, len(u)) for skip, u in zip(skipped, inputs, strict=True)]
        kind = validation.target_kind(inputs, outputs)
        evidence, end = update(evidence, problem, block)
        fitted = FittedNetwork.of(
            problem,
            TrainedReadout(evidence, before.solver, end),
            to_host(outputs[-1][-1]),
            lr=before.lr,
            flat=before.flat,
            target=validation.merge_kinds(before.target, kind),
            drawn=before.drawn,
            output_names=before.output_names,
        )
        fitted.attach_to(self)

    @takes_tensors(on_device=True)
    def predict(
        self,
        X: Any,
        *,
        y_previous: Any = None,
        initial_state: Any = None,
        return_state: bool = False,
        return_std: bool = False,
        progress: Report | None = None,
    ) -> Any:
        """Return outputs for every row of ``X``, in the shape of the targets of ``fit``.

        Parameters
        ----------
        X : array (T, D_in), array (series, T, D_in), list of arrays, or None
            Inputs. None for a model without input, which requires ``y_previous``.
        y_previous : array (T, D_out), optional
            Row t contains y(t−1), which replaces the model's own output in the feedback and in
            the readout (teacher forcing).
        initial_state : State, or one for each series, optional
            Zero by default.
        return_state : bool
            Return ``(outputs, state)`` instead, with the state at the end of each series.
        return_std : bool
            Return ``(outputs, deviations)`` instead, or ``(outputs, deviations, state)``. The
            standard deviations of the predictions include the noise of a step and the uncertainty
            of the weights,

                √(noise_ (1 + x (XᵀX + αM)⁻¹ xᵀ))

            and cost O(N'²) per row. A network with feedback needs ``y_previous``.
        progress : callable (done, total), optional
            Function that is called several times per second with the number of finished steps and
            the total number of steps.
        """
        check_is_fitted(self)
        if self.model_.closed and y_previous is None:  # sequential, so a device would not help
            X = to_host(X)
        inputs, container = validation.input_series(self, X, y_previous)
        validation.output_names(y_previous, self._fitted.output_names, "y_previous")
        container = replace(container, flat=self._fitted.flat)
        return_std = check_flag(return_std, "return_std")
        posterior = self._fitted.need_posterior() if return_std else None
        arguments = self.model_, inputs, container, y_previous, initial_state
        return predict_series(*arguments, return_state, progress, posterior)

    @takes_tensors(on_device=True)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R² over all series, excluding the first ``warmup`` rows of each.

        With ``missing="skip"``, missing values of ``y`` are also excluded. The score is averaged
        over outputs.

        Parameters
        ----------
        X, y : same types as in ``fit``
            Inputs and targets.
        sample_weight : array (T,), or one for each series, optional
            Weight of each row.
        """
        model = self._checked.model
        inputs, container = validation.input_series(self, to_host(X) if model.closed else X)
        outputs = to_host(predict_series(model, inputs, Container("list"), None, None, False))
        y = to_host(y)
        validation.output_names(y, self._fitted.output_names)
        check, gaps = validation.check_outputs, self.missing == "skip"
        targets, _ = check(y, container, model.reservoir.dtype, D=self.n_outputs_, gaps=gaps)
        check_lengths(outputs, targets, self.warmup, " to score")
        true, guess = (
            np.concatenate([s[self.warmup :] for s in series]) for series in (targets, outputs)
        )
        weights = validation.row_weights(sample_weight, targets, container)
        if weights is not None:
            sample_weight = np.concatenate([w[self.warmup :] for w in weights])
        return _r2(true, guess, sample_weight)

    @takes_tensors(on_device=True)
    def transform(self, X: Any, out: Any = None) -> Any:
        """Compute the states (T, N) of each series.

        The states of a single series can be written to the array ``out``. In the eigenbasis, the
        columns are in the Q layout: real modes, then the real and imaginary parts of each pair. A
        network with feedback uses its own outputs.
        """
        check_is_fitted(self)
        reservoir = self.model_.reservoir
        closed = reservoir.W_fb is not None
        if closed:
            X, out = to_host((X, out))
        inputs, container = validation.input_series(self, X)
        validation.check_output_format(self, container)
        inputs = inputs if closed else container.together(inputs)
        out = validation.check_out(out, inputs, reservoir)
        return container.restore([states(self.model_, u, out=out) for u in inputs])

    @takes_tensors
    @one_blas_thread()
    def states(self, X: Any, basis: str = "work") -> Any:
        """Compute states (T, N) in the "work" basis, like ``transform``, or in the "neuron" basis.

        ``coef_`` and ``W_out_`` refer to the working basis. Without feedback to the reservoir or
        the readout and without features, ``predict(X)`` equals
        ``intercept_ + states(X) @ coef_.T``.
        """
        states = self.transform(X)
        check_known(basis, "basis", ("neuron", "work"))
        if basis == "work" or self.model_.reservoir.transition.in_neuron_basis:
            return states
        convert = self.model_.need_basis().states_to_neuron
        return [convert(r) for r in states] if isinstance(states, list) else convert(states)

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
        seed: Seed = 0,
        clip: bool = False,
    ) -> Any:
        """Forecast the series by using each output as the next input.

        The model must have been fitted to predict the next row of its input. Other targets lead to
        a warning, or to an error if they were equal to the inputs.

        Parameters
        ----------
        horizon : int
            Number of steps.
        context : array (T, D_in), array (series, T, D_in) or list of arrays, optional
            Past rows of the series, after which the forecast starts. By default, it starts after
            the last row of the training data. Several series are forecast as one matrix product.
        inputs : array (horizon, D_known), optional
            Values of the input columns that are known in advance, at the rows after the last row of
            ``X``. The first D_out columns of ``X`` are the series itself. As in training, where row
            t of ``X`` predicts row t+1 of the series, each row acts on the next one:

                ŝ(t+1) = f(ŝ(t), known(t), all earlier rows)

            After a context of n rows, ``inputs`` is known(n), …, known(n+horizon−1) and the
            forecast is ŝ(n), …, ŝ(n+horizon−1): the first row of the forecast uses known(n−1) of
            the context, and the last row of ``inputs`` is not used. After ``fit`` on n rows and
            without a context, ``inputs`` contains the same rows, and the forecast is ŝ(n+1), …,
            ŝ(n+horizon). If a column affects the series in the same row, shift it by one row in
            ``X`` and ``inputs``, so that row t contains known(t+1).
        state : State, optional
            Initial state (r, y), such as ``final_state_``, or the state of a stream or of
            ``predict`` with ``return_state``. The first row of the forecast is the step after y,
            and ``inputs`` starts with the row of y.
        interval : float, optional
            Coverage of prediction intervals in (0, 1), such as 0.9. They contain the central ones
            of 2000 sample paths.
        paths : int, optional
            Number of sample paths: possible futures of the series, in which each output is
            disturbed by noise with the covariance of the training residuals. The weights of each
            path are drawn from their posterior distribution, unless the network was loaded from a
            file without ``statistics``. Paths of networks with features stay within 10 standard
            deviations of the training targets.
        seed : int or Generator
            Seed of the paths.
        clip : bool
            With features, clip each step at 25% beyond the range of the training targets. By
            default, a forecast with features becomes NaN, with a warning, once it is 10 standard
            deviations away from their mean.

        Returns
        -------
        array (horizon,) or (horizon, D_out), or Forecast(mean, lower, upper) of such arrays, or
        an array (paths, horizon[, D_out]); for several series an array with one more axis, or a
        list
        """
        check_is_fitted(self)
        check_sampling(interval, paths)
        if context is not None:
            context = validation.check_context(self, context, self._fitted.output_names)
        if inputs is not None and self._feature_names is not None:
            check_labels("inputs", column_labels(inputs), self._feature_names[self.n_outputs_ :])
        if context is None and state is None:
            state = self.final_state_
        validation.check_target(self._fitted.target)
        if interval is None and paths is None:
            rows = self.model_.forecast(horizon, context, inputs, state=state, clip=clip)
            if not self._fitted.flat:
                return rows
            return [y[..., 0] for y in rows] if isinstance(rows, list) else rows[..., 0]
        options: dict[str, Any] = {"interval": interval, "paths": paths, "seed": seed, "clip": clip}
        if are_several(context):
            options["seed"] = generator(seed)
            return each_context(
                lambda item: self.forecast(horizon, item, **options), context, inputs, state
            )
        run = forecast(self.model_, horizon, to_host(context), to_host(inputs), state, clip)
        self._fitted.warn_if_overfitted()
        posterior = self._fitted.posterior
        result = sampled(self.model_, run, self._fitted.noise, posterior, **options)
        if not self._fitted.flat:
            return result
        return result[..., 0] if interval is None else Forecast(*(a[..., 0] for a in result))

    def to(self, device: Any) -> Self:
        """Set the default torch device of results, for calls such as ``forecast(10)``.

        ``None`` selects NumPy arrays. ``fit`` sets the default to the device of the tensors passed
        to it. Calls with tensors return tensors on the same device, and calls with arrays return
        arrays.
        """
        check_is_fitted(self)
        self._device = resolve_device(device)
        return self

    def stream(self, state: State | None = None) -> Stream:
        """Return a stream that starts from ``state`` (zero by default) and costs O(N) per step.

        ``stream.step(u)`` processes one row, and ``stream.run(rows)`` several rows.
        """
        fitted = self._checked
        return Stream(fitted.model, state, self._feature_names, fitted.output_names)

    def learner(
        self,
        state: State | None = None,
        *,
        forgetting: float = 1.0,
        n_inputs: int | None = None,
        n_outputs: int | None = None,
    ) -> Learner:
        """Return a stream that is trained by ``learner.step(u, target)``, in O(N'²) per step.

        A fitted network continues its training. With ``n_inputs`` and ``n_outputs``, a new network
        starts without training rows. In both cases, ``forgetting=1`` leads to the same readout as
        ``fit`` on all rows.

        Parameters
        ----------
        state : State, optional
            Initial state: ``final_state_`` continues the training series. By default it is zero,
            and the first ``warmup`` rows are excluded from training.
        forgetting : float
            Forgetting factor in (0, 1]. The weight of a row k steps ago, including the rows of
            ``fit``, is forgetting^k.
        n_inputs, n_outputs : int, optional
            Numbers of columns of inputs and targets.
        """
        settings = self._settings()
        warmup = 0 if state is not None else settings.warmup
        if n_inputs is None and n_outputs is None:
            check_is_fitted(
                self,
                msg="This %(name)s instance is not fitted yet. Call 'fit' first, or pass the "
                "numbers of columns: learner(n_inputs=..., n_outputs=...).",
            )
            evidence = self._fitted.need_evidence().on_host
            check_rates(evidence.ridge, forgetting)
            trained = TrainingState.of(evidence), evidence.penalty, evidence.ridge
            names = self._feature_names, self._fitted.output_names
            return Learner(self.model_, *trained, forgetting, warmup, state, *names)
        check_rates(self.ridge, forgetting)
        columns = "a number of columns"
        n_inputs = check_count(n_inputs, "n_inputs", columns, 0 if self.feedback else 1)
        n_outputs = check_count(n_outputs, "n_outputs", columns, 1)
        if self.standardize:
            expected = "False for a network that is not fitted"
            raise bad_argument("standardize", True, expected, "Call fit on the first rows.")
        drawn = settings.draw(n_inputs, n_outputs, self.seed)
        penalty = settings.penalty_of(drawn, n_outputs)
        W_out = np.zeros((penalty.size, n_outputs), drawn.reservoir.dtype)
        model = LinearModel(
            drawn.reservoir, W_out, settings.fit_bias, settings.output_to_readout, drawn.basis
        )
        training_state = TrainingState.initial(W_out, penalty, self.ridge)
        return Learner(model, training_state, penalty, self.ridge, forgetting, warmup, state)

    @takes_tensors
    def reduce(
        self, units: int | None = None, tol: float | None = None, data: Any = None
    ) -> LinearESN:
        """Return a fitted network with fewer units, and a certificate of its errors.

        The reduced network has the smallest stable order whose RMS error on the training rows is at
        most ``tol`` times the standard deviation of y, or the root mean square of y with
        ``fit_bias=False`` and ``standardize=False`` (see ``certificate_.size``). The training
        statistics bound the error; with ``data=(X, y)`` it is measured, and fewer modes are needed.
        A float32 network requires ``data``.
        Networks without statistics (from a file without them, or with outputs missing in different
        rows) weight all inputs equally, as ``model_.reduce`` does.

        Parameters
        ----------
        units : int, optional
            Number of modes; with ``tol``, the maximum number.
        tol : float, optional
            Relative error, in (0, 1).
        data : X or (X, y), optional
            Rows to use instead of the training rows, as in ``LinearModel.reduce``.

        Returns
        -------
        LinearESN
            A network with a ``certificate_`` and new values of ``spectrum`` and ``units``. Its
            forecasts start after the same row. It cannot be trained further.
        """
        validation.check_feature_names(self, data[0] if isinstance(data, tuple) else data)
        fitted = self._checked.reduced(units, tol, data)
        esn = clone(self)
        esn.units, esn.spectrum = fitted.model.units, fitted.spectrum
        esn.W_in = esn.W_fb = None
        for name in ("n_features_in_", "feature_names_in_", "_device"):
            if hasattr(self, name):
                setattr(esn, name, getattr(self, name))
        fitted.attach_to(esn)
        before, after = esn.certificate_.radius_before, esn.certificate_.radius_after
        if fitted.target == "next" and (before or 0.0) <= 1 < (after or 0.0):
            warn(
                "Forecasts of the reduced network grow without limit: its closed loop has radius "
                f"{after:.4g}. Use a smaller tol or more units.",
                UnstableWarning,
            )
        if self.warmup and esn.certificate_.weighting == "statistics":
            warn(
                f"The errors do not include the effect of the warmup of {self.warmup} rows, which "
                "is not known from the training statistics. Pass data=(X, y) to measure it.",
                UserWarning,
            )
        return esn

    def matrices(self, basis: str = "neuron") -> Matrices:
        """Return W, W_in, bias, W_fb and W_out in the "neuron" basis or in the "work" basis."""
        return self._checked.model.matrices(basis)

    def save(self, path: Any, *, statistics: bool = False) -> None:
        """Write the fitted estimator to a safetensors file; ``eigenecho.load`` reads it back.

        With ``statistics`` (N'² more numbers), the loaded estimator can be trained further. A
        callable ``spectrum`` is stored as its eigenvalues, and a Generator ``seed`` as None, both
        with a warning.
        """
        statistics = check_flag(statistics, "statistics")
        files.save(path, self, statistics=statistics)

    def _parts(self, statistics: bool) -> dict[str, Any]:
        fitted = self._checked
        evidence = fitted.need_evidence().on_host if statistics else None
        params = Parameters.of(self)
        return {"params": params, "fitted": fitted.without_evidence(), "evidence": evidence}

    @classmethod
    def _from_parts(
        cls, params: Parameters, fitted: FittedNetwork, evidence: Evidence | None
    ) -> LinearESN:
        model = fitted.model
        if evidence is not None:
            check_range(evidence.weights, "weights", model.reservoir.dtype)
            if not np.array_equal(evidence.weights.astype(model.reservoir.dtype), model.W_out):
                raise bad_argument("weights", Words("other numbers"), "the weights in W_out")
            fitted = replace(fitted, evidence=evidence)
        esn = params.restore(cls, model.D_in)
        state = as_state(model, fitted.final_state, "final_state")
        replace(fitted, final_state=state).attach_to(esn)
        return esn

    def export(
        self, path: Any, *, dtype: str | None = None, state: State | None = None
    ) -> ExportReport:
        """Write the network as C99 or JavaScript source code with a self-test.

        See :doc:`/guides/deploying`.

        Parameters
        ----------
        path : str or Path
            ``network.c``, which is written with ``network.h``, or ``network.js``.
        dtype : {"float64", "float32"}, optional
            Type of all numbers and operations. By default, the dtype of the network.
        state : State, optional
            Initial state, zero by default; ``final_state_`` continues the training series.

        Returns
        -------
        ExportReport
            The size of the network, and the largest difference between the compiled code and
            the reference if a compiler (for JavaScript, node) is installed.
        """
        fitted = self._checked
        model = replace(fitted.model, device=getattr(self, "_device", None))
        return export(model, path, dtype, state, (self._feature_names, fitted.output_names))

    @property
    def W_out_(self) -> Any:
        """Readout weights (N', D_out) in the working basis, for rows [1, y(t−1), r].

        With ``standardize``, y(t−1) and the outputs are standardised.
        """
        return self._checked.model.W_out

    @property
    def coef_(self) -> Any:
        """Weights of the states in the working basis: (N,) for 1-D targets, otherwise (D_out, N).

        They include the scale of the outputs. With features, the columns are [s, φ(s)]. The weights
        of y(t−1) are only in ``W_out_``.
        """
        model = self._checked.model
        weights = model.readout.weights
        if model.outputs is not None:
            weights = (weights.T * model.outputs.scale).T.astype(weights.dtype)
        return read_only(weights[0] if self._fitted.flat else weights)

    @property
    def intercept_(self) -> Any:
        """Readout bias in the units of the targets: a number for 1-D targets, or (D_out,)."""
        model = self._checked.model
        offset = model.to_user(model.readout.offset)
        return float(offset[0]) if self._fitted.flat else read_only(offset)

    @property
    def final_state_(self) -> State:
        """State at the end of the last training series."""
        return State(*map(read_only, self._checked.final_state))

    @property
    def spectrum_(self) -> Spectrum:
        """Eigenvalues before the leak is applied."""
        return self._checked.spectrum

    @property
    def effective_radius_(self) -> float:
        """Largest ``|λ'|``, after the leak is applied."""
        return self._checked.model.effective_radius

    @property
    def certificate_(self) -> Reduction:
        """Certificate of a reduced network: its units and error bounds."""
        certificate = self._checked.model.certificate
        if not isinstance(certificate, Reduction):
            raise AttributeError("Only networks returned by reduce have a certificate.")
        return certificate

    certificate = certificate_

    @property
    def noise_covariance_(self) -> Any:
        """Covariance (D_out, D_out) of the one-step errors, from the training residuals."""
        return read_only(self._checked.noise)

    @property
    def noise_(self) -> Any:
        """Variance of one-step errors, (D_out,): the diagonal of ``noise_covariance_``."""
        return np.diag(self._checked.noise).copy()

    @property
    def log_evidence_(self) -> float:
        """Log marginal likelihood of the training targets, for the ridge that was used."""
        return self._get_or_missing("log_density")

    @property
    def closed_loop_radius_(self) -> float:
        """Spectral radius of the closed loop of ``forecast``, in which outputs become inputs."""
        return self._get_or_missing("closed_loop_radius")

    def _get_or_missing(self, name: str) -> float:
        """Return a property of the fitted network, or raise an AttributeError if it has none."""
        fitted = self._checked
        try:
            return float(getattr(fitted, name))
        except ValueError as error:  # hasattr returns False
            raise AttributeError(str(error)) from None

    @property
    def _n_features_out(self) -> int:
        return self.model_.reservoir.state_columns

    @property
    def _checked(self) -> FittedNetwork:
        check_is_fitted(self)
        return self._fitted

    @property
    def _feature_names(self) -> Any:
        return getattr(self, "feature_names_in_", None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.three_d_array = True
        return tags

    def _settings(self) -> Settings:
        return Settings.of(parameters_of(self))


def _r2(true: Array, guess: Array, weights: Array | None) -> float:
    """Return the mean R² over columns (T, D), ignoring missing targets."""
    observed = ~np.isnan(true)
    if not observed.any(axis=0).all():
        got = Words(f"only NaN {place(column=int(np.argmin(observed.any(axis=0))))}")
        raise bad_argument("y", got, "at least one observation in each column after the warmup")
    # R² does not depend on the scale, but squares may overflow or underflow.
    exponents = np.frexp(np.nanmax(np.abs(true), axis=0))[1]
    true, guess = np.ldexp(true, -exponents), np.ldexp(guess, -exponents)
    if observed.all():
        return float(r2_score(true, guess, sample_weight=weights))
    scores = [
        r2_score(y[rows], z[rows], sample_weight=None if weights is None else weights[rows])
        for y, z, rows in zip(true.T, guess.T, observed.T, strict=True)
    ]
    return float(np.mean(scores))
