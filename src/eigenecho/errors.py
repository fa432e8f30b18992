"""Exceptions and warnings, and functions that create their messages."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import math
import os
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = [
    "ClusterError",
    "FewRowsWarning",
    "IllConditionedWarning",
    "SlowStartWarning",
    "StorageError",
    "UnstableError",
    "UnstableWarning",
]

NEAR = 0.7
"""Smallest similarity, between 0 and 1, of a known name that is suggested for an unknown name."""

_HERE = os.path.dirname(__file__) + os.sep


class StorageError(ValueError):
    """Error raised for a file that is damaged or is not a model file of this version.

    See Also
    --------
    eigenecho.load : Load a model; raises this error.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "notes.txt")
    >>> _ = path.write_text("no network")
    >>> try:
    ...     ee.load(path)
    ... except ee.errors.StorageError as error:
    ...     print(type(error).__name__)
    StorageError
    """


class UnstableError(ArithmeticError, ValueError):
    """Error raised when the states of a reservoir or a closed loop overflow.

    See Also
    --------
    eigenecho.errors.UnstableWarning : Warning that is issued before states overflow.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> model = ee.diagonalize([[2.0]], [[1.0]])
    >>> try:
    ...     model.predict(np.ones((2000, 1)))
    ... except ee.errors.UnstableError as error:
    ...     print(type(error).__name__)
    UnstableError
    """


class ClusterError(RuntimeError):
    """Error raised when a cluster cannot finish a computation; the client can still be used.

    See Also
    --------
    eigenecho.Forecaster : ``fit(client=)`` raises this error, as does ``eigenecho.dask.fit``.

    Examples
    --------
    >>> import eigenecho as ee
    >>> try:
    ...     raise ee.errors.ClusterError("The step 'validate' failed.")
    ... except RuntimeError as error:
    ...     print(error)
    The step 'validate' failed.
    """


class UnstableWarning(UserWarning):
    """Warning that states or forecasts grow very large, even though they have not overflowed.

    See Also
    --------
    eigenecho.errors.UnstableError : Error that is raised when states overflow.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import warnings
    >>> series = ee.tasks.mso(3, steps=400)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     esn = ee.LinearESN(20, sr=1.1, seed=0).fit(series[:-1], series[1:])
    >>> any(issubclass(warning.category, ee.errors.UnstableWarning) for warning in caught)
    True
    """


class IllConditionedWarning(UserWarning):
    """Warning that a linear system or a change of basis is singular or nearly singular.

    See Also
    --------
    eigenecho.diagonalize : The parameter ``form`` selects the basis.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import warnings
    >>> ring = ee.spectra.ring(4, sr=0.9)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     twice = ring + ring  # with one input, equal eigenvalues add no memory
    >>> [warning.category.__name__ for warning in caught]
    ['IllConditionedWarning']
    """


class FewRowsWarning(UserWarning):
    """Warning that series are constant or too short to train a model.

    It is issued if no candidate can be trained, or if a prediction interval has width 0.

    See Also
    --------
    eigenecho.Forecaster : Issues this warning.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     forecaster = ee.Forecaster(horizon=3).fit([1.0, 3.0, 2.0])
    >>> [warning.category.__name__ for warning in caught]
    ['FewRowsWarning']
    >>> forecaster.predict()
    array([2., 2., 2.])
    """


class SlowStartWarning(UserWarning):
    """Warning that compiled code cannot be cached on disk, so that each process compiles it again.

    See Also
    --------
    eigenecho.errors.IllConditionedWarning : Warning about a loss of digits.

    Examples
    --------
    Set ``NUMBA_CACHE_DIR`` to a writable folder, or ignore the warning:

    >>> import eigenecho as ee
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", ee.errors.SlowStartWarning)
    ...     esn = ee.LinearESN(10, seed=0)
    """


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning that refers to the line of user code that called the package."""
    frame, level = inspect.currentframe(), 1
    while frame is not None:
        path = frame.f_code.co_filename
        # Methods of scikit-learn and decorators also lie between the caller and this package.
        is_wrapper = path == contextlib.__file__ or f"{os.sep}sklearn{os.sep}" in path
        if not path.startswith(_HERE) and not is_wrapper:
            break
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


class Words(str):
    """Description of a value that an error message shows instead of the repr of the value."""


def bad_argument(name: str, got: Any, expected: str, remedy: str = "") -> ValueError:
    """Return the error for an invalid argument."""
    return ValueError(_invalid(name, got, expected, remedy))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 column" or "2 columns"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def object_of(value: Any) -> str:
    """Return a description of the type of a value, such as "an object of type list"."""
    return f"an object of type {type(value).__name__}"


