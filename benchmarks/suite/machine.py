"""Describe the hardware and the versions, without identifying the machine."""

from __future__ import annotations

import hashlib
import os
import platform
import statistics
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

PACKAGES = (
    "eigenecho", "numpy", "scipy", "numba", "scikit-learn",
    "reservoirpy", "resdag", "torch", "jax",
)  # fmt: skip


def environment() -> dict[str, Any]:
    """Return what all results on one page must have in common."""
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "python": platform.python_version(),
        "system": platform.system(),
        "source": source_digest(),
        "versions": {name: version for name in PACKAGES if (version := _version(name))},
    }


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_model() -> str:
    """Return the model name of the CPU as reported by Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.processor() or platform.machine()


def source_digest() -> str:
    """Return a digest of the source code and its data, as versions only change at releases."""
    import eigenecho

    root = Path(eigenecho.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(
        p for p in root.rglob("*") if p.is_file() and p.parent.name != "__pycache__"
    ):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def bandwidth(megabytes: int = 256, repeats: int = 9) -> dict[str, float]:
    """Return the GB/s of filling an existing array with one thread and with all cores."""
    import numpy as np

    array = np.full(megabytes * 125_000, 1.0)
    pieces = np.array_split(array, cores())

    def alone() -> None:
        array.fill(0.5)

    speeds = {}
    with ThreadPoolExecutor(len(pieces)) as pool:

        def together() -> None:
            list(pool.map(lambda piece: piece.fill(0.5), pieces))

        for name, fill in (("one thread", alone), ("all cores", together)):
            fill()
            seconds = []
            for _ in range(repeats):
                start = perf_counter()
                fill()
                seconds.append(perf_counter() - start)
            speeds[name] = array.nbytes / statistics.median(seconds) / 1e9
    return speeds


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
