"""Constructors and methods that say where a keyword belongs which they do not take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import getmembers, isfunction, signature
from typing import Any, TypeVar, cast

from eigenecho.errors import IN_CALLS, unknown_keyword, unknown_parameter

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


def check_keywords(owner: Any, method: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise where a method of an object is given a keyword that it does not take."""
    for name in given:
        if name not in known:
            parameters = owner.get_params(deep=False) if hasattr(owner, "get_params") else ()
            raise unknown_keyword(
                (type(owner).__name__, method), name, known, tuple(parameters), _takers(owner, name)
            )


def _takers(owner: Any, keyword: str) -> list[str]:
    """Public methods that take a keyword, or what it is called in them."""
    here = IN_CALLS.get(keyword, keyword)
    return [
        name
        for name, method in getmembers(type(owner), isfunction)
        if not name.startswith(("_", "set_")) and here in signature(method).parameters
    ]
