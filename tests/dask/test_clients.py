"""Errors of a cluster in words that help, and those of the work as they are."""

import pytest

from eigenecho import clients
from eigenecho.errors import ClusterError


def test_a_lost_connection_says_that_the_scheduler_may_be_gone():
    from distributed.comm.core import CommClosedError

    said = "'search' was cancelled, or the scheduler is gone"
    with pytest.raises(ClusterError, match=said), clients.explain_errors("search"):
        raise CommClosedError("closed")


def test_a_file_that_a_worker_does_not_see_is_said_to_be_that():
    with pytest.raises(FileNotFoundError, match=r"series\.npy"), clients.explain_errors("validate"):
        raise FileNotFoundError("series.npy")


def test_what_a_task_raises_comes_back_as_it_is(client):
    found = clients.on_client(client, "views")(_fails, ["series.npy"])
    with pytest.raises(PermissionError, match=r"series\.npy"):
        list(found)


def test_what_is_no_client_is_refused():
    class Client:
        """Of somebody else's."""

    with pytest.raises(ValueError, match=r"client=.*a dask\.distributed Client"):
        clients.check_client(Client())


def _fails(path):
    raise PermissionError(path)
