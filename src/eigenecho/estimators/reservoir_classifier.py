"""Classification of series, as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from eigenecho.checks import check_known, check_shape, is_finite_number
from eigenecho.classify import LinearClassifier, PooledModes, fit_classifier, per_class
from eigenecho.data.collection import Collection, read_labels
from eigenecho.errors import Words, bad_argument
from eigenecho.estimators.parameters import Parameters
from eigenecho.estimators.reservoir_features import SeriesEstimator
from eigenecho.estimators.validation import all_or_nothing
from eigenecho.progress import stage_report
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array, Seed

RIDGES = tuple(float(ridge) for ridge in np.logspace(-2, 6, 17))
"""Candidate penalties for ``ridge="auto"``."""


class ReservoirClassifier(ClassifierMixin, SeriesEstimator):
    """Classifier for series of any length, with one or several channels.

    The features of ``ReservoirFeatures`` are standardised and classified by ridge regression, with
    the penalty that minimises the exact leave-one-out error. No gradient descent is used.

    Parameters
    ----------
    time_constants : int
        Number of time constants, from 1 step to 0.2 times the median training length.
    frequencies : int
        Number of frequencies per time constant, from 0.1 to 2 cycles per time constant.
    phases : int
        Number of phases of each mode.
    thresholds : int
        Number of thresholds for each output. The defaults give 7680 features. A classifier with 8
        time constants, 4 frequencies, 2 phases and 4 thresholds has 1024 features. It is three to
        five times faster in ``fit``, five times faster in ``predict``, and half a percentage point
        less accurate.
    ridge : "auto" or float
        Ridge penalty for the standardised features. "auto" compares 17 values from 1e-2 to 1e6.
    layout : {"channels_last", "channels_first"}
        Order of the axes. "channels_last" expects arrays (series, T, D) or lists of arrays (T, D),
        and "channels_first" expects (series, D, T) or (D, T), as in aeon.
    id, time : str
        Names of the columns of ids and times in a long frame. All other columns are channels.
    seed : int, Generator or None
        Seed of the random thresholds and mixes of channels.

    Attributes
    ----------
    classes_ : array (K,)
        Labels, sorted.
    coef_ : array (K, features), or (1, features) for two classes
        Weights of the features. The second axis is flattened from ``feature_shape_``: input
        (series, increments), phase, threshold, direction (forwards, backwards), time constant and
        frequency.
    intercept_ : array (K,), or (1,)
    feature_scale_ : array (features,)
        Standard deviations of the features in the training set: ``coef_ * feature_scale_`` are the
        weights of standardised features.
    ridge_ : float
        The penalty that was used.
    leave_one_out_accuracy_ : float
        Leave-one-out accuracy of the ridge regression on the training series.
    n_features_in_ : int
        Number of channels.
    time_constants_ : array (time_constants,)
        Time constants, in steps.
    frequencies_ : array (time_constants, frequencies)
        Frequencies, in cycles per step.
    feature_shape_ : tuple of int
        Lengths of the feature axes.
    modes_ : PooledModes
        Modes, channel mixes and thresholds.

    See Also
    --------
    eigenecho.ReservoirFeatures : The features, for other classifiers.
    eigenecho.load : Load a saved classifier.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenecho as ee
    >>> rng = np.random.default_rng(0)
    >>> labels = np.tile(["slow", "fast"], 30)
    >>> speed = np.where(labels == "slow", 0.2, 0.3)[:, None]
    >>> X = np.sin(speed * np.arange(100) + rng.uniform(0, 6, (60, 1)))
    >>> X += rng.normal(0, 0.5, X.shape)
    >>> classifier = ee.ReservoirClassifier(seed=0).fit(X[:40], labels[:40])
    >>> classifier.score(X[40:], labels[40:])
    1.0
    """

    def __init__(
        self,
        *,
        time_constants: int = 16,
        frequencies: int = 8,
        phases: int = 3,
        thresholds: int = 5,
        ridge: Any = "auto",
        layout: str = "channels_last",
        id: str = "unique_id",
        time: str = "ds",
        seed: Seed = None,
    ) -> None:
        self.time_constants = time_constants
        self.frequencies = frequencies
        self.phases = phases
        self.thresholds = thresholds
        self.ridge = ridge
        self.layout = layout
        self.id = id
        self.time = time
        self.seed = seed

    @one_blas_thread()
    def fit(self, X: Any, y: Any, *, progress: Any = False) -> Self:
        """Compute the features of the series, and fit the classifier.

        Parameters
        ----------
        X : array (series, T) or (series, T, D), list of arrays (T_i,) or (T_i, D), or long frame
            Series of at least two steps, without missing values. A long frame has the columns
            ``id`` and ``time``, and one column per channel. Its rows are sorted by time; the times
            are not used otherwise. In a frame without these columns, each row is a series.
        y : array (series,), or Series or mapping by id
            Labels: strings, integers or Booleans. For a long frame, a pandas Series with the ids
            as index, or a mapping from ids to labels.
        progress : bool, or callable (stage, done, total)
            True shows a progress bar. A callable is called with the numbers of finished and of all
            series in the stage "features", and before and after the stage "ridge".
        """
        with all_or_nothing(self), stage_report(progress) as report:
            ridges = self._ridges()
            if y is None:
                raise ValueError(
                    "ReservoirClassifier requires y to be passed, but the target y is None. Pass "
                    "the labels of the series."
                )
            series = self._read(X, reset=True)
            self.classes_, codes = np.unique(_check_labels(y, series), return_inverse=True)
            if len(self.classes_) < 2:
                got = Words(f"one class, {self.classes_.tolist()[0]!r}")
                raise bad_argument("y", got, "labels from at least two classes")
            self.modes_ = self._fit_modes(series)
            features = self.modes_.transform(series, report)
            if report is not None:
                report("ridge", 0, 1)
            self.classifier_ = fit_classifier(features, codes, ridges)
            if report is not None:
                report("ridge", 1, 1)
        return self

    def predict(self, X: Any, *, progress: Any = False) -> Any:
        """Return the label of each series.

        Parameters
        ----------
        X : same types as in ``fit``
            Series of any length.
        progress : bool, or callable (stage, done, total)
            See ``fit``.

        Returns
        -------
        array (series,)
            Labels. For a long frame, a Series with the sorted ids as index; for polars or PyArrow,
            a frame with the columns ``id`` and "label".
        """
        series = self._read(X)
        return series.restore(self._classify(series, progress), ["label"])

    def decision_function(self, X: Any, *, progress: Any = False) -> Any:
        """Return decision values, about 1 for the class of a series and −1 for other classes.

        Parameters
        ----------
        X : same types as in ``fit``
            Series of any length.
        progress : bool, or callable (stage, done, total)
            See ``fit``.

        Returns
        -------
        array (series, K), or (series,) for two classes
            Decision values, in the order of ``classes_``. For two classes, positive values indicate
            the second class. For a long frame, a frame with the sorted ids as index.
        """
        series = self._read(X)
        decisions = self._decide(series, progress)
        if len(self.classes_) == 2:
            return series.restore(decisions[:, 0], ["decision"])
        return series.restore(decisions, self.classes_)

    def predict_proba(self, X: Any, *, progress: Any = False) -> Any:
        """Return the probabilities of the classes, softmax(s · decision values).

        The sharpness s is one number that minimises the log loss of the leave-one-out decision
        values of the training series. The targets are smoothed as in Platt scaling, so that
        probabilities stay below 1 even if all training series are classified correctly.

        Parameters
        ----------
        X : same types as in ``fit``
            Series of any length.
        progress : bool, or callable (stage, done, total)
            See ``fit``.

        Returns
        -------
        array (series, K)
            Probabilities, in the order of ``classes_``. For a long frame, a frame with the sorted
            ids as index.
        """
        series = self._read(X)
        decisions = self._decide(series, progress)
        return series.restore(self.classifier_.probabilities(decisions), self.classes_)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the given series and labels.

        Parameters
        ----------
        X, y : same types as in ``fit``
            Series and their labels.
        sample_weight : array (series,), optional
            Weights of the series, in the order of ``X`` or, for a long frame, of the sorted ids.
        """
        series = self._read(X)
        labels, predicted = _check_labels(y, series), self._classify(series)
        return float(accuracy_score(labels, predicted, sample_weight=sample_weight))

    @property
    def _linear(self) -> LinearClassifier:
        check_is_fitted(self)
        return self.classifier_

    @property
    def coef_(self) -> Array:
        """Weights of the features."""
        return self._linear.weights.T

    @property
    def intercept_(self) -> Array:
        """Decision values for features that are all 0."""
        return self._linear.intercept

    @property
    def feature_scale_(self) -> Array:
        """Standard deviations of the features in the training set."""
        return self._linear.scale

    @property
    def ridge_(self) -> float:
        """The penalty that was used."""
        return self._linear.ridge

    @property
    def leave_one_out_accuracy_(self) -> float:
        """Leave-one-out accuracy of the ridge regression on the training series."""
        return self._linear.accuracy

    @one_blas_thread()
    def _decide(self, series: Collection, progress: Any = False) -> Array:
        """Return decision values, computed in blocks of series without storing all features."""
        with stage_report(progress) as report:
            return np.concatenate([*self.modes_.map(self.classifier_.decide, series, report)])

    def _classify(self, series: Collection, progress: Any = False) -> Array:
        return self.classes_[per_class(self._decide(series, progress)).argmax(axis=1)]

    def _parts(self) -> dict[str, Any]:
        labels, dtype = _plain_classes(self.classes_), self.classes_.dtype.str
        classes = {"classes": labels, "dtype": dtype, "classifier": self.classifier_}
        return super()._parts() | classes

    @classmethod
    def _from_parts(  # type: ignore[override]
        cls,
        params: Parameters,
        modes: PooledModes,
        classes: tuple[Hashable, ...],
        dtype: str,
        classifier: LinearClassifier,
    ) -> ReservoirClassifier:
        estimator = super()._from_parts(params, modes)
        kind = np.dtype(dtype)
        check_known(kind.kind, "dtype", "biufmMU")
        labels = np.array(classes, "U" if kind.kind == "U" else kind)  # "U" is not padded
        shape, count = (classifier.classes,), len(np.unique(labels))
        if labels.shape != shape or count < len(labels) or _plain_classes(labels) != classes:
            raise bad_argument("classes", classes, f"{classifier.classes} distinct labels")
        check_shape(classifier.scale, "scale", (modes.size,))
        estimator._ridges()  # noqa: SLF001 (it checks the ridge)
        estimator.classes_, estimator.classifier_ = labels, classifier
        return estimator

    def _ridges(self) -> tuple[float, ...]:
        if isinstance(self.ridge, str) and self.ridge == "auto":
            return RIDGES
        if not is_finite_number(self.ridge) or self.ridge <= 0:
            raise bad_argument("ridge", self.ridge, "'auto' or a finite number > 0")
        return (float(self.ridge),)


def _check_labels(y: Any, series: Collection) -> Array:
    labels = column_or_1d(read_labels(y, series), warn=True)
    check_classification_targets(labels)
    return labels


def _plain_classes(classes: Array) -> tuple[Hashable, ...]:
    """Convert labels to strings, numbers or Booleans; dates become integers in their unit."""
    return tuple((classes.astype(int) if classes.dtype.kind in "mM" else classes).tolist())
