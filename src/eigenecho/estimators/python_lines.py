"""Python code that reproduces a forecast."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from eigenecho.spectra import Spectrum

if TYPE_CHECKING:
    from eigenecho.forecasting.backtest import Backtest
    from eigenecho.forecasting.fitted import FittedForecaster

UNUSED = ("progress", "seed")
"""Parameters that do not change results."""


def constructor_call(estimator: Any) -> str:
    """Return the call of a constructor, with the first parameter and those that are not default."""
    parts: list[str] = []
    for name, parameter in inspect.signature(type(estimator)).parameters.items():
        value = getattr(estimator, name)
        if name not in UNUSED and (not parts or repr(value) != repr(parameter.default)):
            parts.append(f"{name}={name if isinstance(value, Spectrum) else repr(value)}")
    return f"ee.{type(estimator).__name__}({', '.join(parts)})"


def report_lines(
    forecaster: Any, fitted: FittedForecaster, interval: float, backtest: Backtest | None = None
) -> str:
    """Return the code of a forecast and its backtest."""
    panel = fitted.panel
    beside = ", X" if panel.known_names or panel.past_names else ""
    ahead = "X=X_ahead, " if panel.known_names else ""
    lines = [
        "import eigenecho as ee",
        "",
        f"forecaster = {constructor_call(forecaster)}",
        f"forecaster.fit(y{beside})",
        f"forecaster.predict({ahead}interval={interval:g})",
    ]
    if backtest is not None:
        lines.append(f"forecaster.backtest(y{beside}, origins={backtest.planned})")
    return "\n".join(lines)
