"""Features of series from the modes of linear reservoirs, as a scikit-learn transformer."""

from __future__ import annotations

import math
from itertools import product
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from eigenecho import files
from eigenecho.checks import check_count, check_memory, generator
from eigenecho.classify import PooledModes, fit_modes
from eigenecho.data.collection import Collection, check_options, read_collection
from eigenecho.errors import Words, bad_argument, counted, other_columns, warn
from eigenecho.estimators.parameters import Parameters
from eigenecho.estimators.validation import all_or_nothing
from eigenecho.progress import stage_report
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array, Seed


class SeriesEstimator(BaseEstimator):
    """Base class of estimators for whole series, which validates series and saves files."""

    def _read(self, X: Any, *, reset: bool = False) -> Collection:
        """Read the series and check their channels; with ``reset``, store the channels instead."""
        if not reset:
            check_is_fitted(self)
        series = read_collection(X, self.layout, self.id, self.time)
        D = series.rows.shape[1]
        if reset:
            self.n_features_in_ = D
            self.__dict__.pop("feature_names_in_", None)
            if series.channels is not None:
                self.feature_names_in_ = np.array(series.channels, dtype=object)
            _warn_if_transposed(series)
            return series
        names = getattr(self, "feature_names_in_", None)
        if names is not None and series.channels not in (None, tuple(names)):
            raise other_columns("X", series.channels, tuple(names))
        if self.n_features_in_ != D:
            expected = f"{counted(self.n_features_in_, 'channel')}, as passed to fit"
            raise bad_argument("X", Words(counted(D, "channel")), expected)
        return series

    def _fit_modes(self, series: Collection) -> PooledModes:
        names = ("time_constants", "frequencies", "phases", "thresholds")
        counts = [
            check_count(getattr(self, name), name, f"a number of {name.replace('_', ' ')}", 1)
            for name in names
        ]
        check_memory(16 * math.prod(counts), " × ".join(names), counts)
        return fit_modes(series, counts, self.seed)

    def _parts(self) -> dict[str, Any]:
        return {"params": Parameters.of(self), "modes": self.modes_}

    @classmethod
    def _from_parts(cls, params: Parameters, modes: PooledModes) -> Self:
        estimator = params.restore(cls, modes.channels)
        check_options(estimator.layout, estimator.id, estimator.time)
        generator(estimator.seed)
        estimator.modes_ = modes
        return estimator

    @property
    def time_constants_(self) -> Array:
        """Time constants of the modes, in steps."""
        check_is_fitted(self)
        return self.modes_.grid.time_constants

    @property
    def frequencies_(self) -> Array:
        """Frequencies of the modes, in cycles per step: one row for each time constant."""
        check_is_fitted(self)
        return self.modes_.grid.frequencies

    @property
    def feature_shape_(self) -> tuple[int, ...]:
        """Lengths of the feature axes."""
        check_is_fitted(self)
        return self.modes_.shape

    def save(self, path: Any) -> None:
        """Write the fitted estimator to a safetensors file; ``eigenecho.load`` reads it back.

        A Generator ``seed`` is stored as None, with a warning.

        Parameters
        ----------
        path : str or Path
            Path of the file.
        """
        check_is_fitted(self)
        files.save(path, self)


