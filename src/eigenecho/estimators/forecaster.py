"""The forecaster as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from eigenecho import files, plots
from eigenecho.arrays import resolve_device, takes_tensors
from eigenecho.checks import (
    check_count,
    check_coverage,
    check_flag,
    generator,
    is_finite_number,
)
from eigenecho.clients import on_client
from eigenecho.data.origins import origins as rows_of
from eigenecho.data.origins import together
from eigenecho.data.panel import Panel, read
from eigenecho.errors import Words, bad_argument, counted, unknown_name
from eigenecho.estimators.parameters import Parameters
from eigenecho.forecasting.backtest import Backtest, run_backtest
from eigenecho.forecasting.candidates import runner
from eigenecho.forecasting.fit import FittedForecaster, fit, warn_zero_width
from eigenecho.forecasting.models import check_models
from eigenecho.forecasting.prior import NO_PRIOR, Prior, default_prior
from eigenecho.forecasting.report import constructor_call, contents, outlook_of, write
from eigenecho.forecasting.seasons import IN_ROWS
from eigenecho.forecasting.selection import ForecastConfig
from eigenecho.plots.outlook import outlook
from eigenecho.progress import stage_report
from eigenecho.spectra import Spectrum
from eigenecho.threads import mapped
from eigenecho.types import Seed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OF_FIT = "of the fit"
"""Stored value of the parameter ``prior`` if it is a forecaster."""


class Forecaster(BaseEstimator):
    """Automatic forecaster for one or many series, from arrays or DataFrames.

    Several candidate models are compared on a validation split of the data. The candidates are
    linear reservoirs of the values or their logarithms, with modes at the seasonal frequencies or
    with slow modes. They have one readout per step ahead, or a single one-step readout that is
    applied to its own forecasts. The forecast is the trimmed mean of the candidates whose
    validation errors are not clearly larger than the smallest one. It is deterministic.

    Parameters
    ----------
    horizon : int
        Number of steps ahead, H.
    strategy : {"auto", "direct", "recursive"}
        "direct" trains one readout per step ahead. "recursive" trains a single one-step readout and
        applies it to its own forecasts, so it can forecast more steps than ``horizon``. "auto"
        compares both.
    seasons : list of int, optional
        At most 20 seasonal periods, in rows. By default, periods of the calendar, if the data have
        dates, and periods detected in the series.
    known, past : list of column names of X, or of column numbers for arrays
        Columns that are known in advance, and columns that are known only up to the forecast
        origin. By default, all columns that are not in ``past`` are known in advance. These columns
        may also be part of a frame ``y``.
    multivariate : bool
        Let each series depend on past values of the others. The series must share their rows, as
        the columns of an array or a wide frame do. The order of the columns does not matter.
    sharing : {"auto", "shared", "own"}
        "shared" uses the same weights for all series of a panel, and "own" fits separate weights,
        which are shrunk towards the shared ones. "auto" compares both.
    validation : int, optional
        Number of validation rows at the end of each series. By default, a third of the rows or four
        horizons, whichever is more, and fewer if too few training rows would remain. Long series
        use at least eight horizons or half of the rows, whichever is less.
    refit : bool
        Train on the validation rows too, after the selection.
    spectrum : Spectrum, optional
        Spectrum that replaces the candidate spectra.
    prior : "auto", None or a fitted Forecaster
        Readouts for short series, which are used in addition to simple methods such as the drift,
        and adapted to the rows of each series. "auto" uses readouts trained on synthetic series, a
        fitted forecaster provides readouts trained on its series, and None uses simple methods
        only. The prior has no effect on series of more than 500 rows.
    models : list of objects, optional
        Additional models with the methods ``fit(batches, stops)`` and ``forecast(batch, origins,
        horizon)`` of :class:`eigenecho.forecasting.models.Model`. They are compared with the other
        candidates on the validation split, and averaged with them if their error is small.
    id, time, target : str
        Names of the columns of a long frame. ``time`` is also the time column of a wide polars or
        PyArrow frame, where it may be omitted if there is only one column of dates.
    progress : bool
        Show a progress bar on the terminal.
    seed : int
        Not used: forecasts are deterministic.

    Attributes
    ----------
    seasons_ : tuple of int
        Seasonal periods, in rows.
    expected_error_ : float, array (D,) or pandas Series
        Mean absolute error over the horizon on the validation rows: one number per series, labelled
        by id or column if y is a DataFrame.
    members_ : list of dict
        Members of the ensemble, best first.

    See Also
    --------
    eigenecho.LinearESN : Single network with a linear readout.
    eigenecho.forecasting.backtest.Backtest : Result of ``backtest``.

    Examples
    --------
    >>> import eigenecho as ee, numpy as np
    >>> t = np.arange(212)
    >>> y = 10 + 0.1 * t + np.sin(2 * np.pi * t / 12)
    >>> forecast = ee.Forecaster(horizon=12).fit(y[:200]).predict()
    >>> bool(np.abs(forecast - y[200:]).max() < 0.1)
    True
    """

    def __init__(
        self,
        horizon: int | None = None,
        *,
        strategy: str = "auto",
        seasons: Sequence[int] | None = None,
        known: Any = (),
        past: Any = (),
        multivariate: bool = False,
        sharing: str = "auto",
        validation: int | None = None,
        refit: bool = True,
        spectrum: Spectrum | None = None,
        prior: Any = "auto",
        models: Any = None,
        id: str = "unique_id",
        time: str = "ds",
        target: str = "y",
        progress: bool = False,
        seed: Seed = 0,
    ) -> None:
        if horizon is None:  # a default of one step would rarely be useful
            raise TypeError("Missing horizon: expected a number of steps, as in Forecaster(12).")
        self.horizon = horizon
        self.strategy = strategy
        self.seasons = seasons
        self.known = known
        self.past = past
        self.multivariate = multivariate
        self.sharing = sharing
        self.validation = validation
        self.refit = refit
        self.spectrum = spectrum
        self.prior = prior
        self.models = models
        self.id = id
        self.time = time
        self.target = target
        self.progress = progress
        self.seed = seed

    @takes_tensors
    def fit(self, y: Any, X: Any = None, *, client: Any = None) -> Self:
        """Select candidates on the validation split and train them.

        Parameters
        ----------
        y : array (T,) or (T, D), list of arrays (T_i,), Series or DataFrame
            Each column of an array or a wide frame is a series; a long frame has the columns
            ``id``, ``time`` and ``target``. NaN is a missing observation. It is filled from earlier
            rows, and never used for training or validation. The magnitude of values must be at most
            1e150, and nonzero differences must be at least 1e-150. Every column of a wide frame is
            forecast, except those in ``known`` and ``past``. Pass other columns as ``X``.
        X : array (T, k), list of arrays (T_i, k), or DataFrame, optional
            Additional columns, at the rows of ``y``. The value of a known column affects the series
            in the same row. Text and categories in a DataFrame are encoded as one column of zeros
            and ones for each category.
        client : distributed.Client, optional
            Client of a Dask cluster, on which candidates are scored and trained. It does not change
            the results.

        Warns
        -----
        FewRowsWarning
            If no series is long enough for a validation split. Forecasts then come from the prior
            and from simple methods.
        """
        config, panel = self._config(), self._read(y, X)
        with stage_report(bool(self.progress)) as report:
            over = mapped if client is None else on_client(client, "views")
            fitted = fit(panel, config, runner(over, report))
        fitted.warn_if_untrained()
        fitted.warn_if_columns_are_rare()
        self.fitted_ = fitted
        return self

    @takes_tensors
    def predict(
        self,
        horizon: int | None = None,
        *,
        X: Any = None,
        context: Any = None,
        context_X: Any = None,
        interval: float | Sequence[float] | None = None,
        quantiles: Sequence[float] | None = None,
    ) -> Any:
        """Forecast the rows after the end of the training series, or of a ``context``.

        Parameters
        ----------
        horizon : int, optional
            Number of steps. By default, the horizon of the forecaster.
        X : same types as in ``fit``, optional
            Known columns at the rows to forecast.
        context : same types as ``y`` in ``fit``, optional
            Series to forecast instead of the training series. They may be other series, and are
            scaled separately.
        context_X : same types as ``X`` in ``fit``, optional
            Additional columns at the rows of the context.
        interval : float in (0, 1) or list of floats, optional
            Coverage of prediction intervals.
        quantiles : list of floats in (0, 1), optional
            Quantiles to return instead of the forecast.

        Returns
        -------
        array (H,) or (H, D), list of (H,), Series or DataFrame
            The container is the same as for ``y``. With ``interval``, the result is a
            ``Forecast(mean, lower, upper)``, or a frame with the columns forecast, lower and upper.
            For a list of coverages such as [0.8, 0.95], it is a list of ``Forecast``, or a frame
            with the columns forecast, lower_80, upper_80, lower_95 and upper_95. With
            ``quantiles``, an array has an additional last axis, and a frame has one column for each
            quantile.

        Warns
        -----
        FewRowsWarning
            If an interval has width 0, because its series is constant.
        """
        fitted, panel = self._fitted, self._fitted.panel
        steps = self._steps(horizon)
        levels = _levels(interval, quantiles)  # by name
        if context is not None:
            panel = panel.read_context(context, context_X)
        elif context_X is not None:
            raise bad_argument("context_X", Words("columns"), "None, because no context is given")
        forecasts = fitted.forecast(panel, steps, panel.future(X, steps))
        if not levels:
            return panel.forecast(steps, {"forecast": forecasts})
        places = list(levels.values())
        bands = [fitted.quantiles(panel, i, f, places) for i, f in enumerate(forecasts)]
        if places != [0.5]:
            flat = sum(not fitted.has_width(panel, i) for i in range(len(panel)))
            warn_zero_width(flat, len(panel), "series")
        results = {} if interval is None else {"forecast": forecasts}
        results |= {name: [band[:, j] for band in bands] for j, name in enumerate(levels)}
        return panel.forecast(steps, results)

    @takes_tensors
    def rolling(self, y: Any, origins: Any, X: Any = None) -> Any:
        """Forecast from many origins in one pass, without training again.

        Parameters
        ----------
        y : same types as in ``fit``
            Rows of the same or other series.
        origins : int, list of row numbers, or list of times
            Last row before each forecast. An int is a number of origins, which are spread over the
            last rows.
        X : same types as in ``fit``, optional
            Additional columns, including the rows of the forecasts.

        Returns
        -------
        array (O, H) or (O, H, D), list of (O, H), or long DataFrame
            A frame has columns for the id, the time of the origin (``cutoff``), the time and the
            ``forecast``.
        """
        fitted = self._fitted
        panel = fitted.panel.read_context(y, X, name="y", X_name="X")
        horizon = fitted.config.horizon
        rows = rows_of(panel, origins, horizon)
        if panel.known_names:
            for history, places in zip(panel.histories, rows, strict=True):
                if (last := int(places.max())) + horizon >= len(history):
                    expected = f"rows that precede {counted(horizon, 'row')} of known columns"
                    raise bad_argument("origins", last, expected)
        return panel.rolling(rows, fitted.forecasts(panel, rows, horizon))

    @takes_tensors
    def backtest(
        self,
        y: Any,
        X: Any = None,
        origins: Any = 10,
        *,
        interval: float = 0.9,
        progress: Any = None,
    ) -> Backtest:
        """Refit at each origin and compare the forecasts with the rows that follow.

        Each fit uses the rows up to its origin, and known columns up to the end of its forecast.
        The forecaster itself is not modified.

        Parameters
        ----------
        y, X : same types as in ``fit``
            Series and additional columns.
        origins : int, list of row numbers, or list of times
            Last row before each forecast. An int is a number of origins, which are spread over the
            last rows and counted from the end of each series.
        interval : float in (0, 1)
            Coverage of prediction intervals.
        progress : bool, or callable (done, total), optional
            True shows a progress bar, and a callable is called after each origin. By default, the
            parameter ``progress`` of the forecaster is used.

        Returns
        -------
        Backtest
            ``.errors`` is a DataFrame of all forecasts, naive forecasts and true values.
            ``.summary``, ``.by_series`` and ``.by_step`` contain error metrics, and ``.plot()``
            draws the forecasts. After an interruption (Ctrl-C), the result contains the finished
            origins.
        """
        config, panel = self._config(), self._read(y, X)
        check_coverage(interval)
        rows = together(panel, origins, self.horizon)
        shown = self.progress if progress is None else progress
        if not callable(shown):
            check_flag(shown, "progress")
        with stage_report(shown is True) as report:
            return run_backtest(
                panel,
                rows,
                config,
                interval=float(interval),
                report=report,
                finished=shown if callable(shown) else None,
            )

    @takes_tensors
    def plot(
        self,
        series: str | int | Sequence[Hashable] | None = None,
        *,
        X: Any = None,
        interval: float | Sequence[float] | None = 0.9,
        width: float = 9.0,
    ) -> Figure:
        """Plot the last rows of some series with their forecasts and prediction intervals.

        Parameters
        ----------
        series : id, column or number of a series, or list of them, optional
            Series to plot. By default, the first four.
        X : same types as in ``fit``, optional
            Known columns at the rows to forecast.
        interval : float in (0, 1), list of floats, or None
            Coverage of prediction intervals.
        width : float
            Width of the figure, in inches.

        Examples
        --------
        >>> import eigenecho as ee, numpy as np
        >>> y = np.sin(2 * np.pi * np.arange(96) / 12) + np.random.default_rng(0).normal(0, 0.1, 96)
        >>> figure = ee.Forecaster(12).fit(y).plot(interval=[0.5, 0.9])
        """
        fitted = self._fitted
        _levels(interval, None)
        levels = [] if interval is None else np.atleast_1d(interval).tolist()
        horizon, panel, numbers = fitted.config.horizon, fitted.panel, fitted.measures.numbers
        names = list(numbers)[: plots.MOST_SERIES] if series is None else series
        shown = [names] if isinstance(names, (str, int)) else list(names)
        for name in shown:
            if name not in numbers:
                raise unknown_name("series", name, map(str, numbers))
        # Other series have no origins, so that they are not forecast.
        ends = [np.array([len(h) - 1] * (h.name in shown), int) for h in panel.histories]
        forecasts = fitted.forecasts(panel, ends, horizon, panel.future(X, horizon))
        places = [numbers[name] for name in shown]
        parts = [outlook_of(fitted, i, forecasts[i][0], levels) for i in places]
        return outlook(parts, width=width)

    @takes_tensors
    def report(
        self, path: Any, *, X: Any = None, backtest: Backtest | None = None, interval: float = 0.9
    ) -> Path:
        """Write an HTML page with the forecast, its intervals and the selected candidates.

        This requires matplotlib and jinja2 (``pip install 'eigenecho[cli]'``).

        Parameters
        ----------
        path : str or path
            Path of the page. An existing file is replaced.
        X : same types as in ``fit``, optional
            Known columns at the rows to forecast.
        backtest : Backtest, optional
            Backtest to include in the page.
        interval : float in (0, 1)
            Coverage of prediction intervals.
        """
        fitted = self._fitted
        check_coverage(interval)
        if backtest is not None and not isinstance(backtest, Backtest):
            raise bad_argument("backtest", backtest, "a Backtest or None")
        horizon, panel = fitted.config.horizon, fitted.panel
        forecasts = fitted.forecast(panel, horizon, panel.future(X, horizon))
        values = contents(fitted, forecasts, float(interval), backtest)
        return write(files.as_path(path), values | {"constructor": constructor_call(self)})

    @takes_tensors
    def update(self, y_new: Any, X_new: Any = None) -> Self:
        """Append rows, and train the selected candidates on all rows.

        The validation errors of ``fit`` are kept, in units of the mean step of each series, so the
        intervals become wider if the steps become larger. Candidates are selected again only if no
        candidate was trained before, because the series were too short or constant.
        """
        fitted = self._fitted
        panel = fitted.panel.follow(y_new, X_new)
        with stage_report(bool(self.progress)) as report:
            run = runner(report=report)
            if fitted.is_untrained or not fitted.measures.median_unit:
                fitted = fit(panel, self._config(), run)
            else:
                fitted = fitted.update(panel, run)
        fitted.warn_if_untrained()
        fitted.warn_if_columns_are_rare()
        self.fitted_ = fitted
        return self

    def to(self, device: Any) -> Self:
        """Set the default torch device of results, for calls such as ``predict()``.

        ``None`` selects NumPy arrays. ``fit`` sets the default to the device of the tensors passed
        to it. Calls with tensors return tensors on the same device, and calls with arrays return
        arrays. Forecasts are computed on the host.
        """
        check_is_fitted(self, "fitted_")
        self._device = resolve_device(device)
        return self

    def save(self, path: Any) -> None:
        """Write the fitted forecaster to a safetensors file; ``eigenecho.load`` reads it.

        The file contains the rows of the fit, since forecasts and updates continue from them.
        """
        check_is_fitted(self, "fitted_")
        if self._config().models:
            remedy = "Fit a forecaster without models, or save the rows and fit again."
            raise bad_argument("models", self.models, "None in a forecaster to save", remedy)
        files.save(path, self)

    def _parts(self) -> dict[str, Any]:
        # The readouts of a prior that is not a name are part of the fit.
        prior = {} if self.prior is None or isinstance(self.prior, str) else {"prior": OF_FIT}
        return {"params": Parameters.of(self, **prior), "fitted": self.fitted_}

    @classmethod
    def _from_parts(cls, params: Parameters, fitted: FittedForecaster) -> Forecaster:
        forecaster = params.restore(cls)
        if forecaster.prior == OF_FIT:
            forecaster.prior = fitted.config.prior
        forecaster._config()  # noqa: SLF001 (it checks all parameters)
        forecaster.fitted_ = fitted
        return forecaster

    def export(self, path: Any) -> NoReturn:
        """Raise a TypeError, because only a ``LinearESN`` or its model can be exported."""
        raise TypeError(
            "A Forecaster cannot be exported, because it combines several models of the whole "
            "series. Export a LinearESN instead."
        )

    @property
    def seasons_(self) -> tuple[int, ...]:
        """Seasonal periods, in rows."""
        return self._fitted.config.seasons

    @property
    def expected_error_(self) -> Any:
        """Mean absolute error over the horizon on the validation rows, for each series."""
        errors, panel = self._fitted.expected_errors, self._fitted.panel
        if panel.form.kind in ("wide", "long"):
            import pandas

            labels = panel.labels if panel.form.shared else panel.labels.rename(self.id)
            return pandas.Series(errors, labels, name="expected_error")
        return errors if len(errors) > 1 else float(errors[0])

    @property
    def members_(self) -> list[dict[str, Any]]:
        """Members of the ensemble, best first."""
        return self._fitted.ensemble.describe()

    @property
    def _fitted(self) -> FittedForecaster:
        check_is_fitted(self, "fitted_")
        return self.fitted_

    def _config(self) -> ForecastConfig:
        """Validate the parameters and return them as a configuration."""
        check_flag(self.progress, "progress")
        generator(self.seed)
        return ForecastConfig(
            self.horizon,
            self._periods(),
            strategy=self.strategy,
            sharing=self.sharing,
            validation=self.validation,
            spectrum=self.spectrum,
            multivariate=self.multivariate,
            refit=self.refit,
            prior=self._prior(),
            models=check_models(self.models),
        )

    def _prior(self) -> Prior:
        """Return the prior that is selected by the parameter ``prior``."""
        if self.prior is None or isinstance(self.prior, Prior):
            return self.prior or NO_PRIOR
        if isinstance(self.prior, str) and self.prior == "auto":
            return default_prior()
        if not isinstance(self.prior, Forecaster):
            raise bad_argument("prior", self.prior, '"auto", None or a fitted Forecaster')
        check_is_fitted(self.prior, "fitted_")
        return self.prior.fitted_.as_prior(self.horizon)

    def _periods(self) -> tuple[float, ...]:
        seasons = () if self.seasons is None else np.atleast_1d(self.seasons).tolist()
        for season in seasons:
            if not is_finite_number(season) or not (season == 1 or 2 <= season <= 1e9):
                expected = "periods of 2 to 1e9 rows, 1 for none, or None"
                remedy = f"{IN_ROWS}. Use None to detect the periods."
                raise bad_argument("seasons", self.seasons, expected, remedy)
        return tuple(sorted(set(map(float, seasons))))

    def _read(self, y: Any, X: Any) -> Panel:
        names = {"id": self.id, "time": self.time, "target": self.target}
        panel = read(y, X, past=self.past, known=self.known, **names)
        if self.multivariate and not panel.form.shared:
            expected = "False for series in a list or a long frame"
            remedy = "Pass the series as columns of an array or a wide frame."
            raise bad_argument("multivariate", True, expected, remedy)
        return panel

    def _steps(self, horizon: int | None) -> int:
        fitted = self._fitted
        if horizon is None:
            return fitted.config.horizon
        check_count(horizon, "horizon", "a number of steps", 1)
        if horizon > fitted.config.horizon and not fitted.is_recursive:
            expected = f"at most {fitted.config.horizon}, the horizon of the fit"
            remedy = 'Fit with a longer horizon, or with strategy="recursive", which has no limit.'
            raise bad_argument("horizon", horizon, expected, remedy)
        return int(horizon)


def _levels(interval: Any, quantiles: Any) -> dict[str, float]:
    """Return the levels of the quantiles to compute, by the name of the output column."""
    if interval is not None and quantiles is not None:
        raise bad_argument("quantiles", quantiles, "None if interval is given")
    if quantiles is not None:
        levels = np.atleast_1d(quantiles).tolist()
        valid = bool(levels) and all(is_finite_number(q) and 0 < q < 1 for q in levels)
        if not valid or len(set(levels)) < len(levels):
            raise bad_argument("quantiles", quantiles, "distinct numbers in (0, 1)")
        return {f"q{level!r}": float(level) for level in levels}
    if interval is None:
        return {}
    coverages = {"": interval}
    if np.ndim(interval):
        coverages = {f"_{100 * check_coverage(level):.12g}": level for level in interval}
        if not coverages or len(coverages) < len(interval):
            raise bad_argument("interval", interval, "distinct coverages in (0, 1)")
    sides = {"lower": -0.5, "upper": 0.5}
    return {
        side + name: 0.5 + sign * check_coverage(coverage)
        for name, coverage in coverages.items()
        for side, sign in sides.items()
    }
