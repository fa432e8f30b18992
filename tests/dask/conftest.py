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


LOADED = ["distributed", "pandas", "scipy.linalg", "scipy.sparse", "sklearn.base", "numba"]


def _forked():
    """Workers are forked from a process that has loaded what others wrote; ours they load."""
    import multiprocessing

    from distributed.utils import get_mp_context

    import dask

    if "forkserver" in multiprocessing.get_all_start_methods():
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
        get_mp_context().set_forkserver_preload(LOADED)


@pytest.fixture(scope="session")
def cluster():
    """One whose workers are back soon after they were killed.

    The page on clusters, which is run before it, starts its own as users do.
    """
    from clusters import local

    _forked()
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
