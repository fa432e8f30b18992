"""What draws of one seed share, whatever ``sr``, ``lr`` and scalings they have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Memory = dict[Any, Any]


def remember(memory: Memory, key: Any, make: Callable[[], Any]) -> Any:
    """What is known under the key, made where it is not."""
    if key not in memory:
        memory[key] = make()
    return memory[key]
