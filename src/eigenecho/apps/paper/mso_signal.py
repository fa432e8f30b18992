"""The MSO5 series, with the rows it is split into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.apps.paper.experiment import Cell, Config, Experiment, Key, Section, TextTable
from eigenecho.plots.style import BLACK, BLUE, GREEN, PURPLE, new_figure, tidy
from eigenecho.tasks import MSO_FREQUENCIES, mso_split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = (("washout", BLUE), ("train", BLUE), ("validation", GREEN), ("test", PURPLE))


@dataclass(frozen=True)
class SignalConfig(Config):
    """Which of the twelve series."""

    task: int = 5


class MSOSignal(Experiment[SignalConfig]):
    """The MSO5 series."""

    name = "mso-signal"
    title = "The MSO5 series"
    paper = "figure of the MSO5 series"
    config = SignalConfig()
    quick = SignalConfig()

    def cells(self, config: SignalConfig) -> list[Key]:
        """The series."""
        return [(config.task,)]

    def run(self, config: SignalConfig, key: Key) -> Cell:
        """The inputs, and the rows at which the parts end."""
        split = mso_split(key[0])
        ends = [split.washout, split.train.stop, split.valid.stop, split.test.stop]
        return {"signal": split.X[:, 0], "ends": np.array(ends)}

    def section(self, config: SignalConfig, results: Mapping[Key, Cell]) -> Section:
        """The series with its parts shaded."""
        result = results[(config.task,)]
        ends = result["ends"].tolist()
        starts = [0, *ends[:-1]]
        return Section(
            f"U_K(t) = Σ sin(α_k t) over the first K = {config.task} frequencies, predicted one "
            "step ahead. The paper leaves the first t open; here it is 0.",
            [
                TextTable(
                    "Frequencies of the twelve tasks, in radians a step",
                    ("", *(f"α{k + 1}" for k in range(len(MSO_FREQUENCIES)))),
                    [["paper and here", *(f"{a:g}" for a in MSO_FREQUENCIES)]],
                )
            ],
            {"mso-signal": _figure(config.task, result)},
            {
                "mso-signal": f"The MSO{config.task} series of {ends[-1]} steps: washout "
                f"({ends[0]} steps, run through but not fitted), train (to {ends[1]}), validation "
                f"(to {ends[2]}) and test (to {ends[3]}), as in the paper."
            },
            numbers={"rows": {p: [a, b] for (p, _), a, b in zip(PARTS, starts, ends, strict=True)}},
            headline=f"{ends[-1]} steps, split as in the paper",
        )


def _figure(task: int, result: Cell) -> Figure:
    signal, ends = result["signal"], result["ends"]
    figure = new_figure(9.6, 3.0)
    ax = figure.add_subplot()
    tidy(ax)
    start = 0
    for (part, colour), end in zip(PARTS, ends, strict=True):
        hatch: Any = {"hatch": "///", "edgecolor": "white"} if part == "washout" else {}
        ax.axvspan(start, end, facecolor=colour, alpha=0.28, linewidth=0, **hatch)
        dashes = (0, (3, 1.5)) if part == "washout" else "-"
        steps = np.arange(start, min(end + 1, len(signal)))
        ax.plot(steps, signal[steps], color=BLACK, linestyle=dashes, linewidth=0.9)
        # Named in place, so that nobody has to tell the colours apart.
        ax.annotate(
            part,
            ((start + end) / 2, 1.02),
            xycoords=("data", "axes fraction"),
            ha="center",
            color=BLACK,
            fontsize=10,
        )
        start = end
    ax.set_xlim(0, ends[-1])
    ax.set_xlabel("time step t")
    ax.set_ylabel(f"$U_{{{task}}}(t)$")
    return figure
