"""Invalid input is reported with its name and place, before any long computation."""

import uuid

import dask.array as da
import numpy as np
import pytest
from dask.delayed import delayed
from distributed import Client
from sklearn.exceptions import NotFittedError

import eigenecho as ee
from data import cut, esn, recall
from eigenecho import clients
from eigenecho.dask import fit, predict

X, Y = recall(1200)


@pytest.fixture(autouse=True)
def in_this_thread(here):
    pass


def refused(match, *data, estimator=None, **options):
    with pytest.raises(ValueError, match=match):
        fit(estimator or esn(), *data, **options)


def test_unfitted_network_cannot_predict():
    with pytest.raises(NotFittedError, match="LinearESN instance is not fitted yet"):
        predict(esn(), cut(X, 500))


@pytest.mark.parametrize(
    ("params", "what"),
    [
        ({"features": "quadratic"}, "features or a delay line"),
        ({"spectrum": ee.delay_line(2)}, "features or a delay line"),
        ({"ridge": "loop"}, "ridge='loop'"),
    ],
)
def test_options_that_clusters_do_not_have(params, what):
    data = cut(X, 300), cut(Y, 300)
    said = f"a network without {what}. Use LinearESN.fit instead"
    refused(said, *data, estimator=ee.LinearESN(5, **params))


def test_chunked_columns():
    u = da.from_array(np.hstack([X, X]), chunks=(300, 1))
    refused(r"X is chunked along its columns.* X.rechunk\(\{1: -1\}\)", u, cut(Y, 300))
    refused("y is chunked along its columns", cut(X, 300), da.from_array(Y, chunks=(300, 1)))


def test_chunks_of_unknown_sizes():
    u = cut(X, 300)
    refused("X has chunks of unknown size.*compute_chunk_sizes", u[u[:, 0] > 0], cut(Y, 300))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_invalid_value_is_reported_with_its_shard_and_row(bad):
    u, y = X.copy(), Y.copy()
    u[777, 0] = bad
    which = "(NaN|infinity)"
    refused(
        rf"X: got {which} in row 777 \(row 177 of shard 2\), column 0", cut(u, 300), cut(Y, 300)
    )
    y[901, 1] = bad
    refused(rf"y: got {which} in row 901 \(row 1 of shard 3\), column 1", cut(X, 300), cut(y, 300))
    several = [cut(X, 500), cut(u, 300)], [cut(Y, 500), cut(Y, 300)]
    refused(r"row 777 \(row 177 of shard 5 of series 1\), column 0", *several)
    late = [delayed(X), delayed(u)], [delayed(Y), delayed(Y)]
    refused(r"row 777 \(row 777 of shard 1 of series 1\), column 0", *late)
    with pytest.raises(ValueError, match=r"in row 777 \(row 177 of shard 2\), column 0;"):
        predict(esn().fit(X, Y), cut(u[:900], 300)).compute()
    with pytest.raises(ValueError, match=r"in row 777 \(row 177 of shard 2\), column 0;"):
        predict(esn().fit(X, Y), cut(u, 300))[-1].compute()


def test_inconsistent_series():
    refused("X has 1200 rows and y has 900", cut(X, 300), cut(Y[:900], 300))
    refused("X has 2 series, but y has 1", [cut(X, 300), cut(X, 300)], [cut(Y, 300)])
    refused("1 and 1 columns in series 1", [delayed(X)] * 2, [delayed(Y), delayed(Y[:, :1])])
    refused("X has 1200 rows and y has 900", [delayed(X)], [delayed(Y[:900])])
    empty = [[delayed(part), delayed(part[:0])] for part in (X, Y)]
    refused("no rows in shard 1 of series 1", *empty)
    refused("fewer steps than the 1200 rows", cut(X, 300), cut(Y, 300), estimator=esn(warmup=1200))


