"""The words of every error and warning: the argument, what it got, what was wanted, what to do."""

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

ELSEWHERE = {
    "n_reservoir": "units",
    "n_units": "units",
    "reservoir_size": "units",
    "hidden_layer_size": "units",
    "hidden_size": "units",
    "W": "spectrum",
    "spectral_radius": "sr",
    "leak_rate": "lr",
    "leaking_rate": "lr",
    "leakage": "lr",
    "input_scale": "input_scaling",
    "density": "rc_connectivity",
    "connectivity": "rc_connectivity",
    "teacher_forcing": "feedback",
    "feedback_scaling": "fb_scaling",
    "fit_intercept": "fit_bias",
    "normalize": "standardize",
    "alpha": "ridge",
    "alphas": "ridge",
    "washout": "warmup",
    "transient": "warmup",
    "random_state": "seed",
    "h": "horizon",
    "fh": "horizon",
    "steps": "horizon",
    "season_length": "seasons",
    "seasonal_periods": "seasons",
    "seasonality": "seasons",
    "period": "seasons",
    "sp": "seasons",
    "id_col": "id",
    "time_col": "time",
    "target_col": "target",
}
"""What other libraries call our parameters."""

IN_CALLS = {"level": "interval", "coverage": "interval", "exog": "X", "X_df": "X"}
"""What other libraries call arguments of our methods."""

NOT_HERE = {
    "activation": ("", "units are linear"),
    "n_jobs": ("", "it uses the cores there are"),
    "freq": ("time", "the step of the times is found by itself"),
}
"""Parameters of other libraries that we have none of: beside which of ours, if not beside any, and
why."""

NAMES_ELSEWHERE = {
    "ESN": "LinearESN",
    "EchoStateNetwork": "LinearESN",
    "ESNRegressor": "LinearESN",
    "Ridge": "LinearESN(ridge=...)",
    "RLS": "LinearESN.learner",
    "FORCE": "LinearESN.learner",
    "Reservoir": "DiagonalReservoir",
    "GridSearch": "search",
    "GridSearchCV": "search",
    "hyper": "search",
    "research": "search",
    "save": "LinearESN.save and Forecaster.save",
    "save_model": "LinearESN.save and Forecaster.save",
    "load_model": "load",
    "datasets": "tasks",
    "observables": "metrics",
}
"""What other libraries call our public names."""

APART = ("dask", "interop")
"""Modules that are public, and loaded by their own names alone."""

NEAR = 0.7
"""How alike two names are, of 1, at least, if one may be meant by the other."""

_HERE = os.path.dirname(__file__) + os.sep


class StorageError(ValueError):
    """A model file that cannot be read: damaged, foreign, or of another format.

    See Also
    --------
    eigenecho.load : raises it

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
    """A reservoir or closed loop whose states overflowed.

    See Also
    --------
    eigenecho.errors.UnstableWarning : nothing has overflowed yet

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
    """A computation that a cluster could not finish; its client is as it was.

    See Also
    --------
    eigenecho.search : with ``client=``; ``eigenecho.dask.fit`` raises it too

    Examples
    --------
    >>> import eigenecho as ee
    >>> try:
    ...     raise ee.errors.ClusterError("the step 'validate' failed")
    ... except RuntimeError as error:
    ...     print(error)
    the step 'validate' failed
    """


class UnstableWarning(UserWarning):
    """Growth that is large over the series or horizon, though nothing has overflowed yet.

    See Also
    --------
    eigenecho.errors.UnstableError : states that overflowed

    Examples
    --------
    >>> import eigenecho as ee
    >>> import warnings
    >>> series = ee.tasks.mso(3, steps=400)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     esn = ee.LinearESN(20, sr=1.1, seed=0).fit(series[:-1], series[1:])
    >>> any(issubclass(one.category, ee.errors.UnstableWarning) for one in caught)
    True
    """


class IllConditionedWarning(UserWarning):
    """A readout system or a change of basis that is singular, or nearly so.

    See Also
    --------
    eigenecho.diagonalize : ``form=`` asks for a basis that is no good

    Examples
    --------
    >>> import eigenecho as ee
    >>> import warnings
    >>> ring = ee.spectra.ring(4, sr=0.9)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     twice = ring + ring  # with one input, equal eigenvalues add no memory
    >>> [one.category.__name__ for one in caught]
    ['IllConditionedWarning']
    """


