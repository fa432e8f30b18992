"""Constructors that know what other libraries call their parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

from eigenecho.errors import unknown_parameter

Init = TypeVar("Init", bound=Callable[..., None])


def explains_keywords(init: Init) -> Init:
    """Let ``__init__`` say what a keyword that it does not take is called here.

    Its signature stays what it was, for scikit-learn's ``get_params`` and for readers.
    """
    known = [*signature(init).parameters][1:]

    @wraps(init)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> None:
        for name in kwargs:
            if name not in known:
                raise unknown_parameter(type(self).__name__, name, known)
        init(self, *args, **kwargs)

    return cast(Init, wrapped)
