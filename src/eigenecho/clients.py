"""Run functions on the Dask cluster of a client that the caller passes.

Dask is imported only when there is a client. Values that tasks share are tasks too, never
scattered: if a worker dies, the scheduler can compute them again.
"""

from __future__ import annotations

import contextlib
import operator
import pydoc
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import eigenecho
from eigenecho.errors import ClusterError, bad_argument

Mapped = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""A function like ``map``, which yields results in the order of the items."""

POLL_SECONDS = 5.0
"""Interval between two checks that the cluster has workers."""

PATIENCE_SECONDS = 120.0
"""Time after which a step fails if the cluster has no workers."""


def check_client(client: Any) -> None:
    """Raise unless a client can be used, and all workers have this version of eigenecho.

    Another version might compute different results.
    """
    kinds = ((kind.__module__.partition(".")[0], kind.__name__) for kind in type(client).__mro__)
    if ("distributed", "Client") not in kinds or client.asynchronous:
        raise bad_argument("client", client, "a dask.distributed Client that is not asynchronous")
    if client.status != "running":
        raise ValueError(f"client is {client.status}. Client(address) connects a new one.")
    # This function is in the standard library, so it also runs on a worker without eigenecho.
    versions = client.run(pydoc.locate, "eigenecho.__version__", on_error="return")
    for address, version in versions.items():
        # OSError: the worker has died. The one that replaces it will have the same packages.
        if version != eigenecho.__version__ and not isinstance(version, OSError):
            has = f"eigenecho {version}" if isinstance(version, str) else "no eigenecho"
            raise ValueError(
                f"client has a worker with {has}, {address}. Install eigenecho "
                f"{eigenecho.__version__}, the version of this process, on every worker."
            )


@contextlib.contextmanager
def explain_errors(stage: str) -> Iterator[None]:
    """Raise errors of the cluster as `ClusterError`; errors of the tasks pass unchanged."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"the step {stage!r} failed because workers died repeatedly, usually for lack of "
            "memory: use smaller chunks, or workers with more memory. If they die for other "
            "reasons, raise distributed.scheduler.allowed-failures. The client still works."
        ) from error
    except (FutureCancelledError, CommClosedError) as error:
        raise ClusterError(
            f"the step {stage!r} was cancelled, or the scheduler is gone ({error}). Check that "
            "the client is connected. The estimator is unchanged."
        ) from error


def wait_for(client: Any, stage: str, future: Any) -> Any:
    """Return the result of a future; raise if the cluster has no workers for some time."""
    patience = PATIENCE_SECONDS
    with explain_errors(stage):
        while True:
            try:
                return future.result(timeout=POLL_SECONDS)
            except TimeoutError:
                if future.status != "pending":  # the task itself raised TimeoutError
                    raise
            workers = client.scheduler_info(n_workers=-1)["workers"]
            patience = PATIENCE_SECONDS if workers else patience - POLL_SECONDS
            if patience <= 0:
                raise ClusterError(
                    f"the step {stage!r} failed because the cluster has had no workers for "
                    f"{PATIENCE_SECONDS:.0f} seconds. Start workers and try again. "
                    "The estimator is unchanged."
                )


def release(client: Any, futures: Sequence[Any]) -> None:
    """Cancel unfinished futures and release all, also after an error or Ctrl-C."""
    unfinished = [future for future in futures if future.status == "pending"]
    with contextlib.suppress(Exception):  # a scheduler that is gone holds no tasks
        if unfinished:
            client.cancel(unfinished, force=True)
    for future in futures:
        future.release()


def allow_large_graphs() -> Any:
    """Return a context in which Dask does not warn about graphs that hold networks or data."""
    import dask

    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"})


def submit(
    client: Any, stage: str, function: Callable[[Any], Any], items: Sequence[Any]
) -> list[Any]:
    """Return the future of a function, sent once to each worker, and of its result for each item.

    The dashboard shows the tasks by the name of the ``stage``.
    """
    name = uuid.uuid4().int
    with allow_large_graphs():
        shared = client.submit(partial, function, key=f"shared-{name}", pure=False)
        return [shared] + [
            client.submit(operator.call, shared, item, key=f"{stage}-{name}-{i}", pure=False)
            for i, item in enumerate(items)
        ]


def on_client(client: Any, stage: str) -> Mapped:
    """Return a function like ``map`` that runs on the workers of a client."""
    check_client(client)

    def mapped(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        futures = submit(client, stage, function, items)
        try:
            for future in futures[1:]:
                yield wait_for(client, stage, future)
        finally:
            release(client, futures)

    return mapped
