"""The linear echo state network as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenecho.blas import one_blas_thread
from eigenecho.errors import IllConditionedWarning, bad_argument, check_flag, unknown_name
from eigenecho.estimators.diagonal_reservoir import check_out
from eigenecho.estimators.next_step import check_target, merged, target_of
from eigenecho.estimators.shell import (
    all_or_nothing,
    check_inputs,
    check_outputs,
    warn_if_single_rows,
    warn_if_unstable,
)
from eigenecho.model import (
    Learner,
    LinearModel,
    Matrices,
    Options,
    State,
    Stream,
    Trained,
    train,
)
from eigenecho.model.evidence import Evidence
from eigenecho.model.forecast import closed_loop_radius
from eigenecho.model.intervals import Forecast, check_coverage, with_interval
from eigenecho.model.learner import check_rates, prior, remembered
from eigenecho.model.ports import check_labels
from eigenecho.model.run import initial_states, predict_series, states
from eigenecho.model.update import update
from eigenecho.progress import Report
from eigenecho.random import Seed
from eigenecho.readout import Penalty
from eigenecho.reservoir import Recipe, draw
from eigenecho.series import Container, column_labels, output_container, unpack
from eigenecho.spectra import Spectrum

OVERFITTED = 0.5
"""Degrees of freedom over training rows from which a readout is no longer to be trusted."""


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
        ignored. A callable ``(n, sr=, seed=) -> Spectrum`` is a law of your own.
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
    ridge : float or list of floats
        The penalty α. Of several, the best on the last fifth of the training data is kept.
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
        max |λ'|, after the leak.
    solver_, ridge_ : str, float
        What was used.
    final_state_ : State
        (r, y) at the end of the last training series, from which ``forecast`` goes on.
    noise_covariance_ : array (D_out, D_out)
        Of one-step errors, from the residuals of training.

    Examples
    --------
    >>> import eigenecho as ee
    >>> X = ee.tasks.mso(3, steps=601)
    >>> esn = ee.LinearESN(units=50, warmup=100, seed=0).fit(X[:-1], X[1:])
    >>> esn.forecast(3).shape
    (3, 1)
    """

    # What fit has seen the targets to be; estimators pickled before it looked do not say.
    _target: str | None = None

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
        self.dtype = dtype
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the reservoir and train the readout.

        Parameters
        ----------
        X : array (T, D_in), array (series, T, D_in), list of arrays (T_i, D_in), or None
            None with ``feedback=True`` is a generator without input.
        y : array (T,) or (T, D_out), or as many as ``X`` holds
            The target at the same row.

        Warns
        -----
        UserWarning
            Where every series is a single row, most likely a series the wrong way round.
        IllConditionedWarning
            Where there are fewer training rows than weights and the ridge holds the readout so
            little that it takes up more than half of their degrees of freedom.
        """
        with all_or_nothing(self):
            self._fit(X, y)
            self._warn_if_few_rows()
        return self

    def _fit(self, X: Any, y: Any) -> Self:
        with all_or_nothing(self):
            recipe, options = self._recipe(), self._options()
            inputs, outputs, container = self._training_data(X, y)
            given = (outputs, container, "y") if X is None else (inputs, container, "X")
            warn_if_single_rows(*given, stacklevel=3)
            D_out = outputs[0].shape[1]
            drawn = draw(recipe, inputs[0].shape[1], D_out if self.feedback else 0, self.seed)
            if recipe.basis == "eigen":
                warn_if_unstable(drawn.reservoir.spectrum.radius, max(map(len, inputs)))
            trained = train(
                drawn.reservoir,
                inputs,
                outputs,
                options,
                basis=drawn.basis,
                penalise_neurons=self.penalty == "neuron",
                standardize=self.standardize,
            )
            self._keep(trained)
            self.n_outputs_ = D_out
            self._drawn_spectrum = drawn.spectrum
            self._flat = container.flat
            self._lr = float(self.lr)
            self._target = target_of(inputs, outputs)
        return self

    def partial_fit(self, X: Any, y: Any = None, *, initial_state: Any = None) -> Self:
        """Train the readout on more series, as if ``fit`` had been given them too.

        The first call fits. Later ones keep the reservoir, the ridge chosen and the scaling of
        ``standardize``, all from the first data. Statistics are merged: the earlier series need
        not be kept, and cost no time.

        Parameters
        ----------
        X, y : as in ``fit``
        initial_state : State, or one for each series, optional
            Where the series go on from, without a new warmup: ``final_state_`` for the next
            piece of one long series. Zero by default, with ``warmup`` rows left out.
        """
        if not hasattr(self, "model_"):
            if initial_state is not None:
                raise bad_argument("initial_state", "<state>", "None in the first call, which fits")
            return self._fit(X, y)
        with all_or_nothing(self):
            options = self._options()
            inputs, outputs, container = self._training_data(X, y, reset=False)
            if initial_state is None:
                warn_if_single_rows(inputs, container)
            if outputs[0].shape[1] != self.n_outputs_:
                raise bad_argument(
                    "y", f"<{outputs[0].shape[1]} columns>", f"{self.n_outputs_}, as in fit"
                )
            starts = initial_states(self.model_, initial_state, len(inputs), container.kind)
            if self.model_.is_diagonal:
                warn_if_unstable(self.effective_radius_, max(map(len, inputs)))
            evidence = self._need_evidence()
            trained = Trained(self.model_, self.solver_, self.ridge_, self.final_state_, evidence)
            self._keep(update(trained, inputs, outputs, starts, options.warmup))
            self._target = merged(self._target, target_of(inputs, outputs))
        return self

    def _warn_if_few_rows(self) -> None:
        evidence = self._need_evidence()
        rows, weights = evidence.statistics.rows, len(evidence.weights)
        # Of a single row it has been said already; so it has where there is no ridge.
        if 1 < rows < weights and evidence.ridge > 0 and evidence.freedom > OVERFITTED * rows:
            warnings.warn(
                f"{rows} training rows for {weights} weights, and a ridge of {evidence.ridge:g} "
                f"that lets the readout take up {evidence.freedom:.0f} degrees of freedom: it fits "
                "these rows better than it will others. Use more rows, fewer units or a larger "
                "ridge.",
                IllConditionedWarning,
                stacklevel=3,
            )

    def _warn_if_overfitted(self) -> None:
        evidence = self._evidence
        if evidence is not None and evidence.freedom > OVERFITTED * evidence.statistics.rows:
            warnings.warn(
                f"the readout has taken up {evidence.freedom:.0f} degrees of freedom of "
                f"{evidence.statistics.rows} training rows: intervals, which leave out the "
                "uncertainty of the weights, are too narrow. Use more rows, fewer units or a "
                "larger ridge.",
                IllConditionedWarning,
                stacklevel=3,
            )

    def _need_evidence(self) -> Evidence:
        if self._evidence is None:
            raise ValueError(
                "the statistics that this estimator was trained on are not known: a file has them "
                "only when save(path, statistics=True) wrote it. Fit again to train further, or "
                "let model_.learner(ridge) learn from here on."
            )
        return self._evidence

    def _keep(self, trained: Trained) -> None:
        self.model_ = trained.model
        self.solver_ = trained.solver
        self.ridge_ = trained.ridge
        self.final_state_ = trained.final_state
        self._evidence: Evidence | None = trained.evidence
        self._closed_loop_radius: float | None = None
        self._noise: Any = None

    def predict(
        self,
        X: Any,
        *,
        y_previous: Any = None,
        initial_state: Any = None,
        return_state: bool = False,
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
        progress : callable (done, total), optional
            Called with steps several times a second; changes no bit of the outputs.
        """
        check_is_fitted(self)
        inputs, container = self._inputs(X, y_previous)
        held = Container(container.kind, self._flat)
        return predict_series(
            self.model_, inputs, held, y_previous, initial_state, return_state, progress
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² over all series, the first ``warmup`` rows of each left out."""
        from sklearn.metrics import r2_score

        check_is_fitted(self)
        predicted = self.predict(X)
        _, container = self._inputs(X, None)
        truths, _ = check_outputs(y, container, self.dtype)
        guesses, _ = check_outputs(predicted, container, self.dtype)
        for truth, guess in zip(truths, guesses, strict=True):
            if len(truth) != len(guess):
                raise ValueError(
                    f"X and y have inconsistent lengths: X has {len(guess)} rows, y {len(truth)}."
                )
            if truth.shape[1] != guess.shape[1]:
                raise bad_argument(
                    "y", f"<{truth.shape[1]} columns>", f"{guess.shape[1]}, as in fit"
                )
            if len(truth) <= self.warmup:
                raise bad_argument(
                    "warmup",
                    self.warmup,
                    f"fewer steps than the {len(truth)} rows to score",
                    "Score longer series: the first rows start from a zero state.",
                )
        true, guess = (
            np.concatenate([s[self.warmup :] for s in series]) for series in (truths, guesses)
        )
        if sample_weight is not None:
            weights, _ = check_outputs(sample_weight, container, np.float64, "sample_weight")
            sample_weight = np.concatenate([w[self.warmup :, 0] for w in weights])
        return float(r2_score(true, guess, sample_weight=sample_weight))

    def transform(self, X: Any, out: Any = None) -> Any:
        """States (T, N) of each series in the basis at work; ``out`` takes those of a single one.

        In the eigenbasis the columns are the Q layout: real modes, then the real and imaginary
        part of each pair; of a cascade the block comes first. Feedback runs on the model's own
        output.
        """
        check_is_fitted(self)
        inputs, container = self._inputs(X, None)
        out = check_out(out, inputs, self.model_.reservoir)
        return container.restore([states(self.model_, u, out=out) for u in inputs])

    @one_blas_thread()
    def states(self, X: Any, basis: str = "neuron") -> Any:
        """States (T, N) in the ``neuron`` basis, or as ``transform`` gives them (``work``)."""
        at_work = self.transform(X)
        if basis not in ("neuron", "work"):
            raise unknown_name("basis", basis, ("neuron", "work"))
        if basis == "work" or self.model_.reservoir.in_neuron_basis:
            return at_work
        known = self.model_.need_basis()
        if isinstance(at_work, list):
            return [known.states_to_neuron(r) for r in at_work]
        return known.states_to_neuron(at_work)

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
        context : array (T, D_in), optional
            The series so far: the first row returned predicts the step after its last. Without
            it the forecast goes on from the end of the training data.
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
            that are Gaussian and independent; the uncertainty of the weights is left out.

        Returns
        -------
        array (horizon,) or (horizon, D_out), or Forecast(mean, lower, upper) of such arrays
        """
        check_is_fitted(self)
        if interval is not None:
            check_coverage(interval)
        if context is not None and unpack(context)[1].kind != "single":
            raise bad_argument(
                "context", "<several series>", "one series (T, D)", "Forecast them one by one."
            )
        if context is not None and self.model_.D_in:
            # Feature names alone: forecast checks the rest, and calls it context.
            validate_data(self, context, reset=False, skip_check_array=True, ensure_2d=False)
        elif context is not None and np.ndim(context) == 1:
            context = np.reshape(context, (-1, 1))
        if inputs is not None and self._feature_names is not None:
            check_labels("inputs", column_labels(inputs), self._feature_names[self.n_outputs_ :])
        if context is None and state is None:
            state = self.final_state_
        check_target(self._target)
        rows = self.model_.forecast(horizon, context, inputs, state=state)
        if interval is None:
            return rows[:, 0] if self._flat else rows
        self._warn_if_overfitted()
        found = with_interval(self.model_, rows, self.noise_covariance_, interval)
        return Forecast(*(a[:, 0] for a in found)) if self._flat else found

    def stream(self, state: State | None = None) -> Stream:
        """An online run from ``state`` (zero by default), O(N) a step.

        ``stream.step(u)`` takes one row, ``stream.run(rows)`` several.
        """
        check_is_fitted(self)
        return Stream(self.model_, state, self._feature_names)

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
        wait = 0 if state is not None else self._options().warmup
        if n_inputs is None and n_outputs is None:
            check_is_fitted(
                self,
                msg="This %(name)s is not fitted yet: fit it on the rows there are, or say how "
                "many columns will come, learner(n_inputs=..., n_outputs=...).",
            )
            known = self._need_evidence()
            rates = known.ridge, forgetting
            check_rates(*rates)
            memory, names = remembered(known), self._feature_names
            return Learner(self.model_, memory, known.penalty, *rates, wait, state, names)
        check_rates(self.ridge, forgetting)
        untrained, penalty = self._untrained(n_inputs, n_outputs)
        memory = prior(untrained.W_out, penalty, self.ridge)
        return Learner(untrained, memory, penalty, self.ridge, forgetting, wait, state)

    def _untrained(self, n_inputs: Any, n_outputs: Any) -> tuple[LinearModel, Penalty]:
        """A drawn reservoir with a readout of zeros, and what its ridge penalises."""
        recipe, options = self._recipe(), self._options()
        for name, value, least in (
            ("n_inputs", n_inputs, 0 if self.feedback else 1),
            ("n_outputs", n_outputs, 1),
        ):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise bad_argument(name, value, f"a number of columns, an int ≥ {least}")
        if self.standardize:
            raise bad_argument(
                "standardize", True, "False: there are no data yet to take the scaling from",
                "Fit on the first rows, then learner() goes on.",
            )  # fmt: skip
        drawn = draw(recipe, n_inputs, n_outputs if self.feedback else 0, self.seed)
        size = options.fit_bias + options.output_to_readout * n_outputs + drawn.reservoir.units
        W_out = np.zeros((size, n_outputs), drawn.reservoir.dtype)
        flags = options.fit_bias, options.output_to_readout
        model = LinearModel(drawn.reservoir, W_out, *flags, drawn.basis)
        free = int(options.fit_bias and not options.penalize_bias)
        return model, Penalty(size, free, drawn.basis if self.penalty == "neuron" else None)

    def matrices(self, basis: str = "neuron") -> Matrices:
        """W, W_in, bias, W_fb and W_out in the ``neuron`` basis or as they are at ``work``."""
        check_is_fitted(self)
        return self.model_.matrices(basis)

    def save(self, path: Any, *, statistics: bool = False) -> None:
        """Write the fitted estimator to a safetensors file; ``eigenecho.load`` reads it back.

        With ``statistics``, N'² more numbers, what is loaded can be trained further. Of a
        callable ``spectrum`` the file keeps the eigenvalues that it gave, of a Generator ``seed``
        nothing; both warn.
        """
        from eigenecho.estimators.storage import save

        check_is_fitted(self)
        check_flag(statistics, "statistics")
        save(path, self, statistics)

    @property
    def W_out_(self) -> Any:
        """Readout weights (N', D_out) in the basis at work, rows [1, y(t−1), r]."""
        check_is_fitted(self)
        return self.model_.W_out

    @property
    def coef_(self) -> Any:
        """Readout weights of the states, (N,) for 1-D targets, else (D_out, N)."""
        check_is_fitted(self)
        weights = self.model_.readout.weights
        return weights[0] if self._flat else weights

    @property
    def intercept_(self) -> Any:
        """The readout bias, a number for 1-D targets, else (D_out,)."""
        check_is_fitted(self)
        offset = self.model_.readout.offset
        return float(offset[0]) if self._flat else offset

    @property
    def spectrum_(self) -> Spectrum:
        """The eigenvalues drawn, before the leak."""
        check_is_fitted(self)
        if self._drawn_spectrum is None:
            # A matrix in the neuron basis: undo λ' = lr λ + 1 − lr on its eigenvalues.
            leaky, lr = self.model_.spectrum, self._lr
            self._drawn_spectrum = Spectrum((leaky.real - 1 + lr) / lr, (leaky.pairs - 1 + lr) / lr)
        return self._drawn_spectrum

    @property
    def effective_radius_(self) -> float:
        """Max |λ'|, after the leak."""
        check_is_fitted(self)
        return self.model_.effective_radius

    @property
    def noise_covariance_(self) -> Any:
        """Covariance (D_out, D_out) of one-step errors: residuals of training, per free row."""
        check_is_fitted(self)
        if self._noise is None:
            self._noise = self.model_.covariance_to_user(self._need_evidence().noise)
        return self._noise

    @property
    def closed_loop_radius_(self) -> float:
        """The eigenvalue radius of the network with its output fed back as in ``forecast``."""
        check_is_fitted(self)
        if self._closed_loop_radius is None:
            try:
                self._closed_loop_radius = closed_loop_radius(self.model_)
            except ValueError as error:  # as other attributes that a model does not have
                raise AttributeError(str(error)) from None
        return self._closed_loop_radius

    @property
    def _n_features_out(self) -> int:
        return self.model_.units

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

    def _recipe(self) -> Recipe:
        check_flag(self.feedback, "feedback")
        check_flag(self.standardize, "standardize")
        if self.penalty not in ("neuron", "identity"):
            raise unknown_name("penalty", self.penalty, ("neuron", "identity"))
        return Recipe(
            units=self.units,
            spectrum=self.spectrum,
            basis=self.basis,
            sr=self.sr,
            lr=self.lr,
            input_scaling=self.input_scaling,
            input_connectivity=self.input_connectivity,
            rc_connectivity=self.rc_connectivity,
            input_bias=self.input_bias,
            fb_scaling=self.fb_scaling,
            eigenvectors=self.penalty == "neuron",
            dtype=self.dtype,
        )

    def _options(self) -> Options:
        ridge = self.ridge
        ridges = np.atleast_1d(ridge)
        if ridges.dtype.kind not in "fiu" or ridges.ndim != 1:
            raise bad_argument("ridge", ridge, "a finite number ≥ 0, or a list of them")
        return Options(
            ridge=tuple(map(float, ridges)),
            solver=self.solver,
            warmup=self.warmup,
            fit_bias=self.fit_bias,
            penalize_bias=self.penalize_bias,
            output_to_readout=self.output_to_readout,
        )

    def _training_data(
        self, X: Any, y: Any, reset: bool = True
    ) -> tuple[list[Any], list[Any], Container]:
        if y is None:
            raise ValueError(
                "LinearESN requires y to be passed, but the target y is None. "
                "For next-step prediction: fit(X[:-1], X[1:])."
            )
        if X is not None:
            inputs, container = check_inputs(self, X, reset=reset)
            outputs, container = check_outputs(y, container, self.dtype)
            return inputs, outputs, container
        if not self.feedback or (not reset and self.model_.D_in):
            raise bad_argument(
                "X", None, "an input series", "A generator without input needs feedback=True."
            )
        outputs, container = check_outputs(y, output_container(y), self.dtype)
        self.n_features_in_ = 0
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return [s[:, :0] for s in outputs], outputs, container

    def _inputs(self, X: Any, y_previous: Any) -> tuple[list[Any], Container]:
        if X is not None:
            return check_inputs(self, X, reset=False)
        if self.n_features_in_ or y_previous is None:
            raise bad_argument(
                "X",
                None,
                f"a series with {self.n_features_in_} features"
                if self.n_features_in_
                else "y_previous to drive a model without input",
                "forecast(horizon) runs the model freely.",
            )
        before, container = check_outputs(
            y_previous, output_container(y_previous), self.dtype, "y_previous"
        )
        return [s[:, :0] for s in before], container
