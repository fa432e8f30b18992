"""Tables of the accuracy on public sets, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from common import machine, replace_part
from forecasts.panel_methods import OURS
from forecasts.panel_scores import SetScore
from forecasts.panel_sets import PanelSet

Summary = Mapping[str, Mapping[str, SetScore]]
"""Scores by method and set; sets with missing forecasts are left out."""

PAGE = Path(__file__).resolve().parents[2] / "docs" / "public-panels.md"
MEASURES = {"MASE": "mase", "sMAPE": "smape", "WQL": "wql", "CPU seconds per series": "seconds"}
FORMATS = {"mase": ".3f", "smape": ".2f", "wql": ".4f", "seconds": ".2g"}


def report(sets: Sequence[PanelSet], scores: Summary) -> str:
    """Return a table for each measure."""
    return "\n".join(table(title, name, sets, scores) for title, name in MEASURES.items())


def write(sets: Sequence[PanelSet], scores: Summary) -> None:
    """Update the tables of the page."""
    counts = [f"{len(s.items)} in {s.name}" for s in sets]
    listed = ", ".join([*counts[:-2], " and ".join(counts[-2:])])
    measured = f"Measured on {machine('eigenecho', 'statsforecast')}."
    lines = [report(sets, scores), f"The number of series is {listed}. {measured}"]
    text = replace_part(PAGE.read_text(encoding="utf-8"), "sets", lines)
    PAGE.write_text(text, encoding="utf-8")


def table(title: str, measure: str, sets: Sequence[PanelSet], scores: Summary) -> str:
    """Return one measure, with one row per method and one column per set."""
    rows = [
        f"| {title} | {' | '.join(s.name for s in sets)} |",
        "|---|" + "---:|" * len(sets),
    ]
    for method, by_set in scores.items():
        cells = [_cell(by_set.get(s.name), measure) for s in sets]
        rows.append(f"| {_label(method)} | {' | '.join(cells)} |")
    return "\n".join([*rows, ""])


def _cell(score: SetScore | None, measure: str) -> str:
    return "–" if score is None else format(getattr(score, measure), FORMATS[measure])


def _label(method: str) -> str:
    return f"**eigenecho, {method}**" if method in OURS else method
