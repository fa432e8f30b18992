"""The linear echo state network as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils.validation import check_is_fitted

from eigenecho import storage
from eigenecho.arrays import on_device, to_host
from eigenecho.checks import check_count, check_flag, check_known
from eigenecho.errors import Shown, bad_argument
from eigenecho.estimators import validation
from eigenecho.estimators.fitted import Fitted
from eigenecho.estimators.score import r2
from eigenecho.model import Forecast, Learner, LinearModel, Matrices, State, Stream
from eigenecho.model.certificate import Reduction
from eigenecho.model.forecast import are_several, forecast
from eigenecho.model.from_data import learn_spectrum
from eigenecho.model.intervals import check_coverage, with_interval
from eigenecho.model.online import check_labels, initial_states
from eigenecho.model.predict import deviations_of_series, predict_series, states
from eigenecho.progress import Report
from eigenecho.series import Container, column_labels, unpack
from eigenecho.spectra import Spectrum
from eigenecho.tensors import checked_device, takes_tensors
from eigenecho.threads import one_blas_thread
from eigenecho.training import (
    Learnt,
    Settings,
    check_lengths,
    check_rates,
    pose,
    train,
    update,
)
from eigenecho.types import Seed


class LinearESN(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RegressorMixin, BaseEstimator):
    """A linear echo state network, trained by ridge regression, run in its eigenbasis.

        r(t) = r(t−1) W + u(t) W_in + y(t−1) W_fb,   y(t) = [1, y(t−1), r(t)] W_out

    Series are (T, D); several are a 3-D array (series, T, D) or a list of (T_i, D). Every series
    starts from a zero state, and so does ``predict``.

    Parameters
    ----------
    units : int
        N, the number of reservoir units.
    spectrum : str, Spectrum, array or callable
        Where the eigenvalues lie. A named law of ``eigenecho.spectra`` ("uniform", "golden",
        "noisy_golden", "sim", "ring", "log_ring", "time_constants") samples them directly;
        "matrix" draws a random W and diagonalises it. Eigenvalues (a Spectrum or a list) and a
        square matrix are taken as they are; ``units``, ``sr`` and ``rc_connectivity`` are then
        ignored. A callable ``(n, sr=, seed=) -> Spectrum`` is a law of your own; so is a
        Spectrum plus a law, and ``spectra.joined``. "data" learns them from the training rows, as
        ``spectra.from_data`` does with ``sr`` as the radius of its large network.
    basis : {"eigen", "neuron"}
        Run in the eigenbasis, O(N) a step, or as the standard network with its matrix W. In
        "eigen" a matrix without a usable eigenbasis (most sparse ones) takes the cheapest form
        that is exact: a small dense block that drives modes, or W as it is.
    sr : float
        Spectral radius, before the leak.
    lr : float
        Leaking rate in ]0, 1]: λ' = lr λ + 1 − lr.
    input_scaling : float or array (n_features,)
        Scale of W_in; an input bias is scaled with it (by the mean size of several).
    input_connectivity, rc_connectivity : float
        Share of connections kept in W_in, and in W for "matrix" and "sim".
    input_bias : bool
        Drive the reservoir with a constant too.
    feedback : bool
        Drive the reservoir with the previous output: the true one in ``fit``, the model's own in
        ``predict``.
    fb_scaling : float
        Scale of W_fb.
    fit_bias, penalize_bias : bool
        A constant in the readout, and whether the ridge acts on it.
    output_to_readout : bool
        The previous output in the readout.
    standardize : bool
        Scale inputs and outputs to mean 0 and deviation 1, undone on the way out and inside
        closed loops.
    ridge : float, list of floats, or "auto"
        The penalty α. Of several, the best on the last fifth of the training data is kept. "auto"
        is the one under which the training targets are likeliest (marginal likelihood; see
        :doc:`/ridge`). A choice needs squares of the targets: beyond about 1e±150, scale them or
        use ``standardize=True``.
    penalty : {"neuron", "identity"}
        Plain ridge in the neuron basis (αQᵀQ) or in the basis at work (αI). With a named spectrum
        "identity" never builds an N×N matrix and draws W_in in the eigenbasis directly, so that
        the two draw different weights from one seed.
    solver : {"auto", "structured", "refined", "qr", "gram"}
        "structured" sums over time what determines the normal equations, without any states, and
        refines the answer on true residuals; where that does not reach all digits it falls back
        to "qr", an orthogonal factorisation. "gram" is plain normal equations, half the digits;
        "refined" refines them in the same way, for any W. "auto" takes "qr" for small problems,
        and "refined" where W is a large matrix; ``solver_`` says what was used, and a network
        with ``solver=solver_`` gets the same readout.
    warmup : int
        Steps at the start of each series that are left out of training and of ``score``.
    missing : {"error", "skip"}
        What NaN in ``y`` is: an error, or an observation that is missing. With "skip" an output
        is trained and scored on the rows where it is there; outputs that are missing at different
        rows are trained by groups, and not any further.
    dtype : {"float64", "float32"}
        Of states and outputs; training sums are always float64.
    seed : int, Generator or None
        Spectrum, eigenvectors, W_in, W_fb and bias have streams of their own: changing one option
        does not redraw the others.

    Attributes
    ----------
    model_ : LinearModel
        Reservoir and readout as plain arrays.
    W_out_ : array (N', D_out)
        Readout weights in the basis at work, rows [1, y(t−1), r].
    spectrum_ : Spectrum
        What was drawn, before the leak.
    effective_radius_ : float
        max ``|λ'|``, after the leak.
    solver_, ridge_ : str, float
        What was used.
    log_evidence_ : float
        Log likelihood of the training targets under the ridge, weights averaged over; with
        ``ridge="auto"`` the largest among ridges that cross-validation does not speak against.
    final_state_ : State
        (r, y) at the end of the last training series, from which ``forecast`` goes on.
    noise_covariance_ : array (D_out, D_out)
        Of one-step errors, from the residuals of training.
    noise_ : array (D_out,)
        Its diagonal, a variance for each output.

    See Also
    --------
    eigenecho.Forecaster : forecasts of people's series, nothing to choose
    eigenecho.DiagonalReservoir : the states alone, for a readout of another kind
    eigenecho.search : hyperparameters by validation blocks

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> X = ee.tasks.mso(3, steps=601)
    >>> esn = ee.LinearESN(units=50, warmup=100, seed=0).fit(X[:-1], X[1:])
    >>> esn.forecast(3).shape
    (3, 1)

    A ridge that the data choose, and how far predictions may be off:

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
        feedback: bool = False,
        fb_scaling: float = 1.0,
        fit_bias: bool = True,
        penalize_bias: bool = True,
        output_to_readout: bool = False,
        standardize: bool = False,
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
        self.feedback = feedback
        self.fb_scaling = fb_scaling
        self.fit_bias = fit_bias
        self.penalize_bias = penalize_bias
        self.output_to_readout = output_to_readout
        self.standardize = standardize
        self.ridge = ridge
        self.penalty = penalty
        self.solver = solver
        self.warmup = warmup
        self.missing = missing
        self.dtype = dtype
        self.seed = seed

    @takes_tensors(stays=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the reservoir and train the readout.

        Parameters
        ----------
        X : array (T, D_in), array (series, T, D_in), list of arrays (T_i, D_in), or None
            None with ``feedback=True`` is a generator without input.
        y : array (T,) or (T, D_out), or as many as ``X`` holds
            The target at the same row; NaN with ``missing="skip"`` where there is none.

        Warns
        -----
        UserWarning
            Where every series is a single row, most likely a series the wrong way round.
        IllConditionedWarning
            Where there are fewer training rows than weights and the ridge holds the readout so
            little that it takes up more than half of their degrees of freedom.
        """
        with validation.all_or_nothing(self):
            self._fit(X, y)
            self._fitted.warn_if_few_rows()
        return self

    def _fit(self, X: Any, y: Any) -> None:
        settings = self._settings()
        inputs, outputs, container = validation.training_series(self, X, y)
        names = validation.output_names(y)
        given = (outputs, container, "y") if X is None else (inputs, container, "X")
        validation.warn_if_single_rows(*given)
        if settings.recipe.is_learnt:
            settings = learn_spectrum(settings, inputs, outputs, self.seed)
        drawn = settings.draw(inputs[0].shape[1], outputs[0].shape[1], self.seed)
        if self.basis == "eigen":
            validation.warn_if_unstable(drawn.reservoir.spectrum.radius, max(map(len, inputs)))
        problem = pose(settings, drawn, inputs, outputs)
        trained = train(problem, settings)
        known = {
            "lr": float(self.lr),
            "flat": container.flat,
            "drawn": drawn.spectrum,
            "target": validation.target_of(inputs, outputs),
            "output_names": names,
        }
        last = to_host(outputs[-1][-1])
        Fitted.of(problem, trained, last, **known).given_to(self)

    @takes_tensors(stays=True)
    def partial_fit(self, X: Any, y: Any = None, *, initial_state: Any = None) -> Self:
        """Train the readout on more series, as if ``fit`` had been given them too.

        The first call fits. Later ones keep the reservoir, the ridge chosen (by "auto"
        or among several) and the scaling of ``standardize``, all from the first data. Statistics
        are merged: the earlier series need not be kept, and cost no time.

        Parameters
        ----------
        X, y : as in ``fit``
        initial_state : State, or one for each series, optional
            Where the series go on from, without a new warmup: ``final_state_`` for the next
            piece of one long series. Zero by default, with ``warmup`` rows left out.
        """
        if not hasattr(self, "model_"):
            if initial_state is not None:
                raise bad_argument(
                    "initial_state", Shown("state"), "None in the first call, which fits"
                )
            with validation.all_or_nothing(self):
                self._fit(X, y)
            return self
        with validation.all_or_nothing(self):
            warmup = self._settings().warmup
            inputs, outputs, container = validation.training_series(self, X, y, reset=False)
            before = self._fitted
            validation.output_names(y, before.output_names)
            if initial_state is None:
                validation.warn_if_single_rows(inputs, container)
            starts = initial_states(self.model_, initial_state, len(inputs), container.kind)
            if self.model_.is_diagonal:
                validation.warn_if_unstable(self.effective_radius_, max(map(len, inputs)))
            penalty = before.trained.evidence.groups[0].penalty
            skipped = [warmup if start is None else 0 for start in starts]
            check_lengths(inputs, outputs, max(skipped, default=0))
            problem = self.model_.problem(inputs, outputs, penalty, starts)
            if len(problem.parts) > 1:
                raise bad_argument(
                    "y", Shown("columns with gaps at different rows"),
                    "gaps at the same rows in all columns", "Fit on all rows at once.",
                )  # fmt: skip
            block = [(skip, len(u)) for skip, u in zip(skipped, inputs, strict=True)]
            trained = update(before.trained, problem, block)
            known = {
                "lr": before.lr,
                "flat": before.flat,
                "drawn": before.drawn,
                "target": validation.merged(before.target, validation.target_of(inputs, outputs)),
                "output_names": before.output_names,
            }
            last = to_host(outputs[-1][-1])
            Fitted.of(problem, trained, last, **known).given_to(self)
        return self

    @takes_tensors(stays=True)
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
        """Outputs for every row of ``X``, in the shapes that ``fit`` was given.

        Parameters
        ----------
        X : array (T, D_in), array (series, T, D_in), list of arrays, or None
            None, for a model without input, with ``y_previous``.
        y_previous : array (T, D_out), optional
            Row t holds y(t−1): teacher-forces feedback and readout, which otherwise run on the
            model's own output.
        initial_state : State, or one for each series, optional
            Zero by default, whatever ran before.
        return_state : bool
            Return ``(outputs, state)`` instead, with the state at the end of each series.
        return_std : bool
            Return ``(outputs, deviations)`` instead, or ``(outputs, deviations, state)``: how far
            each true output may be from the one predicted, as a standard deviation in the same
            shapes. It holds the noise of a step and what training left open of the weights,

                √(noise_ (1 + x (XᵀX + αM)⁻¹ xᵀ))

            and costs O(N'²) a row. A network that runs on its own output needs ``y_previous``.
        progress : callable (done, total), optional
            Called with steps several times a second; changes no bit of the outputs.
        """
        check_is_fitted(self)
        if self.model_.closed and y_previous is None:  # step by step, on the host
            X = to_host(X)
        inputs, container = validation.input_series(self, X, y_previous)
        validation.output_names(y_previous, self._fitted.output_names, "y_previous")
        held = Container(container.kind, self._fitted.flat)
        given = self.model_, inputs, held, y_previous, initial_state
        if not return_std:
            return predict_series(*given, return_state, progress)
        check_flag(return_std, "return_std")
        spread = deviations_of_series(self._fitted.need_posterior(), *given)
        outputs, state = predict_series(*given, True, progress)
        return (outputs, spread, state) if return_state else (outputs, spread)

    @takes_tensors(stays=True)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² over all series, the first ``warmup`` rows of each left out.

        With ``missing="skip"`` so is what is missing in ``y``; of several outputs it is the mean.

        Parameters
        ----------
        X, y : arrays or lists of arrays
            As for ``fit``.
        sample_weight : array (T,), or one for each series, optional
            How much each row counts.
        """
        check_is_fitted(self)
        predicted = to_host(self.predict(X))
        X, y, sample_weight = to_host((X, y, sample_weight))
        _, container = validation.input_series(self, X)
        validation.output_names(y, self._fitted.output_names)
        gaps = self.missing == "skip"
        truths, _ = validation.check_outputs(y, container, self.dtype, D=self.n_outputs_, gaps=gaps)
        guesses, _ = validation.check_outputs(predicted, container, self.dtype)
        check_lengths(guesses, truths, self.warmup, " to score")
        true, guess = (
            np.concatenate([s[self.warmup :] for s in series]) for series in (truths, guesses)
        )
        if sample_weight is not None:
            weights, _ = validation.check_outputs(
                sample_weight, container, np.float64, "sample_weight"
            )
            sample_weight = np.concatenate([w[self.warmup :, 0] for w in weights])
        return r2(true, guess, sample_weight)

    @takes_tensors(stays=True)
    def transform(self, X: Any, out: Any = None) -> Any:
        """States (T, N) of each series in the basis at work; ``out`` takes those of a single one.

        In the eigenbasis the columns are the Q layout: real modes, then the real and imaginary
        part of each pair; of a cascade the block comes first. Feedback runs on the model's own
        output.
        """
        check_is_fitted(self)
        reservoir = self.model_.reservoir
        if reservoir.W_fb is not None and on_device(X):
            X, out = to_host((X, out))
        inputs, container = validation.input_series(self, X)
        inputs = container.together(inputs)
        out = validation.check_out(out, inputs, reservoir)
        return container.restored([states(self.model_, u, out=out) for u in inputs])

    @takes_tensors
    @one_blas_thread()
    def states(self, X: Any, basis: str = "neuron") -> Any:
        """States (T, N) in the ``neuron`` basis, or as ``transform`` gives them (``work``)."""
        at_work = self.transform(X)
        check_known(basis, "basis", ("neuron", "work"))
        if basis == "work" or self.model_.reservoir.transition.in_neuron_basis:
            return at_work
        known = self.model_.need_basis()
        if isinstance(at_work, list):
            return [known.states_to_neuron(r) for r in at_work]
        return known.states_to_neuron(at_work)

    @takes_tensors(stays=True)
    def forecast(
        self,
        horizon: int,
        context: Any = None,
        inputs: Any = None,
        *,
        state: State | None = None,
        interval: float | None = None,
    ) -> Any:
        """The series that follows, each output the next input; needs a model of its own input.

        A model that ``fit`` has seen trained on other targets than its next row is warned of, one
        that was trained to repeat its input is refused.

        Parameters
        ----------
        horizon : int
            Number of steps.
        context : array (T, D_in), or several of them, optional
            The series so far: the first row returned predicts the step after its last. Without
            it the forecast goes on from the end of the training data. Several, a 3-D array or a
            list, are forecast together, as one matrix product.
        inputs : array (horizon, D_known), optional
            Further input columns that are known ahead, in rows that follow the last row seen of
            ``X``; the first D_out columns of ``X`` are the series itself. As in training, where
            row t of ``X`` predicts row t+1 of the series, each acts on the row after its own:

                ŝ(t+1) = f(ŝ(t), known(t), all before)

            After a context of n rows, ``inputs`` is known(n), …, known(n+horizon−1) and the
            forecast ŝ(n), …, ŝ(n+horizon−1): the first row returned sees known(n−1) of the
            context, and the last row of ``inputs`` is not used. After ``fit`` on n rows and
            without a context, ``inputs`` is the same and the forecast ŝ(n+1), …, ŝ(n+horizon). A
            column that acts on its own row has to be moved up by one in ``X`` and in ``inputs``:
            row t then holds known(t+1).
        state : State, optional
            Where to go on from instead: (r, y) as ``final_state_``, ``predict`` with
            ``return_state`` or a stream have it. The first row returned is the step after y, and
            ``inputs`` starts with the row of y.
        interval : float, optional
            Share of cases in ]0, 1[, such as 0.9, that bounds around each output shall cover. They
            carry the residuals of training through the closed loop, which is exact for errors
            that are Gaussian and independent, and with them what training left open of the
            weights, to first order. A network from a file knows the latter where the file has
            its ``statistics``.

        Returns
        -------
        array (horizon,) or (horizon, D_out), or Forecast(mean, lower, upper) of such arrays;
        of several series an array with one axis more, or a list
        """
        check_is_fitted(self)
        if interval is not None:
            check_coverage(interval)
        if context is not None:
            context = validation.check_context(self, context, self._fitted.output_names)
        if inputs is not None and self._feature_names is not None:
            check_labels("inputs", column_labels(inputs), self._feature_names[self.n_outputs_ :])
        if context is None and state is None:
            state = self.final_state_
        validation.check_target(self._fitted.target)
        if context is not None and are_several(context):
            return self._forecast_several(horizon, context, inputs, state, interval)
        run = forecast(self.model_, horizon, to_host(context), to_host(inputs), state)
        if interval is None:
            return run.outputs[:, 0] if self._fitted.flat else run.outputs
        self._fitted.warn_if_overfitted()
        posterior = self._fitted.posterior
        known = (posterior, run.rows(self.model_)) if posterior is not None else ()
        noise = self.noise_covariance_
        found = with_interval(self.model_, run.outputs, noise, interval, *known)
        return Forecast(*(a[:, 0] for a in found)) if self._fitted.flat else found

    def _forecast_several(
        self, horizon: int, contexts: Any, inputs: Any, state: Any, interval: float | None
    ) -> Any:
        """Forecasts after several series; bounds, which are those of each, one by one."""
        flat = self._fitted.flat
        if interval is None:
            rows = self.model_.forecast(horizon, contexts, inputs, state=state)
            if not flat:
                return rows
            return [one[..., 0] for one in rows] if isinstance(rows, list) else rows[..., 0]
        items, container = unpack(to_host(contexts))
        each = [self.forecast(horizon, one, inputs, interval=interval) for one in items]
        held = Container(container.kind)
        return Forecast(*(held.restore(part) for part in zip(*each, strict=True)))

    def to(self, device: Any) -> Self:
        """Answer on a device of torch where no tensor says which: ``forecast`` without a context.

        ``None`` is for NumPy arrays. ``fit`` sets it to where its tensors are. What is asked with
        tensors is answered on theirs, whatever this is, and what is asked with arrays in arrays.
        """
        check_is_fitted(self)
        self._device = checked_device(device)
        return self

    def stream(self, state: State | None = None) -> Stream:
        """An online run from ``state`` (zero by default), O(N) a step.

        ``stream.step(u)`` takes one row, ``stream.run(rows)`` several.
        """
        known = self._known
        return Stream(known.model, state, self._feature_names, known.output_names)

    def learner(
        self,
        state: State | None = None,
        *,
        forgetting: float = 1.0,
        n_inputs: int | None = None,
        n_outputs: int | None = None,
    ) -> Learner:
        """An online run that learns: ``learner.step(u, target)``, O(N'²) a step.

        A fitted network goes on from all that it was trained on. With ``n_inputs`` and
        ``n_outputs`` a new one starts from the ridge alone, fitted or not. With ``forgetting=1``
        both end where ``fit`` on all the rows would.

        Parameters
        ----------
        state : State, optional
            Where to start: ``final_state_`` goes on with the training series. Zero by default,
            and the first ``warmup`` rows are not learnt then.
        forgetting : float
            In ]0, 1]: rows that lie k steps back, those of ``fit`` too, weigh its k-th power.
        n_inputs, n_outputs : int, optional
            Columns of inputs and targets.
        """
        settings = self._settings()
        wait = 0 if state is not None else settings.warmup
        if n_inputs is None and n_outputs is None:
            check_is_fitted(
                self,
                msg="This %(name)s is not fitted yet: fit it on the rows there are, or say how "
                "many columns will come, learner(n_inputs=..., n_outputs=...).",
            )
            known = self._fitted.need_evidence()
            check_rates(known.ridge, forgetting)
            return Learner(
                self.model_,
                Learnt.of(known),
                known.penalty,
                known.ridge,
                forgetting,
                wait,
                state,
                self._feature_names,
                self._fitted.output_names,
            )
        check_rates(self.ridge, forgetting)
        columns = "a number of columns"
        n_inputs = check_count(n_inputs, "n_inputs", columns, 0 if self.feedback else 1)
        n_outputs = check_count(n_outputs, "n_outputs", columns, 1)
        if self.standardize:
            raise bad_argument(
                "standardize", True, "False: there are no data yet to take the scaling from",
                "Fit on the first rows, then learner() goes on.",
            )  # fmt: skip
        drawn = settings.draw(n_inputs, n_outputs, self.seed)
        penalty = settings.penalty_of(drawn, n_outputs)
        W_out = np.zeros((penalty.size, n_outputs), drawn.reservoir.dtype)
        model = LinearModel(
            drawn.reservoir, W_out, settings.fit_bias, settings.output_to_readout, drawn.basis
        )
        learnt = Learnt.nothing(W_out, penalty, self.ridge)
        return Learner(model, learnt, penalty, self.ridge, forgetting, wait, state)

    def reduce(
        self, units: int | None = None, tol: float | None = None, data: Any = None
    ) -> LinearESN:
        """A smaller network, fitted already, with a certificate of how near it is to this one.

        The smallest stable order whose rms error on the rows of training is at most ``tol`` times
        the standard deviation of y, or the root mean square of y with ``fit_bias=False`` and
        ``standardize=False`` (see ``certificate_.size``). Of those rows the statistics are known,
        from which the error is bounded; with ``data=(X, y)`` it is measured, and takes fewer modes.
        Networks without statistics (from a file without them, or with outputs that are missing at
        different rows) weigh all inputs alike, as ``model_.reduce`` does.

        Parameters
        ----------
        units : int, optional
            The number of modes; with ``tol`` the most that there may be.
        tol : float, optional
            The relative error, in ]0, 1[.
        data : X or (X, y), optional
            Rows to weigh by instead, as for ``LinearModel.reduce``.

        Returns
        -------
        LinearESN
            With ``certificate_``. It predicts, forecasts from where this one stands, and is saved
            like any other; ``spectrum`` and ``units`` are those that are left. It is not trained
            any further.
        """
        validation.check_feature_names(self, data[0] if isinstance(data, tuple) else data)
        fitted = self._known.reduced(units, tol, data)
        esn = clone(self).set_params(units=fitted.model.units, spectrum=fitted.spectrum)
        for name in ("n_features_in_", "feature_names_in_", "_device"):
            if hasattr(self, name):
                setattr(esn, name, getattr(self, name))
        fitted.given_to(esn)
        return esn

    def matrices(self, basis: str = "neuron") -> Matrices:
        """W, W_in, bias, W_fb and W_out in the ``neuron`` basis or as they are at ``work``."""
        return self._known.model.matrices(basis)

    def save(self, path: Any, *, statistics: bool = False) -> None:
        """Write the fitted estimator to a safetensors file; ``eigenecho.load`` reads it back.

        With ``statistics``, N'² more numbers, what is loaded can be trained further. Of a
        callable ``spectrum`` the file keeps the eigenvalues that it gave, of a Generator ``seed``
        nothing; both warn.
        """
        check_flag(statistics, "statistics")
        storage.save(path, self, fitted=self._known, statistics=statistics)

    @property
    def W_out_(self) -> Any:
        """Readout weights (N', D_out) in the basis at work, rows [1, y(t−1), r]."""
        return self._known.model.W_out

    @property
    def coef_(self) -> Any:
        """Readout weights of the states, (N,) for 1-D targets, else (D_out, N)."""
        weights = self._known.model.readout.weights
        return weights[0] if self._fitted.flat else weights

    @property
    def intercept_(self) -> Any:
        """The readout bias, a number for 1-D targets, else (D_out,)."""
        offset = self._known.model.readout.offset
        return float(offset[0]) if self._fitted.flat else offset

    @property
    def spectrum_(self) -> Spectrum:
        """The eigenvalues drawn, before the leak."""
        return self._known.spectrum

    @property
    def effective_radius_(self) -> float:
        """Max ``|λ'|``, after the leak."""
        return self._known.model.effective_radius

    @property
    def certificate_(self) -> Reduction:
        """Of a network that was made smaller: what it keeps, and what it promises."""
        said = self._known.model.certificate
        if not isinstance(said, Reduction):
            raise AttributeError("this network was not made smaller: reduce() gives certificates.")
        return said

    certificate = certificate_
    """The name that models have it by."""

    @property
    def noise_covariance_(self) -> Any:
        """Covariance (D_out, D_out) of one-step errors: residuals of training, per free row."""
        return self._known.noise

    @property
    def noise_(self) -> Any:
        """The variance of one-step errors, (D_out,): the diagonal of ``noise_covariance_``."""
        return np.diag(self._known.noise).copy()

    @property
    def log_evidence_(self) -> float:
        """Log likelihood of the training targets under the ridge, the weights averaged over."""
        known = self._known
        try:
            return known.log_density
        except ValueError as error:  # as other attributes that a model does not have
            raise AttributeError(str(error)) from None

    @property
    def closed_loop_radius_(self) -> float:
        """The eigenvalue radius of the network with its output fed back as in ``forecast``."""
        known = self._known
        try:
            return known.closed_loop_radius
        except ValueError as error:  # as other attributes that a model does not have
            raise AttributeError(str(error)) from None

    @property
    def _n_features_out(self) -> int:
        return self.model_.units

    @property
    def _known(self) -> Fitted:
        check_is_fitted(self)
        return self._fitted

    @property
    def _feature_names(self) -> Any:
        return getattr(self, "feature_names_in_", None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.target_tags.required = True
        tags.input_tags.three_d_array = True
        return tags

    def _settings(self) -> Settings:
        return Settings.of(self.get_params(deep=False))
