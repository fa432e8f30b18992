"""Work on a cluster: named tasks, trees of merges, and a client that is left as it was."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from eigenecho.clients import awaited, check_client, check_versions, forget

try:
    from dask.delayed import Delayed, delayed
    from distributed import Client, as_completed, get_client

    import dask
except ImportError as error:
    raise ImportError("this needs dask: pip install 'eigenecho[dask]'") from error

Report = Callable[[str, int, int], object]

LARGE = "distributed.admin.large-graph-warning-threshold"
"""Dask warns of graphs that hold large values. Ours hold networks and weights, once each: what a
graph holds can be computed anew when a worker dies, what was scattered cannot."""


@dataclass(frozen=True, eq=False)
class Cluster:
    """Where tasks run: on the workers of a client, or without one by Dask's own scheduler.

    ``report(stage, done, total)`` is called as shards are finished.
    """

    client: Client | None
    report: Report | None = None
    _numbers: Iterator[int] = field(default_factory=itertools.count, repr=False)
    _name: int = field(default_factory=lambda: uuid.uuid4().int, repr=False)

    @classmethod
    def of(cls, client: Any, report: Report | None = None) -> Cluster:
        """By the client that is given, or that is at work here; its workers must know ours."""
        if client is None:
            try:
                client = get_client()
            except ValueError:
                return cls(None, report)
        check_client(client)
        check_versions(client)
        return cls(client, report)

    def value(self, name: str, value: Any) -> Delayed:
        """Something that many tasks share: it travels once to each worker that needs it."""
        return delayed(value, name="-".join(map(str, self._key(name))), traverse=False)

    def task(self, name: str, function: Callable[..., Any], *arguments: Any) -> Delayed:
        """A call by its name, which the dashboard shows."""
        return delayed(function, pure=False)(*arguments, dask_key_name=self._key(name))

    def tree(self, parts: Sequence[Delayed], merge: Callable[[Any, Any], Any]) -> Delayed:
        """All parts in one: neighbours are merged, then what they became."""
        known = list(parts)
        while len(known) > 1:
            pairs = zip(known[::2], known[1::2], strict=False)
            merged = [self.task("merge", merge, one, other) for one, other in pairs]
            known = merged + known[2 * len(merged) :]
        return known[0]

    def compute(self, stage: str, root: Delayed, leaves: Sequence[Delayed] = ()) -> Any:
        """What a task comes to; ``leaves`` are those that tell how far it has come."""
        if self.client is None:
            (found,) = dask.compute(root)
            return found
        check_client(self.client)
        ticks = []
        if self.report is not None:
            ticks = [self.task("counted", _nothing, leaf) for leaf in leaves]
        with dask.config.set({LARGE: "1 GiB"}):
            futures = self.client.compute([root, *ticks])
        try:
            self._tell(stage, futures[1:])
            return awaited(self.client, stage, futures[0])
        finally:
            forget(self.client, futures)

    def _tell(self, stage: str, ticks: Sequence[Any]) -> None:
        if self.client is None or self.report is None or not ticks:
            return
        self.report(stage, 0, len(ticks))
        for done, future in enumerate(as_completed(ticks, loop=self.client.loop), 1):
            if future.status != "finished":  # the root says why
                return
            self.report(stage, done, len(ticks))

    def _key(self, name: str) -> tuple[str, int]:
        # Dask takes the words before the first number for the name of a step, and pairs of one
        # name for tasks of one kind, which it spreads over all workers.
        return f"{name}-{self._name}", next(self._numbers)


def _nothing(_: Any) -> None:
    """What counts is that it was there."""
