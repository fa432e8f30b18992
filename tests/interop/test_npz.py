"""Networks in plain .npz files."""

from __future__ import annotations

import contextlib
import io
import zipfile

import numpy as np
import pytest
from scipy import sparse

import eigenecho as ee
import naive
from eigenecho.errors import StorageError
from eigenecho.interop import npz

N, D_in, D_out, T = 30, 2, 3, 60


@pytest.fixture
def network():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(N, N)) * (rng.random((N, N)) < 0.4)
    return {
        "W": W * (0.9 / np.abs(np.linalg.eigvals(W)).max()),
        "W_in": rng.normal(size=(D_in, N)),
        "W_out": rng.normal(size=(1 + N, D_out)),
    }


@pytest.fixture
def u():
    return np.random.default_rng(1).normal(size=(T, D_in))


def written(tmp_path, arrays, name="model.npz"):
    path = tmp_path / name
    np.savez(path, **arrays)
    return path


def parts_of(name, matrix, layout="csr"):
    matrix = matrix.asformat(layout)
    return {
        f"{name}_data": matrix.data, f"{name}_indices": matrix.indices,
        f"{name}_indptr": matrix.indptr, f"{name}_shape": np.array(matrix.shape),
        f"{name}_format": np.array(layout.encode()),  # the format of scipy.sparse.save_npz
    }  # fmt: skip


def test_plain_network(tmp_path, network, u):
    model = ee.from_npz(written(tmp_path, network))
    expected = naive.predict(network["W"], network["W_in"], network["W_out"], u)
    np.testing.assert_allclose(model.predict(u), expected, atol=1e-10)
    assert model.certificate.form == "diagonal"
    assert model.certificate.difference < 1e-10


@pytest.mark.parametrize("lr", [0.3, np.linspace(0.2, 1, N), np.array([0.3])])
def test_network_with_all_options(tmp_path, network, u, lr):
    rng = np.random.default_rng(2)
    network |= {
        "W_out": rng.normal(size=(1 + D_out + N + D_in, D_out)) / N,
        "W_fb": rng.normal(size=(D_out, N)) / N,
        "bias": rng.normal(size=N),
        "lr": lr,
        "output_to_readout": True,
        "input_to_readout": np.array(1),
        "readout_bias": np.array([True]),
    }
    before = rng.normal(size=(T, D_out))
    model = ee.from_npz(written(tmp_path, network))
    rates = np.broadcast_to(lr, N)
    r, expected = np.zeros(N), []
    for t in range(T):
        drive = u[t] @ network["W_in"] + network["bias"] + before[t] @ network["W_fb"]
        r = (1 - rates) * r + rates * (r @ network["W"] + drive)
        expected.append(np.concatenate([[1], before[t], r, u[t]]) @ network["W_out"])
    np.testing.assert_allclose(model.predict(u, y_previous=before), expected, atol=1e-10)


@pytest.mark.parametrize("layout", ["csr", "csc"])
@pytest.mark.parametrize("compressed", [False, True])
def test_sparse_matrices(tmp_path, network, u, layout, compressed):
    expected = ee.from_npz(written(tmp_path, network)).predict(u)
    arrays = {"W_out": network["W_out"], **parts_of("W", sparse.csr_array(network["W"]), layout)}
    arrays |= parts_of("W_in", sparse.csr_matrix(network["W_in"]), layout)
    path = tmp_path / "sparse.npz"
    (np.savez_compressed if compressed else np.savez)(path, **arrays)
    np.testing.assert_array_equal(ee.from_npz(path).predict(u), expected)


def test_compressed_columns_are_transposed_compressed_rows(tmp_path, network, u):
    # Julia stores W for column vectors; its arrays, minus 1, are those of our transpose.
    theirs = sparse.csc_array(network["W"].T)
    parts = parts_of("W", theirs, "csc")
    del parts["W_format"]
    arrays = parts | {"W_in": network["W_in"], "W_out": network["W_out"]}
    expected = ee.from_npz(written(tmp_path, network)).predict(u)
    np.testing.assert_array_equal(
        ee.from_npz(written(tmp_path, arrays, "j.npz")).predict(u), expected
    )


def test_foreign_layouts_and_dtypes(tmp_path, network, u):
    expected = ee.from_npz(written(tmp_path, network)).predict(u)
    arrays = {name: np.asfortranarray(A).astype(">f8") for name, A in network.items()}
    actual = ee.from_npz(written(tmp_path, arrays, "foreign.npz")).predict(u)
    np.testing.assert_array_equal(actual, expected)
    single = {name: A.astype(np.float32) for name, A in network.items()}
    actual = ee.from_npz(written(tmp_path, single, "single.npz")).predict(u)
    np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-3)


