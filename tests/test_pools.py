"""Results are equal in threads, in worker processes and after a fork, and no pool hangs."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from threadpoolctl import threadpool_info

import blas
from eigenecho import DiagonalReservoir, LinearESN, tasks

TIMEOUT = 300
"""Time in seconds after which a pool is considered to hang."""

RIDGE = 1e-6
CONFIGURATIONS = [
    {"units": 60, "solver": "qr"},
    {"units": 60, "solver": "normal"},
    {"units": 300, "solver": "normal"},
    {"units": 150, "solver": "qr", "standardize": True, "input_bias": True},
    {"units": 60, "spectrum": "matrix"},
    {"units": 80, "spectrum": "matrix", "basis": "neuron"},
    {"units": 80, "spectrum": "matrix", "basis": "neuron", "rc_connectivity": 0.1},
    {"units": 40, "feedback": True, "fb_scaling": 0.1, "ridge": 1.0},
    {"units": 60, "ridge": [1e-8, 1e-4, 1.0]},
]


def work(options):
    """Return all results of an estimator, as one list of arrays."""
    waves = tasks.mso(3, steps=1501)
    X, y = waves[:-1], waves[1:]
    esn = LinearESN(**{"ridge": RIDGE, "warmup": 50, "seed": 0, **options}).fit(X, y)
    return [esn.W_out_, esn.predict(X), esn.transform(X[:200]), esn.forecast(50)]


def long_states(seed):
    """Return the states of a series that is long enough for multithreaded kernels."""
    X = np.random.default_rng(seed).normal(size=(6000, 1))
    return DiagonalReservoir(300, seed=seed).fit(X).transform(X)


@pytest.fixture(scope="module", autouse=True)
def _no_workers_left():
    yield
    get_reusable_executor().shutdown(wait=False)


@pytest.fixture(scope="module", autouse=True)
def _several_blas_threads():
    with blas.several():
        yield


@pytest.fixture(scope="module")
def serial():
    return [work(options) for options in CONFIGURATIONS]


@pytest.fixture(scope="module")
def serial_long():
    return [long_states(seed) for seed in range(3)]


def assert_same_bits(actual, expected):
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)


def blas_threads():
    return max((i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"), default=1)


def test_repeated_runs_are_equal(serial, serial_long):
    assert_same_bits([work(options) for options in CONFIGURATIONS], serial)
    assert_same_bits([long_states(seed) for seed in range(3)], serial_long)


def test_joblib_processes(serial, serial_long):
    # joblib gives its workers fewer BLAS threads than this process has.
    pool = joblib.Parallel(n_jobs=2, backend="loky", timeout=TIMEOUT)
    assert_same_bits(pool(joblib.delayed(work)(o) for o in CONFIGURATIONS), serial)
    assert_same_bits(pool(joblib.delayed(long_states)(s) for s in range(3)), serial_long)


def test_number_of_blas_threads_is_restored():
    before = blas_threads()
    assert before > 1
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, CONFIGURATIONS[:4]))
    assert blas_threads() == before


FORKED = """
import json, os, threading
from threadpoolctl import threadpool_info
from eigenecho.threads import one_blas_thread

def threads():
    return sorted(i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas")

def child(told):
    reading, writing = os.pipe()
    if os.fork() == 0:
        seen = [threads()]
        with one_blas_thread():
            seen.append(threads())
        seen.append(threads())
        os.write(writing, json.dumps(seen).encode())
        os._exit(0)
    os.wait()
    told.append(json.loads(os.read(reading, 10000)))

with one_blas_thread():
    pass
told = [threads()]
inside, leave = threading.Event(), threading.Event()

def hold():
    with one_blas_thread():
        inside.set()
        leave.wait()

holder = threading.Thread(target=hold)
holder.start()
inside.wait()
told.append(threads())
child(told)
leave.set()
holder.join()
told.append(threads())
with one_blas_thread():
    child(told)
print(json.dumps(told))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_number_of_blas_threads_is_restored_in_a_forked_child():
    process = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "3", "OMP_NUM_THREADS": "3"},
        stdout=subprocess.PIPE,
        check=True,
        timeout=TIMEOUT,
    )
    before, held, child, after, child_inside = json.loads(process.stdout)
    if max(before) == 1:
        pytest.skip("a BLAS of one thread")
    assert max(held) == 1
    assert after == before
    assert child == [before, held, before]
    # A child that is forked inside the context stays inside it.
    assert child_inside == [held, held, held]


def test_joblib_threads(serial, serial_long):
    pool = joblib.Parallel(n_jobs=4, backend="threading", timeout=TIMEOUT)
    assert_same_bits(pool(joblib.delayed(work)(o) for o in CONFIGURATIONS), serial)
    assert_same_bits(pool(joblib.delayed(long_states)(s) for s in range(3)), serial_long)