class FewRowsWarning(UserWarning):
    """Series of too few rows, or without any change, to learn from.

    The last value is given in place of a forecast, or an interval has width 0.

    See Also
    --------
    eigenecho.Forecaster : warns of it

    Examples
    --------
    >>> import eigenecho as ee
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     forecaster = ee.Forecaster(horizon=3).fit([1.0, 3.0, 2.0])
    >>> [one.category.__name__ for one in caught]
    ['FewRowsWarning']
    >>> forecaster.predict()
    array([2., 2., 2.])
    """


class SlowStartWarning(UserWarning):
    """Compiled code that no later process will find: each start is slow.

    See Also
    --------
    eigenecho.errors.IllConditionedWarning : numbers that lose digits

    Examples
    --------
    Set ``NUMBA_CACHE_DIR`` to a folder that can be written, or do not hear of it:

    >>> import eigenecho as ee
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", ee.errors.SlowStartWarning)
    ...     esn = ee.LinearESN(10, seed=0)
    """


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line of the caller's that led here, whatever of ours lies between."""
    frame, level = inspect.currentframe(), 1
    while frame is not None:
        path = frame.f_code.co_filename
        # What wraps ours: scikit-learn's methods, and decorators.
        is_wrapper = path == contextlib.__file__ or f"{os.sep}sklearn{os.sep}" in path
        if not path.startswith(_HERE) and not is_wrapper:
            break
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


class Shown(str):
    """What a value is like, where the value itself would say too much, or too little."""

    def __repr__(self) -> str:
        return f"<{self}>"


def bad_argument(name: str, got: Any, expected: str, remedy: str = "") -> ValueError:
    """One sentence for an argument whose value will not do."""
    return ValueError(_will_not_do(name, got, expected, remedy))


def place(row: int | None = None, column: Any = None, series: int | None = None) -> str:
    """Where a number stands: a column by its name, or by its position."""
    parts = [] if row is None else [f"row {row}"]
    parts += [] if column is None else [f"column {column!r}"]
    return f"in {', '.join(parts)}" + ("" if series is None else f" of series {series}")


def not_finite(
    name: str, value: float, where: str, dtype: Any, remedy: str = "Fill or drop the gaps first."
) -> ValueError:
    """NaN, infinity, or a number that ``dtype`` cannot hold, and the place where it stands."""
    got, wanted = f"{value:.6g}", "finite numbers"
    if math.isnan(value):
        got = "NaN"
    elif math.isinf(value):
        got = f"{'-' if value < 0 else ''}infinity"
    else:
        wanted = f"finite numbers within the range of {dtype}"
        remedy = "Scale the data, or use dtype='float64'."
    return bad_argument(name, Shown(f"{got} {where}"), wanted, remedy)


ENCODE = "Drop it, or encode it as numbers."
"""What to do about a column that holds no numbers."""


def not_numbers(
    name: str, got: str, cause: Exception | None = None, remedy: str = ENCODE
) -> ValueError | TypeError:
    """A column, or a value in it, that cannot be read as a number; of the kind of its cause."""
    why = "" if cause is None else f" ({cause})"
    kind = TypeError if isinstance(cause, TypeError) else ValueError
    return kind(_will_not_do(name, Shown(got), f"real numbers{why}", remedy))


def other_columns(name: str, got: Sequence[Any], known: Sequence[Any]) -> ValueError:
    """Labels that are not those of ``fit``, or in another order; scikit-learn's first words."""
    what = "output names" if name in ("y", "y_previous", "target") else "feature names"
    return ValueError(
        f"The {what} should match those that were passed during fit, in the same order: "
        f"{name} has {_listed(got)}, fit had {_listed(known)}. Select them by name."
    )


def unknown_parameter(owner: str, got: str, known: Sequence[str]) -> TypeError:
    """A keyword that a constructor does not take, and what it is called there."""
    said = f"{owner} takes no {got!r}"
    if (here := ELSEWHERE.get(got)) in known:
        return TypeError(f"{said}; it is called {here!r} here.")
    beside, why = NOT_HERE.get(got, (None, ""))
    if beside in ("", *known):
        return TypeError(f"{said}: {why}.")
    listed = f" It takes {', '.join(known)}."
    return TypeError(f"{said}.{_hint(got, known) or listed}")


