"""Results do not depend on the number of workers, on their deaths, or on the use of a cluster."""

import os
import signal
import time

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.delayed import delayed
from distributed import Client
from joblib import parallel_config

import eigenecho as ee
from clusters import deaths, leftovers, local, within
from data import cut, esn, recall, same
from eigenecho.dask import fit, predict
from eigenecho.errors import ClusterError

X, Y = recall(6000)
SERIES = [slice(0, 2500), slice(2500, 2700), slice(2700, 6000)]


def panel(series, rows=45, seed=0):
    """Return a long frame of daily series with a weekly season."""
    rng, t = np.random.default_rng(seed), np.arange(rows)
    each = [
        pd.DataFrame(
            {
                "unique_id": f"s{i:04d}",
                "ds": pd.date_range("2024-01-01", periods=rows, freq="D"),
                "y": 10 + np.sin(2 * np.pi * t / 7 + i) + 0.1 * rng.normal(size=rows),
            }
        )
        for i in range(series)
    ]
    return pd.concat(each, ignore_index=True)


def fits(client, rows=800):
    """Return networks fitted in several ways, and a forecaster."""
    u, y = cut(X, rows), cut(Y, rows)
    results = {
        solver: fit(esn(solver=solver, standardize=True), u, y, client=client)
        for solver in ("normal", "qr")
    }
    late = [[delayed(part[one]) for one in SERIES] for part in (X, Y)]
    results["ragged"] = fit(esn(solver="normal", warmup=20), *late, client=client)
    frame = dd.from_pandas(panel(8), npartitions=3, sort=False)
    forecaster = fit(ee.Forecaster(5), y=frame, client=client)
    weights = {name: one.W_out_ for name, one in results.items()}
    weights["panel"] = np.concatenate([m.weights.ravel() for m in _members(forecaster)])
    return results, forecaster, weights


def _members(forecaster):
    return forecaster.fitted_.ensemble.members


def test_results_do_not_depend_on_the_number_of_workers(client):
    nets, forecaster, expected = fits(client)
    for solver in ("normal", "qr"):
        same(nets[solver], esn(solver=solver, standardize=True).fit(X, Y), X)
    ragged = [X[one] for one in SERIES], [Y[one] for one in SERIES]
    same(nets["ragged"], esn(solver="normal", warmup=20).fit(*ragged), ragged[0])
    alone = ee.Forecaster(5).fit(panel(8)).predict()
    np.testing.assert_array_equal(forecaster.predict()["forecast"], alone["forecast"])
    for workers in (1, 4):  # other tests use two processes
        with within(workers) as other, Client(other, set_as_default=False) as its:
            _, _, actual = fits(its)
        for name, weights in expected.items():
            np.testing.assert_array_equal(actual[name], weights, err_msg=f"{workers}: {name}")


@pytest.mark.parametrize("step", ["validate", "statistics", "merge", "residuals", "carry"])
def test_death_of_a_worker_changes_nothing(cluster, client, step):
    rows = 75 if step == "carry" else 800
    params = {"solver": "normal", "ridge": 1e-2}
    u, y = cut(X[:3000], rows), cut(Y[:3000], rows)
    expected = fit(esn(**params), u, y, client=client).W_out_
    with deaths(cluster, step, skip=2) as killer:
        actual = fit(esn(**params), u, y, client=client).W_out_
    assert killer.killed
    np.testing.assert_array_equal(actual, expected)
    assert not leftovers(cluster)


def _fatal(block):
    if block.size:  # not when Dask infers the metadata
        time.sleep(1)  # let its nanny see it start, so that it is restarted
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def test_too_many_deaths_raise_a_clear_error(cluster, client, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 1)  # the default is 3
    u = cut(X, 2000).map_blocks(_fatal, dtype=float, meta=np.empty((0, 1)))
    estimator = esn()
    with pytest.raises(ClusterError, match="workers died repeatedly"):
        fit(estimator, u, cut(Y, 2000), client=client)
    assert not hasattr(estimator, "model_")
    with deaths(cluster, "nothing"):
        pass  # wait until all workers have been restarted
    assert not leftovers(cluster)
    assert client.submit(sum, [1, 2]).result(timeout=60) == 3
    same(fit(estimator, cut(X, 2000), cut(Y, 2000), client=client), esn().fit(X, Y), X)


