"""Forecaster for sktime: ``EigenechoForecaster().fit(y, fh=[1, 2, 3]).predict()``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from eigenecho import spectra
from eigenecho.errors import Words, bad_argument, missing_package
from eigenecho.estimators import Forecaster
from eigenecho.spectra import Spectrum

try:
    from sktime.datatypes import update_data
    from sktime.forecasting.base import BaseForecaster
except ImportError as error:
    raise missing_package("eigenecho.interop.sktime", "sktime 1.2") from error

__all__ = ["EigenechoForecaster"]


class EigenechoForecaster(BaseForecaster):
    """Reservoir forecaster with the interface of sktime.

    It wraps ``eigenecho.Forecaster``, whose parameters have the same meaning. The horizon is the
    last step of ``fh``, which must be passed to ``fit`` and may omit steps.

    Columns of y are forecast together, with shared or separate weights. The series of a panel or
    hierarchy are forecast separately. NaN in y is a missing observation. X must have a row for
    every step of the horizon, without missing values except in the columns ``past``.

    ``update`` adds new rows, which replace old rows with the same times. It trains the selected
    models on all rows up to the cutoff. With ``update_params=False``, the weights are not changed,
    and forecasts start after the new rows.

    Parameters
    ----------
    strategy : {"auto", "direct", "recursive"}
        One readout per step ahead, or a one-step readout that is applied to its own forecasts.
        "auto" selects a strategy by its validation error.
    seasons : list of int, optional
        Periods in rows. By default, they are detected from the dates and the series.
    past : names of columns of X
        Columns that are not known in advance. All other columns are known in advance.
    multivariate : bool
        Use past values of all columns of y as inputs for each column.
    sharing : {"auto", "shared", "own"}
        Shared weights for all columns of y, or separate weights for each.
    validation : int, optional
        Number of validation rows at the end of y. By default, a third of the rows or four
        horizons, whichever is larger.
    refit : bool
        Train the selected models again on all rows, including the validation rows.
    spectrum : Spectrum, optional
        Spectrum that is used instead of those derived from the seasons.

    Attributes
    ----------
    forecaster_ : eigenecho.Forecaster
        The fitted forecaster, with the attributes ``seasons_``, ``members_`` and
        ``expected_error_``.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from eigenecho.interop.sktime import EigenechoForecaster
    >>> t = np.arange(212)
    >>> y = pd.Series(10 + 0.1 * t + np.sin(2 * np.pi * t / 12))
    >>> forecast = EigenechoForecaster().fit(y[:200], fh=[1, 6, 12]).predict()
    >>> bool((forecast - y[forecast.index]).abs().max() < 0.1)
    True
    """

    _tags: ClassVar[dict[str, Any]] = {
        "authors": "The eigenecho authors",
        "maintainers": "The eigenecho authors",
        "y_inner_mtype": "pd.DataFrame",
        "X_inner_mtype": "pd.DataFrame",
        "requires-fh-in-fit": True,
        "capability:multivariate": True,
        "capability:exogenous": True,
        "capability:missing_values": True,
        "capability:pred_int": True,
        "capability:insample": False,
        "capability:pred_int:insample": False,
        "capability:non_contiguous_X": False,
        "capability:categorical_in_X": False,
        "capability:update": True,
        "property:randomness": "deterministic",
    }

    def __init__(
        self,
        strategy: str = "auto",
        seasons: Sequence[int] | None = None,
        past: Any = (),
        multivariate: bool = False,
        sharing: str = "auto",
        validation: int | None = None,
        refit: bool = True,
        spectrum: Spectrum | None = None,
    ) -> None:
        self.strategy = strategy
        self.seasons = seasons
        self.past = past
        self.multivariate = multivariate
        self.sharing = sharing
        self.validation = validation
        self.refit = refit
        self.spectrum = spectrum
        super().__init__()

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Return parameter sets for the estimator checks of sktime."""
        return [
            {"strategy": "direct", "spectrum": spectra.ring(4, sr=0.9)},
            {"strategy": "recursive", "seasons": [4], "sharing": "shared", "validation": 8},
        ]

    def _fit(self, y: Any, X: Any, fh: Any) -> Self:
        forecaster = Forecaster(self._horizon(fh), **self.get_params(deep=False))
        self.forecaster_ = forecaster.fit(y, X)
        self._rows, self._columns = y, X
        return self

    def _predict_quantiles(self, fh: Any, X: Any, alpha: Sequence[float]) -> Any:
        quantiles = self._predict(fh, X, quantiles=alpha)
        return quantiles.set_axis(self._get_columns("predict_quantiles", alpha=alpha), axis=1)

    def _update(self, y: Any, X: Any = None, update_params: bool = True) -> Self:
        rows, columns = update_data(self._rows, y), update_data(self._columns, X)
        fitted = self.forecaster_.fitted_
        # Check the rows before storing them.
        panel = fitted.panel.read_context(self._up_to_now(rows), columns, name="y", X_name="X")
        if update_params:
            self.forecaster_.fitted_ = fitted.update(panel)
        self._rows, self._columns = rows, columns
        return self

    def _predict(self, fh: Any, X: Any, **options: Any) -> Any:
        """Return one row of forecasts for each time of ``fh``."""
        forecasts = self.forecaster_.predict(
            self._horizon(fh),
            X=self._select_known(X),
            context=self._up_to_now(self._rows),
            context_X=self._columns,
            **options,
        )
        times = self._resolve_times(fh, forecasts.index)
        unknown = ~times.isin(forecasts.index)
        if unknown.any():
            raise bad_argument(
                "fh",
                Words(f"the time {times[unknown][0]}"),
                f"times that continue y in regular steps, such as {forecasts.index[0]}",
                "Use absolute times, or a regular index of y with this step.",
            )
        return forecasts.loc[times]

    def _resolve_times(self, fh: Any, ahead: Any) -> Any:
        """Return the times of ``fh``. In an integer index, a relative step of sktime is 1."""
        if fh.is_relative and fh.freq is None and ahead.dtype.kind == "M":
            # Dates with gaps have no frequency in sktime, so the detected step is used.
            return ahead[fh.to_numpy() - 1]
        return fh.to_absolute_index(self.cutoff)

    def _horizon(self, fh: Any) -> int:
        """Return the number of steps up to the last one of ``fh``."""
        return int(fh.to_relative(self.cutoff).to_numpy().max())

    def _up_to_now(self, rows: Any) -> Any:
        return rows.loc[: self.cutoff[0]]

    def _select_known(self, X: Any) -> Any:
        """Return the columns of X that are known in advance, or None if there are none."""
        if X is None:
            return None
        panel: Any = self.forecaster_.fitted_.panel
        known = X.loc[:, ~X.columns.isin(panel.columns.past)]
        return known if known.shape[1] else None
