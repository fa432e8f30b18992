"""Tensor input: types and devices of the results, and unsupported tensors."""

import subprocess
import sys

import numpy as np
import pytest

import eigenecho as ee
from eigenecho.arrays import takes_tensors

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.tensors


@pytest.fixture(scope="module")
def series():
    return ee.tasks.mso(3, steps=401)


@pytest.fixture(scope="module")
def fitted(series):
    X = torch.from_numpy(series)
    return ee.LinearESN(40, warmup=50, seed=0).fit(X[:-1], X[1:])


def test_cpu_tensors_give_the_same_results_as_arrays(series, fitted):
    X = torch.from_numpy(series)
    arrays = ee.LinearESN(40, warmup=50, seed=0).fit(series[:-1], series[1:])
    for of_tensor, of_array in [
        (fitted.predict(X), arrays.predict(series)),
        (fitted.transform(X), arrays.transform(series)),
        (fitted.states(X, "neuron"), arrays.states(series, "neuron")),
        (fitted.forecast(20), arrays.forecast(20)),
        (fitted.forecast(20, context=X), arrays.forecast(20, context=series)),
    ]:
        assert isinstance(of_tensor, torch.Tensor)
        assert isinstance(of_array, np.ndarray)
        np.testing.assert_array_equal(of_tensor.numpy(), of_array)
    assert fitted.score(X[:-1], X[1:]) == arrays.score(series[:-1], series[1:])


def test_results_have_the_type_of_the_input(series, fitted):
    assert isinstance(fitted.predict(series), np.ndarray)
    assert isinstance(fitted.forecast(5, context=series), np.ndarray)
    assert isinstance(fitted.forecast(5), torch.Tensor)  # because fit received tensors


def test_to_sets_the_device_of_results_without_tensor_input(series):
    esn = ee.LinearESN(20, seed=0).fit(series[:-1], series[1:])
    assert isinstance(esn.forecast(5), np.ndarray)
    assert isinstance(esn.to("cpu").forecast(5), torch.Tensor)
    assert isinstance(esn.to(None).forecast(5), np.ndarray)
    model = esn.model_.to("cpu")
    assert isinstance(model.forecast(5, state=esn.final_state_), torch.Tensor)
    assert isinstance(esn.model_.forecast(5, state=esn.final_state_), np.ndarray)


def test_results_are_arrays_after_refitting_to_arrays(series):
    X = torch.from_numpy(series)
    esn = ee.LinearESN(20, seed=0).fit(X[:-1], X[1:])
    assert isinstance(esn.fit(series[:-1], series[1:]).forecast(3), np.ndarray)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32])
def test_results_have_the_dtype_of_the_model(series, fitted, dtype):
    assert fitted.predict((10 * torch.from_numpy(series)).to(dtype)).dtype == torch.float64


def test_several_series_keep_their_container(series, fitted):
    X = torch.from_numpy(series)
    assert fitted.predict(torch.stack([X, X])).shape == (2, 401, 1)
    ragged = fitted.predict([X, X[:100]])
    assert [tuple(y.shape) for y in ragged] == [(401, 1), (100, 1)]
    assert all(isinstance(y, torch.Tensor) for y in ragged)


def test_states_and_streams_accept_tensors(series, fitted):
    X = torch.from_numpy(series)
    outputs, state = fitted.predict(X[:200], return_state=True)
    assert isinstance(state.r, torch.Tensor)
    rest = fitted.predict(X[200:], initial_state=state)
    np.testing.assert_allclose(
        torch.cat([outputs, rest]).numpy(), fitted.predict(X).numpy(), atol=1e-12
    )
    stream, steps = fitted.stream(), []
    for row in X[:5]:
        steps.append(stream.step(row))
        assert isinstance(steps[-1], torch.Tensor)
    assert torch.equal(fitted.stream().run(X[:5]), torch.stack(steps))


def test_states_can_be_written_into_a_tensor(series):
    X = torch.from_numpy(series)
    reservoir = ee.DiagonalReservoir(30, seed=0).fit(X)
    out = torch.full((401, 30), torch.nan, dtype=torch.float64)
    assert reservoir.transform(X, out=out) is out
    assert torch.equal(out, reservoir.transform(X))


def test_forecasters_accept_tensors(series):
    y = torch.from_numpy(series[:200, 0])
    made = ee.Forecaster(5).fit(y)
    expected = ee.Forecaster(5).fit(series[:200, 0])
    np.testing.assert_array_equal(made.predict().numpy(), expected.predict())
    bounds = made.predict(interval=0.9)
    assert all(isinstance(part, torch.Tensor) for part in bounds)


