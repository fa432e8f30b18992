"""What draws of one seed share, whatever ``sr``, ``lr`` and scalings they have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenecho.random import Seed

Memory = dict[Any, Any]


def remember(memory: Memory, key: Any, make: Callable[[], Any]) -> Any:
    """What is known under the key, made where it is not."""
    if key not in memory:
        memory[key] = make()
    return memory[key]


def of_seed(memory: Memory, seed: Seed) -> Memory:
    """The part of a memory that draws of this seed share; a seed that is no int shares nothing."""
    if not isinstance(seed, (int, np.integer)):
        return {}  # a Generator draws anew each time
    return remember(memory, ("seed", int(seed)), dict)
