"""A page about a forecast that needs no other file: what comes, how sure, and how it was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho import pages
from eigenecho.data.clock import texts
from eigenecho.forecasting.backtest import Backtest
from eigenecho.forecasting.backtest_words import headline, sentences, table
from eigenecho.forecasting.choice_words import chosen
from eigenecho.forecasting.fitted import FittedForecaster
from eigenecho.plots.outlook import Outlook, outlook
from eigenecho.types import Array

DRAWN = 4
"""Series of a panel with a picture and a table of their own."""

LISTED = 20
"""Series of a panel that are listed."""

LONG, ENDS = 24, 10
"""Steps up to which a forecast is shown whole; of a longer one so many at either end."""

BEFORE, FEWEST, MOST = 3, 60, 3000
"""Horizons of the past in a picture, but at least and at most so many rows."""

MISSING = "…"


@dataclass(frozen=True, eq=False)
class Page:
    """What a page is about.

    Attributes
    ----------
    fitted : FittedForecaster
    made : list of arrays (H,)
        The forecast of each series.
    interval : float or None
        The share of rows that bounds shall hold; None for no bounds.
    lines : str
        Python that does the same.
    backtest : Backtest or None
    """

    fitted: FittedForecaster
    made: Sequence[Array]
    interval: float | None
    lines: str
    backtest: Backtest | None = None

    @property
    def order(self) -> list[int]:
        """Series by their expected errors, the largest first; as they are where none are known."""
        errors = self.errors
        return list(range(len(self.made))) if errors is None else list(np.argsort(-errors))

    @property
    def errors(self) -> Array | None:
        """The mean absolute error to expect of each series."""
        bands, units = self.fitted.bands, self.fitted.measures.units
        if bands is None:
            return None
        return bands.means * [units[history.name] for history in self.fitted.panel.histories]

    def name(self, series: int) -> str:
        """What a series is called."""
        name = self.fitted.panel.histories[series].name
        return "y" if name is None else str(name)

    def ahead(self, series: int) -> Any:
        """The times of the forecast of a series."""
        panel = self.fitted.panel
        return panel.container.times_ahead(panel, series, len(self.made[series]))

    def bounds(self, series: int) -> Array | None:
        """(H, 2), lower and upper; None where there are none."""
        if self.interval is None:
            return None
        levels = [0.5 - self.interval / 2, 0.5 + self.interval / 2]
        return self.fitted.quantiles(self.fitted.panel, series, self.made[series], levels)


def write(page: Page, path: Path) -> Path:
    """Write the page, in place of what was there; its path."""
    environment = pages.environment("eigenecho.forecasting")
    text = environment.get_template("report.html.jinja").render(contents(page))
    pages.write_whole(path, text.encode())
    return path


def contents(page: Page) -> dict[str, Any]:
    """What the template is told."""
    panel, order = page.fitted.panel, page.order
    rows = sum(len(history) for history in panel.histories)
    unobserved = sum(int(np.isnan(history.values).sum()) for history in panel.histories)
    times, ahead = panel.container.times(panel, order[0]), page.ahead(order[0])
    return {
        "names": [page.name(i) for i in order],
        "count": len(panel),
        "horizon": len(page.made[0]),
        "step": panel.container.step,
        "span": [texts(times[:1])[0], texts(times[-1:])[0]],
        "ahead": [texts(ahead[:1])[0], texts(ahead[-1:])[0]],
        "rows": rows,
        "unobserved": unobserved,
        "percent": "" if page.interval is None else f"{100 * page.interval:.3g} %",
        "picture": _picture(page, order[:DRAWN]),
        "error": _error(page, order[0]),
        "listed": _listed(page, order[:LISTED]),
        "forecasts": [{"name": page.name(i), **_forecast(page, i)} for i in order[:DRAWN]],
        "chosen": chosen(page.fitted),
        "columns": {"ahead": panel.known_names, "past": panel.past_names},
        "lines": page.lines,
        "backtest": None if page.backtest is None else _backtest(page.backtest),
    }


def _picture(page: Page, series: Sequence[int]) -> pages.Picture:
    parts = []
    for i in series:
        panel = page.fitted.panel
        values = panel.histories[i].values
        rows = min(len(values), max(BEFORE * len(page.made[i]), FEWEST), MOST)
        times, bounds = panel.container.times(panel, i)[-rows:], page.bounds(i)
        lower, upper = (None, None) if bounds is None else bounds.T
        name = page.name(i)
        parts.append(
            Outlook(name, times, values[-rows:], page.ahead(i), page.made[i], lower, upper)
        )
    caption = f"The end of {page.name(series[0])}, and its forecast."
    if len(series) > 1:
        caption = f"The ends of {len(series)} series, and their forecasts."
    share = page.interval or 0.0
    if parts[0].lower is not None:
        caption += f" Shaded: what {100 * share:.3g} % of rows shall lie within."
    return pages.picture(lambda width: outlook(parts, share, width=width), caption)


def _error(page: Page, series: int) -> str:
    errors = page.errors
    return "" if errors is None else f"{errors[series]:.3g}"


def _listed(page: Page, series: Sequence[int]) -> dict[str, Any]:
    """A row for each series: where it is, where it goes, and how far off that may be."""
    errors = page.errors
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
    """The forecast of a series as a table; of a long one the ends."""
    made, bounds = page.made[series], page.bounds(series)
    finest = None if bounds is None else float(np.min(bounds[:, 1] - bounds[:, 0])) / 2
    numbers = [made] if bounds is None else [made, *bounds.T]
    columns = [pages.aligned(column, finest or None) for column in numbers]
    rows = [list(row) for row in zip(texts(page.ahead(series)), *columns, strict=True)]
    if len(rows) > LONG:
        rows = [*rows[:ENDS], [MISSING] * len(rows[0]), *rows[-ENDS:]]
    names = ["time", "forecast", "lower", "upper"]
    return {"columns": names[: 1 + len(numbers)], "rows": rows}


def _backtest(tested: Backtest) -> dict[str, Any]:
    columns, rows = table(tested)
    caption = (
        "The last forecasts of the test, the best naive one beside them, and what came; below, "
        "errors by step ahead."
    )
    return {
        "headline": headline(tested),
        "sentences": sentences(tested),
        "columns": ["forecast", *columns[1:]],
        "rows": rows,
        "picture": pages.picture(partial(_drawn, tested), caption),
    }


def _drawn(tested: Backtest, width: float) -> Any:
    return tested.plot(width=width)
