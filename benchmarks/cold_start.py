"""Loading a saved model and running a stream needs neither scikit-learn nor pandas.

Each case runs in a new process, with compiled kernels in the cache: CPU time and peak memory of
loading a file and computing one step, for a model (``model.save``) and for an estimator
(``esn.save``). The imports that every case needs are measured too, and so is loading a model after
importing the estimators.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import eigenecho as ee
from common import at_most, interleaved, machine, output_of, ratio, table, verdict

STEP = "import eigenecho; print(eigenecho.load({path!r}).stream().step([0.5])[0])"
CASES = {
    "import numpy, numba, safetensors": "import numpy, numba, safetensors.numpy",
    "model file": STEP,
    "estimator file": STEP,
    "model file, with estimators": "import eigenecho.estimators; " + STEP,
}
TIMED = """
import json, sys, time
start = time.process_time()
{statement}
seconds = time.process_time() - start
# The maximum that getrusage reports includes the memory of the process that started this one.
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
memory = int(status["VmHWM"].split()[0]) / 1024
loaded = [name for name in ("sklearn", "pandas") if name in sys.modules]
print(json.dumps([seconds, memory, loaded]))
"""


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    args = parser.parse_args()
    print(machine("eigenecho", "numpy", "numba", "scikit-learn", "pandas"), "\n")
    series = ee.tasks.mso(3, steps=600)
    esn = ee.LinearESN(100, warmup=50, ridge=1e-8, seed=0).fit(series[:-1], series[1:])
    results: dict[str, list[tuple[float, float, list[str]]]] = {name: [] for name in CASES}
    with tempfile.TemporaryDirectory() as folder:
        paths = {"model": Path(folder, "model"), "estimator": Path(folder, "estimator")}
        esn.model_.save(paths["model"])
        esn.save(paths["estimator"])

        def run(name: str) -> None:
            path = str(paths["estimator" if name.startswith("estimator") else "model"])
            statement = CASES[name].format(path=path)
            output = output_of([sys.executable, "-c", TIMED.format(statement=statement)])
            results[name].append(json.loads(output.splitlines()[-1]))

        cases = {name: lambda name=name: run(name) for name in CASES}
        interleaved(cases, args.repeats + 1)  # the first round fills the caches
    rows, seconds, memory = [], {}, {}
    for name, measured in results.items():
        seconds[name], memory[name], loaded = zip(*measured[1:], strict=True)
        rows.append((name, min(seconds[name]), min(memory[name]), ", ".join(loaded[0]) or "–"))
    table(["", "CPU seconds", "peak MiB", "loads"], rows)
    full, model = "model file, with estimators", "model file"
    return verdict(
        {
            at_most("CPU time of a model file", 0.6): ratio(seconds[model], seconds[full]),
            at_most("memory of a model file", 0.6): ratio(memory[model], memory[full]),
        }
    )


if __name__ == "__main__":
    sys.exit(main())
