"""Tasks on a cluster, and their computation."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from eigenecho.clients import allow_large_graphs, check_client, release, wait_for
from eigenecho.errors import missing_package
from eigenecho.progress import StageReport

try:
    from dask.delayed import Delayed, delayed
    from distributed import Client, as_completed, get_client

    import dask
except ImportError as error:
    raise missing_package("eigenecho.dask", "dask") from error


@dataclass(frozen=True, eq=False)
class Cluster:
    """The workers of a client or, without a client, Dask's scheduler in this process.

    ``report(stage, done, total)`` is called when a shard is finished.
    """

    client: Client | None
    report: StageReport | None = None
    _numbers: Iterator[int] = field(default_factory=itertools.count, repr=False)
    _name: int = field(default_factory=lambda: uuid.uuid4().int, repr=False)

    @classmethod
    def of(cls, client: Any, report: StageReport | None = None) -> Cluster:
        """Return the cluster of a client, by default of the current client, if there is one."""
        if client is None:
            try:
                client = get_client()
            except ValueError:
                return cls(None, report)
        check_client(client)
        return cls(client, report)

    def value(self, name: str, value: Any) -> Delayed:
        """Return a task for a value, which is sent at most once to each worker."""
        return delayed(value, name="-".join(map(str, self._key(name))), traverse=False)

    def task(self, name: str, function: Callable[..., Any], *arguments: Any) -> Delayed:
        """Return a task for a function call; the dashboard displays its name."""
        return delayed(function, pure=False)(*arguments, dask_key_name=self._key(name))

    def tree(self, parts: Sequence[Delayed], merge: Callable[[Any, Any], Any]) -> Delayed:
        """Return a task that merges neighbouring results pairwise until one result remains."""
        level = list(parts)
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2], strict=False)
            merged = [self.task("merge", merge, *pair) for pair in pairs]
            level = merged + level[2 * len(merged) :]
        return level[0]

    def compute(self, stage: str, root: Delayed, leaves: Sequence[Delayed] = ()) -> Any:
        """Compute the result of a task; report the number of finished ``leaves`` as progress."""
        if self.client is None:
            return dask.compute(root)[0]
        counted = leaves if self.report is not None else ()
        ticks = [self.task("counted", _discard, leaf) for leaf in counted]
        with allow_large_graphs():
            futures = self.client.compute([root, *ticks])
        try:
            if self.report is not None and ticks:
                _report_progress(self.report, stage, futures[1:], self.client.loop)
            return wait_for(self.client, stage, futures[0])
        finally:
            release(self.client, futures)

    def _key(self, name: str) -> tuple[str, int]:
        # Dask uses the words before the first number as the name of a step. It treats tuples with
        # the same first element as tasks of one kind, and spreads them over all workers.
        return f"{name}-{self._name}", next(self._numbers)


def _report_progress(report: StageReport, stage: str, ticks: Sequence[Any], loop: Any) -> None:
    report(stage, 0, len(ticks))
    for done, future in enumerate(as_completed(ticks, loop=loop), 1):
        if future.status != "finished":  # the result of the root task says why
            return
        report(stage, done, len(ticks))


def _discard(_: Any) -> None:
    """Return None, so that the client can wait for a task without storing its result."""
