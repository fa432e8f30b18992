"""Measure states, fits, predictions and forecasts on a GPU: ``make bench-gpu``.

Results are compared with those of the CPU, or with the recurrence, before they are timed. Times are
medians of device events, or of synchronised calls, after a warm-up. All methods run in the same
process on the same data, except for JAX, which runs in its own process. Writes
docs/benchmarks-gpu.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import eigenecho as ee

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks-gpu.md"
PARTS = ("states", "fits", "answers", "search", "cores")

JAX = """
import json, os, sys, time
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import jax, jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
N, T, bits = map(int, sys.argv[1:])
real = jnp.float64 if bits == 64 else jnp.float32
key = jax.random.key(0)
u = jax.random.uniform(key, (T, 1), real) - 0.5
angle = jax.random.uniform(key, (N // 2,), real)
values = 0.99 * jnp.exp(1j * angle).astype(jnp.complex128 if bits == 64 else jnp.complex64)
@jax.jit
def scan(u):
    def join(one, two):
        return one[0] * two[0], two[0] * one[1] + two[1]
    a = jnp.broadcast_to(values, (len(u), N // 2))
    return jax.lax.associative_scan(join, (a, u * jnp.ones_like(values)))[1]
scan(u).block_until_ready()
times = []
for _ in range(5):
    start = time.perf_counter()
    scan(u).block_until_ready()
    times.append(time.perf_counter() - start)
print(json.dumps(sorted(times)[2]))
"""


def seconds(call: Callable[[], Any], repeats: int = 7, warm: int = 2) -> float:
    """Return the median time of synchronised calls."""
    import torch

    times = []
    for i in range(warm + repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        if i >= warm:
            times.append(time.perf_counter() - start)
    return median(times)


def seconds_behind(call: Callable[[], Any], work: Callable[[], Any], repeats: int = 21) -> float:
    """Return the median time by device events, of calls issued while the device is busy.

    This is the situation in a pipeline, where the host prepares the next call in advance.
    """
    import torch

    times = []
    for _ in range(repeats):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        work()
        start.record()
        call()
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop) / 1e3)
    return median(times)


def of_jax(N: int, T: int, bits: int) -> str:
    """Return the TB/s of states of JAX's associative scan, or why it was not measured."""
    words = [sys.executable, "-c", JAX, str(N), str(T), str(bits)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        return "not measured"
    return f"{N * T * bits / 8 / json.loads(done.stdout) / 1e12:.2f}"


def states() -> list[tuple[str, ...]]:
    """Measure about 10⁹ states, compared with filling the same array."""
    import torch

    rows = []
    for dtype, bits in ((torch.float64, 64), (torch.float32, 32)):
        for N, T in ((1000, 1_000_000), (4000, 250_000)):
            torch.cuda.empty_cache()
            u = torch.rand(T, 1, dtype=dtype, device="cuda") - 0.5
            reservoir = ee.DiagonalReservoir(N, sr=0.99, dtype=f"float{bits}", seed=0).fit(u)
            out = torch.full((T, N), torch.nan, dtype=dtype, device="cuda")
            reservoir.transform(u, out=out)
            wanted = reservoir.transform(u[:20_000].cpu()).numpy()
            error = np.abs(out[:20_000].cpu().numpy() - wanted).max() / np.abs(wanted).max()
            assert error < (1e-12 if bits == 64 else 1e-4), error
            assert bool(torch.isfinite(out).all())
            size = out.numel() * bits / 8 / 1e12
            ours = partial(reservoir.transform, u, out=out)
            fill = partial(out.fill_, 1.0)
            speeds = [size / seconds(call, 21, 5) for call in (ours, fill)]
            speeds.insert(1, size / seconds_behind(ours, fill))
            del out, ours, fill
            torch.cuda.empty_cache()
            jax = of_jax(N, T // 4, bits)
            texts = [f"{speed:.2f}" for speed in speeds]
            rows.append((f"float{bits}, N = {N}, T = {T}", *texts, jax))
            print("states", *rows[-1], flush=True)
    return rows


def sines(T: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return noise, and a noisy delayed copy of it."""
    rng = np.random.default_rng(seed)
    u = rng.uniform(-1, 1, (T, 1))
    y = sum(np.roll(u, k, axis=0) / k for k in (1, 5, 20)) + 0.01 * rng.normal(size=(T, 1))
    return u, y


def fits(cpu: bool) -> list[tuple[str, ...]]:
    """Measure fits with data on the device, and compare predictions with the CPU."""
    import torch

    rows, T = [], 100_000
    u, y = sines(T)
    X, Y = torch.tensor(u, device="cuda"), torch.tensor(y, device="cuda")
    ee.LinearESN(500, penalty="identity", ridge=1e-4, seed=0).fit(u, y)  # compiles the kernels
    for N, penalty in (
        (2000, "identity"),
        (10_000, "identity"),
        (20_000, "identity"),
        (3000, "neuron"),
    ):
        torch.cuda.empty_cache()
        esn = ee.LinearESN(N, penalty=penalty, ridge=1e-4, seed=0)
        time_ = seconds(lambda esn=esn: esn.fit(X, Y), 3, 1)
        solver, agreement, host = esn.solver_, "", ""
        if cpu and N <= 10_000:
            start = time.perf_counter()
            other = ee.LinearESN(N, penalty=penalty, ridge=1e-4, seed=0).fit(u, y)
            host = f"{time.perf_counter() - start:.2f}"
            ours, theirs = esn.predict(X).cpu().numpy(), other.predict(u)
            agreement = f"{np.abs(ours - theirs).max() / np.abs(theirs).max():.1e}"
        rows.append((f"N = {N}, {penalty}", solver, f"{time_:.3f}", host, agreement))
        print("fit", *rows[-1], flush=True)
        del esn
    return rows


def answers() -> list[tuple[str, ...]]:
    """Measure predictions of a long series and forecasts of many series."""
    import torch

    rows = []
    u, y = sines(20_000)
    esn = ee.LinearESN(1000, penalty="identity", ridge=1e-4, seed=0).fit(u, y)
    long = torch.rand(10_000_000, 1, dtype=torch.float64, device="cuda") - 0.5
    outputs, expected = esn.predict(long[:200_000]), esn.predict(long[:200_000].cpu())
    assert float((outputs.cpu() - expected).abs().max()) < 1e-10
    way = esn.model_.inference(10_000_000)
    rows.append(
        (f"`predict`, T = 10⁷, N = 1000 ({way})", f"{1e3 * seconds(lambda: esn.predict(long)):.2f}")
    )
    X = ee.tasks.mso(5, steps=3001)
    loop = ee.LinearESN(500, penalty="identity", ridge=1e-6, seed=0).fit(X[:-1], X[1:])
    contexts = np.stack([X[i % 2000 : i % 2000 + 500] for i in range(10_000)])
    stack = torch.tensor(contexts, device="cuda")
    many = loop.forecast(1000, context=stack)
    alone = loop.forecast(1000, context=contexts[17])
    assert np.abs(many[17].cpu().numpy() - alone).max() < 1e-8 * np.abs(alone).max()
    took = seconds(lambda: loop.forecast(1000, context=stack))
    rows.append(
        ("`forecast` of 10 000 series, 1000 steps after 500 rows, N = 500", f"{1e3 * took:.1f}")
    )
    for row in rows:
        print(*row, flush=True)
    return rows


def searches(cpu: bool) -> list[tuple[str, ...]]:
    """Measure a search of 200 combinations on the device and on the CPU."""
    import torch

    u, y = sines(20_000)
    X, Y = torch.tensor(u, device="cuda"), torch.tensor(y, device="cuda")
    ridges = [1e-4, 1e-3, 1e-2, 1e-1, 1.0]
    grids = {
        "40 reservoirs × 5 ridge values": {
            "sr": np.linspace(0.5, 0.99, 10).tolist(), "lr": [0.4, 0.6, 0.8, 1.0], "ridge": ridges
        },
        "200 reservoirs": {"sr": np.linspace(0.5, 0.99, 50).tolist(), "lr": [0.4, 0.6, 0.8, 1.0]},
    }  # fmt: skip
    rows = []
    for name, grid in grids.items():
        esn = ee.LinearESN(300, ridge=1e-3, warmup=200, seed=0)
        searched = ee.search(esn, grid, X, Y, refit=False)
        took = seconds(lambda esn=esn, grid=grid: ee.search(esn, grid, X, Y, refit=False), 3, 0)
        host = differs = ""
        if cpu:
            start = time.perf_counter()
            other = ee.search(esn, grid, u, y, refit=False)
            host = f"{time.perf_counter() - start:.2f}"
            differs = f"{np.abs(searched.errors / other.errors - 1).max():.1e}"
            assert searched.best_index == other.best_index
        rows.append((name, f"{took:.2f}", host, differs))
        print("search", *rows[-1], flush=True)
    return rows


CORES = """
import hashlib, json, os, sys, time
import numpy as np
import eigenecho as ee
from benchmarks.on_a_gpu import sines
job = sys.argv[1]
u, y = sines(100_000)
if job == "numpy":
    states = ee.DiagonalReservoir(1000, seed=0).fit(u).transform(u)
    np.linalg.qr(states[:5000], mode="r")
    start = time.perf_counter()
    np.linalg.qr(states, mode="r")
    print(json.dumps([time.perf_counter() - start, ""]))
    sys.exit()
N, solver = (1000, "qr") if job == "qr" else (10_000, "auto")
esn = ee.LinearESN(N, solver=solver, penalty="identity", ridge=1e-4, seed=0)
warm = "qr" if job == "qr" else "normal"
ee.LinearESN(100, solver=warm, penalty="identity", seed=0).fit(u[:5000], y[:5000])
start = time.perf_counter()
esn.fit(u, y)
took = time.perf_counter() - start
digest = hashlib.sha256(np.ascontiguousarray(esn.coef_).tobytes()).hexdigest()
print(json.dumps([took, digest[:12]]))
"""


def in_threads(job: str, threads: int | None) -> tuple[float, str]:
    """Run a job with a number of threads in a new process; return seconds and a digest.

    The NumPy job uses all threads of its BLAS.
    """
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "EIGENECHO_NUM_THREADS"):
        environment.pop(name, None)
    if threads is not None:
        environment["EIGENECHO_NUM_THREADS"] = str(threads)
    words = [sys.executable, "-c", CORES, job]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    took, digest = json.loads(done.stdout.splitlines()[-1])
    return took, digest


def cores(counts: Sequence[int]) -> list[tuple[str, ...]]:
    """Measure fits with different numbers of threads of the host, and NumPy's qr."""
    names = {"qr": '`solver="qr"`, N = 1000, T = 100 000', "large": "N = 10 000, T = 100 000"}
    rows = []
    for job, name in names.items():
        times, digests = zip(*(in_threads(job, threads) for threads in counts), strict=True)
        assert len(set(digests)) == 1, f"results depend on the number of threads: {digests}"
        numpy = f"{in_threads('numpy', None)[0]:.2f}" if job == "qr" else ""
        ratio = f"{times[0] / times[-1]:.1f}"
        rows.append((name, *(f"{took:.2f}" for took in times), ratio, numpy))
        print("cores", *rows[-1], flush=True)
    return rows


def table(head: str, rows: list[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    columns = head.count("|") - 1
    lines = [head, "|" + "---|" * columns]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def machine() -> str:
    """Return a description of the machine."""
    import torch
    import triton

    return (
        f"a machine with an {torch.cuda.get_device_name()} and {os.cpu_count()} CPU cores, using "
        f"torch {torch.__version__}, triton {triton.__version__} and numpy {np.__version__}"
    )


ABOUT = """\
This page shows the speed of eigenecho on a GPU, compared with its speed on the CPU. N is the number
of units and T is the number of rows. The results were measured by `make bench-gpu` on
{machine}."""

ABOUT_STATES = """\
The table shows the rate, in TB/s, at which the states of a network are written to memory as real
numbers (in the [Q layout](notation.md)). *Fill* is the rate at which a constant is written to an
array of the same size, which is an upper limit. *Queued* is the rate of a call that is issued while
the device is still busy with earlier work, as in a pipeline. JAX is timed on a quarter of the
steps, because its associative scan needs several times as much memory as eigenecho."""

ABOUT_FITS = """\
The table shows the time of `fit` on 100 000 rows, for networks with N units and both values of
`penalty`. In fits on the GPU, the rows are already in GPU memory. The last column is the largest
difference between the predictions of the networks trained on the GPU and on the CPU, relative to
the largest prediction. Empty cells were not measured."""

ABOUT_ANSWERS = (
    "The table shows the time of one call on data that are already in the memory of the GPU."
)

ABOUT_SEARCHES = """\
The table shows the time of `ee.search` for 200 combinations of hyperparameters, with N = 300 and
T = 20 000. The last column is the largest relative difference between the validation errors
computed on the GPU and on the CPU."""

ABOUT_CORES = """\
The table shows the time of `fit` on the CPU for different numbers of threads. The weights are
bit-identical for all numbers of threads. The speed-up compares the largest number of threads with
one thread. The last column is the time that `numpy.linalg.qr` takes for a matrix of the same states
with all threads."""


def main() -> int:
    """Run the benchmarks and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--no-cpu", action="store_true", help="skip the fits on the CPU")
    parser.add_argument("--page", type=Path, default=PAGE)
    args = parser.parse_args()
    print(machine(), flush=True)
    parts = [f"# GPU benchmarks\n\n{ABOUT.format(machine=machine())}"]
    if "states" in args.only:
        head = "| data type and size | eigenecho | eigenecho, queued | fill "
        head += "| JAX associative scan, T / 4 |"
        parts.append(f"## Computing the states\n\n{ABOUT_STATES}\n\n{table(head, states())}")
    if "fits" in args.only:
        head = "| units and penalty | solver | GPU (s) | CPU (s) | relative difference |"
        parts.append(f"## Fits\n\n{ABOUT_FITS}\n\n{table(head, fits(not args.no_cpu))}")
    if "answers" in args.only:
        head = "| call | time (ms) |"
        parts.append(f"## Predictions and forecasts\n\n{ABOUT_ANSWERS}\n\n{table(head, answers())}")
    if "search" in args.only:
        head = "| grid | GPU (s) | CPU (s) | relative difference |"
        rows = searches(not args.no_cpu)
        parts.append(f"## Searches\n\n{ABOUT_SEARCHES}\n\n{table(head, rows)}")
    if "cores" in args.only:
        counts = sorted({1, 2, len(os.sched_getaffinity(0))})
        head = "| network | " + " | ".join(f"{n} thread{'s' * (n > 1)} (s)" for n in counts)
        head += " | speed-up | `numpy.linalg.qr` (s) |"
        parts.append(f"## CPU threads\n\n{ABOUT_CORES}\n\n{table(head, cores(counts))}")
    args.page.parent.mkdir(parents=True, exist_ok=True)
    args.page.write_text("\n\n".join(parts) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