def unknown_keyword(
    call: tuple[str, str],
    got: str,
    known: Sequence[str],
    parameters: Sequence[str],
    takers: Sequence[str],
) -> TypeError:
    """A keyword that a method does not take, and where it belongs.

    ``call`` is the class and the method, ``parameters`` are the class's, and ``takers`` its methods
    that take the keyword.
    """
    owner, method = call
    said = f"{method} takes no {got!r}"
    here = IN_CALLS.get(got) or ELSEWHERE.get(got, got)
    if here in known:
        return TypeError(f"{said}; it is called {here!r} here.")
    if here in parameters:
        return TypeError(f"{said}; it belongs to {owner}({here}=...).")
    if takers:
        return TypeError(f"{said}; {', '.join(f'{one}({here}=...)' for one in takers)} would.")
    return unknown_parameter(method, got, [*known, *parameters] if got in NOT_HERE else known)


def no_attribute(got: str, known: Iterable[str]) -> AttributeError:
    """A name that the package has not, in Python's first words, and what may be meant."""
    hint = _hint(got, known)
    if got in NAMES_ELSEWHERE:
        hint = f" It is {NAMES_ELSEWHERE[got]} here."
    elif got in APART:
        hint = f" Load it by import eigenecho.{got}."
    # With its name said, Python does not guess as well.
    return AttributeError(f"module 'eigenecho' has no attribute {got!r}.{hint}", name=got)


def unknown_name(argument: str, got: Any, known: Iterable[str]) -> ValueError:
    """An unknown name, the names there are, and the nearest of them."""
    known = sorted(known)
    elsewhere = ELSEWHERE.get(str(got))
    hint = f" Did you mean {elsewhere!r}?" if elsewhere in known else _hint(str(got), known)
    return ValueError(f"{argument}={got!r} is not known. Known: {', '.join(known)}.{hint}")


def overflowed(
    what: str, radius: float | None, step: int | None = None, *, closed: bool = False
) -> UnstableError:
    """States or outputs that left the range of floating point; ``closed``: fed back to itself."""
    where = "" if step is None else f" at step {step}"
    cause = "" if radius is None else f" (effective radius {radius:.6g})"
    remedy = "Lower sr or lr, scale the data (standardize=True), or use a shorter series."
    if closed:
        remedy = (
            "The loop through the model's own output is unstable: a larger ridge, a smaller "
            "fb_scaling or a longer training series steadies it; y_previous= keeps it open."
        )
    return UnstableError(f"the {what} overflowed{where}{cause}. {remedy}")


def two_devices(one: Any, device: Any, other: str, elsewhere: Any) -> ValueError:
    """Tensors of one call that lie on different devices."""
    got = Shown(f"tensor on {elsewhere}")
    return bad_argument(other, got, f"a tensor on {device}, as {one}", f"{other}.to({one}.device).")


def out_of_memory(device: Any, said: str) -> MemoryError:
    """A device that holds too little for what was asked; what torch ``said`` has the numbers."""
    numbers = ". ".join(said.split(". ")[1:3]).rstrip(".")
    return MemoryError(
        f"the memory of {device} is too small for this: {numbers}. A fit needs about three arrays "
        "of units × units numbers, states steps × units: lower units, take dtype='float32', hand "
        "over a long series in pieces (initial_state=), or compute on the CPU. Nothing has changed."
    )


def too_large(name: str, got: Any, needed: float, there: float) -> MemoryError:
    """An argument whose answer needs more bytes than there are, before any of them is filled."""
    sizes = (
        f"at least {needed / 2**30:,.0f} GiB of memory, and this machine has {there / 2**30:,.0f}"
    )
    return MemoryError(f"{name}={got!r} needs {sizes}. Ask for less. Nothing has changed.")


def out_of_range(series: Any, step: int) -> UnstableError:
    """Forecasts of a series that no number can hold from some step on."""
    of = "" if series is None else f" of series {series!r}"
    return UnstableError(
        f"the forecasts{of} leave the range of numbers {step + 1} steps ahead. Ask for fewer, and "
        "look for values far from all others in the rows that they go on from."
    )


def _hint(got: str, known: Iterable[str]) -> str:
    """The nearest of the names there are, whatever its capitals."""
    names = {name.lower(): name for name in known}
    nearest = difflib.get_close_matches(got.lower(), names, n=1, cutoff=NEAR)
    return f" Did you mean {names[nearest[0]]!r}?" if nearest else ""


def _will_not_do(name: str, got: Any, expected: str, remedy: str, limit: int = 80) -> str:
    text = repr(got)
    if len(text) > limit and not isinstance(got, Shown):
        text = text[: limit - 1] + "…"
    return f"{name}={text} will not do: expected {expected}. {remedy}".rstrip()


def _listed(names: Sequence[Any], most: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return f"[{shown}{', …' if len(names) > most else ''}]"
