"""Run functions on the Dask cluster of a client.

Dask is imported only if there is a client. Values that several tasks use are tasks themselves, and
are not scattered, so that the scheduler can recompute them if a worker dies.
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
"""Time between two checks that the cluster has workers."""

PATIENCE_SECONDS = 120.0
"""Time without workers after which a step fails."""


def check_client(client: Any) -> None:
    """Raise unless a client is connected and all workers have this version of eigenecho.

    Other versions might give different results.
    """
    kinds = ((kind.__module__.partition(".")[0], kind.__name__) for kind in type(client).__mro__)
    if ("distributed", "Client") not in kinds or client.asynchronous:
        raise bad_argument("client", client, "a dask.distributed.Client with asynchronous=False")
    if client.status != "running":
        raise ValueError(f"The client is {client.status}. Connect a new client: Client(address).")
    # pydoc is in the standard library, so this call also succeeds on a worker without eigenecho.
    versions = client.run(pydoc.locate, "eigenecho.__version__", on_error="return")
    for address, version in versions.items():
        # OSError: the worker has died. The worker that replaces it has the same packages.
        if version != eigenecho.__version__ and not isinstance(version, OSError):
            has = f"eigenecho {version}" if isinstance(version, str) else "no eigenecho"
            raise ValueError(
                f"The worker {address} has {has}. Install version {eigenecho.__version__}, the "
                "version of this process, on every worker."
            )


@contextlib.contextmanager
def explain_errors(stage: str) -> Iterator[None]:
    """Convert errors of the cluster to `ClusterError`; errors raised by tasks are not changed."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"The step {stage!r} failed because workers died repeatedly, usually because they ran "
            "out of memory. Use smaller chunks, or workers with more memory. If workers die for "
            "other reasons, increase distributed.scheduler.allowed-failures. The client can still "
            "be used."
        ) from error
    except (FutureCancelledError, CommClosedError) as error:
        raise ClusterError(
            f"The step {stage!r} was cancelled, or the connection to the scheduler was lost "
            f"({error}). Check that the client is connected. The estimator is unchanged."
        ) from error


def wait_for(client: Any, stage: str, future: Any) -> Any:
    """Wait for the result of a future; raise if the cluster has no workers for a long time."""
    patience = PATIENCE_SECONDS
    with explain_errors(stage):
        while True:
            try:
                return future.result(timeout=POLL_SECONDS)
            except TimeoutError:
                if future.status != "pending":  # The task itself raised TimeoutError.
                    raise
            workers = client.scheduler_info(n_workers=-1)["workers"]
            patience = PATIENCE_SECONDS if workers else patience - POLL_SECONDS
            if patience <= 0:
                raise ClusterError(
                    f"The step {stage!r} failed because the cluster has had no workers for "
                    f"{PATIENCE_SECONDS:.0f} seconds. Start workers and try again. "
                    "The estimator is unchanged."
                )


def release(client: Any, futures: Sequence[Any]) -> None:
    """Cancel unfinished futures, and release all futures."""
    unfinished = [future for future in futures if future.status == "pending"]
    with contextlib.suppress(Exception):  # The scheduler may no longer exist.
        if unfinished:
            client.cancel(unfinished, force=True)
    for future in futures:
        future.release()


def allow_large_graphs() -> Any:
    """Return a context in which Dask does not warn about graphs that contain networks or data."""
    import dask

    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"})


def on_client(client: Any, stage: str) -> Mapped:
    """Return a variant of ``map`` that runs on the workers of a client."""
    check_client(client)

    def mapped(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        name = uuid.uuid4().int
        with allow_large_graphs():
            # The function is sent once to each worker. The dashboard displays the stage.
            shared = client.submit(partial, function, key=f"shared-{name}", pure=False)
            results = [
                client.submit(operator.call, shared, item, key=f"{stage}-{name}-{i}", pure=False)
                for i, item in enumerate(items)
            ]
        try:
            for future in results:
                yield wait_for(client, stage, future)
        finally:
            release(client, [shared, *results])

    return mapped
