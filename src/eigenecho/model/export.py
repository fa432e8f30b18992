"""Export of a network as source code, with a test vector and a report."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import eigenecho
from eigenecho.checks import as_float_dtype
from eigenecho.errors import UnstableError, bad_argument
from eigenecho.export import FORMATS, StepProgram, example_run, run_selftest, source_files
from eigenecho.export.program import readout_arrays, scaling_arrays, transition_arrays
from eigenecho.files import as_path, write_whole
from eigenecho.model.network import Network, State
from eigenecho.model.online import as_state
from eigenecho.model.stream import Stream
from eigenecho.types import Array


@dataclass(frozen=True)
class ExportReport:
    """Report of an export: the files, their sizes, and the accuracy of their outputs.

    Attributes
    ----------
    paths : tuple of Path
        The files that were written.
    dtype : {"float64", "float32"}
        Data type of all numbers and operations.
    state_bytes, constant_bytes : int
        Sizes of the state and of the constants in bytes, without the test vector.
    difference : float, optional
        Largest difference between the outputs of the exported code and of the reference on the
        test vector. It is 0 if every operation is rounded as specified. None if the code was not
        run.
    checked_with : str
        The compiler or interpreter that ran the code, or the reason why it was not run.
    stream_difference : float
        Largest difference between the outputs of the reference and of ``stream.step`` on the test
        vector, relative to the largest output.

    See Also
    --------
    eigenecho.LinearModel : ``export`` returns a report.

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(50, warmup=50, ridge=1e-8, seed=0).fit(series[:-1], series[1:])
    >>> report = esn.export("network.c", dtype="float32")
    >>> [path.name for path in report.paths], report.state_bytes
    (['network.c', 'network.h'], 204)
    >>> report.difference in (0, None), report.stream_difference < 1e-4
    (True, True)
    """

    paths: tuple[Path, ...]
    dtype: str
    state_bytes: int
    constant_bytes: int
    difference: float | None
    checked_with: str
    stream_difference: float

    def __str__(self) -> str:
        checked = self.checked_with
        if self.difference is not None:
            checked = f"{self.difference:.2g}  largest difference from the reference ({checked})"
        size = f"{self.state_bytes} bytes of state, {self.constant_bytes} bytes of constants"
        return (
            f"files        {', '.join(map(str, self.paths))}\n"
            f"numbers      {self.dtype}, {size}\n"
            f"self-test    {checked}\n"
            f"stream.step  {self.stream_difference:.2g}  largest difference from the reference, "
            "relative to the largest output"
        )


def export(
    model: Network,
    path: Any,
    dtype: Any = None,
    state: State | None = None,
    names: tuple[Any, Any] = (None, None),
) -> ExportReport:
    """Write the source code of a network, as described in ``LinearModel.export``.

    ``names`` are the names of the input and output columns.
    """
    check_exportable(model)
    path = as_path(path)
    _check_name(path)
    program = step_program(model, dtype, state)
    run = example_run(program)
    if not len(run["test_outputs"]):
        raise UnstableError(_out_of_range("outputs of the test vector", program.dtype))
    stream_difference = _stream_difference(model, state, run)
    files = source_files(path.suffix, program, run, path.stem, _about(model, names))
    paths = {path.with_suffix(suffix): text.encode() for suffix, text in files.items()}
    write_whole(paths)
    return ExportReport(
        tuple(paths),
        program.dtype.name,
        program.state_bytes,
        sum(array.nbytes for array in program.arrays.values()),
        *run_selftest(files, path.stem),
        stream_difference,
    )


def check_exportable(model: Network) -> None:
    """Raise if a network has a part that ``export.step`` does not support."""
    model.need_states("Export")
    if model.device is not None:
        expected = "None, because exported code does not support tensors"
        raise bad_argument("device", model.device, expected, "Call .to(None) before export.")


def step_program(model: Network, dtype: Any, state: State | None) -> StepProgram:
    """Return the constants of a network, by default in its dtype and with a zero state."""
    reservoir = model.reservoir
    number = reservoir.dtype if dtype is None else as_float_dtype(dtype)
    start = model.zero_state() if state is None else as_state(model, state, "state")
    weights = [A for A in (reservoir.W_in, reservoir.W_fb) if A is not None]
    with np.errstate(over="ignore"):  # reported below
        arrays = {
            **transition_arrays(reservoir.transition.form(number)),
            **readout_arrays(model.readout, model.output_to_readout),
            **scaling_arrays(model.inputs, "input", number),
            **scaling_arrays(model.outputs, "output", number),
            "weights": np.vstack(weights),
            "initial_y": start.y,
        }
        if reservoir.bias is not None:
            arrays["bias"] = reservoir.bias
        if np.any(start.r):
            arrays["initial_r"] = start.r
        arrays = {name: _in_dtype(array, number) for name, array in arrays.items() if array.size}
    for name, array in arrays.items():
        lost = name.endswith("_scale") and not np.all(array > 0)
        if lost or not np.all(np.isfinite(array)):
            raise ValueError(_out_of_range(f"values of {name}", number))
    return StepProgram(
        inputs=model.D_in,
        outputs=model.D_out,
        units=model.units,
        closed=model.closed,
        known=max(model.D_in - model.D_out, 0) if model.can_forecast else None,
        arrays=arrays,
    )


def _in_dtype(array: Array, dtype: np.dtype) -> Array:
    """Convert an array to a dtype, unless it contains indices."""
    return array if array.dtype.kind == "u" else np.ascontiguousarray(array, dtype)


def _out_of_range(what: str, dtype: np.dtype) -> str:
    """Return the error message for numbers that a dtype cannot represent."""
    remedy = " Use dtype='float64'." if dtype == np.float32 else ""
    return f"Cannot export as {dtype}: the {what} are out of range.{remedy}"


def _check_name(path: Path) -> None:
    """Raise if a file name has no known suffix, or is not a valid prefix of function names."""
    if path.suffix not in FORMATS:
        raise bad_argument("path", str(path), f"a file name that ends with {' or '.join(FORMATS)}")
    if path.suffix == ".c" and not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", path.stem):
        expected = "a file name that is a C identifier, because all names in the code begin with it"
        remedy = "Use letters, digits and underscores, beginning with a letter."
        raise bad_argument("path", str(path), expected, remedy)


def _about(model: Network, names: tuple[Any, Any]) -> dict[str, str]:
    """Return the values that are inserted into the header comment of the files."""
    inputs, outputs = ("" if labels is None else f": {', '.join(labels)}" for labels in names)
    return {
        "version": eigenecho.__version__,
        "form": model.reservoir.transition.name,
        "input_names": inputs,
        "output_names": outputs,
        "certificate": "" if model.certificate is None else str(model.certificate),
    }


def _stream_difference(model: Network, state: State | None, run: dict[str, Array]) -> float:
    """Return the largest difference from a stream, relative to the largest output."""
    stream = Stream(model, state)
    outputs = np.array([stream.step(row if model.D_in else None) for row in run["test_inputs"]])
    size = float(np.abs(outputs).max()) or 1.0
    return float(np.abs(outputs - run["test_outputs"].astype(np.float64)).max()) / size
