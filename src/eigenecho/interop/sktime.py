"""Our forecaster as one of sktime's: ``EigenechoForecaster().fit(y, fh=[1, 2, 3]).predict()``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from eigenecho import spectra
from eigenecho.errors import Shown, bad_argument
from eigenecho.estimators import Forecaster
from eigenecho.spectra import Spectrum

try:
    from sktime.datatypes import update_data
    from sktime.forecasting.base import BaseForecaster
except ImportError as error:
    raise ImportError("this needs sktime 1.2: pip install 'eigenecho[sktime]'") from error

__all__ = ["EigenechoForecaster"]


class EigenechoForecaster(BaseForecaster):
    """``eigenecho.Forecaster`` for sktime's pipelines, searches and evaluations.

    The horizon is the farthest step of ``fh``, which ``fit`` needs to know; ``fh`` may leave out
    steps. Parameters mean what they mean in ``eigenecho.Forecaster``.

    Columns of y are forecast together, from weights that they share or that are their own; the
    series of a panel or hierarchy are forecast one by one, as sktime does. NaN in y is a missing
    observation. X has a row for every step up to the farthest, and no gaps but in columns named in
    ``past``, of which ``predict`` needs no rows.

    ``update`` pools rows, new ones over old ones of the same time, and trains on those up to the
    cutoff, with the choices of ``fit``. With ``update_params=False`` weights stay: forecasts go
    on from the new rows.

    Parameters
    ----------
    strategy : {"auto", "direct", "recursive"}
        A readout of its own for every step, or one for the next step that is run on its own
        forecasts; "auto" lets rows held back decide.
    seasons : list of int, optional
        Periods in rows. By default those of the calendar that the dates show, and those that the
        series show themselves.
    past : names of columns of X
        Those that are known up to the present only. All others are known ahead.
    multivariate : bool
        Show each column of y the others, up to the present.
    sharing : {"auto", "shared", "own"}
        Whether all columns of y have the same weights, or weights of their own.
    validation : int, optional
        Rows at the end of y that judge; a third of them or four horizons by default.
    refit : bool
        Train on the rows that judged too, in the end.
    spectrum : Spectrum, optional
        In place of those that suit the seasons.

    Attributes
    ----------
    forecaster_ : eigenecho.Forecaster
        As it was fitted, with ``seasons_``, ``members_`` and ``expected_error_``.

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
        """Parameters that sktime's checks are run with, small ones."""
        return [
            {"strategy": "direct", "spectrum": spectra.ring(4, sr=0.9)},
            {"strategy": "recursive", "seasons": [4], "sharing": "shared", "validation": 8},
        ]

    def _fit(self, y: Any, X: Any, fh: Any) -> Self:
        forecaster = Forecaster(self._horizon(fh), **self.get_params(deep=False))
        self.forecaster_ = forecaster.fit(y, X)
        self._rows, self._columns = y, X
        return self

    def _predict(self, fh: Any, X: Any) -> Any:
        return self._forecast(fh, X)

    def _predict_quantiles(self, fh: Any, X: Any, alpha: Sequence[float]) -> Any:
        found = self._forecast(fh, X, quantiles=alpha)
        return found.set_axis(self._get_columns("predict_quantiles", alpha=alpha), axis=1)

    def _update(self, y: Any, X: Any = None, update_params: bool = True) -> Self:
        rows, columns = update_data(self._rows, y), update_data(self._columns, X)
        fitted = self.forecaster_.fitted_
        # Read in any case: rows that will not do are not kept.
        panel = fitted.panel.container.read_context(
            self._up_to_now(rows), columns, name="y", X_name="X"
        )
        if update_params:
            self.forecaster_.fitted_ = fitted.on(panel)
        self._rows, self._columns = rows, columns
        return self

    def _forecast(self, fh: Any, X: Any, **wanted: Any) -> Any:
        """What our forecaster says of the times of ``fh``, a row each."""
        found = self.forecaster_.predict(
            self._horizon(fh),
            X=self._known(X),
            context=self._up_to_now(self._rows),
            context_X=self._columns,
            **wanted,
        )
        times = self._times(fh, found.index)
        off = ~times.isin(found.index)
        if off.any():
            raise bad_argument(
                "fh", Shown(f"a forecast of {times[off][0]}"),
                f"times in the steps of y, such as {found.index[0]}",
                "Give absolute times, or y an index whose steps are the ones to forecast.",
            )  # fmt: skip
        return found.loc[times]

    def _times(self, fh: Any, ahead: Any) -> Any:
        """The times of ``fh``: relative steps are sktime's, 1 for numbers whatever those of y."""
        if fh.is_relative and fh.freq is None and ahead.dtype.kind == "M":
            # Dates with gaps, which have no step for sktime: it is the one that was found in them.
            return ahead[fh.to_numpy() - 1]
        return fh.to_absolute_index(self.cutoff)

    def _horizon(self, fh: Any) -> int:
        """Steps up to the farthest."""
        return int(fh.to_relative(self.cutoff).to_numpy().max())

    def _up_to_now(self, rows: Any) -> Any:
        return rows.loc[: self.cutoff[0]]

    def _known(self, X: Any) -> Any:
        """Columns of X that are known ahead, or None where there are none."""
        if X is None:
            return None
        frames: Any = self.forecaster_.fitted_.panel.container
        known = X.loc[:, ~X.columns.isin(frames.columns.past)]
        return known if known.shape[1] else None
