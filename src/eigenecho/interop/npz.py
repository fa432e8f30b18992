"""Conversion of networks in ``.npz`` files, which are read without pickle."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho.checks import check_known, check_real
from eigenecho.convert import diagonalize
from eigenecho.errors import StorageError, bad_argument
from eigenecho.model import LinearModel
from eigenecho.transition import check_indices
from eigenecho.types import Array

NEEDED = ("W", "W_in")
MATRICES = (*NEEDED, "W_out", "W_fb")
ARRAYS = (*MATRICES, "bias", "lr")
FLAGS = ("readout_bias", "output_to_readout", "input_to_readout")
SPARSE = ("data", "indices", "indptr", "shape")
"""Suffixes of the parts of a sparse matrix, such as "W_data". "W_format" is "csr" or "csc"."""

HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
"""Functions that read array headers, by version of the file format."""


def from_npz(path: Any, **options: Any) -> LinearModel:
    """Convert the network in a ``.npz`` file to its eigenbasis, where a step costs O(N).

        r(t) = r(t−1) W + u(t) W_in + bias + y(t−1) W_fb,   y(t) = [1, y(t−1), r(t), u(t)] W_out

    Parameters
    ----------
    path : str or Path
        File with the arrays ``W`` (N, N) and ``W_in`` (D_in, N). Optional arrays are ``W_out``
        (N', D_out), ``W_fb`` (D_out, N), ``bias`` and ``lr`` (N,) or single numbers, and the flags
        ``readout_bias``, ``output_to_readout`` and ``input_to_readout``, which describe the rows
        of ``W_out``. A sparse matrix is saved as the parts ``W_data``, ``W_indices``, ``W_indptr``
        and ``W_shape`` of a CSR matrix, or of a CSC matrix if ``W_format`` is "csc". Other names
        and pickled objects raise an error. States are row vectors: if your library has column
        vectors, save ``W.T`` and ``W_in.T``.
    **options
        Arrays or flags that replace those in the file.

    Returns
    -------
    LinearModel
        The converted network, as returned by ``diagonalize``.

    See Also
    --------
    eigenecho.diagonalize : Convert arrays instead of a file.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> import tempfile
    >>> from pathlib import Path
    >>> rng = np.random.default_rng(0)
    >>> path = Path(tempfile.mkdtemp(), "network.npz")
    >>> W, W_in = rng.normal(size=(20, 20)) / 6, rng.normal(size=(1, 20))
    >>> np.savez(path, W=W, W_in=W_in, lr=0.5)
    >>> ee.from_npz(path).units
    20
    """
    for name in options:
        check_known(name, "option", (*ARRAYS, *FLAGS))
    arguments = read(path, skip=tuple(options)) | options
    for name in NEEDED:
        if arguments[name] is None:
            raise bad_argument(name, None, "weights")
    return diagonalize(**{name: value for name, value in arguments.items() if value is not None})


def read(path: Any, *, skip: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the contents of a file as arguments of ``diagonalize``, without names in ``skip``.

    Arrays that are not in the file are None.
    """
    arrays = _load(Path(path))
    needed = {name for name in NEEDED if name not in skip and f"{name}_data" not in arrays}
    parts = {f"{name}_{part}" for name in MATRICES for part in (*SPARSE, "format")}
    if not needed <= arrays.keys() or not arrays.keys() <= {*ARRAYS, *FLAGS, *parts}:
        raise StorageError(
            f"{path} contains these arrays: {', '.join(sorted(arrays)) or 'none'}. Expected W, "
            f"W_in, and optionally {', '.join((*ARRAYS[2:], *FLAGS))}."
        )
    try:
        return {
            name: _read_matrix(name, arrays) if name in MATRICES else _read_value(name, arrays)
            for name in (*ARRAYS, *FLAGS)
            if name not in skip
        }
    except ValueError as error:
        raise StorageError(f"Cannot read {path}: {error}") from error


def _load(path: Path) -> dict[str, Array]:
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: archive.read(info) for info in archive.infolist()}
        return {name.removesuffix(".npy"): _parse(name, data) for name, data in members.items()}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise StorageError(f"{path} is not a readable .npz file of numbers: {error}.") from error


def _parse(name: str, data: bytes) -> Array:
    """Return the array in a member of an archive, or raise ValueError.

    NumPy allocates memory for the size in the header without checking it, and is not used here.
    """
    stream = io.BytesIO(data)
    try:
        shape, is_fortran, dtype = HEADERS[np.lib.format.read_magic(stream)](stream)
    except (ValueError, KeyError):
        raise ValueError(f"the member {name!r} is not an array") from None
    if dtype.hasobject:
        raise ValueError(f"the member {name!r} contains pickled Python objects")
    if len(data) - stream.tell() != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"the data in member {name!r} do not fit its shape {shape}")
    numbers = np.frombuffer(data, dtype, offset=stream.tell())
    return numbers.reshape(shape, order="F" if is_fortran else "C")


def _read_matrix(name: str, arrays: Mapping[str, Array]) -> Any:
    """Return a dense matrix, or a sparse matrix from its parts, or None if there is no matrix."""
    parts = [arrays[f"{name}_{part}"] for part in SPARSE if f"{name}_{part}" in arrays]
    if not parts:
        return arrays.get(name)
    if name in arrays or len(parts) < len(SPARSE):
        names = ", ".join(f"{name}_{part}" for part in SPARSE)
        raise ValueError(
            f"{name} is incomplete or ambiguous: expected either {names}, or an array {name}."
        )
    from scipy.sparse import csc_matrix, csr_matrix

    layout = str(arrays.get(f"{name}_format", np.array("csr")).astype(str))
    check_known(layout, f"{name}_format", ("csr", "csc"))
    data, indices, indptr, shape = parts
    if any(part.dtype.kind not in "iu" for part in (indices, indptr, shape)):
        raise ValueError(f"{name}_indices, {name}_indptr and {name}_shape must be integers.")
    try:
        kind = csr_matrix if layout == "csr" else csc_matrix
        matrix = kind((data, indices, indptr), shape=tuple(shape.tolist()))
        check_indices(matrix, name)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"The parts of the sparse matrix {name} are invalid: {error}") from error
    return matrix


def _read_value(name: str, arrays: Mapping[str, Array]) -> Any:
    """Return an array, a number or a flag, or None if it is not in the file."""
    if name not in arrays:
        return None
    value = arrays[name]
    check_real(value, name)
    if name not in FLAGS:
        return value.item() if value.size == 1 else value
    if value.size != 1 or value.item() not in (0, 1):
        raise bad_argument(name, value.tolist(), "True or False (or 1 or 0)")
    return bool(value.item())
