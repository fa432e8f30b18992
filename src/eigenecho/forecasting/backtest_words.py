"""What a backtest says, in words and as a table: for terminals, notebooks and pages."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.data.clock import shown
from eigenecho.forecasting.scores import OURS
from eigenecho.pages import aligned

if TYPE_CHECKING:
    from eigenecho.forecasting.backtest import Backtest

POINTS = ("mae", "rmse", "mase", "smape")
"""Measures that all methods have."""

NAMES = {"mae": "mean absolute error", "mase": "scaled error (mase)"}
"""Measures in words."""

MARK = "▸"
"""In front of the lowest of a column."""


def headline(tested: Backtest) -> str:
    """How much was tested."""
    found = f"{_count(tested.origins, 'origin')} of {_count(tested.horizon, 'step')}"
    if len(tested.ids) > 1:
        found += f", {len(tested.ids)} series"
    first, last = _span(tested.errors["cutoff"])
    found += f", forecasts made at {first}" if first == last else f", made from {first} to {last}"
    if tested.origins < tested.planned:
        found += f"; interrupted: {tested.planned} were planned"
    return found


def table(tested: Backtest) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a table of errors, best first; the lowest of each column marked."""
    summary = tested.summary.sort_values(tested.measure, kind="stable")
    columns = [_marked(summary[name]) for name in POINTS]
    rows = [
        [name, *row] for name, row in zip(summary.index, zip(*columns, strict=True), strict=True)
    ]
    return ["", *POINTS], rows


def sentences(tested: Backtest) -> list[str]:
    """What to think of it."""
    found = [_against_naive(tested), _bounds(tested)]
    missing = int(tested.errors["y"].isna().sum())
    if missing:
        found.append(
            f"{missing} of {len(tested.errors)} rows were not observed: they count in nothing."
        )
    return [one for one in found if one]


def as_text(tested: Backtest) -> str:
    """For a terminal."""
    columns, rows = table(tested)
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    lines = [
        "  ".join(
            [cells[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        ).rstrip()
        for cells in [columns, *rows]
    ]
    return "\n".join([f"Backtest: {headline(tested)}", "", *lines, "", *sentences(tested)])


def as_html(tested: Backtest) -> str:
    """For a notebook."""
    columns, rows = table(tested)
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr><th style='text-align:left'>"
        + "</th>".join([escape(row[0]), ""])
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    said = "".join(f"<p>{escape(one)}</p>" for one in sentences(tested))
    return (
        f"<div><p><b>Backtest</b>: {escape(headline(tested))}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{said}</div>"
    )


def _against_naive(tested: Backtest) -> str:
    """Whether the best naive forecast is beaten, by how much and how often."""
    rival, measure = tested.best_naive, tested.measure
    ours, theirs = (float(tested.summary.loc[name, measure]) for name in (OURS, rival))
    if np.isnan([ours, theirs]).any():
        return ""
    if theirs == 0:
        return f"The best naive forecast, “{rival}”, has no error at all."
    change = round(100 * abs(1 - ours / theirs))
    more = "more" if ours > theirs else "less"
    size = f"{change} % {more}" if change else "as much"
    than = "than" if change else "as"
    wins, all_of_them = _wins(tested, rival)
    return (
        f"It has {size} {NAMES[measure]} {than} the best naive forecast, “{rival}”, and is the "
        f"better one in {wins} of {all_of_them} forecasts."
    )


def _wins(tested: Backtest, rival: str) -> tuple[int, int]:
    """Forecasts in which ours had the smaller error, and all that can be compared."""
    errors = tested.errors
    sizes = errors[[OURS, rival]].sub(errors["y"], axis=0).abs()
    means = sizes.groupby([errors["unique_id"], errors["cutoff"]], sort=False).mean().dropna()
    return int((means[OURS] < means[rival]).sum()), len(means)


def _bounds(tested: Backtest) -> str:
    coverage, score = tested.summary.loc[OURS, ["coverage", "interval_score"]]
    if np.isnan(coverage):
        return "No bounds: the rows before the origins were too few to know of errors."
    return (
        f"Bounds for {100 * tested.interval:.3g} % of rows held {100 * coverage:.3g} % "
        f"(interval score {score:.4g})."
    )


def _span(cutoffs: Any) -> tuple[str, str]:
    import pandas

    index = pandas.Index(cutoffs.sort_values())
    times = index.to_numpy() if index.dtype.kind in "iuf" else index
    return shown(times[:1]), shown(times[-1:])


def _marked(values: Any) -> list[str]:
    """Numbers of one column, the lowest marked."""
    numbers = np.asarray(values, float)
    lowest = np.nanmin(numbers) if not np.isnan(numbers).all() else np.nan
    return [
        f"{MARK} {text}" if x == lowest else text
        for x, text in zip(numbers, aligned(numbers), strict=True)
    ]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
