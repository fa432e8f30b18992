"""A shared cluster of two processes; without Dask, none of these tests is collected."""

from importlib.util import find_spec

import pytest

# Look for distributed, because this folder itself is found as the package dask.
if find_spec("distributed") is None:
    collect_ignore_glob = ["*"]


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/dask" in str(item.path):
            item.add_marker(pytest.mark.dask)


LOADED = ["distributed", "pandas", "scipy.linalg", "scipy.sparse", "sklearn.base", "numba"]


def _forked():
    """Fork workers from a process that has imported dependencies but not eigenecho."""
    import multiprocessing

    from distributed.utils import get_mp_context

    import dask

    if "forkserver" in multiprocessing.get_all_start_methods():
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
        get_mp_context().set_forkserver_preload(LOADED)


@pytest.fixture(scope="session")
def cluster():
    """Start a cluster whose killed workers are restarted quickly.

    The docs page on clusters, which runs earlier, starts its own cluster as users do.
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
    """Compute graphs in this thread, for tests of their content."""
    import dask

    with dask.config.set(scheduler="sync"):
        yield