def test_options_override_the_file(tmp_path, network, u):
    path = written(tmp_path, network | {"lr": 0.5, "W_fb": np.ones((D_out, N))})
    model = ee.from_npz(path, lr=0.9, W_fb=None)
    expected = naive.predict(network["W"], network["W_in"], network["W_out"], u, lr=0.9)
    np.testing.assert_allclose(model.predict(u), expected, atol=1e-10)
    assert not model.closed
    del network["W_in"]
    model = ee.from_npz(written(tmp_path, network), W_in=np.ones((1, N)))
    assert model.D_in == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"W_in": None, "Win": np.ones((D_in, N))}, "arrays: W, W_out, Win. Expected W, W_in"),
        ({"W": None}, "arrays: W_in, W_out. Expected W, W_in"),
        ({"Wfb": np.ones((D_out, N))}, "Wfb. Expected"),
        ({"leak": 0.5}, "leak. Expected"),
        ({"W_in": np.ones((N, D_in))}, r"W_in[=:].*shape"),
        ({"W_fb": np.ones((N, D_out))}, r"W_fb[=:].*shape"),
        ({"W_out": np.ones((D_out, N))}, r"W_out[=:].*rows"),
        ({"W": np.ones((N, N - 1))}, r"W[=:].*square"),
        ({"W": np.full((N, N), np.nan)}, r"W[=:].*finite"),
        ({"W": np.ones(N)}, r"W[=:].*square"),
        ({"bias": np.array(["a"] * N)}, r"bias[=:].*real numbers"),
        ({"bias": np.ones(N - 1)}, r"bias[=:].*shape \(30,\)"),
        ({"lr": np.array([0.5, 0.5])}, r"lr[=:].*array .30,."),
        ({"lr": 0.0}, r"lr[=:].*\(0, 1\]"),
        ({"lr": np.array("fast")}, "lr[=:]"),
        ({"input_to_readout": np.array("no")}, "input_to_readout[=:]"),
        ({"input_to_readout": np.array([True, False])}, r"input_to_readout[=:].*True or False"),
        ({"W": None, "W_data": np.ones(3)}, "ambiguous: expected either W_data, W_indices"),
        ({"W_data": np.ones(3)}, "W is incomplete or ambiguous"),
        ({"W": np.array([[None, 1], [1, 1]], dtype=object)}, "pickled Python objects"),
    ],
)  # fmt: skip
def test_errors_in_a_file_are_explained(tmp_path, network, change, words):
    arrays = {name: A for name, A in (network | change).items() if A is not None}
    with pytest.raises(ValueError, match=words):
        ee.from_npz(written(tmp_path, arrays))


@pytest.mark.parametrize(
    ("part", "value"),
    [("indices", "beyond"), ("indptr", "beyond"), ("data", "short"), ("shape", "float"),
     ("shape", "long"), ("format", "coo")],
)  # fmt: skip
def test_inconsistent_sparse_parts(tmp_path, network, part, value):
    parts = parts_of("W", sparse.csr_array(network.pop("W")))
    name = f"W_{part}"
    parts[name] = {
        "beyond": lambda A: A + 1, "short": lambda A: A[:-3], "float": lambda A: A * 1.0,
        "long": lambda A: np.array([N, N, N]), "coo": lambda A: np.array("coo"),
    }[value](parts[name])  # fmt: skip
    with pytest.raises(StorageError, match="W"):
        ee.from_npz(written(tmp_path, network | parts))


@pytest.mark.parametrize(
    ("shape", "indptr"),
    [
        ([N, N], [0, 5, -3] + [0] * (N - 2)),
        ([N, N], [0, 2**31 - 1, -(2**31)] + [0] * (N - 2)),
        ([2**64 - 1, N], [0] * (N + 1)),
    ],
    ids=["going back", "wrapping around", "without end"],
)
def test_inconsistent_empty_sparse_matrix(tmp_path, network, shape, indptr):
    # SciPy does not check the index pointers of a matrix without entries.
    parts = {
        "W_data": np.ones(0), "W_indices": np.zeros(0, np.int32),
        "W_indptr": np.array(indptr, np.int32), "W_shape": np.array(shape, np.uint64),
    }  # fmt: skip
    network.pop("W")
    with pytest.raises(StorageError, match="sparse matrix W are invalid"):
        ee.from_npz(written(tmp_path, network | parts))


def test_files_that_are_not_npz(tmp_path, network):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        ee.from_npz(tmp_path / "nothing.npz")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        ee.from_npz(tmp_path)
    (tmp_path / "text.npz").write_text("not a zip")
    (tmp_path / "empty.npz").write_bytes(b"")
    np.save(tmp_path / "single.npy", network["W"])
    for name in ("text.npz", "empty.npz", "single.npy"):
        with pytest.raises(StorageError, match=name):
            ee.from_npz(tmp_path / name)


@pytest.mark.parametrize("text", ["notes", "", "\x93NUM"])
@pytest.mark.parametrize("name", ["W_out", "W_out.npy", "README.md"])
def test_members_that_are_not_arrays(tmp_path, network, name, text):
    path = written(tmp_path, {key: network[key] for key in ("W", "W_in")})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, text)
    with pytest.raises(StorageError, match=f"member '{name}' is not an array"):
        ee.from_npz(path)


@pytest.mark.parametrize("shape", [(10**7, 10**7), (N, N + 1), (N - 1, N), (-N, N)])
def test_headers_with_a_wrong_size(tmp_path, network, shape):
    path = written(tmp_path, {"W_in": network["W_in"]})
    member = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(member, header)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("W.npy", member.getvalue() + network["W"].tobytes())
    with pytest.raises(StorageError, match=r"the data in member 'W.npy' do not fit its shape"):
        ee.from_npz(path)


def test_truncated_or_changed_file_gives_a_clear_error_or_loads_completely(tmp_path, network):
    whole = written(tmp_path, network).read_bytes()
    path = tmp_path / "cut.npz"
    for length in range(0, len(whole) - 1, len(whole) // 97):
        path.write_bytes(whole[:length])
        with pytest.raises(StorageError, match=r"cut\.npz"):
            ee.from_npz(path)
    for place in range(0, len(whole), len(whole) // 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        with contextlib.suppress(StorageError):
            read = npz.read(path)
            # The change affected only metadata of the archive, such as a date.
            for name, expected in network.items():
                np.testing.assert_array_equal(read[name], expected)


def test_invalid_options(tmp_path, network):
    with pytest.raises(ValueError, match="W=None"):
        ee.from_npz(written(tmp_path, network), W=None)
    with pytest.raises(ValueError, match=r"option='Win'.*'W_in'"):
        ee.from_npz("nothing.npz", Win=np.ones((1, 1)))
