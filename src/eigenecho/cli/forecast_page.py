"""The HTML report of a table's forecast."""

from __future__ import annotations

from pathlib import Path

from eigenecho import pages
from eigenecho.cli.forecast_table import TableForecast, times_with_future
from eigenecho.cli.verdict import MARGIN, MARKS, verdicts
from eigenecho.data.read_table import as_text
from eigenecho.forecasting.report import contents


def write_page(
    result: TableForecast, out: Path, source: str, table: str, code: str, made_by: dict
) -> None:
    """Write the page.

    ``source`` and ``table`` are the names of the files read and written, ``code`` is Python that
    gives the same forecast. ``made_by`` has the command line and the seconds that it took.
    """
    fitted, series, horizon = result.forecaster.fitted_, result.series, result.forecaster.horizon
    forecasts = dict(list(result.future.groupby("unique_id")["forecast"]))
    means = [forecasts[str(history.name)].to_numpy() for history in fitted.panel.histories]
    values = contents(fitted, means, result.interval, result.backtest)
    if series.is_counted:
        # The forecaster counts rows; only the table has their times.
        times = times_with_future(series, next(iter(series.times)), horizon)
        first = len(times) - horizon - series.ahead
        ends = [as_text(times[i]) for i in (0, first - 1, first, first + horizon - 1)]
        values |= {"step": "1 row", "span": ends[:2], "ahead": ends[2:]}
    values |= {
        "code": code,
        "source": source,
        "predictions": table,
        "notes": series.notes,
        "verdicts": verdicts(result.backtest),
        "marks": MARKS,
        "margin": f"{MARGIN:.0%}",
    }
    templates = pages.environment("eigenecho.cli", "eigenecho.forecasting", made_by=made_by)
    page = templates.get_template("forecast.html.jinja").render(values)
    pages.write_whole(out, page.encode())