def place(row: int | None = None, column: Any = None, series: int | None = None) -> str:
    """Return a position as text, such as "in row 3, column 'a' of series 1"."""
    parts = [] if row is None else [f"row {row}"]
    parts += [] if column is None else [f"column {column!r}"]
    return f"in {', '.join(parts)}" + ("" if series is None else f" of series {series}")


FILL = "Fill or drop missing values first."
"""Remedy for missing values."""


def not_finite(name: str, value: float, where: str, dtype: Any, remedy: str = FILL) -> ValueError:
    """Return the error for NaN, infinity or a number outside the range of ``dtype``."""
    got, expected = f"{value:.6g}", "finite numbers"
    if math.isnan(value):
        got = "NaN"
    elif math.isinf(value):
        got = f"{'-' if value < 0 else ''}infinity"
        remedy = "Replace or drop infinite values first." if remedy == FILL else remedy
    else:
        expected = f"finite numbers within the range of {dtype}"
        remedy = "Scale the data, or use dtype='float64'."
    return bad_argument(name, Words(f"{got} {where}"), expected, remedy)


ENCODE = "Encode these values as numbers, or drop them."
"""Remedy for a column that does not contain numbers."""


def not_numbers(
    name: str, got: str, cause: Exception | None = None, remedy: str = ENCODE
) -> ValueError | TypeError:
    """Return the error for values that are not numbers, a TypeError if ``cause`` is a TypeError."""
    reason = "" if cause is None else f" ({cause})"
    kind = TypeError if isinstance(cause, TypeError) else ValueError
    return kind(_invalid(name, Words(got), f"real numbers{reason}", remedy))


def other_columns(name: str, got: Sequence[Any], known: Sequence[Any]) -> ValueError:
    """Return the error for columns that differ from those passed to ``fit``.

    The message starts like that of scikit-learn.
    """
    what = "output names" if name in ("y", "y_previous", "target") else "feature names"
    return ValueError(
        f"The {what} should match those that were passed during fit, in the same order: "
        f"{name} has {_listed(got)}, but fit had {_listed(known)}. Select the columns by name."
    )


def unknown_name(argument: str, got: Any, known: Iterable[str]) -> ValueError:
    """Return the error for an unknown name, which lists all known names and suggests one."""
    known = sorted(known)
    lower = {name.lower(): name for name in known}
    nearest = difflib.get_close_matches(str(got).lower(), lower, n=1, cutoff=NEAR)
    hint = f" Did you mean {lower[nearest[0]]!r}?" if nearest else ""
    options = ", ".join(known)
    return ValueError(f"Unknown {argument}={got!r}: expected one of {options}.{hint}")


def overflowed(
    what: str, radius: float | None, step: int | None = None, *, closed: bool = False
) -> UnstableError:
    """Return the error for states or outputs that overflowed; ``closed`` means a closed loop."""
    where = "" if step is None else f" at step {step}"
    cause = "" if radius is None else f" (effective radius {radius:.6g})"
    remedy = "Lower sr or lr, scale the data (standardize=True), or use a shorter series."
    if closed:
        remedy = (
            "The model is unstable when it is driven by its own output: use a larger ridge, a "
            "smaller fb_scaling or a longer training series, or pass y_previous=."
        )
    return UnstableError(f"The {what} overflowed{where}{cause}. {remedy}")


def out_of_range(series: Any, step: int) -> UnstableError:
    """Return the error for forecasts that overflow at some step."""
    of = "" if series is None else f" of series {series!r}"
    return UnstableError(
        f"The forecasts{of} overflow {counted(step + 1, 'step')} ahead. Use a shorter horizon, and "
        "check the last rows for outliers."
    )


def missing_package(feature: str, package: str, extra: str = "") -> ModuleNotFoundError:
    """Return the error for an optional package (with a version) that is not installed."""
    name = package.partition(" ")[0]
    message = (
        f"{feature} requires {package}, which is not installed. Install it with: "
        f"pip install 'eigenecho[{extra or name}]'."
    )
    return ModuleNotFoundError(message, name=name)


def _invalid(name: str, got: Any, expected: str, remedy: str, limit: int = 80) -> str:
    if isinstance(got, Words):
        return f"Invalid {name}: got {got}; expected {expected}. {remedy}".rstrip()
    text = repr(got)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return f"Invalid {name}={text}: expected {expected}. {remedy}".rstrip()


def _listed(names: Sequence[Any], most: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return f"[{shown}{', …' if len(names) > most else ''}]"
