"""Forecasts of people's own series, for one or thousands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from eigenecho import storage
from eigenecho.checks import check_count, check_flag, generator, is_finite_number
from eigenecho.clients import Mapped, on_client
from eigenecho.data.containers import read
from eigenecho.data.origins import origins as rows_of
from eigenecho.data.origins import together
from eigenecho.data.panel import Panel
from eigenecho.errors import Shown, bad_argument
from eigenecho.estimators.python_lines import report_lines
from eigenecho.estimators.validation import all_or_nothing
from eigenecho.forecasting.backtest import Backtest
from eigenecho.forecasting.choice import ForecastConfig
from eigenecho.forecasting.fallback import warn_if_naive, warn_without_width
from eigenecho.forecasting.fitted import FittedForecaster, Report, fit
from eigenecho.forecasting.refits import refitted
from eigenecho.forecasting.report import Page, write
from eigenecho.forecasting.season import IN_ROWS
from eigenecho.keywords import explains_keywords
from eigenecho.model.intervals import check_coverage
from eigenecho.progress import bar
from eigenecho.spectra import Spectrum
from eigenecho.tensors import checked_device, takes_tensors
from eigenecho.threads import mapped
from eigenecho.types import Array, Seed

UNJUDGED = "y had too few rows to hold some back, or none observed there, to learn errors from"


class Forecaster(BaseEstimator):
    """Forecasts of one series or thousands, from arrays or DataFrames, tested on rows held back.

    Ways to forecast are tried on the series' own rows: reservoirs with rings as long as its
    seasons, with slow modes, of values or logarithms, read out for every step ahead or for the
    next and run on. Each is trained on earlier rows and judged by later ones; the answer is
    the mean of those that these rows cannot tell from the best, without the outer ones. Nothing is
    drawn.

    Parameters
    ----------
    horizon : int
        H, the steps ahead.
    strategy : {"auto", "direct", "recursive"}
        A readout of its own for every step, or one for the next step that is run on its own
        forecasts; "auto" lets rows held back decide, and takes both where they are alike.
        A recursive forecaster can be asked for more steps than ``horizon``.
    seasons : list of int, optional
        Periods in rows, at most 20. By default those of the calendar that the dates show, and those
        that the series show themselves.
    past : names of columns of X, or numbers for arrays
        Those that are known up to the present only. All others are known ahead.
    multivariate : bool
        Show each series the others, up to the present. They share their rows then: columns of
        an array or a wide frame. Each series has weights of its own on the others, so that the
        order of columns does not matter.
    sharing : {"auto", "shared", "own"}
        Whether all series have the same weights, or weights of their own, pulled to those of all.
    validation : int, optional
        Rows at the end of each series that judge; a third of them or four horizons by default,
        and fewer of a series that would have none left to train on. Of long series rows before
        them judge as well, where these are less than eight horizons.
    refit : bool
        Train on the rows of ``validation`` too, in the end.
    spectrum : Spectrum, optional
        In place of those that suit the seasons.
    level : float, optional
        Over how many rows the running mean fades that is taken off before a reservoir sees the
        series, and put back: 0 is the last value, and reservoirs see steps from row to row.
        By default 0, and for long series what rows held back say.
    id, time, target : str
        Columns of a long frame. ``time`` is also the column of times of a wide frame of polars or
        PyArrow, where it may be omitted if there is only one column of dates.
    progress : bool
        Draw a bar on the terminal.
    seed : int
        For the interface that all estimators have: the answer does not depend on it.

    Attributes
    ----------
    seasons_ : tuple of int
        Those that were found.
    expected_error_ : float, or array (D,)
        The mean absolute error over the horizon that forecasts had on rows held back: one number,
        or one for each series.
    members_ : list of dict
        What the answer is the mean of, best first.

    See Also
    --------
    eigenecho.LinearESN : a network of one's own choice
    eigenecho.forecasting.backtest.Backtest : what ``backtest`` returns

    Examples
    --------
    >>> import eigenecho as ee, numpy as np
    >>> t = np.arange(212)
    >>> y = 10 + 0.1 * t + np.sin(2 * np.pi * t / 12)
    >>> forecast = ee.Forecaster(horizon=12).fit(y[:200]).predict()
    >>> bool(np.abs(forecast - y[200:]).max() < 0.1)
    True
    """

    @explains_keywords
    def __init__(
        self,
        horizon: int = 1,
        *,
        strategy: str = "auto",
        seasons: Sequence[int] | None = None,
        past: Any = (),
        multivariate: bool = False,
        sharing: str = "auto",
        validation: int | None = None,
        refit: bool = True,
        spectrum: Spectrum | None = None,
        level: float | None = None,
        id: str = "unique_id",
        time: str = "ds",
        target: str = "y",
        progress: bool = False,
        seed: Seed = 0,
    ) -> None:
        self.horizon = horizon
        self.strategy = strategy
        self.seasons = seasons
        self.past = past
        self.multivariate = multivariate
        self.sharing = sharing
        self.validation = validation
        self.refit = refit
        self.spectrum = spectrum
        self.level = level
        self.id = id
        self.time = time
        self.target = target
        self.progress = progress
        self.seed = seed

    @takes_tensors
    def fit(self, y: Any, X: Any = None, *, client: Any = None) -> Self:
        """Choose and train.

        Parameters
        ----------
        y : array (T,) or (T, D), list of arrays (T_i,), Series or DataFrame
            Columns of an array or a wide frame are a series each; a long frame has ``id``,
            ``time`` and ``target``. NaN is a missing observation: bridged on the way in, never
            trained on or judged by. Where no series is long enough to hold rows back, the last
            value goes on, without intervals. Numbers are at most 1e150, and differ by 1e-150 or
            more. Every column of a wide frame is forecast: what only helps is X.
        X : array (T, k), list of them, or DataFrame, optional
            Further columns, at the rows of y; truth values are 0 and 1. What is known ahead acts at
            its own row.
        client : distributed.Client, optional
            A Dask cluster on whose workers candidates are judged and trained. The numbers do not
            depend on it.

        Warns
        -----
        FewRowsWarning
            Where the last value goes on; once for all series.
        """
        wanted = self._wanted()
        panel = read(y, X, past=self.past, id=self.id, time=self.time, target=self.target)
        self._check_panel(panel)
        with all_or_nothing(self), bar(self.progress) as report:
            over = mapped if client is None else on_client(client, "views")
            self.fitted_ = self._fit_on(wanted, panel, report, over)
            warn_if_naive(self.fitted_)
        return self

    @takes_tensors
    def predict(
        self,
        horizon: int | None = None,
        *,
        X: Any = None,
        context: Any = None,
        context_X: Any = None,
        interval: float | None = None,
        quantiles: Sequence[float] | None = None,
    ) -> Any:
        """Values of the rows that follow the end of y, or of another ``context``.

        Parameters
        ----------
        horizon : int, optional
            As fitted by default.
        X : like X of ``fit``, the rows that follow
            Columns that are known ahead.
        context : like y of ``fit``
            Rows to go on from, of the same series or of others; each is measured by its own.
        context_X : like X of ``fit``
            Beside the context.
        interval : float in ]0, 1[, optional
            The share of rows that bounds shall hold.
        quantiles : list of floats in ]0, 1[, optional
            In place of the forecast.

        Returns
        -------
        array (H,) or (H, D), list of (H,), Series or DataFrame
            As y was. With ``interval`` a ``Forecast(mean, lower, upper)``, or columns forecast,
            lower and upper; with ``quantiles`` a last axis, or a column each.

        Warns
        -----
        FewRowsWarning
            If an interval has width 0, since its series never changed; once for all series.
        """
        fitted = self._fitted
        steps = self._steps(horizon)
        levels = _levels(interval, quantiles)
        holder, panel = fitted.panel.container, fitted.panel
        if context is not None:
            panel = holder.read_context(context, context_X)
            holder = panel.container
        elif context_X is not None:
            raise bad_argument("context_X", Shown("columns"), "a context beside them")
        made = self._made(panel, steps, X)
        if not levels:
            return holder.forecast(panel, steps, made)
        bands = [self._band(panel, i, one, levels) for i, one in enumerate(made)]
        if levels != [0.5]:
            flat = sum(np.all(b == one[:, None]) for b, one in zip(bands, made, strict=True))
            warn_without_width(int(flat), len(panel), "series")
        if interval is not None:
            lower, upper = [b[:, 0] for b in bands], [b[:, 1] for b in bands]
            return holder.forecast(panel, steps, made, lower, upper)
        return holder.forecast(panel, steps, None, quantiles=bands, levels=levels)

    @takes_tensors
    def rolling(self, y: Any, origins: Any, X: Any = None) -> Any:
        """Forecasts made after many rows of y, in one pass, without training anew.

        Parameters
        ----------
        y : as in ``fit``
            Rows of the same series or of others.
        origins : int, or row numbers, or times
            The last row that a forecast has seen; a number of them is spread over the end.
        X : as in ``fit``
            With the rows that forecasts reach.

        Returns
        -------
        array (O, H) or (O, H, D), list of (O, H), or long DataFrame
            The frame has the id, ``cutoff``, the time and ``forecast``.
        """
        fitted = self._fitted
        holder = fitted.panel.container
        panel = holder.read_context(y, X, name="y", X_name="X")
        horizon = fitted.wanted.horizon
        rows = rows_of(panel, origins, horizon)
        if panel.known_names:
            _check_known(panel, rows, horizon)
        made = fitted.forecasts(panel, rows, horizon)
        return panel.container.rolling(panel, rows, made)

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
        """Forecasts as they would have been made as time went by, and what came.

        At each origin all is chosen and trained anew, from the rows up to and with it; of X also
        the rows that a forecast reaches, where they are known ahead. This forecaster, fitted or
        not, stays as it is.

        Parameters
        ----------
        y, X : as in ``fit``
        origins : int, or row numbers, or times
            The last row that a forecast has seen; a number of them is spread over the end,
            counted from the end of each series.
        interval : float in ]0, 1[
            The share of rows that bounds shall hold.
        progress : bool, or callable (done, total), optional
            A bar on the terminal, as for ``fit`` by default; or called after each origin.

        Returns
        -------
        Backtest
            ``.errors``, a DataFrame of all forecasts and what came, naive ones beside ours;
            ``.summary``, ``.by_series``, ``.by_step``, measures of them; ``.plot()``. Interrupted
            (Ctrl-C), it holds the origins that were finished, and says so.
        """
        wanted = self._wanted()
        check_coverage(interval)
        panel = read(y, X, past=self.past, id=self.id, time=self.time, target=self.target)
        self._check_panel(panel)
        rows = together(panel, origins, self.horizon)
        shown = self.progress if progress is None else progress
        if not callable(shown):
            check_flag(shown, "progress")
        with bar(shown is True) as report:
            return refitted(
                panel,
                rows,
                wanted.horizon,
                partial(self._fit_on, wanted),
                seasons=self._seasons(),
                interval=float(interval),
                report=report,
                finished=shown if callable(shown) else None,
            )

    @takes_tensors
    def report(
        self, path: Any, *, X: Any = None, backtest: Backtest | None = None, interval: float = 0.9
    ) -> Path:
        """Write a page that needs no other file: the forecast, how sure it is, what was chosen.

        Needs matplotlib and jinja2 (``pip install 'eigenecho[cli]'``).

        Parameters
        ----------
        path : str or path
            Of the page, HTML. A file that is there is replaced.
        X : as in ``predict``
            Columns that are known ahead.
        backtest : Backtest, optional
            To be shown, too.
        interval : float in ]0, 1[
            The share of rows that bounds shall hold.
        """
        fitted = self._fitted
        check_coverage(interval)
        if backtest is not None and not isinstance(backtest, Backtest):
            raise bad_argument("backtest", backtest, "what forecaster.backtest gave, or None")
        made = self._made(fitted.panel, self.horizon, X)
        lines = report_lines(self, fitted, interval, backtest)
        return write(Page(fitted, made, float(interval), lines, backtest), Path(path))

    @takes_tensors
    def update(self, y_new: Any, X_new: Any = None) -> Self:
        """Take in rows that follow, and train anew with the same choices.

        What is known of errors stays that of the fit, in usual steps of the series; so intervals
        widen with these.
        """
        fitted = self._fitted
        panel = fitted.panel.container.follow(fitted.panel, y_new, X_new)
        with all_or_nothing(self), bar(self.progress) as report:
            self.fitted_ = fitted.on(panel, report)
            warn_if_naive(self.fitted_, updated=True)
        return self

    def to(self, device: Any) -> Self:
        """Answer on a device of torch where no tensor says which: ``predict`` without a context.

        ``None`` is for NumPy arrays. ``fit`` sets it to where its tensors are. What is asked with
        tensors is answered on theirs, whatever this is, and what is asked with arrays in arrays.
        Forecasts are computed on the host, from one copy of the series.
        """
        check_is_fitted(self, "fitted_")
        self._device = checked_device(device)
        return self

    def save(self, path: Any) -> None:
        """Write the fitted forecaster to a safetensors file; ``eigenecho.load`` reads it back.

        The rows that it was fitted on are part of it, since forecasts and updates go on from them.
        """
        check_is_fitted(self, "fitted_")
        self._wanted()
        storage.save(path, self)

    @property
    def seasons_(self) -> tuple[int, ...]:
        """Seasons that were found, in rows."""
        return self._fitted.wanted.seasons

    @property
    def expected_error_(self) -> Any:
        """The mean absolute error over the horizon, on rows held back."""
        fitted = self._fitted
        if fitted.bands is None:
            raise AttributeError(f"{UNJUDGED}.")
        units = [fitted.measures.units[history.name] for history in fitted.panel.histories]
        found = fitted.bands.means * units
        return found if len(found) > 1 else float(found[0])

    @property
    def members_(self) -> list[dict[str, Any]]:
        """What the answer is the mean of, best first."""
        return [
            {
                "strategy": one.candidate.kind,
                "spectrum": one.candidate.view.name,
                "level": one.candidate.view.filter.memory,
                "logarithm": one.candidate.view.logarithm,
                "calendar": one.candidate.view.moved.calendar,
                "base": one.candidate.base.kind,
                "ridge": one.candidate.ridge,
                "known": one.candidate.view.moved.known,
                "past": one.candidate.view.side is not None,
            }
            for one in self._fitted.ensemble.members
        ]

    @property
    def _fitted(self) -> FittedForecaster:
        check_is_fitted(self, "fitted_")
        return self.fitted_

    def _wanted(self) -> ForecastConfig:
        for name in ("multivariate", "refit", "progress"):
            check_flag(getattr(self, name), name)
        generator(self.seed)
        self._seasons()
        horizon = check_count(self.horizon, "horizon", "a number of steps", 1)
        level = self.level
        if level is not None and is_finite_number(level):
            level = float(level)  # of NumPy's numbers, too
        return ForecastConfig(
            horizon,
            strategy=self.strategy,
            sharing=self.sharing,
            validation=self.validation,
            spectrum=self.spectrum,
            level=level,
        )

    def _seasons(self) -> Sequence[float]:
        given = () if self.seasons is None else np.atleast_1d(self.seasons).tolist()
        for season in given:
            if not is_finite_number(season) or season < 1:
                raise bad_argument(
                    "seasons", self.seasons, "periods in rows, numbers of 1 or more, or None",
                    f"{IN_ROWS}; None finds them by itself.",
                )  # fmt: skip
        return given

    def _fit_on(
        self, wanted: ForecastConfig, panel: Panel, report: Report | None, over: Mapped = mapped
    ) -> FittedForecaster:
        return fit(
            panel,
            wanted,
            seasons=self._seasons(),
            multivariate=self.multivariate,
            refit=self.refit,
            report=report,
            over=over,
        )

    def _check_panel(self, panel: Panel) -> None:
        if self.multivariate and not panel.container.shared:
            raise bad_argument(
                "multivariate", True, "False for series that do not share their rows",
                "Columns of an array or a wide frame do.",
            )  # fmt: skip

    def _steps(self, horizon: int | None) -> int:
        fitted = self._fitted
        if horizon is None:
            return fitted.wanted.horizon
        check_count(horizon, "horizon", "a number of steps", 1)
        if horizon > fitted.wanted.horizon and not fitted.is_recursive:
            raise bad_argument(
                "horizon", horizon, f"at most {fitted.wanted.horizon}, as fitted",
                'Fit a longer horizon, or with strategy="recursive", which runs on.',
            )  # fmt: skip
        return int(horizon)

    def _made(self, panel: Panel, steps: int, X: Any) -> list[Array]:
        """Forecasts (H,) after the end of each series."""
        ahead = panel.container.future(panel, X, steps)
        last = [np.array([len(history) - 1]) for history in panel.histories]
        return [one[0] for one in self._fitted.forecasts(panel, last, steps, ahead)]

    def _band(self, panel: Panel, series: int, made: Array, levels: Sequence[float]) -> Array:
        """Quantiles (H, Q)."""
        found = self._fitted.quantiles(panel, series, made, levels)
        if found is None:
            raise ValueError(
                f"{UNJUDGED}: there are no intervals. Forecast without, or from a longer series."
            )
        return found


def _check_known(panel: Panel, rows: Sequence[Array], horizon: int) -> None:
    for history, origins in zip(panel.histories, rows, strict=True):
        if int(origins.max()) + horizon >= len(history):
            raise bad_argument(
                "origins", int(origins.max()),
                f"rows with {horizon} rows after them, where columns are known ahead",
            )  # fmt: skip


def _levels(interval: float | None, quantiles: Any) -> list[float]:
    """Quantiles that are asked for, those of an interval or by themselves."""
    if interval is not None and quantiles is not None:
        raise bad_argument("quantiles", quantiles, "None beside interval: ask for one of them")
    if interval is not None:
        check_coverage(interval)
        return [0.5 - interval / 2, 0.5 + interval / 2]
    if quantiles is None:
        return []
    levels = np.atleast_1d(quantiles).tolist()
    if not levels or not all(is_finite_number(q) and 0 < q < 1 for q in levels):
        raise bad_argument("quantiles", quantiles, "numbers in ]0, 1[")
    if len(set(levels)) < len(levels):
        raise bad_argument("quantiles", quantiles, "each of them once")
    return [float(level) for level in levels]
