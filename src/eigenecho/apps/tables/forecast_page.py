"""What a forecast leaves behind: a page that needs no other file, and a table of predictions."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho import pages
from eigenecho.apps.shared.pages import MadeBy, environment
from eigenecho.apps.tables import figures
from eigenecho.apps.tables.backtest import OURS
from eigenecho.apps.tables.bands import percent
from eigenecho.apps.tables.naive import forecasts
from eigenecho.apps.tables.table_forecast import TableForecast
from eigenecho.apps.tables.verdict import MARGIN, verdicts
from eigenecho.types import Array

LOOKS = {
    "beats": ("holds", "✓", "beats"),
    "not clearly": ("holds-in-part", "◐", "not clearly"),
    "does not beat": ("does-not-hold", "✗", "does not beat"),
}
"""Class, sign and words: nobody has to tell colours apart."""

REPLACED = (
    "The forecast is not by the network that was tested: trained on all rows, that one's closed "
    "loop grows, and the next best that does not was taken, or the calmest. The errors are those "
    "of the network that was tested."
)


def write(result: TableForecast, out: Path, source: str, made_by: MadeBy) -> tuple[Path, Path]:
    """Write the page to ``out`` and predictions beside it, as CSV; both paths.

    ``source`` is the name of the table that was read.
    """
    table = predictions_path(out)
    pages.write_whole(table, predictions(result).encode())
    template = environment("eigenecho.apps.tables", made_by).get_template("forecast.html.jinja")
    page = template.render({"source": source, "predictions": table.name, **_shown(result)})
    pages.write_whole(out, page.encode())
    return out, table


def predictions_path(out: Path) -> Path:
    """Where predictions go: report-predictions.csv beside report.html."""
    return out.with_name(f"{out.stem}-predictions.csv")


def predictions(result: TableForecast) -> str:
    """A CSV table: held-out rows with the truth, then the future; naive forecasts beside ours."""
    series, h, bands, backtest = result.series, result.split.horizon, result.bands, result.backtest
    naive = forecasts(result.season)
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    names = [name.replace(",", "").replace(" ", "_") for name in naive]
    bounds = [] if bands is None else ["lower", "upper"]
    rows.writerow(["time", "part", "steps_ahead", "actual", "forecast", *bounds, *names])

    def write(part: str, times: Any, columns: Sequence[Array]) -> None:
        for i, time in enumerate(series.clock.text(times)):
            numbers = ("" if np.isnan(column[i]) else f"{column[i]:.10g}" for column in columns)
            rows.writerow([time, part, i + 1, *numbers])

    def around(ours: Array, width: Array | None) -> list[Array]:
        return [ours] if width is None else [ours, ours - width, ours + width]

    for block, start in enumerate(result.split.test):
        width = None if bands is None else bands.held_out[block]
        ours, *rivals = (backtest.guesses[name][block] for name in (OURS, *naive))
        columns = [backtest.truth[block], *around(ours, width), *rivals]
        write("held-out", series.clock.times[start : start + h], columns)
    width = None if bands is None else bands.future
    rivals = [ahead(series.values, h) for ahead in naive.values()]
    columns = [np.full(h, np.nan), *around(result.future, width), *rivals]
    write("future", series.clock.ahead(h), columns)
    return file.getvalue()


def _shown(result: TableForecast) -> dict[str, Any]:
    """What the page says about a forecast."""
    series, split, clock = result.series, result.split, result.series.clock
    return {
        "series": series,
        "horizon": split.horizon,
        "step": "1 row" if clock.name == "row" else clock.words,
        "ahead": clock.text(clock.ahead(split.horizon)),
        "network": result.network,
        "rows": len(series),
        "span": clock.text(clock.times[[0, -1]]),
        "verdicts": verdicts(result.backtest),
        "looks": LOOKS,
        "margin": f"{MARGIN:.0%}",
        "steady": result.steady,
        "radius": f"{result.fitted.radius:.6f}",
        "pictures": _pictures(result),
        "blocks": len(split.test),
        "unmeasured": unmeasured(result),
        "bands": result.bands,
        "percent": percent,
        "errors": {"columns": ["Forecast", "MAE", "RMSE", "MASE"], "rows": error_rows(result)},
        "block_errors": _block_errors(result),
        "scale_words": _scale_words(result),
        "replaced": REPLACED if result.replaced else "",
        "tried": result.tried,
        "origins": len(split.validation),
        "settings": settings(result),
    }


def settings(result: TableForecast) -> dict[str, str]:
    """The network in words."""
    chosen, network = result.fitted.candidate, result.network
    found = {
        "shown to it": chosen.view.words,
        "further inputs": ", ".join(result.series.input_names),
        "units": str(network.units),
        "spectrum": network.spectrum,
        "spectral radius": f"{chosen.params['sr']:g}",
        "leaking rate": f"{chosen.params['lr']:g}",
        "ridge": f"{chosen.params['ridge']:g}",
        "warmup": f"{result.fitted.esn.warmup} rows",
        "seed": str(network.seed),
        "closed-loop radius": f"{result.fitted.radius:.6f}",
        "season of the naive forecast": f"{result.season} rows" if result.season else "none found",
    }
    return {name: value for name, value in found.items() if value}


def unmeasured(result: TableForecast) -> str:
    """How many held-out rows count in no error, in words; empty for none."""
    rows = result.backtest.truth.size
    missing = rows - result.backtest.measured
    if not missing:
        return ""
    return f"{missing} of these {rows} rows were not observed and count in no error."


def error_rows(result: TableForecast) -> list[list[str]]:
    """Each forecast's name, MAE, RMSE and MASE; the lowest marked."""
    backtest = result.backtest
    names = [OURS, *(v.rival for v in verdicts(backtest))]
    measures = (backtest.mae, backtest.rmse, backtest.mase)
    columns = [_marked([measure(name) for name in names]) for measure in measures]
    return [[name, *row] for name, row in zip(names, zip(*columns, strict=True), strict=True)]