def test_search_accepts_tensors(series):
    X = torch.from_numpy(series)
    result = ee.search(ee.LinearESN(20, seed=0), {"sr": [0.5, 0.9]}, X[:-1], X[1:])
    same = ee.search(ee.LinearESN(20, seed=0), {"sr": [0.5, 0.9]}, series[:-1], series[1:])
    np.testing.assert_array_equal(result.errors, same.errors)
    assert isinstance(result.best_estimator.predict(X), torch.Tensor)


def test_file_does_not_depend_on_the_device(series, fitted, tmp_path):
    fitted.save(tmp_path / "of_tensors")
    loaded = ee.load(tmp_path / "of_tensors")
    assert isinstance(loaded.forecast(3), np.ndarray)
    np.testing.assert_array_equal(loaded.forecast(3), fitted.forecast(3).numpy())


def test_arrays_do_not_need_torch():
    done = subprocess.run(
        [
            sys.executable, "-c",
            "import sys, eigenecho as ee\n"
            "X = ee.tasks.mso(3, steps=301)\n"
            "esn = ee.LinearESN(20, seed=0).fit(X[:-1], X[1:])\n"
            "esn.predict(X), esn.forecast(3), esn.score(X[:-1], X[1:])\n"
            "ee.DiagonalReservoir(20, seed=0).fit_transform(X)\n"
            "assert not {'torch', 'triton'} & set(sys.modules)",
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


# Rejected tensors ------------------------------------------------------------------------------


def refused(call, *words):
    with pytest.raises(ValueError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def test_half_precision_is_rejected(series, fitted):
    X = torch.from_numpy(series)
    refused(lambda: fitted.predict(X.half()), "X: got a torch.float16 tensor", "X.float()")
    refused(lambda: fitted.predict(X.bfloat16()), "bfloat16")


def test_gradients_are_rejected(series, fitted):
    X = torch.from_numpy(series)
    refused(lambda: fitted.predict(X.clone().requires_grad_()), "X.detach()")
    esn = ee.LinearESN(20, seed=0)
    refused(lambda: esn.fit(X, X.clone().requires_grad_()), "y.detach()")
    assert not hasattr(esn, "model_")


def test_tensors_without_data_are_rejected(series, fitted):
    refused(lambda: fitted.predict(torch.empty(5, 1, device="meta")), "X: got a tensor on meta")


def test_nested_tensors_are_rejected(series, fitted):
    parts = [torch.from_numpy(series)[:n] for n in (5, 8)]
    for layout in (torch.strided, torch.jagged):
        nested = torch.nested.nested_tensor(parts, layout=layout)
        refused(lambda nested=nested: fitted.predict(nested), "X.unbind()")


def test_sparse_tensors_are_rejected(series, fitted):
    refused(lambda: fitted.predict(torch.from_numpy(series).to_sparse()), "X.to_dense()")


def test_two_devices_are_rejected(series):
    X = torch.from_numpy(series)
    elsewhere = torch.empty(X.shape, dtype=X.dtype, device="meta")
    esn = ee.LinearESN(20, seed=0)
    refused(
        lambda: esn.fit(X, elsewhere), "y: got a tensor on meta", "on cpu, like X", "y.to(X.device)"
    )
    refused(lambda: esn.fit([X, elsewhere], [X, X]), "X[1]: got a tensor on meta")


def test_unavailable_devices_are_rejected(fitted):
    refused(lambda: fitted.to("nowhere"), "device='nowhere'")
    count = torch.cuda.device_count()
    refused(lambda: fitted.to(f"cuda:{count}"), f"device='cuda:{count}'")
    assert isinstance(fitted.forecast(3), torch.Tensor)


def test_out_of_memory_error_is_explained(series):
    message = (
        "CUDA out of memory. Tried to allocate 60.00 GiB. GPU 0 has a total capacity of 139.8 GiB "
        "of which 10.00 GiB is free. Process 1 has 129 GiB memory in use."
    )

    class Full:
        @takes_tensors
        def fit(self, X):
            raise torch.OutOfMemoryError(message)

    with pytest.raises(MemoryError) as caught:
        Full().fit(torch.from_numpy(series))
    for words in (
        "not enough memory on cpu",
        "Tried to allocate 60.00 GiB",
        "10.00 GiB is free",
        "Lower units",
    ):
        assert words in str(caught.value)
    assert "Process" not in str(caught.value)
