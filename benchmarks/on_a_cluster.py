"""Two workers of 1 GiB fit a series of 10⁸ rows, 1.6 times as fast as one worker.

The series is in a .npy file that the workers map into memory; the client never loads it. A cluster
of two single-threaded processes fits a network of 500 units, and a cluster of one process gathers
the same statistics. The script prints the seconds of each step, the peak memory of all processes,
and the transferred bytes compared with the formula in docs/clusters.md. First, the first rows are
fitted without a cluster and on both clusters: predictions must agree, and weights must be
bit-identical.

With ``--one-core`` there is no cluster: the first rows are fitted in this process, and the CPU time
per million rows is printed for each step.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from common import WrongAnswer, at_least, check, machine, table, verdict

FIRST = 1_000_000
"""Rows that are also fitted on one machine."""

TIMED = 10_000_000
"""Rows for measuring the CPU time."""


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--chunk", type=int, default=1_000_000, help="rows per shard")
    parser.add_argument("--units", type=int, default=500)
    parser.add_argument("--memory", default="1GiB", help="memory limit of each worker")
    parser.add_argument("--at-least", type=float, default=1.6, help="goal for the speedup")
    parser.add_argument("--folder", help="folder for the file; temporary by default")
    parser.add_argument("--one-core", action="store_true", help="measure only the CPU time")
    args = parser.parse_args()
    print(machine("eigenecho", "dask", "distributed", "numpy"))
    if args.one_core:
        args.rows = min(args.rows, TIMED)
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        path = Path(folder) / "series.npy"
        write(path, args.rows + 1)
        print(f"{args.rows:.0e} rows, {path.stat().st_size / 1e9:.2f} GB, N = {args.units}, "
              f"shards of {args.chunk} rows\n")  # fmt: skip
        if args.one_core:
            table(["step", "ms of the processor, a million rows"], one_core(path, args))
            return 0
        error = compare_with_one_machine(path, args)
        two, one = (
            run_fit(path, 2, args, args.rows),
            run_fit(path, 1, args, args.rows, "statistics"),
        )
    stages = list(two["seconds"])
    table(
        ["", *stages, "all", "CPU", "largest worker MiB", "client MiB"],
        [[f"{n} workers", *(run["seconds"].get(s, "") for s in stages), run["all"], run["cpu"],
          run["worker"], run["client"]] for n, run in ((1, one), (2, two))],
    )  # fmt: skip
    print()
    table(
        ["bytes of two workers", "measured", "formula", "of it"],
        [[name, f"{got:,}", f"{wanted:,}", why] for name, got, wanted, why in traffic(two, args)],
    )
    ratio = one["seconds"]["statistics"] / two["seconds"]["statistics"]
    print(f"statistics: {ratio:.2f} times as fast on two workers as on one")
    print(f"predictions of the first {FIRST:.0e} rows: {error:.1e} from those of one machine")
    goal = at_least("statistics on two workers", args.at_least, "times as fast as on one")
    return verdict({goal: ratio})


def write(path: Path, rows: int) -> None:
    """Write noisy sines to the file in chunks."""
    out = np.lib.format.open_memmap(path, "w+", np.float64, (rows, 1))
    rng = np.random.default_rng(0)
    for start in range(0, rows, 1 << 22):
        t = np.arange(start, min(start + (1 << 22), rows), dtype=np.float64)
        out[start : start + len(t), 0] = np.sin(0.2 * t) + np.sin(0.311 * t) + rng.normal(
            scale=0.3, size=len(t)
        )  # fmt: skip
    out.flush()


def series(path: Path, chunk: int, start: int, rows: int) -> Any:
    """Return the first rows of the file as a dask array; workers map the file."""
    import dask.array as da

    def read(block_info: Any) -> np.ndarray:
        first, last = block_info[None]["array-location"][0]
        return np.array(np.load(path, mmap_mode="r")[start + first : start + last])

    chunks = da.core.normalize_chunks((chunk, 1), shape=(rows, 1))
    return da.map_blocks(read, chunks=chunks, dtype=float, meta=np.empty((0, 1)))


def network(args: argparse.Namespace) -> Any:
    """Return the network to be fitted."""
    import eigenecho as ee

    return ee.LinearESN(
        args.units, sr=0.95, penalty="identity", ridge=1.0, warmup=500, solver="normal", seed=0
    )


def compare_with_one_machine(path: Path, args: argparse.Namespace) -> float:
    """Return the difference between predictions of the cluster and of one machine.

    Raise WrongAnswer if it is too large, or if weights depend on the number of workers.
    """
    rows = min(FIRST, args.rows)
    u = np.array(np.load(path, mmap_mode="r")[: rows + 1])
    wanted = network(args).fit(u[:-1], u[1:]).predict(u)
    one, two = (run_fit(path, workers, args, rows)["esn"] for workers in (1, 2))
    error = float(np.abs(two.predict(u) - wanted).max() / np.abs(wanted).max())
    check("predictions of the cluster and of one machine", error, 1e-10)
    if not np.array_equal(one.W_out_, two.W_out_):
        raise WrongAnswer("weights of one and of two workers have different bits")
    return error


def one_core(path: Path, args: argparse.Namespace) -> list[list[object]]:
    """Return the milliseconds per million rows of each step, averaged over passes."""
    from dask.callbacks import Callback

    import dask
    from eigenecho.dask import fit

    X, y = (series(path, args.chunk, start, args.rows) for start in (0, 1))
    begun: dict[Any, float] = {}
    spent: dict[str, list[float]] = {}

    def before(key: Any, *_: Any) -> None:
        begun[key] = time.process_time()

    def after(key: Any, *_: Any) -> None:
        step = key[0].partition("-")[0]
        spent.setdefault(step, []).append(time.process_time() - begun[key])

    with dask.config.set(scheduler="synchronous"):
        fit(network(args), X, y)  # compiles
        with Callback(pretask=before, posttask=after):
            fit(network(args), X, y)
    return [
        [step, 1e3 * float(np.mean(times)) / (args.chunk / 1e6)] for step, times in spent.items()
    ]


class FitStopped(Exception):
    """Raised to stop a fit after the last step of interest."""


def run_fit(
    path: Path, workers: int, args: argparse.Namespace, rows: int, last: str = ""
) -> dict[str, Any]:
    """Fit with a number of workers, up to the ``last`` step; return time, memory and bytes."""
    from distributed import Client, LocalCluster

    from eigenecho.dask import fit

    X, y = (series(path, min(args.chunk, rows // 7), start, rows) for start in (0, 1))
    esn = network(args)
    begun: dict[str, float] = {}
    seconds: Counter[str] = Counter()
    rounds: Counter[str] = Counter()

    def report(step: str, done: int, total: int) -> None:
        now = time.perf_counter()
        if done == 0:
            begun[step] = now
            rounds[step] += 1
        elif done == total:
            seconds[step] += now - begun[step]
            if step == last:
                raise FitStopped

    with LocalCluster(
        n_workers=workers, threads_per_worker=1, memory_limit=args.memory, dashboard_address=None
    ) as cluster, Client(cluster) as client:  # fmt: skip
        client.run(warm_up)
        client.run(count_writes, cluster.scheduler.address)
        count_writes(cluster.scheduler.address)
        start, cpu = time.perf_counter(), sum(client.run(time.process_time).values())
        with contextlib.suppress(FitStopped):
            fit(esn, X, y, client=client, progress=report)
        whole = time.perf_counter() - start
        cpu = sum(client.run(time.process_time).values()) - cpu
        written_bytes = Counter(counted_bytes())
        for counts in client.run(counted_bytes).values():
            written_bytes += Counter({f"worker {name}": n for name, n in counts.items()})
        between = sum(client.run(sent_bytes).values())
        peak = max(client.run(peak_mib).values())
    return {
        "esn": esn, "seconds": seconds, "all": whole, "cpu": cpu, "worker": peak,
        "client": peak_mib(), "written": written_bytes, "between": between, "rounds": rounds,
        "shards": X.numblocks[0], "workers": workers,
    }  # fmt: skip


def settling(esn: Any) -> int:
    """Return the settling time K of the reservoir in steps."""
    from eigenecho.kernels.convolution import settling_steps

    return int(settling_steps(esn.model_.reservoir.form))


def traffic(run: dict[str, Any], args: argparse.Namespace) -> list[tuple[str, int, int, str]]:
    """Return the transferred bytes: measured, and the bound of docs/clusters.md."""
    S, W, K, N = run["shards"], run["workers"], settling(run["esn"]), args.units
    D, E, k, head = 1, 3, 1, 1
    lags = 8 * (K * E * D + E * E + 2 * K * D)
    left = 8 * ((head + N) * k + k * k + k)
    passes = run["rounds"]["statistics"]
    rounds = run["rounds"]["residuals"]
    net = 8 * (N + N * D + 4 * N)
    weights = 8 * (head + N) * k
    halos = 8 * (S - 1) * K * 2 * (passes + rounds)
    merges = (S - 1) * (passes * lags + rounds * left)
    halos += 8 * S * K * 2
    values = halos + (passes + rounds) * (W + 1) * net + rounds * (W + 1) * weights
    results = passes * lags + rounds * left
    tasks = sum(run["rounds"].values()) * S * 3
    written_bytes = run["written"]
    through = sum(n for name, n in written_bytes.items() if "heartbeat" not in name)
    beats = sum(n for name, n in written_bytes.items() if "heartbeat" in name)
    return [
        ("between workers", run["between"], merges,
         f"(S−1)·(lags {lags} or residuals {left}), if all are moved"),
        # Data sent through the scheduler are written twice: to it and by it.
        ("through the scheduler", through, 2 * (values + results) + 1000 * tasks,
         f"twice halos {halos:,}, numbers {values + results - halos:,}; {tasks:,} tasks of 1000"),
        ("heartbeats", beats, 0, "2 per second and worker"),
        ("the series itself", 8 * args.rows, 0, "read by the workers, never sent"),
    ]  # fmt: skip


# On workers and in this process -------------------------------------------------------------------


def warm_up() -> None:
    """Load the compiled kernels, so that they are not timed."""
    import numpy as np

    import eigenecho as ee

    u = np.random.default_rng(0).normal(size=(30_000, 1))
    ee.LinearESN(50, solver="normal", seed=0).fit(u, u)


def count_writes(scheduler: str) -> None:
    """Count the bytes that this process writes, as client and as scheduler."""
    from distributed.comm.tcp import TCP

    if hasattr(TCP, "counted_bytes"):
        TCP.counted_bytes.clear()
        TCP.scheduler = scheduler
        return
    TCP.counted_bytes, TCP.scheduler = {}, scheduler
    plain = TCP.write

    async def write(self: Any, msg: Any, *given: Any, **options: Any) -> int:
        count = await plain(self, msg, *given, **options)
        name = "elsewhere"
        if TCP.scheduler in (self.local_address, self.peer_address):
            name = "to the scheduler" if self.peer_address == TCP.scheduler else "by the scheduler"
            if isinstance(msg, dict) and (
                msg.get("op") == "heartbeat_worker" or "heartbeat-interval" in msg
            ):
                name = "heartbeat"
            TCP.counted_bytes[name] = TCP.counted_bytes.get(name, 0) + int(count or 0)
        return count

    TCP.write = write


def counted_bytes() -> dict[str, int]:
    """Return the bytes counted so far."""
    from distributed.comm.tcp import TCP

    return dict(TCP.counted_bytes)


def sent_bytes(dask_worker: Any) -> int:
    """Return the bytes that a worker has sent to other workers."""
    return int(dask_worker.transfer_outgoing_bytes_total)


def peak_mib() -> float:
    """Return the peak resident memory of this process."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    sys.exit(main())