class ReservoirFeatures(TransformerMixin, SeriesEstimator):
    """Transformer that computes one row of features for each series.

    Each series drives a grid of linear modes z(t) = λ z(t−1) + u(t), forwards and backwards in
    time. The outputs of a mode at several phases are moving averages of the series and of its
    increments, with weights that oscillate and decay. A feature is the proportion of steps at which
    an output exceeds a threshold. The thresholds are quantiles of the outputs for a sample of
    training series.

    Parameters
    ----------
    time_constants : int
        Number of time constants, from 1 step to 0.2 times the median training length.
    frequencies : int
        Number of frequencies per time constant, from 0.1 to 2 cycles per time constant.
    phases : int
        Number of phases of each mode. The first phase ignores constant offsets.
    thresholds : int
        Number of thresholds for each output.
    layout : {"channels_last", "channels_first"}
        Order of the axes. "channels_last" expects arrays (series, T, D) or lists of arrays (T, D),
        and "channels_first" expects (series, D, T) or (D, T), as in aeon.
    id, time : str
        Names of the columns of ids and times in a long frame. All other columns are channels.
    seed : int, Generator or None
        Seed of the random thresholds and mixes of channels.

    Attributes
    ----------
    n_features_in_ : int
        Number of channels.
    time_constants_ : array (time_constants,)
        Time constants, in steps.
    frequencies_ : array (time_constants, frequencies)
        Frequencies, in cycles per step.
    feature_shape_ : tuple of int
        Lengths of the feature axes, in order: input (series, increments), phase, threshold,
        direction (forwards, backwards), time constant, frequency.
    modes_ : PooledModes
        Modes, channel mixes and thresholds.

    See Also
    --------
    eigenecho.ReservoirClassifier : These features with a ridge classifier.
    eigenecho.DiagonalReservoir : One row of states for each step.

    Notes
    -----
    With several channels, the input of each mode is the sum of a few random channels with random
    signs. Each channel is standardised by its mean and standard deviation over the whole training
    set. Individual series are not normalised, so their levels and amplitudes matter.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenecho as ee
    >>> X = np.sin(np.arange(100) * np.linspace(0.1, 0.4, 20)[:, None])
    >>> features = ee.ReservoirFeatures(seed=0).fit_transform(X)
    >>> features.shape
    (20, 7680)
    """

    def __init__(
        self,
        *,
        time_constants: int = 16,
        frequencies: int = 8,
        phases: int = 3,
        thresholds: int = 5,
        layout: str = "channels_last",
        id: str = "unique_id",
        time: str = "ds",
        seed: Seed = None,
    ) -> None:
        self.time_constants = time_constants
        self.frequencies = frequencies
        self.phases = phases
        self.thresholds = thresholds
        self.layout = layout
        self.id = id
        self.time = time
        self.seed = seed

    @one_blas_thread()
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the modes for the median length of the series, and draw the thresholds.

        Parameters
        ----------
        X : array (series, T) or (series, T, D), list of arrays (T_i,) or (T_i, D), or long frame
            Series of at least two steps, without missing values. A long frame has the columns
            ``id`` and ``time``, and one column per channel. Its rows are sorted by time; the times
            are not used otherwise. In a frame without these columns, each row is a series.
        y : ignored
        """
        with all_or_nothing(self):
            self.modes_ = self._fit_modes(self._read(X, reset=True))
        return self

    @one_blas_thread()
    def transform(self, X: Any, *, progress: Any = False) -> Any:
        """Compute the features of each series.

        Parameters
        ----------
        X : same types as in ``fit``
            Series of any length.
        progress : bool, or callable (stage, done, total)
            True shows a progress bar. A callable is called with the name of the stage, the number
            of finished series and the total number of series.

        Returns
        -------
        array (series, features) of float32
            For a long frame, a frame with the sorted ids as index.
        """
        series = self._read(X)
        with stage_report(progress) as report:
            features = self.modes_.transform(series, report)
        return series.restore(features, self.get_feature_names_out())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return feature names, which contain the indices along the axes of ``feature_shape_``.

        Parameters
        ----------
        input_features : ignored
        """
        names = (
            ("series", "increments"), "phase", "threshold", ("forwards", "backwards"), "tau",
            "frequency",
        )  # fmt: skip
        axes = [
            name if isinstance(name, tuple) else [f"{name}{i}" for i in range(count)]
            for name, count in zip(names, self.feature_shape_, strict=True)
        ]
        return np.array(["_".join(parts) for parts in product(*axes)], dtype=object)


def _warn_if_transposed(series: Collection) -> None:
    """Warn if series have more channels than steps, most likely because they are transposed."""
    steps, channels = float(np.median(series.lengths)), series.rows.shape[1]
    if channels > steps:
        warn(
            f"The series in X have {channels} channels, but only {steps:g} steps. If these are "
            "swapped, change layout: arrays have the shape (series, T, D) with 'channels_last', "
            "the default, and (series, D, T) with 'channels_first'.",
            UserWarning,
        )
