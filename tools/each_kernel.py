"""Run a command once for each set of floating-point kernels that this CPU supports.

    python tools/each_kernel.py COMMAND [ARGUMENT ...]

NumPy and SciPy each contain an OpenBLAS that chooses its kernels by the CPU, as NumPy does for its
own loops, and numba compiles for the CPU. All of them can use the kernels of an older CPU instead,
which round differently. Sets that this CPU or this BLAS does not support are skipped and named. The
exit code is 1 if any run fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from numpy._core._multiarray_umath import __cpu_dispatch__

CPUINFO = Path("/proc/cpuinfo")

ARCHITECTURES = """
import numpy, scipy.linalg, threadpoolctl
blas = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
print(*{pool.get("architecture") for pool in blas})
"""


class Kernels(NamedTuple):
    """A set of kernels: the environment variables that select it, and the CPU flags it needs."""

    name: str
    selected_by: dict[str, str]
    flags: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """Environment of a process that uses these kernels."""
        return {**os.environ, **self.selected_by}

    def obstacle(self) -> str:
        """Return why the kernels cannot be used here, or an empty string if they can."""
        missing = set(self.flags.split()) - cpu_flags()
        if missing:  # OpenBLAS would execute unsupported instructions
            return f"this CPU has no {', '.join(sorted(missing))}"
        if "OPENBLAS_CORETYPE" not in self.selected_by:
            return ""
        command = [sys.executable, "-c", ARCHITECTURES]
        used = subprocess.check_output(command, env=self.environment, text=True).strip()
        return "" if used == self.name else f"NumPy and SciPy use kernels for {used}"


KERNELS = (
    Kernels("Haswell", {"OPENBLAS_CORETYPE": "Haswell"}, "avx2 fma"),
    Kernels(
        "SkylakeX",
        {"OPENBLAS_CORETYPE": "SkylakeX"},
        "avx512f avx512cd avx512bw avx512dq avx512vl",
    ),
    Kernels(
        "Nehalem",
        # Also disable the instructions that NumPy's own loops select at run time.
        {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": " ".join(__cpu_dispatch__)},
        "sse4_2",
    ),
    Kernels("generic", {"NUMBA_CPU_NAME": "generic"}),
)


def cpu_flags() -> set[str]:
    """Return the CPU flags that Linux lists on x86, and none elsewhere."""
    lines = CPUINFO.read_text(encoding="utf-8").splitlines() if CPUINFO.exists() else []
    return set(next((line for line in lines if line.startswith("flags")), "").split())


def usable_kernels() -> list[Kernels]:
    """Return the kernels that can be used here, and print why others cannot."""
    available = []
    for kernels in KERNELS:
        if obstacle := kernels.obstacle():
            print(f"{kernels.name} kernels: skipped, {obstacle}", flush=True)
        else:
            available.append(kernels)
    return available


def main(command: list[str]) -> int:
    """Run the command under each set of kernels; return 1 if any run fails."""
    failed = []
    for kernels in usable_kernels():
        print(f"{kernels.name} kernels:", *command, flush=True)
        start = time.monotonic()
        if subprocess.run(command, env=kernels.environment, check=False).returncode:
            failed.append(kernels.name)
        print(f"{kernels.name} kernels: {time.monotonic() - start:.0f} s", flush=True)
    if failed:
        print(f"failed under these kernels: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else __doc__)
