"""Trivial experiments for tests of the store, the runner and the command line.

They are in a separate module, so that worker processes can import it.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eigenecho.paper.claims import Case, Claim, Interval, Rule
from eigenecho.paper.experiment import Experiment

HELD = "EIGENECHO_TEST_HELD"


@dataclass(frozen=True)
class Fake(Experiment):
    name = "fake"
    quick: ClassVar = dict(seeds=2, size=2)
    texts: ClassVar = {
        "title": "Drawn <numbers> & sums",
        "paper": "table of nothing",
        "text": "One paragraph.\n\nAnd < another.",
        "headline": "sum {total:.3f}",
        "tables": {"sums": {"title": "Sums | all", "note": "A note."}},
        "figures": {"fake-figure": "A line & its caption."},
    }

    seeds: int = 3
    size: int = 4
    pause: float = 0.0

    def cells(self):
        return [(part, seed) for part in ("a", "b") for seed in range(self.seeds)]

    def run(self, key):
        part, seed = key
        time.sleep(self.pause)
        rng = np.random.default_rng([seed, ord(part)])
        # BLAS products round differently for other numbers of threads.
        X = rng.normal(size=(300, 40 * self.size))
        return {"gram": X.T @ X, "draw": rng.normal(size=self.size)}

    def section(self, results):
        from eigenecho.plots.style import new_figure

        figure = new_figure(4.0, 3.0)
        ax = figure.add_subplot()
        ax.plot(results["a", 0]["draw"])
        ax.set(xlabel="place", ylabel="draw")
        total = np.float64(sum(r["draw"].sum() for r in results.values()))
        section = self.start(total=total)
        section.add_table("sums", ("part", "sum"), [["a|b", total]], [".3f"], {(0, 1)})
        section.add_figure("fake-figure", figure)
        section.numbers |= {"nothing": float("nan"), "array": np.arange(2)}
        rule = Rule("draw", at_most=1.0)
        low, high, wide = (
            Interval(0, -1, 1, "how"),
            Interval(3, 2, 4, "how"),
            Interval(1, 0, 2, "how"),
        )
        for claim, *cases in (
            ("Draws are <finite>", low),
            ("Draws are positive", low, high),
            ("Draws are equal", high),
            ("Draws are normal", wide),
        ):
            judged = [Case(rule, "here", interval) for interval in cases]
            section.claims.append(Claim(claim, judged, "We observe draws", "caption", "A fact."))
        section.claims.append(Claim("Draws are ours", [Case(rule, "", low)]))
        return section


class Alone(Fake):
    name = "alone"
    exclusive = True


class Failing(Fake):
    name = "failing"

    def run(self, key):
        if key == ("b", 0):
            raise ZeroDivisionError("nothing to divide")
        return super().run(key)


class Threads(Fake):
    name = "threads"

    def run(self, key):
        from threadpoolctl import threadpool_info

        from eigenecho.threads import thread_count

        blas = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
        return {"threads": np.array([thread_count(), *blas])}


class Dying(Fake):
    name = "dying"

    def run(self, key):
        os._exit(9)


@dataclass(frozen=True)
class Slow(Fake):
    """Experiment that, after three cells, waits until the parent of its worker has died.

    It waits only if HELD is in the environment. Such a run cannot end by itself, even if the signal
    that interrupts it comes late.
    """

    name = "slow"
    quick: ClassVar = {}
    seeds: int = 8
    pause: float = 0.01

    def run(self, key):
        parent = os.getppid()
        while HELD in os.environ and key not in self.cells()[:3] and os.getppid() == parent:
            time.sleep(0.02)
        return super().run(key)


def wait_for(condition, seconds=300.0):
    """Wait for an event that can take long if other tests keep all cores busy."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def main() -> None:
    """Run ``eigenecho`` with these experiments instead of the paper's."""
    from eigenecho.cli.app import app
    from eigenecho.paper import runner

    runner.EXPERIMENTS[:] = [Fake(), Slow()]
    app()