def _marked(values: Sequence[float]) -> list[str]:
    if np.isnan(values).any():
        return ["–"] * len(values)
    return [f"{value:.4g}" + (" ◂" if value == min(values) else "") for value in values]


def _block_errors(result: TableForecast) -> Mapping[str, Any]:
    backtest, clock, split = result.backtest, result.series.clock, result.split
    names = [OURS, *(v.rival for v in verdicts(backtest))]
    starts = clock.text(clock.times[list(split.test)])
    errors = [backtest.block_errors(name) for name in names]
    rows = [
        [f"from {start}", *_marked([float(e[block]) for e in errors])]
        for block, start in enumerate(starts)
    ]
    return {"columns": ["Block", *names], "rows": rows}


def _scale_words(result: TableForecast) -> str:
    words = "the mean step from row to row before the held-out rows"
    if result.season is not None:
        words = f"the mean change over a season of {result.season} rows before the held-out rows"
    if not result.backtest.scale > result.backtest.rounding:
        words += ", which is zero or not known here, so that there is none"
    return words


def _pictures(result: TableForecast) -> dict[str, pages.Picture]:
    rival = verdicts(result.backtest)[0].rival
    name = result.series.name
    bands = result.bands
    share = "" if bands is None else f" Shaded: the {percent(bands.interval)} interval."
    captions = {
        "future": f"{name}, and its forecast for the {result.split.horizon} steps that follow."
        f"{share}",
        "held_out": "The last held-out rows, the forecast made without them, and the best naive "
        f"one, “{rival}”. Dotted line: where the forecasts start.{share}",
        "by_lead": "How the error grows with the steps ahead, over all held-out blocks "
        "(running mean).",
        "whole": "All rows, with the forecasts of held-out blocks and of the future.",
        "spectrum": "The network's eigenvalues, by their weight in the readout. The angle is the "
        "rhythm that a mode keeps, the distance from the centre how long.",
    }
    return {
        kind: pages.picture(partial(getattr(figures, kind), result), caption)
        for kind, caption in captions.items()
    }
