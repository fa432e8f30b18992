"""The report of a forecast: a page that needs no other file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.apps.shared import pages
from eigenecho.apps.tables import figures
from eigenecho.apps.tables.table import counted
from eigenecho.apps.tables.tested_forecast import TestedForecast
from eigenecho.apps.tables.verdict import MARGIN, Verdict, block_errors, verdicts
from eigenecho.forecasting.scores import OURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {
    "beats": ("holds", "✓", "beats"),
    "not clearly": ("holds-in-part", "◐", "not clearly"),
    "does not beat": ("does-not-hold", "✗", "does not beat"),
}
"""Class, sign and words: nobody has to tell colours apart."""

PIXELS = 100
"""CSS pixels per inch of a figure, at most."""

SHOWN = 4
"""Series that are drawn."""

LISTED = 50
"""Series whose errors are listed."""

MEASURES = {"mae": "MAE", "rmse": "RMSE", "mase": "MASE", "smape": "sMAPE"}


@dataclass(frozen=True)
class Picture:
    """A figure, for two widths of a page."""

    wide: str
    narrow: str
    width: int
    caption: str


def write(
    result: TestedForecast, out: Path, source: str, table: str, python: str, made_by: pages.MadeBy
) -> None:
    """Write the page to ``out``.

    ``source`` and ``table`` are the names of the file that was read and of the one that all
    forecasts were written to; ``python`` are lines that do the same.
    """
    environment = pages.environment("eigenecho.apps.tables", made_by)
    shown = {"source": source, "predictions": table, "python": python, **_shown(result)}
    page = environment.get_template("forecast.html.jinja").render(shown)
    pages.write_whole(out, page.encode())


def told(result: TestedForecast) -> list[Verdict]:
    """Verdicts on naive forecasts by their names in tables, the hardest first."""
    return [replace(one, rival=result.called(one.rival)) for one in verdicts(result.backtest)]


def error_rows(result: TestedForecast) -> list[list[str]]:
    """Each forecast's name, MAE, RMSE, MASE and sMAPE, ours first; the lowest marked."""
    summary = result.backtest.summary
    names = _ranked(result)
    columns = [_marked(summary.loc[names, measure]) for measure in MEASURES]
    return [
        [result.called(name), *row]
        for name, row in zip(names, zip(*columns, strict=True), strict=True)
    ]


def coverage(result: TestedForecast) -> str:
    """Promise and fact about bounds, in words; empty for none."""
    if result.interval is None:
        return ""
    found = float(result.backtest.summary.loc[OURS, "coverage"])
    return f"{percent(found)} of rows within the {percent(result.interval)} interval"


def unmeasured(result: TestedForecast) -> str:
    """How many held-out rows count in no error, in words; empty for none."""
    truth = result.backtest.errors["y"]
    missing = int(truth.isna().sum())
    if not missing:
        return ""
    return f"{missing} of these {len(truth)} rows were not observed and count in no error."


def percent(share: float) -> str:
    """0.9 as 90%."""
    return f"{100 * share:.3g}%"


def _shown(result: TestedForecast) -> dict[str, Any]:
    """What the page says about a forecast."""
    series = result.series
    clock = series.clocks[max(series.names, key=lambda name: len(series.values[name]))]
    several = len(series.names) > 1
    return {
        "series": series,
        "count": len(series.names),
        "horizon": result.horizon,
        "step": "1 row" if clock.name == "row" else clock.words,
        "ahead": clock.text(clock.ahead(result.horizon)[[0, -1]]),
        "rows": sum(map(len, series.values.values())),
        "span": clock.text(clock.times[[0, -1]]),
        "verdicts": told(result),
        "looks": LOOKS,
        "margin": f"{MARGIN:.0%}",
        "futures": [_future(result, name) for name in series.names[:SHOWN]],
        "tested": _picture(
            "The last held-out blocks, their forecasts and the best naive one, and how errors grow "
            "with the steps ahead.",
            lambda width: result.backtest.plot(result.backtest.ids[:SHOWN], width=width),
        ),
        "blocks": result.blocks,
        "unmeasured": unmeasured(result),
        "coverage": coverage(result),
        "errors": {"columns": ["Forecast", *MEASURES.values()], "rows": error_rows(result)},
        "block_errors": _block_errors(result),
        "series_errors": _series_errors(result) if several else None,
        "scale_words": _scale_words(result),
        "tried": result.forecaster.fitted_.tried,
        "cycles": ", ".join(counted(s, "row") for s in result.forecaster.seasons_ if s > 1),
        "kinds": _kinds(result),
        "members": _members(result),
    }