def test_thread_pool(serial, serial_long):
    with ThreadPoolExecutor(4) as pool:
        assert_same_bits(list(pool.map(work, CONFIGURATIONS, timeout=TIMEOUT)), serial)
        assert_same_bits(list(pool.map(long_states, range(3), timeout=TIMEOUT)), serial_long)


@pytest.mark.parametrize(
    "start",
    # Like joblib's workers above, these processes import everything anew.
    ["fork", *(pytest.param(name, marks=pytest.mark.slow) for name in ("spawn", "forkserver"))],
)
def test_started_processes(start, serial, serial_long):
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {start} here")
    # The fixtures have already run compiled kernels, our threads and BLAS in this process.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer versions of Python warn of fork
        context = multiprocessing.get_context(start)
        pool = ProcessPoolExecutor(2, mp_context=context)
        try:
            few = CONFIGURATIONS if start == "fork" else CONFIGURATIONS[:2]
            assert_same_bits(list(pool.map(work, few, timeout=TIMEOUT)), serial[: len(few)])
            assert_same_bits(list(pool.map(long_states, [1], timeout=TIMEOUT)), serial_long[1:2])
        finally:
            for process in list((pool._processes or {}).values()):
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)


def test_one_model_shared_by_threads():
    waves = tasks.mso(5, steps=3001)
    esn = LinearESN(100, ridge=RIDGE, seed=0).fit(waves[:-1], waves[1:])
    inputs = [waves[k : k + 2000] for k in range(0, 800, 50)]
    expected = [(esn.predict(u), esn.transform(u), esn.forecast(50, context=u)) for u in inputs]
    for _ in range(3):
        fresh = LinearESN(100, ridge=RIDGE, seed=0).fit(waves[:-1], waves[1:])  # caches empty
        with ThreadPoolExecutor(8) as pool:
            actual = pool.map(
                lambda u, esn=fresh: (
                    esn.predict(u), esn.transform(u), esn.forecast(50, context=u)
                ),
                inputs,
                timeout=TIMEOUT,
            )  # fmt: skip
            assert_same_bits(list(actual), expected)


def test_fitted_model_is_sent_to_workers():
    waves = tasks.mso(3, steps=1001)
    esn = LinearESN(60, ridge=RIDGE, seed=0).fit(waves[:-1], waves[1:])
    parts = [waves[k : k + 300] for k in range(0, 600, 100)]
    pool = joblib.Parallel(n_jobs=2, backend="loky", timeout=TIMEOUT)
    actual = pool(joblib.delayed(esn.predict)(part) for part in parts)
    assert_same_bits([actual], [[esn.predict(part) for part in parts]])


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_grid_search_in_parallel(backend):
    waves = tasks.mso(3, steps=601)
    grid = {"sr": [0.5, 0.9], "ridge": [1e-6, 1e-3]}
    esn = LinearESN(40, warmup=20, seed=0)

    def scores(jobs):
        with joblib.parallel_config(backend):
            search = GridSearchCV(esn, grid, cv=TimeSeriesSplit(3), n_jobs=jobs)
            return search.fit(waves[:-1], waves[1:]).cv_results_["mean_test_score"]

    np.testing.assert_array_equal(scores(2), scores(1))


@pytest.mark.slow  # other tests vary the number of threads in every run
@pytest.mark.parametrize(
    ("name", "threads"),
    [("EIGENECHO_NUM_THREADS", 1), ("EIGENECHO_NUM_THREADS", 4), ("OMP_NUM_THREADS", 1)],
)
def test_states_do_not_depend_on_the_number_of_threads(name, threads, serial_long, tmp_path):
    code = (
        "import sys, numpy as np\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "import test_pools\n"
        "np.save(sys.argv[2], test_pools.long_states(1))\n"
    )
    subprocess.run(
        [sys.executable, "-c", code, os.path.dirname(__file__), str(tmp_path / "states.npy")],
        env={**os.environ, name: str(threads)},
        check=True,
        timeout=TIMEOUT,
    )
    np.testing.assert_array_equal(np.load(tmp_path / "states.npy"), serial_long[1])


@pytest.mark.slow
def test_compiled_and_cached_code_give_equal_results(tmp_path):
    code = (
        "import hashlib, numpy as np, eigenecho as ee\n"
        "X = np.random.default_rng(0).normal(size=(400, 1))\n"
        "esn = ee.LinearESN(60, feedback=True, fb_scaling=0.1, ridge=1.0, seed=0).fit(X, X)\n"
        "states = ee.DiagonalReservoir(60, seed=0).fit_transform(X)\n"
        "data = esn.predict(X).tobytes() + states.tobytes()\n"
        "print(hashlib.sha256(data).hexdigest())"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    compiled, cached = (
        subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=TIMEOUT,
        ).stdout
        for _ in range(2)
    )
    assert compiled == cached
