"""Work on a Dask cluster, by the client that a caller hands over; nothing here needs Dask before.

What tasks share is a task too: a worker that dies takes no copy along that nobody could make anew.
"""

from __future__ import annotations

import contextlib
import pydoc
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import eigenecho
from eigenecho.errors import ClusterError, Shown, bad_argument

Mapped = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""A ``map`` in order, whoever does the work."""


GLANCE, PATIENCE = 5.0, 120.0
"""Seconds after which to look whether there are workers, and for which a cluster may have none."""


ON_A_CLUSTER = {
    ("LinearESN", "fit"): "eigenecho.dask.fit(esn, X, y) trains where they are",
    ("Forecaster", "fit"): "eigenecho.dask.fit(forecaster, y, X) trains on the workers",
    ("LinearESN", "predict"): "eigenecho.dask.predict(esn, X) runs where they are",
    ("LinearModel", "predict"): "eigenecho.dask.predict(model, X) runs where they are",
    ("Forecaster", "predict"): "eigenecho.dask.predict(forecaster, context) runs on the workers",
}
"""What does the same with collections of Dask, by class and method."""


def check_at_hand(given: Mapping[str, Any], call: tuple[str, str] = ("", "")) -> None:
    """Raise where a series is a collection of Dask: to compute all of it here is seldom meant."""
    if "dask" not in sys.modules:
        return
    for name, value in given.items():
        listed = isinstance(value, (list, tuple)) and len(value) > 0
        first = value[0] if listed else value
        if any(kind.__module__.partition(".")[0] == "dask" for kind in type(first).__mro__):
            there = f"{ON_A_CLUSTER[call]}; " if call in ON_A_CLUSTER else ""
            here = f"dask.compute(*{name})" if listed else f"{name}.compute()"
            raise bad_argument(
                name, Shown(f"dask {type(first).__name__}"), "series in the memory of this process",
                f"{there}{here} brings them here.",
            )  # fmt: skip


def check_client(client: Any) -> None:
    """Raise where a client is none, waits for nobody, or is closed."""
    kinds = ((one.__module__.partition(".")[0], one.__name__) for one in type(client).__mro__)
    if ("distributed", "Client") not in kinds:
        raise bad_argument("client", client, "a dask.distributed Client, or None")
    if client.asynchronous:
        got = Shown("an asynchronous Client")
        raise bad_argument("client", got, "one that waits for its results")
    if client.status != "running":
        got = Shown(f"a Client that is {client.status}")
        raise bad_argument("client", got, "one that is connected", "Client(address) makes one.")


def check_versions(client: Any) -> None:
    """Raise where a worker has no eigenecho, or another version: it would compute other numbers."""
    # By a function of the standard library, which a worker without eigenecho has too.
    found = client.run(pydoc.locate, "eigenecho.__version__", on_error="return")
    for address, version in found.items():
        if isinstance(version, OSError):  # died meanwhile: whoever comes in its place is like it
            continue
        if version != eigenecho.__version__:
            lacks = version is None or isinstance(version, Exception)
            what = "without eigenecho" if lacks else f"with eigenecho {version}"
            raise bad_argument(
                "client", Shown(f"a cluster whose worker {address} is {what}"),
                f"eigenecho {eigenecho.__version__} on every worker, as here",
                "Install it there, with the numpy and scipy that are here.",
            )  # fmt: skip


@contextlib.contextmanager
def explained(stage: str) -> Iterator[None]:
    """What a cluster says when it gives up, in words that help.

    What a task itself raises, be it of a file, is not the cluster's and stays as it is.
    """
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"the step {stage!r} was given up: workers died of it again and again. Most often "
            "memory runs out: cut the data into smaller chunks, or give workers more. Of deaths "
            "with other causes the configuration distributed.scheduler.allowed-failures lets you "
            "have more. The client still works."
        ) from error
    except (FutureCancelledError, CommClosedError) as error:
        raise ClusterError(
            f"the step {stage!r} was cancelled, or the scheduler is gone ({error}). Look whether "
            "the client is connected; nothing has changed here."
        ) from error


def awaited(client: Any, stage: str, future: Any) -> Any:
    """The result of a future; an error where for a while nobody is there to compute it."""
    left = PATIENCE
    with explained(stage):
        while True:
            try:
                return future.result(timeout=GLANCE)
            except TimeoutError:
                if future.status != "pending":  # a task's own
                    raise
            there = client.scheduler_info(n_workers=-1)["workers"]
            left = PATIENCE if there else left - GLANCE
            if left <= 0:
                raise ClusterError(
                    f"the step {stage!r} was given up: for {PATIENCE:.0f} seconds the cluster has "
                    "had no workers. Start some, and fit again; nothing has changed here."
                )


def forget(client: Any, futures: Sequence[Any]) -> None:
    """Leave nothing behind, whether all is done or somebody has pressed Ctrl-C."""
    unfinished = [future for future in futures if future.status == "pending"]
    with contextlib.suppress(Exception):  # a scheduler that is gone has nothing left of ours
        if unfinished:
            client.cancel(unfinished, force=True)
    for future in futures:
        future.release()


def on_client(client: Any, stage: str) -> Mapped:
    """A ``map`` on the workers of a client, by a name that its dashboard shows."""
    check_client(client)
    check_versions(client)
    return partial(_mapped, client, stage)


def _mapped(
    client: Any, stage: str, function: Callable[[Any], Any], items: Sequence[Any]
) -> Iterator[Any]:
    futures = submitted(client, stage, function, items)
    try:
        for future in futures[1:]:
            yield awaited(client, stage, future)
    finally:
        forget(client, futures)


def submitted(
    client: Any, stage: str, function: Callable[[Any], Any], items: Sequence[Any]
) -> list[Any]:
    """Futures of a function, which travels once to each worker, and of it at every item."""
    import dask

    name = uuid.uuid4().int
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"}):
        shared = client.submit(_same, function, key=f"shared-{name}", pure=False)
        keys = [f"{stage}-{name}-{number}" for number in range(len(items))]
        calls = zip(items, keys, strict=True)
        futures = [client.submit(_called, shared, item, key=key, pure=False) for item, key in calls]
    return [shared, *futures]


def _same(value: Any) -> Any:
    return value


def _called(function: Callable[[Any], Any], item: Any) -> Any:
    return function(item)
