"""Compilation of functions with numba, cached on disk for later processes if possible."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import config, njit
from numba.core.caching import FunctionCache

from eigenecho.errors import SlowStartWarning, warn


class RebuiltCache(FunctionCache):
    """Numba's cache of one function, which is cleared if its files are damaged."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code from disk, or None if it is missing or cannot be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling damaged bytes can raise any error
            self.flush()
            return None


def jit(fastmath: bool | set[str]) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function when it is first called.

    The compiled function releases the GIL. With ``NUMBA_DISABLE_JIT``, the function remains plain
    Python.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            # As in compiled code, the caller checks for overflow.
            return np.errstate(over="ignore", invalid="ignore")(function)
        try:
            compiled = njit(nogil=True, cache=True, fastmath=fastmath)(function)
            compiled._cache = RebuiltCache(function)  # noqa: SLF001 (numba has no option for it)
            return compiled
        except RuntimeError as error:
            # Numba raises this if neither the package's folder nor the user's is writable.
            if "cannot cache" not in str(error):
                raise
            _warn_once()
            return njit(nogil=True, fastmath=fastmath)(function)

    return decorate


@cache
def _warn_once() -> None:
    """Warn once per process that compiled code cannot be cached."""
    warn(
        "Compiled code cannot be cached, because neither the eigenecho package folder nor the user "
        "cache folder is writable. Every new process must compile again, which takes several "
        "seconds. Set the environment variable NUMBA_CACHE_DIR to a writable folder before "
        "starting Python.",
        SlowStartWarning,
    )
