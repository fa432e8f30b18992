"""Measure exported networks: step times on this machine, flash and RAM on microcontrollers.

    deployment.py                     # both parts
    deployment.py --only sizes        # one part
    deployment.py --write             # update the tables of docs/guides/deploying.md

``times``: one step of the same network with 100 units as C, JavaScript, ``stream.step`` and in
reservoirpy. Needs gcc, node and reservoirpy. ``sizes``: programs for Cortex-M microcontrollers that
run a step in a loop without a library. Needs arm-none-eabi-gcc, and qemu-system-arm, an emulator
that runs the self-test and measures the stack and the number of instructions of a step.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import eigenecho as ee
from common import check, machine, output_of, replace_part

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "guides" / "deploying.md"
CORTEX = HERE / "cortex_m"
STEPS, ROUNDS = 5_000, 25
STREAM = "`stream.step`"
C_FLAGS = ("-std=c99", "-O2", "-ffp-contract=off")
TARGETS = {
    "Cortex-M4F": ("-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard", "mps2-an386"),
    "Cortex-M0": ("-mcpu=cortex-m0", "microbit"),
}
"""Compiler flags and machines of the emulator."""

BARE = (
    "-std=c99", "-Os", "-mthumb", "-ffp-contract=off", "-ffreestanding", "-nostdlib",
    "-fno-tree-loop-distribute-patterns", "-ffunction-sections", "-fdata-sections",
    "-Wl,--gc-sections",
)  # fmt: skip
"""Flags of programs without a library; functions that are not used are removed."""

LOOP = """
#include "network.h"
void run(network_state *state, const network_real *u, network_real *y, long steps)
{
    for (long t = 0; t < steps; t++) network_step(state, u + t, y + t);
}
"""

NODE = """
import { init, step } from "./network.mjs";
const rows = ROWS.map((u) => [u]);
const state = init();
for (const row of rows) step(state, row);
const start = performance.now();
for (const row of rows) step(state, row);
console.log((performance.now() - start) / 1000 / rows.length);
"""


# Times --------------------------------------------------------------------------------------------


def c_loop(model: ee.LinearModel, folder: Path, rows: np.ndarray, dtype: str) -> Callable[[], Any]:
    """Return a function that runs all rows in C and returns the outputs."""
    folder.mkdir()
    assert model.export(folder / "network.c", dtype=dtype).difference == 0
    (folder / "loop.c").write_text(LOOP)
    library = folder / "network.so"
    output_of(["gcc", *C_FLAGS, "-shared", "-fPIC", f"{folder}/network.c", f"{folder}/loop.c",
               "-o", str(library)])  # fmt: skip
    loaded = ctypes.CDLL(str(library))
    u, y = rows.astype(dtype), np.empty(len(rows), dtype)
    state = np.zeros(model.units + model.D_out, dtype)
    loaded.network_init(state.ctypes)

    def run() -> np.ndarray:
        loaded.run(state.ctypes, u.ctypes, y.ctypes, ctypes.c_long(len(u)))
        return y

    return run


def times() -> list[str]:
    """Compare the outputs, then time all implementations in turn."""
    from stream_steps_are_15_times_faster_than_reservoirpy import networks

    peer, models = networks(100, 0.1)
    model = next(iter(models.values()))
    rows = np.random.default_rng(1).uniform(-1, 1, STEPS)
    truth = np.array([np.ravel(peer(np.array([u])))[0] for u in rows[:500]])
    size = np.abs(truth).max()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        single = c_loop(model, folder / "float32", rows, "float32")
        double = c_loop(model, folder / "float64", rows, "float64")
        stream, inputs = model.stream(), [np.array([u]) for u in rows]
        check("C, float64, and reservoirpy", np.abs(double()[:500] - truth).max() / size, 1e-8)
        check("C, float32, and reservoirpy", np.abs(single()[:500] - truth).max() / size, 1e-3)
        outputs = np.array([stream.step(u)[0] for u in inputs[:500]])
        check("stream.step and reservoirpy", np.abs(outputs - truth).max() / size, 1e-8)
        prepare_javascript(model, folder, rows)
        cases = {
            f"reservoirpy {version('reservoirpy')}": lambda: time_per_step(
                lambda: [peer(u) for u in inputs], STEPS
            ),
            STREAM: lambda: time_per_step(lambda: [stream.step(u) for u in inputs], STEPS),
            "C, float64": lambda: time_per_step(double, STEPS),
            "C, float32": lambda: time_per_step(single, STEPS),
            "JavaScript, float64": lambda: float(output_of(["node", f"{folder}/main.mjs"])),
        }
        seconds: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(ROUNDS):
            for name, measure in cases.items():
                seconds[name].append(measure())
    lines = [f"| one step, 100 units | time | compared with {STREAM} |", "|---|---|---|"]
    for name, values in seconds.items():
        fastest = min(values)
        speedup = min(seconds[STREAM]) / fastest
        change = f"{speedup:.3g} times faster" if speedup > 1 else f"{1 / speedup:.3g} times slower"
        time = f"{1e6 * fastest:.3g} µs" if fastest >= 1e-6 else f"{1e9 * fastest:.3g} ns"
        lines.append(f"| {name} | {time} | {'–' if name == STREAM else change} |")
    conditions = f"{machine('numba')}; {tools()}"
    return [*lines, "", f"Times are the fastest of {ROUNDS} rounds in one run ({conditions})."]


def time_per_step(call: Callable[[], Any], steps: int) -> float:
    """Return the seconds of a call, divided by its number of steps."""
    start = perf_counter()
    call()
    return (perf_counter() - start) / steps


def prepare_javascript(model: ee.LinearModel, folder: Path, rows: np.ndarray) -> None:
    """Write a module that prints the seconds of a step after a warmup."""
    model.export(folder / "network.js")
    (folder / "network.mjs").write_text((folder / "network.js").read_text())
    (folder / "main.mjs").write_text(NODE.replace("ROWS", str(rows.tolist())))


def tools() -> str:
    """Return the versions of the compiler and of node."""
    compiler = output_of(["gcc", "-dumpfullversion"]).strip()
    return f"gcc {compiler} `-O2`, node {output_of(['node', '--version']).strip()}"


# Sizes --------------------------------------------------------------------------------------------


def sizes() -> list[str]:
    """Build a program for each network, type and target, and test it in the emulator."""
    series = ee.tasks.mackey_glass(steps=3000, seed=0)
    esn = ee.LinearESN(100, sr=0.95, standardize=True, warmup=200, ridge=1e-6, seed=0)
    esn.fit(series[:2000], series[1:2001])
    small = esn.reduce(tol=1e-3)
    lines = [
        "| units | data type | target | flash | RAM | stack | instructions per step |",
        "|---|---|---|---|---|---|---|",
    ]
    for network in (esn, small):
        for dtype in ("float64", "float32"):
            for target in TARGETS:
                *sizes, instructions = build(network, dtype, target)
                row = (network.model_.units, dtype, target, *(f"{size} bytes" for size in sizes))
                lines.append("| " + " | ".join(map(str, (*row, instructions))) + " |")
                print(lines[-1], flush=True)
    compiler = output_of(["arm-none-eabi-gcc", "-dumpfullversion"]).strip()
    return [*lines, "", f"Compiled with arm-none-eabi-gcc {compiler} `-Os`, without a C library."]


def build(network: Any, dtype: str, target: str) -> list[str]:
    """Return flash, RAM and stack in bytes, and the number of instructions of a step."""
    flags, board = TARGETS[target]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        network.export(folder / "network.c", dtype=dtype)
        for path in CORTEX.iterdir():
            shutil.copy(path, folder)
        sources = [str(folder / "main.c"), str(folder / "network.c")]
        command = ["arm-none-eabi-gcc", *flags.split(), *BARE, "-T", str(folder / "link.ld")]
        program = str(folder / "network.elf")
        output_of([*command, *sources, "-lgcc", "-o", program])
        text, _, bss = output_of(["arm-none-eabi-size", program]).splitlines()[1].split()[:3]
        output_of([*command, "-DREPORT", *sources, "-lgcc", "-o", program])
        emulate = ["qemu-system-arm", "-M", board, "-nographic", "-icount", "shift=0"]
        emulate += ["-semihosting-config", "enable=on,target=native", "-kernel", program]
        done = subprocess.run(emulate, capture_output=True, text=True, timeout=60, check=True)
        stack, instructions, differs = (done.stdout + done.stderr).split()
        check(f"the self-test on {target}, {dtype}", float(differs), 0)
        return [text, bss, stack, instructions]


PARTS = {"times": times, "sizes": sizes}


def main() -> int:
    """Run the parts, and print or write their tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--write", action="store_true", help="update the tables of the guide")
    args = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8") if args.write else ""
    for name in args.only:
        lines = PARTS[name]()
        print("\n".join(lines), "\n", flush=True)
        page = replace_part(page, name, lines)
    if args.write:
        PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
