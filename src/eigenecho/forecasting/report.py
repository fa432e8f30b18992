"""An HTML page about a forecast: forecasts, expected errors, backtest and selected candidates."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho import pages
from eigenecho.data.clock import texts
from eigenecho.forecasting.backtest import Backtest, headline, sentences, table
from eigenecho.forecasting.fitted import FittedForecaster
from eigenecho.plots.outlook import Outlook, outlook
from eigenecho.spectra import Spectrum
from eigenecho.types import Array

DRAWN = 4
"""Number of series with a figure and a table of their own."""

LISTED = 20
"""Number of series in the list."""

LONG, ENDS = 24, 10
"""Number of steps from which only the ends of a forecast are shown, and steps at either end."""

BEFORE, FEWEST, MOST = 3, 60, 3000
"""Horizons of past rows in a figure, and the least and largest number of these rows."""


UNUSED = ("progress", "seed")
"""Parameters of a forecaster that do not change results."""


@dataclass(frozen=True, eq=False)
class Page:
    """Content of a page.

    Attributes
    ----------
    fitted : FittedForecaster
    made : list of arrays (H,)
        Forecast of each series.
    interval : float or None
        Coverage of the intervals; None for no intervals.
    lines : str
        Python code that reproduces the forecast.
    backtest : Backtest or None
    """

    fitted: FittedForecaster
    made: Sequence[Array]
    interval: float | None
    lines: str
    backtest: Backtest | None = None

    def name(self, series: int) -> str:
        """Return the name of a series."""
        name = self.fitted.panel.histories[series].name
        return "y" if name is None else str(name)

    def ahead(self, series: int) -> Any:
        """Return the times of the forecast of a series."""
        return self.fitted.panel.container.clocks[series].ahead(len(self.made[series]))

    def bounds(self, series: int) -> Array | None:
        """Return lower and upper bounds (H, 2); None if there are none."""
        if self.interval is None:
            return None
        levels = [0.5 - self.interval / 2, 0.5 + self.interval / 2]
        return self.fitted.quantiles(self.fitted.panel, series, self.made[series], levels)


def write(page: Page, path: Path) -> Path:
    """Write the page and return its path."""
    environment = pages.environment("eigenecho.forecasting")
    text = environment.get_template("report.html.jinja").render(contents(page))
    pages.write_whole(path, text.encode())
    return path


def contents(page: Page) -> dict[str, Any]:
    """Return the variables of the template. Series are sorted by expected error, descending."""
    panel, errors = page.fitted.panel, page.fitted.expected_errors
    order = list(range(len(panel))) if errors is None else list(np.argsort(-errors))
    times, ahead = panel.container.times(panel, order[0]), page.ahead(order[0])
    return {
        "names": [page.name(i) for i in order],
        "count": len(panel),
        "horizon": len(page.made[0]),
        "step": panel.container.step,
        "span": [texts(times[:1])[0], texts(times[-1:])[0]],
        "ahead": [texts(ahead[:1])[0], texts(ahead[-1:])[0]],
        "rows": sum(len(history) for history in panel.histories),
        "unobserved": sum(int(np.isnan(history.values).sum()) for history in panel.histories),
        "percent": "" if page.interval is None else f"{100 * page.interval:.3g} %",
        "picture": _picture(page, order[:DRAWN]),
        "error": "" if errors is None else f"{errors[order[0]]:.3g}",
        "listed": _list(page, order[:LISTED]),
        "forecasts": [{"name": page.name(i), **_forecast(page, i)} for i in order[:DRAWN]],
        "chosen": describe(page.fitted),
        "members": _members(page.fitted),
        "columns": {"ahead": panel.known_names, "past": panel.past_names},
        "lines": page.lines,
        "backtest": None if page.backtest is None else _backtest(page.backtest),
    }


def _picture(page: Page, series: Sequence[int]) -> pages.Picture:
    panel, parts = page.fitted.panel, []
    for i in series:
        values = panel.histories[i].values
        rows = min(len(values), max(BEFORE * len(page.made[i]), FEWEST), MOST)
        times, bounds = panel.container.times(panel, i)[-rows:], page.bounds(i)
        lower, upper = (None, None) if bounds is None else bounds.T
        past = page.name(i), times, values[-rows:]
        parts.append(Outlook(*past, page.ahead(i), page.made[i], lower, upper))
    share = page.interval or 0.0
    caption = "The last rows and the forecast."
    if parts[0].lower is not None:
        caption += f" Shaded: {100 * share:.3g} % prediction interval."
    return pages.picture(lambda width: outlook(parts, share, width=width), caption)


def _list(page: Page, series: Sequence[int]) -> dict[str, Any]:
    """Return a table of last values, forecasts and expected errors, with a row for each series."""
    errors = page.fitted.expected_errors
    rows = []
    for i in series:
        values = page.fitted.panel.histories[i].values
        last, made = values[~np.isnan(values)][-1], page.made[i]
        error = np.nan if errors is None else errors[i]
        finest = error if error > 0 else None
        rows.append([page.name(i), *pages.aligned([last, made[0], made[-1], error], finest)])
    steps = len(page.made[0])
    columns = ["series", "last value", "next", f"{steps} steps ahead", "expected error"]
    return {"columns": columns, "rows": rows}


def _forecast(page: Page, series: int) -> dict[str, Any]:
    """Return the forecast of a series as a table, without the middle if it is long."""
    made, bounds = page.made[series], page.bounds(series)
    finest = None if bounds is None else float(np.min(bounds[:, 1] - bounds[:, 0])) / 2
    numbers = [made] if bounds is None else [made, *bounds.T]
    columns = [pages.aligned(column, finest or None) for column in numbers]
    rows = [list(row) for row in zip(texts(page.ahead(series)), *columns, strict=True)]
    if len(rows) > LONG:
        rows = [*rows[:ENDS], ["…"] * len(rows[0]), *rows[-ENDS:]]
    names = ["time", "forecast", "lower", "upper"]
    return {"columns": names[: 1 + len(numbers)], "rows": rows}


def _backtest(tested: Backtest) -> dict[str, Any]:
    errors = table(tested)
    caption = "The last forecasts, the best naive one, and the true values; errors by step ahead."
    return {
        "headline": headline(tested),
        "sentences": sentences(tested),
        "columns": ["forecast", *errors.columns],
        "rows": errors.reset_index().to_numpy().tolist(),
        "picture": pages.picture(lambda width: tested.plot(width=width), caption),
    }


def describe(fitted: FittedForecaster) -> dict[str, str]:
    """Return a description of the ensemble, by topic."""
    members, seasons, bands = fitted.ensemble.members, fitted.config.seasons, fitted.bands
    topics = {
        "seasons": f"{', '.join(map(str, seasons))} rows" if seasons else "none",
        "ensemble": f"trimmed mean of {len(members)} out of {fitted.tried} candidates",
    }
    if not fitted.tried:
        topics["ensemble"] = "the last value: too few rows to learn from"
    if len(fitted.panel) > 1:
        own = "own weights of each series" + ", shrunk to shared ones" * (fitted.pull is not None)
        topics["weights"] = own if members[0].own else "shared by all series"
    if bands is not None:
        kind = "relative" if bands.relative else "absolute"
        by = "step ahead and series" if bands.sizes.size else "step ahead"
        topics["intervals"] = f"quantiles of {kind} validation errors, by {by}"
    return topics


def _members(fitted: FittedForecaster) -> dict[str, Any]:
    """Return a table of the members of the ensemble."""
    members = [member.describe() for member in fitted.ensemble.members]
    rows = [
        ["–" if x is None else f"{x:g}" if type(x) is float else str(x) for x in member.values()]
        for member in members
    ]
    return {"columns": list(members[0]), "rows": rows}


def constructor_call(estimator: Any) -> str:
    """Return the call of a constructor, with the first parameter and those that are not default."""
    parts: list[str] = []
    for name, parameter in inspect.signature(type(estimator)).parameters.items():
        value = getattr(estimator, name)
        if name not in UNUSED and (not parts or repr(value) != repr(parameter.default)):
            parts.append(f"{name}={name if isinstance(value, Spectrum) else repr(value)}")
    return f"ee.{type(estimator).__name__}({', '.join(parts)})"


def report_lines(
    forecaster: Any, fitted: FittedForecaster, interval: float, backtest: Backtest | None
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
