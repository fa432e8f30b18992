"""Work on a cluster: named tasks, trees of merges, and a client that is left as it was."""

from __future__ import annotations

import contextlib
import itertools
import pydoc
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import eigenecho
from eigenecho.errors import Shown, bad_argument

try:
    import dask
    from dask.delayed import Delayed, delayed
    from distributed import Client, KilledWorker, as_completed, get_client
    from distributed.client import FutureCancelledError
except ImportError as error:
    raise ImportError("this needs dask: pip install 'eigenecho[dask]'") from error

Report = Callable[[str, int, int], object]

LARGE = "distributed.admin.large-graph-warning-threshold"
"""Dask warns of graphs that hold large values. Ours hold networks and weights, once each: what a
graph holds can be computed anew when a worker dies, what was scattered cannot."""


class ClusterError(RuntimeError):
    """A computation that the cluster could not finish; the client is as it was."""


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
        if not isinstance(client, Client) or client.asynchronous:
            got = client if not isinstance(client, Client) else Shown("an asynchronous Client")
            raise bad_argument("client", got, "a dask.distributed Client that waits, or None")
        check_client(client)
        check_versions(client)
        return cls(client, report)

    def value(self, name: str, value: Any) -> Delayed:
        """Something that many tasks share: it travels once to each worker that needs it."""
        return delayed(value, name=self._key(name), traverse=False)

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
            with explained(stage):
                return futures[0].result()
        finally:
            self._forget(futures)

    def _tell(self, stage: str, ticks: Sequence[Any]) -> None:
        if self.report is None or not ticks:
            return
        self.report(stage, 0, len(ticks))
        for done, future in enumerate(as_completed(ticks), 1):
            if future.status != "finished":  # the root says why
                return
            self.report(stage, done, len(ticks))

    def _forget(self, futures: Sequence[Any]) -> None:
        """Leave nothing behind, whether all is done or somebody has pressed Ctrl-C."""
        assert self.client is not None
        unfinished = [future for future in futures if future.status == "pending"]
        with contextlib.suppress(Exception):  # a scheduler that is gone has nothing left of ours
            if unfinished:
                self.client.cancel(unfinished, force=True)
        for future in futures:
            future.release()

    def _key(self, name: str) -> str:
        # Dask takes the words before the first number for the name of a step.
        return f"{name}-{self._name}-{next(self._numbers)}"


@contextlib.contextmanager
def explained(stage: str) -> Iterator[None]:
    """What a cluster says when it gives up, in words that help."""
    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"the step {stage!r} was given up: workers died of it again and again. Most often "
            "memory runs out: cut the data into smaller chunks, or give workers more. Of deaths "
            "with other causes the configuration distributed.scheduler.allowed-failures lets you "
            "have more. The client still works."
        ) from error
    except (FutureCancelledError, OSError) as error:
        raise ClusterError(
            f"the step {stage!r} was cancelled, or the scheduler is gone: {error}. Look whether "
            "the client is connected; nothing has changed here."
        ) from error


def check_client(client: Client) -> None:
    """Raise where a client is closed, or has no workers."""
    if client.status != "running":
        got = Shown(f"a Client that is {client.status}")
        raise bad_argument("client", got, "one that is connected", "Client(address) makes one.")


def check_versions(client: Client) -> None:
    """Raise where a worker has no eigenecho, or another version: it would compute other numbers."""
    found = client.run(pydoc.locate, "eigenecho.__version__", on_error="return")
    for address, version in found.items():
        if version != eigenecho.__version__:
            lacks = version is None or isinstance(version, Exception)
            what = "without eigenecho" if lacks else f"with eigenecho {version}"
            raise bad_argument(
                "client", Shown(f"a cluster whose worker {address} is {what}"),
                f"eigenecho {eigenecho.__version__} on every worker, as here",
                f"pip install eigenecho=={eigenecho.__version__} there, with the numpy and scipy "
                "that are here.",
            )  # fmt: skip


def _nothing(_: Any) -> None:
    """What counts is that it was there."""
