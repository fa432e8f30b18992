"""The report of a forecast: the library's page, with the table it is of and verdicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from eigenecho import pages
from eigenecho.apps.tables.tested_forecast import TestedForecast
from eigenecho.apps.tables.verdict import MARGIN, verdicts
from eigenecho.forecasting.backtest import OURS
from eigenecho.forecasting.report import Page, contents

LOOKS = {
    "beats": ("holds", "✓", "beats"),
    "not clearly": ("holds-in-part", "◐", "not clearly"),
    "does not beat": ("does-not-hold", "✗", "does not beat"),
}
"""Class, sign and words: nobody has to tell colours apart."""


def write(
    result: TestedForecast, out: Path, source: str, table: str, lines: str, made_by: dict
) -> None:
    """Write the page to ``out``.

    ``source`` and ``table`` are the names of the file that was read and of the one that all
    forecasts are in; ``lines`` are Python that does the same.
    """
    fitted, series = result.forecaster.fitted_, result.series
    names = [str(history.name) for history in fitted.panel.histories]
    made = [result.future[name]["forecast"].to_numpy() for name in names]
    shown = contents(Page(fitted, made, result.interval, lines, result.backtest))
    clock = max(series.clocks.values(), key=lambda one: len(one.times))
    # Of rows that count as steps the table knows the times, the forecaster does not.
    shown |= {
        "source": source,
        "predictions": table,
        "notes": series.notes,
        "step": "1 row" if clock.name == "row" else clock.words,
        "span": clock.text(clock.times[[0, -1]]),
        "ahead": clock.text(clock.ahead(result.forecaster.horizon)[[0, -1]]),
        "verdicts": verdicts(result.backtest),
        "looks": LOOKS,
        "margin": f"{MARGIN:.0%}",
    }
    shown["backtest"]["sentences"] = sentences(result)
    templates = pages.environment("eigenecho.apps.tables", "eigenecho.forecasting", made_by=made_by)
    page = templates.get_template("forecast.html.jinja").render(shown)
    pages.write_whole(out, page.encode())


def sentences(result: TestedForecast) -> list[str]:
    """What to know of the test, the verdicts aside."""
    truth, said = result.backtest.errors["y"], []
    coverage = float(result.backtest.summary.loc[OURS, "coverage"])
    if result.interval is not None and not np.isnan(coverage):
        share = f"{100 * result.interval:.3g}%"
        said.append(f"{100 * coverage:.3g}% of rows within the {share} interval.")
    missing = int(truth.isna().sum())
    if missing:
        rows = f"{missing} of these {len(truth)} rows"
        said.append(f"{rows} were not observed and count in no error.")
    return said
