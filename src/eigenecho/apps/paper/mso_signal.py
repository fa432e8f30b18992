"""The MSO5 series and its training, validation and test rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.apps.paper.experiment import Cell, Config, Experiment, Key, Results
from eigenecho.apps.paper.section import ReportFigure, Section, TextTable
from eigenecho.plots.style import BLACK, BLUE, GREEN, PURPLE, panel_grid
from eigenecho.tasks import MSO_FREQUENCIES, mso_split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {"washout": BLUE, "train": BLUE, "validation": GREEN, "test": PURPLE}


@dataclass(frozen=True)
class SignalConfig(Config):
    """Number of the MSO task, 1 to 12."""

    task: int = 5


class MSOSignal(Experiment[SignalConfig]):
    """The MSO5 series."""

    name = "mso-signal"
    title = "The MSO5 series"
    paper = "figure of the MSO5 series"
    config = SignalConfig()
    quick = SignalConfig()

    def cells(self, config: SignalConfig) -> list[Key]:
        """Return one key, for the series."""
        return [(config.task,)]

    def run(self, config: SignalConfig, key: Key) -> Cell:
        """Return the inputs and the last row of each part."""
        split = mso_split(key[0])
        ends = [split.washout, split.train.stop, split.valid.stop, split.test.stop]
        return {"signal": split.X[:, 0], "ends": np.array(ends)}

    def section(self, config: SignalConfig, results: Results) -> Section:
        """Show the series with its parts shaded."""
        result = results[(config.task,)]
        ends = result["ends"].tolist()
        rows = dict(zip(COLOURS, map(list, pairwise([0, *ends])), strict=True))
        return Section(
            f"U_K(t) = Σ sin(α_k t) over the first K = {config.task} frequencies, predicted one "
            "step ahead. The paper does not state the first t; here it is 0.",
            f"{ends[-1]} steps, split as in the paper",
            [
                TextTable(
                    "Frequencies of the twelve tasks, in radians per step",
                    ("", *(f"α{k + 1}" for k in range(len(MSO_FREQUENCIES)))),
                    [["paper and here", *(f"{a:g}" for a in MSO_FREQUENCIES)]],
                )
            ],
            [
                ReportFigure(
                    "mso-signal",
                    _draw(f"$U_{{{config.task}}}(t)$", result["signal"], rows),
                    f"The MSO{config.task} series of {ends[-1]} steps: washout ({ends[0]} steps, "
                    f"run but not fitted), train (to {ends[1]}), validation (to {ends[2]}) and "
                    f"test (to {ends[3]}), as in the paper.",
                )
            ],
            numbers={"rows": rows},
        )


def _draw(label: str, signal: Any, rows: Mapping[str, Any]) -> Figure:
    figure, (ax,) = panel_grid(1, 1, 9.6, 2.7)
    for part, (start, end) in rows.items():
        is_washout = part == "washout"
        hatch: Any = {"hatch": "///", "edgecolor": "white"} if is_washout else {}
        ax.axvspan(start, end, facecolor=COLOURS[part], alpha=0.28, linewidth=0, **hatch)
        steps = np.arange(start, min(end + 1, len(signal)))
        dashes = (0, (3, 1.5)) if is_washout else "-"
        ax.plot(steps, signal[steps], color=BLACK, linestyle=dashes, linewidth=0.9)
        # Names above the parts, so that readers need not distinguish colours.
        middle = (start + end) / 2
        ax.annotate(part, (middle, 1.02), xycoords=("data", "axes fraction"), ha="center")
    ax.set_xlim(0, len(signal))
    ax.set_xlabel("time step t")
    ax.set_ylabel(label)
    return figure
