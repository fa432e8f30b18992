"""Errors of a cluster are explained, and errors of tasks are raised unchanged."""

import pytest

from eigenecho import clients
from eigenecho.errors import ClusterError


def test_lost_connection_is_explained():
    from distributed.comm.core import CommClosedError

    message = "'search' was cancelled, or the connection to the scheduler was lost"
    with pytest.raises(ClusterError, match=message), clients.explain_errors("search"):
        raise CommClosedError("closed")


def test_missing_file_of_a_worker_is_reported():
    with pytest.raises(FileNotFoundError, match=r"series\.npy"), clients.explain_errors("validate"):
        raise FileNotFoundError("series.npy")


def test_exception_of_a_task_is_raised_unchanged(client):
    result = clients.on_client(client, "views")(_fails, ["series.npy"])
    with pytest.raises(PermissionError, match=r"series\.npy"):
        list(result)


def test_other_clients_are_rejected():
    class Client:
        """Class of another library with the same name."""

    with pytest.raises(ValueError, match=r"client.*a dask\.distributed\.Client"):
        clients.check_client(Client())


def _fails(path):
    raise PermissionError(path)
