"""Experiments that compute next to nothing, for the store, the runner and the command line.

A module of its own, so that worker processes can import it.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

import numpy as np

from eigenecho.apps.paper.experiment import Config, Experiment
from eigenecho.apps.paper.section import Claim, ReportFigure, Section, TextTable

HELD = "EIGENECHO_TEST_HELD"

HELD = "EIGENECHO_TEST_HELD"


@dataclass(frozen=True)
class FakeConfig(Config):
    size: int = 4
    pause: float = 0.0


class Fake(Experiment[FakeConfig]):
    name = "fake"
    title = "Drawn <numbers> & sums"
    paper = "table of nothing"
    config = FakeConfig(seeds=3)
    quick = FakeConfig(seeds=2, size=2)

    def cells(self, config):
        return [(part, seed) for part in ("a", "b") for seed in range(config.seeds)]

    def run(self, config, key):
        part, seed = key
        time.sleep(config.pause)
        rng = np.random.default_rng([seed, ord(part)])
        # Products through BLAS, which rounds by its number of threads.
        X = rng.normal(size=(300, 40 * config.size))
        return {"gram": X.T @ X, "draw": rng.normal(size=config.size)}

    def section(self, config, results):
        from eigenecho.plots.style import new_figure

        figure = new_figure(4.0, 3.0)
        ax = figure.add_subplot()
        ax.plot(results["a", 0]["draw"])
        ax.set(xlabel="place", ylabel="draw")
        total = float(sum(r["draw"].sum() for r in results.values()))
        return Section(
            "One paragraph.\n\nAnd < another.",
            f"sum {total:.3f}",
            [
                TextTable(
                    "Sums | all", ("part", "sum"), [["a|b", f"{total:.3f}"]], {(0, 1)}, "A note."
                )
            ],
            [ReportFigure("fake-figure", figure, "A line & its caption.")],
            [
                Claim("Draws are <finite>", "all of them", "holds"),
                Claim("Draws are positive", "some of them", "holds in part"),
                Claim("Draws are equal", "no two of them", "does not hold"),
            ],
            {"total": np.float64(total), "nothing": float("nan"), "array": np.arange(2)},
        )


class Alone(Fake):
    name = "alone"
    title = "A machine for itself"
    exclusive = True


class Failing(Fake):
    name = "failing"

    def run(self, config, key):
        if key == ("b", 0):
            raise ZeroDivisionError("nothing to divide")
        return super().run(config, key)


class Dying(Fake):
    name = "dying"

    def run(self, config, key):
        os._exit(9)


class Slow(Fake):
    """After three cells, none finishes as long as the parent of the worker lives.

    Only where HELD is in the environment: a run that is started so cannot end by itself, however
    late the signal comes that is to interrupt it.
    """

    name = "slow"
    config = FakeConfig(seeds=8, pause=0.01)
    quick = config

    def run(self, config, key):
        parent = os.getppid()
        while HELD in os.environ and key not in self.cells(config)[:3] and os.getppid() == parent:
            time.sleep(0.02)
        return super().run(config, key)


def wait_for(condition, seconds=300.0):
    """Wait for an event that comes soon, or much later where other tests keep all cores busy."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def main() -> None:
    """``eigenecho`` with these experiments in place of the paper's."""
    from eigenecho.apps.cli.app import app
    from eigenecho.apps.paper import runner

    runner.EXPERIMENTS[:] = [Fake(), Slow()]
    app()
