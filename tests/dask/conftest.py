"""A cluster of two processes that tests share; without Dask none of them is collected."""

from importlib.util import find_spec

import pytest

# A folder of this name is found where Dask is not: what is asked for is its other half.
if find_spec("distributed") is None:
    collect_ignore_glob = ["*"]


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/dask" in str(item.path):
            item.add_marker(pytest.mark.dask)


@pytest.fixture(scope="session")
def cluster():
    """Its workers are forked from a process that has loaded Dask, pandas and NumPy already.

    So that one that was killed is back at once. The page on clusters starts its own as users do.
    """
    import multiprocessing

    import dask
    from clusters import local

    if "forkserver" in multiprocessing.get_all_start_methods():
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    with local(2) as one:
        yield one


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster, set_as_default=False) as one:
        yield one


@pytest.fixture
def here():
    """Graphs are computed in this thread: what is tested is their content."""
    import dask

    with dask.config.set(scheduler="sync"):
        yield
