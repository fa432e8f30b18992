"""Networks in plain NumPy files: named arrays in, a converted network out, no pickle."""

from __future__ import annotations

import difflib
import math
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho.checks import check_known, check_real
from eigenecho.convert import diagonalize
from eigenecho.errors import Shown, StorageError, bad_argument
from eigenecho.model import LinearModel
from eigenecho.transition import check_indices
from eigenecho.types import Array

NEEDED = ("W", "W_in")
MATRICES = (*NEEDED, "W_out", "W_fb")
ARRAYS = (*MATRICES, "bias", "lr")
FLAGS = ("readout_bias", "output_to_readout", "input_to_readout")
SPARSE = ("data", "indices", "indptr", "shape")
"""The parts of a sparse matrix: "W_data", and so on; "W_format" is "csr" unless it says "csc"."""

ROWS = "States are rows here: r(t) = r(t−1) W + u(t) W_in. From column vectors save W.T and W_in.T."


def from_npz(path: Any, **options: Any) -> LinearModel:
    """Convert the network in a ``.npz`` file to its eigenbasis, where a step costs O(N).

        r(t) = r(t−1) W + u(t) W_in + bias + y(t−1) W_fb,   y(t) = [1, y(t−1), r(t), u(t)] W_out

    Parameters
    ----------
    path : str or Path
        A file with arrays ``W`` (N, N) and ``W_in`` (D_in, N), and where the network has them
        ``W_out`` (N', D_out), ``W_fb`` (D_out, N), ``bias`` (N,) or one number, ``lr`` one number
        or (N,), and the flags ``readout_bias``, ``output_to_readout`` and ``input_to_readout``,
        which name the rows of ``W_out``. A sparse matrix is the arrays ``W_data``,
        ``W_indices``, ``W_indptr`` and ``W_shape`` of a CSR matrix, with ``W_format`` "csc" of a
        CSC one. Other names are an error, and so are pickled objects.
    **options
        Any of these names, in the place of what the file says.

    Returns
    -------
    LinearModel
        What ``diagonalize`` returns, with its ``certificate``.

    See Also
    --------
    eigenecho.diagonalize : arrays instead of a file

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
    found = read(path, but=tuple(options))
    found |= {name: value for name, value in options.items() if value is not None}
    for name in NEEDED:
        if name not in found:
            raise bad_argument(name, None, "weights")
    _check_layout(found)
    return diagonalize(**found)


def read(path: Any, *, but: tuple[str, ...] = ()) -> dict[str, Any]:
    """What a file says, as arguments of ``diagonalize``, leaving out the names in ``but``."""
    arrays = _load(Path(path))
    _check_names(path, arrays, but)
    try:
        said: dict[str, Any] = {name: _matrix(name, arrays) for name in MATRICES if name not in but}
        given = [name for name in arrays if name not in but]
        said |= {name: _numbers(name, arrays[name]) for name in ("bias", "lr") if name in given}
        said |= {name: _flag(name, arrays[name]) for name in FLAGS if name in given}
    except ValueError as error:
        raise StorageError(f"{path}: {error}") from error
    return {name: value for name, value in said.items() if value is not None}


def _load(path: Path) -> dict[str, Array]:
    if not path.is_file():
        raise FileNotFoundError(f"no file at {path}.")
    with path.open("rb") as opened:
        first = opened.read(6)
    if first == b"\x93NUMPY":
        raise StorageError(f"{path} is a single array: write named ones with np.savez.")
    try:
        with zipfile.ZipFile(path) as archive:
            # All checksums before any content is looked at.
            damaged = archive.testzip()
            if damaged is not None:
                raise zipfile.BadZipFile(f"{damaged} is damaged")
            _check_members(path, archive)
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except StorageError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        why = f"is not a readable .npz file: {error}."
        if "allow_pickle" in str(error):
            why = (
                "holds pickled Python objects, which are never loaded. Save plain arrays of numbers"
                ", and a sparse matrix by its parts (W_data, W_indices, W_indptr, W_shape)."
            )
        raise StorageError(f"{path} {why}") from error


def _check_members(path: Path, archive: zipfile.ZipFile) -> None:
    """Whether all files in an archive are arrays, and as large as they say.

    Memory is taken by what a header claims, before the first number is read.
    """
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    for info in archive.infolist():
        with archive.open(info) as member:
            try:
                version = np.lib.format.read_magic(member)
                shape, _, dtype = readers[version](member)
            except (ValueError, KeyError):
                raise StorageError(
                    f"{path}: {info.filename!r} in it is not an array of numbers. Write the file "
                    "with np.savez, and nothing else into it."
                ) from None
            claimed = member.tell() + math.prod(shape) * dtype.itemsize
        if claimed != info.file_size and not dtype.hasobject:
            raise StorageError(
                f"{path}: {info.filename!r} in it claims shape {shape}, {claimed} bytes, and has "
                f"{info.file_size}: the file is damaged."
            )


def _check_names(path: Any, arrays: Mapping[str, Array], but: tuple[str, ...]) -> None:
    parts = [f"{name}_{part}" for name in MATRICES for part in (*SPARSE, "format")]
    known = (*ARRAYS, *FLAGS)
    unknown = [name for name in arrays if name not in (*known, *parts)]
    hints = "".join(
        f" Did you mean {nearest[0]!r} by {name!r}?"
        for name in unknown
        if (nearest := difflib.get_close_matches(name, known, n=1, cutoff=0.5))
    )
    listed = ", ".join(sorted(arrays)) or "nothing"
    for name in NEEDED:
        given = name in arrays or f"{name}_data" in arrays or name in but
        if not given:
            raise StorageError(f"{path} has no array {name!r}; it has {listed}.{hints}")
    if unknown:
        raise StorageError(
            f"{path} has names that mean nothing here: {', '.join(unknown)}.{hints} "
            f"Known: {', '.join(known)}."
        )


def _matrix(name: str, arrays: Mapping[str, Array]) -> Any:
    """The matrix of that name, dense or put together from its sparse parts; None for none."""
    given = [part for part in SPARSE if f"{name}_{part}" in arrays]
    if not given:
        return arrays.get(name)
    if name in arrays:
        raise ValueError(f"it has both {name!r} and '{name}_{given[0]}'; one is too many.")
    missing = [f"{name}_{part}" for part in SPARSE if part not in given]
    if missing:
        raise ValueError(f"the sparse {name} lacks {', '.join(missing)}.")
    from scipy.sparse import csc_matrix, csr_matrix

    layout = str(arrays.get(f"{name}_format", np.array("csr")).astype(str))
    check_known(layout, f"{name}_format", ("csr", "csc"))
    data, indices, indptr, shape = (arrays[f"{name}_{part}"] for part in SPARSE)
    if any(part.dtype.kind not in "iu" for part in (indices, indptr, shape)):
        raise ValueError(f"{name}_indices, {name}_indptr and {name}_shape must be integers.")
    try:
        kind = csr_matrix if layout == "csr" else csc_matrix
        matrix = kind((data, indices, indptr), shape=tuple(shape.tolist()))
        check_indices(matrix, name)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(
            f"the parts of the sparse {name} do not fit together: {str(error).rstrip('.')}. "
            "Indices start at 0."
        ) from error
    return matrix


def _numbers(name: str, value: Array) -> Any:
    """An array, or the number that it holds."""
    check_real(value, name)
    return value.item() if value.size == 1 else value


def _flag(name: str, value: Array) -> bool:
    if value.size != 1 or value.dtype.kind not in "biuf" or value.item() not in (0, 1):
        raise bad_argument(name, value.tolist(), "True or False (or 1 or 0)")
    return bool(value.item())


def _check_layout(found: Mapping[str, Any]) -> None:
    """Where a matrix only fits transposed, say so."""
    N = max(np.shape(found["W"]), default=0)
    for name in ("W_in", "W_fb"):
        shape: tuple[int, ...] = np.shape(found[name]) if name in found else ()
        if len(shape) == 2 and shape[0] == N != shape[1]:
            got = Shown(f"shape {shape}")
            raise bad_argument(name, got, f"shape (D, {N})", f"It looks transposed. {ROWS}")