def _future(result: TestedForecast, name: Any) -> Picture:
    share = "" if result.interval is None else f" Shaded: the {percent(result.interval)} interval."
    return _picture(
        f"{name}, and its forecast for the {counted(result.horizon, 'step')} that follow.{share}",
        lambda width: figures.future(result, name, width),
    )


def _picture(caption: str, draw: Callable[[float], Figure]) -> Picture:
    wide = draw(figures.WIDE)
    width = round(wide.get_figwidth() * PIXELS)
    return Picture(_source(wide), _source(draw(figures.NARROW)), width, caption)


def _source(figure: Any) -> str:
    svg = pages.rendered(figure, "svg")
    return pages.source(svg, pages.rendered(figure, "png") if len(svg) > pages.LARGEST_SVG else b"")


def _ranked(result: TestedForecast) -> list[str]:
    """Our forecast and naive ones, the best of these first."""
    return [OURS, *(one.rival for one in verdicts(result.backtest))]


def _marked(values: Sequence[float]) -> list[str]:
    numbers = np.asarray(values, float)
    if np.isnan(numbers).any():
        return ["–"] * len(numbers)
    return [f"{value:.4g}" + (" ◂" if value == min(numbers) else "") for value in numbers]


def _block_errors(result: TestedForecast) -> Mapping[str, Any]:
    names, errors = _ranked(result), block_errors(result.backtest)
    rows = [
        [f"{counted(-int(block) * result.horizon, 'row')} before the end", *_marked(row)]
        for block, row in zip(errors.index, errors[names].to_numpy(), strict=True)
    ]
    return {"columns": ["Block from", *map(result.called, names)], "rows": rows}


def _series_errors(result: TestedForecast) -> Mapping[str, Any]:
    """Mean absolute errors of series, the first of them."""
    names = _ranked(result)
    errors = result.backtest.by_series["mae"].unstack("method")[names]
    rows = [[str(name), *_marked(row)] for name, row in zip(errors.index, errors.to_numpy())]
    return {
        "columns": ["Series", *map(result.called, names)],
        "rows": rows[:LISTED],
        "more": len(rows) - LISTED,
    }


def _scale_words(result: TestedForecast) -> str:
    season = result.backtest.season
    return f"over a season of {season} rows" if season > 1 else "from row to row"


def _kinds(result: TestedForecast) -> str:
    """How many of the members have which strategy, in words."""
    counts = Counter(member["strategy"] for member in result.forecaster.members_)
    return ", ".join(f"{count} {kind}" for kind, count in counts.most_common())


def _members(result: TestedForecast) -> Mapping[str, Any]:
    """What the forecast is made of, best first."""
    rows = [
        [
            str(place), one["strategy"], one["spectrum"],
            "last value" if not one["level"] else f"mean over {one['level']:g} rows",
            "logarithms" if one["logarithm"] else "values",
            "–" if one["ridge"] is None else f"{one['ridge']:.3g}",
        ]
        for place, one in enumerate(result.forecaster.members_, 1)
    ]  # fmt: skip
    return {"columns": ["", "Strategy", "Spectrum", "Level", "Of", "Ridge"], "rows": rows}