def test_unsupported_options_on_a_cluster():
    refused("X: got an object of type ndarray; expected a dask array", X, Y)
    refused("X: got an object of type str", "series", cut(Y, 300))
    refused(r"X: got shape \(1200,\); expected shape \(T, D\)", cut(X[:, 0], 300), cut(Y, 300))
    refused("y=None", cut(X, 300))
    refused(r"X=\[\]", [], [])
    refused("X: got an object of type Delayed", [delayed(X)], [cut(Y, 300)])
    refused("X=None", None, cut(Y, 300))
    refused("spectrum='data'", cut(X, 300), cut(Y, 300), estimator=esn(spectrum="data"))
    with pytest.raises(ValueError, match="estimator="):
        fit("network", cut(X, 300), cut(Y, 300))
    with pytest.raises(ValueError, match="model="):
        predict("network", cut(X, 300))
    with pytest.raises(ValueError, match=r"X=None"):
        predict(esn().fit(X, Y), None)
    with pytest.raises(ValueError, match="X: got a list of delayed series; expected dask arrays"):
        predict(esn().fit(X, Y), [delayed(X)])
    refused("progress=3", cut(X, 300), cut(Y, 300), progress=3)


def test_local_methods_reject_dask_input():
    u, y = cut(X, 300), cut(Y, 300)
    fitted, model = esn().fit(X, Y), esn()
    reservoir = ee.DiagonalReservoir(9, seed=0)
    for words, call in [
        (r"X: got a dask Array.*eigenecho\.dask", lambda: model.fit(u, y)),
        (r"y: got a dask Array.*Compute it first", lambda: model.fit(X, y)),
        (r"X: got a dask Array", lambda: model.fit([u, u], [y, y])),
        (r"X: got a dask Delayed", lambda: model.fit(delayed(X), Y)),
        (r"X: got a dask Array.*eigenecho\.dask", lambda: fitted.predict(u)),
        (r"X: got a dask Array", lambda: fitted.model_.predict(u)),
        (r"X: got a dask Array", lambda: fitted.score(u, y)),
        (r"X: got a dask Array", lambda: reservoir.fit_transform(u)),
        (r"X: got a dask Array", lambda: ee.search(esn(), {"sr": [0.5, 0.9]}, u, y)),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    assert not hasattr(model, "model_")


def test_forecasters_expect_series_as_y():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    days = pd.date_range("2024-01-01", periods=60)
    rows = pd.DataFrame({"unique_id": "a", "ds": days, "y": Y[:60, 0]})
    frame = dd.from_pandas(rows, npartitions=2)
    forecaster = ee.Forecaster(2, spectrum=ee.spectra.ring(4, sr=0.9))
    with pytest.raises(ValueError, match=r"y: got a dask DataFrame.*eigenecho\.dask"):
        forecaster.fit(frame)
    refused(r"y=None.*fit\(forecaster, y=series\)", frame, estimator=forecaster)
    forecaster.fit(rows)
    with pytest.raises(ValueError, match=r"context: got a dask DataFrame"):
        forecaster.predict(context=frame)
    with pytest.raises(ValueError, match=r"X: got columns \['ds', 'y'\]; .*'unique_id', 'ds'"):
        predict(forecaster, frame[["ds", "y"]])


def test_gaps_at_different_rows():
    y = Y.copy()
    y[5, 0] = np.nan
    refused(
        "missing values in different rows", cut(X, 300), cut(y, 300), estimator=esn(missing="skip")
    )
    y[:, 0] = np.nan
    refused("contains only NaN", cut(X, 300), cut(y, 300), estimator=esn(missing="skip"))


def test_invalid_clients(cluster):
    data = cut(X, 300), cut(Y, 300)
    refused("client='tcp", *data, client="tcp://nowhere")
    with Client(cluster, set_as_default=False) as client:
        pass
    refused("client is closed", *data, client=client)
    with pytest.raises(ValueError, match="client is closed"):
        ee.Forecaster(3).fit(Y[:, 0], client=client)


@pytest.mark.parametrize("version", [None, "0.0.1"])
def test_workers_with_another_version(client, monkeypatch, version):
    monkeypatch.setattr(client, "run", lambda *_, **__: {"tcp://there": version})
    said = "no eigenecho" if version is None else "eigenecho 0.0.1"
    refused(f"The worker tcp://there has {said}", cut(X, 300), cut(Y, 300), client=client)
    with pytest.raises(ValueError, match=said):
        clients.on_client(client, "views")


def declared(array, like, rows=300):
    """Return a Dask array of ``array`` that declares the shape and dtype of ``like``."""
    name, count = f"declared-{uuid.uuid4()}", len(like) // rows
    blocks = {(name, i, 0): array[i * rows : (i + 1) * rows] for i in range(count)}
    chunks = ((rows,) * count, (like.shape[1],))
    return da.Array(blocks, name, chunks, meta=np.empty((0, 0), like.dtype))


COMPLEX = {
    "array": lambda c: (cut(c, 300), cut(Y, 300)),
    "one chunk": lambda c: (cut(c, 1200), cut(Y, 1200)),
    "declared real": lambda c: (declared(c, X), cut(Y, 300)),
    "objects": lambda c: (cut(c.astype(object), 300), cut(Y, 300)),
    "delayed": lambda c: ([delayed(c)], [delayed(Y)]),
}


@pytest.mark.parametrize("hold", COMPLEX.values(), ids=COMPLEX)
def test_complex_numbers(hold):
    """Complex arrays are rejected, rather than losing their imaginary parts."""
    refused(r"X.*real numbers \(Complex data not supported\)", *hold(X + 1j))


def test_complex_targets_and_predictions():
    refused(r"y.*Complex data not supported", cut(X, 300), cut(Y + 1j, 300))
    refused(r"y.*Complex data not supported", None, cut(Y + 1j, 300), estimator=esn(feedback=True))
    with pytest.raises(ValueError, match=r"X.*Complex data not supported"):
        predict(esn().fit(X, Y), cut(X + 1j, 300)).compute()
    closed = esn(feedback=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"y_previous.*Complex data not supported"):
        predict(closed, cut(X, 300), y_previous=cut(Y + 1j, 300)).compute()


def test_masked_entries_are_missing():
    masked = np.ma.masked_array(X, np.arange(len(X))[:, None] == 777)
    refused(r"X: got NaN in row 777", cut(masked, 300), cut(Y, 300))


@pytest.mark.parametrize("rows", [300, 1200])
@pytest.mark.parametrize("standardize", [False, True])
def test_chunks_of_another_shape_than_declared(rows, standardize):
    """Chunks with fewer columns or rows than the array declares are rejected."""
    network, wide = esn(standardize=standardize), np.hstack([X, X])
    for array, other in ((wide, X), (X, wide)):
        shape = rf"X .* of shape \({rows}, {array.shape[1]}\).*\({rows}, {other.shape[1]}\)"
        refused(shape, declared(array, other, rows), cut(Y, rows), estimator=network)
    narrow = r"y has a chunk of shape \(\d+, 1\) in shard \d, .*declares \(\d+, 2\)"
    refused(narrow, cut(X, rows), declared(Y[:, 0], Y, rows), estimator=network)
    one = [wide[:300], wide[300:, :1]]
    if rows == 300:
        mixed = da.concatenate([cut(one[0], 300), declared(one[1], wide[300:])])
        words = r"X has a chunk of shape \(300, 1\) in shard [123],"
        refused(words, mixed, cut(Y, 300), estimator=network)
    short = r"has a chunk of shape \(\d+, \d\) in shard \d,"
    refused(short, declared(X[:1100], X, rows), declared(Y[:1100], Y, rows), estimator=network)


def test_chunks_of_another_shape_in_predictions():
    plain, closed = esn().fit(X, Y), esn(feedback=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"X has a chunk of shape \(200, 1\) in shard 3,"):
        predict(plain, declared(X[:1100], X)).compute()
    with pytest.raises(ValueError, match=r"X has a chunk of shape \(300, 2\) in shard \d,"):
        predict(plain, declared(np.hstack([X, X]), X)).compute()
    with pytest.raises(ValueError, match=r"y_previous has a chunk of shape \(300, 1\)"):
        predict(closed, cut(X, 300), y_previous=declared(Y[:, :1], Y)).compute()
    with pytest.raises(ValueError, match=r"have 2 and 0 columns, but.* expects 1 and 0"):
        predict(plain, cut(np.hstack([X, X]), 300))
    with pytest.raises(ValueError, match=r"have 1 and 1 columns, but.* expects 1 and 2"):
        predict(closed, cut(X, 300), y_previous=cut(Y[:, :1], 300))


def test_standardised_delayed_series_of_different_widths():
    words, network = "3 and 2 columns in series 1", esn(standardize=True)
    series = [delayed(np.hstack([X] * columns)) for columns in (2, 3)]
    refused(words, series, [delayed(Y)] * 2, estimator=network)
