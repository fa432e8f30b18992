"""Lazy outputs equal those of one machine, and data are read by the tasks that use them."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.delayed import delayed

import eigenecho as ee
from data import cut, esn, recall, same
from eigenecho.dask import fit, predict

pytestmark = pytest.mark.usefixtures("here")

X, Y = recall(1500)
W = np.random.default_rng(3).normal(size=(40, 40)) / 8


@pytest.mark.parametrize("rows", [400, 37])
@pytest.mark.parametrize(
    "options",
    [{}, {"standardize": True}, {"spectrum": "ring", "sr": 1.0},
     {"spectrum": W, "basis": "neuron"}, {"feedback": True, "fb_scaling": 0.1},
     {"output_to_readout": True}],
    ids=str,
)  # fmt: skip
def test_outputs(options, rows):
    model = esn(**options).fit(X, Y)
    lazy = predict(model, cut(X, rows))
    assert lazy.chunks == (cut(X, rows).chunks[0], (2,))
    np.testing.assert_allclose(lazy.compute(), model.predict(X), atol=1e-10)
    np.testing.assert_allclose(predict(model.model_, cut(X, rows)), model.predict(X), atol=1e-10)
    if model.model_.closed:
        before = np.vstack([np.zeros((1, 2)), Y[:-1]])
        forced = predict(model, cut(X, rows), y_previous=cut(before, rows))
        np.testing.assert_allclose(forced, model.predict(X, y_previous=before), atol=1e-10)
    else:
        with pytest.raises(ValueError, match="y_previous"):
            predict(model, cut(X, rows), y_previous=cut(Y, rows))


def test_lists_stacks_and_flat_targets():
    model = esn().fit(X, Y[:, 0])
    several = predict(model, [cut(X, 400), cut(X[:90], 400)])
    np.testing.assert_allclose(several[1].compute(), model.predict(X[:90]), atol=1e-12)
    stack = X.reshape(3, 500, 1)
    result = predict(model, da.from_array(stack, chunks=(1, 200, 1)))
    np.testing.assert_allclose(result, [model.predict(one) for one in stack], atol=1e-12)


def test_output_needs_only_the_previous_chunk_if_memory_is_short():
    read = []

    def note(block, block_info=None):
        if block_info:
            read.append(block_info[0]["chunk-location"][0])
        return block

    model = esn(sr=0.5).fit(X, Y)
    lazy = predict(model, cut(X, 300).map_blocks(note, dtype=float, meta=np.empty((0, 1))))
    read.clear()
    np.testing.assert_allclose(lazy[-5:], model.predict(X)[-5:], atol=1e-12)
    assert sorted(read) == [3, 4]


def test_rows_are_read_by_the_task_that_uses_them():
    from eigenecho.dask.shards import BlockRecipe, split_series

    read = []

    def note(block, block_info=None):
        if block_info:
            read.append(block_info[0]["chunk-location"][0])
        return block

    u = cut(X, 250).map_blocks(note, dtype=float, meta=np.empty((0, 1)))
    read.clear()
    second = split_series(u[:-1], u[1:])[1]
    assert isinstance(second.source, BlockRecipe)  # no separate task that would transfer rows
    for rows, expected in zip(second.load(), (X[250:500], X[251:501]), strict=True):
        np.testing.assert_array_equal(rows, expected)
    assert sorted(read) == [1, 2]  # shared rows of inputs and targets are read once


def test_zarr(tmp_path):
    zarr = pytest.importorskip("zarr")
    stored = zarr.create_array(str(tmp_path / "u.zarr"), shape=X.shape, chunks=(200, 1), dtype="f8")
    stored[:] = X
    u = da.from_zarr(str(tmp_path / "u.zarr"))
    same(fit(esn(), u, cut(Y, 200)), esn().fit(X, Y), X)


def frame(series=6, rows=60):
    rng, t = np.random.default_rng(0), np.arange(rows)
    times = pd.date_range("2024-01-01", periods=rows, freq="D")
    each = [
        pd.DataFrame({"unique_id": f"s{i}", "ds": times, "y": np.sin(2 * np.pi * t / 7 + i)
                      + 0.1 * rng.normal(size=rows)})
        for i in range(series)
    ]  # fmt: skip
    return pd.concat(each, ignore_index=True)


def test_panels_in_partitions_that_split_series(tmp_path):
    whole = frame()
    expected = ee.Forecaster(4).fit(whole).predict()
    parts = [delayed(whole.iloc[i : i + 50]) for i in range(0, len(whole), 50)]
    actual = fit(ee.Forecaster(4), None, parts)
    np.testing.assert_allclose(actual.predict()["forecast"], expected["forecast"], rtol=1e-12)
    ahead = predict(actual, parts).compute().sort_values(["unique_id", "ds"])
    np.testing.assert_allclose(ahead["forecast"], expected["forecast"], rtol=1e-12)
    pytest.importorskip("pyarrow")
    dd.from_pandas(whole, npartitions=4, sort=False).to_parquet(tmp_path / "panel")
    stored = dd.read_parquet(tmp_path / "panel")
    actual = fit(ee.Forecaster(4), y=stored)
    np.testing.assert_allclose(actual.predict()["forecast"], expected["forecast"], rtol=1e-12)
    lazy = predict(actual, stored)
    assert isinstance(lazy, dd.DataFrame)
    ahead = lazy.compute().sort_values(["unique_id", "ds"])
    np.testing.assert_allclose(ahead["forecast"], expected["forecast"], rtol=1e-12)
    assert list(ahead["unique_id"]) == list(expected["unique_id"])
    assert len(predict(actual).compute()) == len(expected)


def test_forecasters_with_other_columns_are_refused():
    whole = frame().assign(past=1.5)
    forecaster = ee.Forecaster(4, past=["past"]).fit(whole)
    for context in (None, [delayed(whole)]):
        with pytest.raises(ValueError, match="model: got a forecaster with the columns 'past'"):
            predict(forecaster, context)


def test_invalid_frames():
    with pytest.raises(ValueError, match="y: got an object of type str"):
        fit(ee.Forecaster(4), y="panel")
    with pytest.raises(ValueError, match="partitions of type ndarray"):
        fit(ee.Forecaster(4), y=[delayed(X)])
    with pytest.raises(ValueError, match="y: got an object of type Delayed"):
        fit(ee.Forecaster(4), y=delayed(frame()))


@pytest.mark.parametrize("y_previous", [cut(X[:-5, :1], 40), [cut(X[:, :1], 40)] * 2, "rows"])
def test_errors_name_the_previous_outputs(y_previous):
    model = ee.LinearESN(10, feedback=True, ridge=1.0, seed=0).fit(X, X[:, :1])
    with pytest.raises(ValueError, match="y_previous"):
        predict(model, cut(X, 40), y_previous=y_previous)
