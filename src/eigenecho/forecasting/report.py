"""Reports as HTML pages, with forecasts, expected errors, a backtest and the candidates."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho import pages
from eigenecho.data.align import History
from eigenecho.data.clock import texts
from eigenecho.forecasting.backtest import Backtest, headline, sentences, table
from eigenecho.forecasting.fit import FittedForecaster
from eigenecho.plots.outlook import Outlook, outlook
from eigenecho.spectra import Spectrum
from eigenecho.types import Array

DRAWN = 4
"""Maximum number of series with a figure and a table."""

LISTED = 20
"""Maximum number of series in the list."""

LONG, ENDS = 24, 10
"""Maximum number of steps in a full table, and number of steps at each end of a shortened table."""

BEFORE, FEWEST, MOST = 3, 60, 3000
"""Number of past horizons in a figure, and minimum and maximum numbers of past rows."""

UNUSED = ("progress", "seed")
"""Parameters of a forecaster that do not change the results."""


def write(path: Path, values: dict[str, Any]) -> Path:
    """Render the template with the given variables, write the page, and return its path."""
    template = pages.environment("eigenecho.forecasting").get_template("report.html.jinja")
    pages.write_file(path, template.render(values).encode())
    return path


def contents(
    fitted: FittedForecaster,
    forecasts: Sequence[Array],
    interval: float | None,
    backtest: Backtest | None,
) -> dict[str, Any]:
    """Return the variables of the template for the given forecasts (H,) of each series.

    Series with large expected errors come first. Without an ``interval``, the page contains no
    prediction intervals.
    """
    panel, errors = fitted.panel, fitted.expected_errors
    order = list(np.argsort(-errors))
    levels = [] if interval is None else [interval]
    drawn = [outlook_of(fitted, i, forecasts[i], levels) for i in order[:DRAWN]]
    times, ahead = panel.histories[order[0]].times, drawn[0].ahead
    return {
        "fitted": fitted,
        "horizon": len(forecasts[0]),
        "step": panel.step,
        "span": [texts(times[:1])[0], texts(times[-1:])[0]],
        "ahead": [texts(ahead[:1])[0], texts(ahead[-1:])[0]],
        "rows": sum(len(history) for history in panel.histories),
        "unobserved": sum(int(np.isnan(history.values).sum()) for history in panel.histories),
        "interval": interval,
        "picture": _picture(drawn),
        "error": f"{errors[order[0]]:.3g}",
        "listed": _list(fitted, forecasts, order[:LISTED]),
        "forecasts": [_forecast(part) for part in drawn],
        "members": _members(fitted),
        "backtest": None if backtest is None else _backtest(backtest),
    }


def _name(history: History) -> str:
    return "y" if history.name is None else str(history.name)


def outlook_of(
    fitted: FittedForecaster, series: int, forecast: Array, intervals: Sequence[float]
) -> Outlook:
    """Return the last rows of a series, its forecast (H,) and prediction intervals."""
    panel, bounds = fitted.panel, {}
    history = panel.histories[series]
    for level in intervals:
        sides = [0.5 - level / 2, 0.5 + level / 2]
        bounds[level] = fitted.quantiles(panel, series, forecast, sides)
    rows = min(len(history), max(BEFORE * len(forecast), FEWEST), MOST)
    times, ahead = history.times[-rows:], history.clock.ahead(len(forecast))
    return Outlook(_name(history), times, history.values[-rows:], ahead, forecast, bounds)


def _picture(parts: Sequence[Outlook]) -> pages.Picture:
    caption = "The last observed values and the forecast."
    for level in parts[0].bounds:
        caption += f" The shaded area is the {100 * level:.3g}% prediction interval."
    return pages.picture(lambda width: outlook(parts, width=width), caption)


def _list(
    fitted: FittedForecaster, forecasts: Sequence[Array], series: Sequence[int]
) -> dict[str, Any]:
    """Return a table of last values, forecasts and expected errors, with one row per series."""
    errors = fitted.expected_errors
    rows = []
    for i in series:
        history, forecast = fitted.panel.histories[i], forecasts[i]
        last = history.values[~np.isnan(history.values)][-1]
        error = errors[i]
        numbers = [last, forecast[0], forecast[-1], error]
        rows.append([_name(history), *pages.format_numbers(numbers, error if error > 0 else None)])
    steps = len(forecasts[0])
    columns = ["series", "last value", "1 step ahead", f"{steps} steps ahead", "expected error"]
    return {"columns": columns, "rows": rows}


def _forecast(part: Outlook) -> dict[str, Any]:
    """Return the forecast of a series as a table, which omits the middle of a long forecast."""
    numbers, finest = [part.forecast], None
    for bounds in part.bounds.values():
        numbers += [*bounds.T]
        finest = float(np.min(bounds[:, 1] - bounds[:, 0])) / 2
    columns = [pages.format_numbers(column, finest or None) for column in numbers]
    rows = [list(row) for row in zip(texts(part.ahead), *columns, strict=True)]
    if len(rows) > LONG:
        rows = [*rows[:ENDS], ["…"] * len(rows[0]), *rows[-ENDS:]]
    names = ["time", "forecast", "lower", "upper"]
    return {"name": part.name, "columns": names[: 1 + len(numbers)], "rows": rows}


def _backtest(tested: Backtest) -> dict[str, Any]:
    errors = table(tested)
    caption = "Top: the last forecasts and the best naive baseline. Bottom: errors by step ahead."
    return {
        "planned": tested.planned,
        "headline": headline(tested),
        "sentences": sentences(tested),
        "columns": ["method", *errors.columns],
        "rows": errors.reset_index().to_numpy().tolist(),
        "picture": pages.picture(lambda width: tested.plot(width=width), caption),
    }


def _members(fitted: FittedForecaster) -> dict[str, Any]:
    """Return a table of the members of the ensemble."""
    members = fitted.ensemble.describe()
    rows = [
        ["–" if x is None else f"{x:g}" if type(x) is float else str(x) for x in member.values()]
        for member in members
    ]
    return {"columns": list(members[0]), "rows": rows}


def constructor_call(estimator: Any) -> str:
    """Return a constructor call with the first parameter and all non-default parameters."""
    parts: list[str] = []
    for name, parameter in inspect.signature(type(estimator)).parameters.items():
        value = getattr(estimator, name)
        if name not in UNUSED and (not parts or repr(value) != repr(parameter.default)):
            parts.append(f"{name}={name if isinstance(value, Spectrum) else repr(value)}")
    return f"ee.{type(estimator).__name__}({', '.join(parts)})"
