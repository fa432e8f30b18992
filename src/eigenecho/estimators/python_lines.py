"""The lines of Python that do again what an estimator did."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from eigenecho.spectra import Spectrum

if TYPE_CHECKING:
    from eigenecho.forecasting.backtest import Backtest
    from eigenecho.forecasting.fitted import FittedForecaster

UNSAID = ("progress", "seed")
"""Arguments that change no answer."""


def made(estimator: Any) -> str:
    """The call that makes an estimator, with the arguments that are not the default ones."""
    name = type(estimator).__name__
    values = estimator.get_params(deep=False)
    parts: list[str] = []
    for argument, known in inspect.signature(type(estimator)).parameters.items():
        value = values[argument]
        is_first = not parts
        if argument in UNSAID or (repr(value) == repr(known.default) and not is_first):
            continue
        shown = argument if isinstance(value, Spectrum) else repr(value)
        parts.append(f"{argument}={shown}")
    return f"ee.{name}({', '.join(parts)})"


def report_lines(
    forecaster: Any, fitted: FittedForecaster, interval: float, backtest: Backtest | None = None
) -> str:
    """Those of a forecast."""
    panel = fitted.panel
    beside = ", X" if panel.known_names or panel.past_names else ""
    ahead = "X=X_ahead, " if panel.known_names else ""
    lines = [
        "import eigenecho as ee",
        "",
        f"forecaster = {made(forecaster)}",
        f"forecaster.fit(y{beside})",
        f"forecaster.predict({ahead}interval={interval:g})",
    ]
    if backtest is not None:
        lines.append(f"forecaster.backtest(y{beside}, origins={backtest.planned})")
    return "\n".join(lines)