def test_cluster_without_workers_raises_an_error(monkeypatch):
    monkeypatch.setattr("eigenecho.clients.POLL_SECONDS", 0.1)
    monkeypatch.setattr("eigenecho.clients.PATIENCE_SECONDS", 0.3)
    with (
        local(0) as empty,
        Client(empty, set_as_default=False) as its,
        pytest.raises(ClusterError, match="no workers"),
    ):
        fit(esn(), cut(X, 2000), cut(Y, 2000), client=its)


def test_steps_have_names_and_all_keys_are_released(cluster, client):
    cluster.scheduler.task_prefixes.clear()
    fit(esn(solver="normal"), cut(X, 1000), cut(Y, 1000), client=client)
    known = set(cluster.scheduler.task_prefixes)
    assert {"validate", "statistics", "merge", "residuals", "network"} <= known
    assert not leftovers(cluster)


def test_cancelling_releases_all_keys(cluster, client):
    class Stopped(BaseException):
        """Exception that, like KeyboardInterrupt, is not an Exception."""

    calls = []

    def stop(stage, done, total):
        calls.append(stage)
        if stage == "statistics" and done:
            raise Stopped

    estimator = esn(solver="qr")
    with pytest.raises(Stopped):
        fit(estimator, cut(X, 200), cut(Y, 200), client=client, progress=stop)
    assert not leftovers(cluster)
    assert not hasattr(estimator, "model_")
    assert set(calls) >= {"validate", "statistics"}


def test_progress_bar_is_drawn(client, capsys):
    fit(esn(solver="qr"), cut(X, 2000), cut(Y, 2000), client=client, progress=True)
    drawn = capsys.readouterr().err
    assert "validate" in drawn
    assert "statistics" in drawn
    assert "done" in drawn


def test_lazy_predictions(client):
    model = esn().fit(X, Y)
    lazy = predict(model, cut(X, 700))
    assert isinstance(lazy, da.Array)
    result = client.compute(lazy).result()
    np.testing.assert_allclose(result, model.predict(X), atol=1e-12)


def test_data_in_the_memory_of_workers(client):
    u, y = cut(X, 1000), cut(Y, 1000)
    expected = fit(esn(), u, y, client=client).W_out_
    held = [client.persist(part) for part in (u, y)]
    np.testing.assert_array_equal(fit(esn(), *held, client=client).W_out_, expected)


GRID = {"sr": [0.5, 0.9], "lr": [0.5, 1.0], "ridge": [1e-6, 1e-2], "input_scaling": [0.1, 1.0]}


def test_searches(cluster):
    expected = ee.search(esn(), GRID, X, Y, seeds=[0, 1, 2])
    with Client(cluster), parallel_config("dask"):
        actual = ee.search(esn(), GRID, X, Y, seeds=[0, 1, 2])
    np.testing.assert_array_equal(actual.errors, expected.errors)
    assert actual.best_params == expected.best_params


def test_panel_of_hundreds_of_series(cluster, client):
    frame = panel(300)
    reference = ee.Forecaster(5, strategy="direct", seasons=[7]).fit(frame)
    parts = dd.from_pandas(frame, npartitions=7, sort=False)
    actual = fit(ee.Forecaster(5, strategy="direct", seasons=[7]), y=parts, client=client)
    expected = reference.predict()
    np.testing.assert_array_equal(actual.predict()["forecast"], expected["forecast"])
    assert not leftovers(cluster)
    lazy = predict(actual, parts)
    ahead = client.compute(lazy).result().sort_values(["unique_id", "ds"])
    np.testing.assert_array_equal(ahead["forecast"], expected["forecast"])
    assert list(ahead["unique_id"]) == list(expected["unique_id"])
