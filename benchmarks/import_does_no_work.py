"""``import eigenecho`` loads no heavy modules and takes far less time than ``import numpy``.

Each statement is timed in a new process. The other rows show when the work is done: the first use
of a name loads numba, scikit-learn and SciPy, and the first fit loads the compiled kernels from the
cache, or compiles them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile

from common import at_most, interleaved, machine, output_of, ratio, table, verdict

HEAVY = ("numba", "scipy", "sklearn", "safetensors", "matplotlib", "pandas", "reservoirpy", "rich")
FIT = (
    "import eigenecho, math; X = [[math.sin(t)] for t in range(100)]; "
    "eigenecho.LinearESN(units=10, seed=0).fit(X, X).predict(X)"
)
STATEMENTS = {
    "import numpy": "import numpy",
    "import eigenecho": "import eigenecho",
    "eigenecho.spectra.golden": "import eigenecho; eigenecho.spectra.golden",
    "eigenecho.LinearESN": "import eigenecho; eigenecho.LinearESN",
    "first fit and predict": FIT,
}
TIMED = """
import json, sys
from time import perf_counter
start = perf_counter()
{statement}
seconds = perf_counter() - start
print(json.dumps([seconds, sorted(sys.modules)]))
"""


def run_in_fresh_process(statement: str, **environment: str) -> tuple[float, list[str]]:
    """Return the seconds of a statement in a new process, and the modules loaded after it."""
    command = [sys.executable, "-c", TIMED.format(statement=statement)]
    seconds, modules = json.loads(output_of(command, **environment))
    return seconds, modules


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument(
        "--no-compile", action="store_true", help="skip the run with an empty kernel cache"
    )
    args = parser.parse_args()

    print(machine("eigenecho", "numpy", "numba", "scikit-learn"), "\n")
    modules = {name: run_in_fresh_process(statement)[1] for name, statement in STATEMENTS.items()}
    seconds: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    cases = {
        name: lambda name=name: seconds[name].append(run_in_fresh_process(STATEMENTS[name])[0])
        for name in STATEMENTS
    }
    interleaved(cases, args.repeats)
    if not args.no_compile:
        name = "first fit and predict, empty cache"
        with tempfile.TemporaryDirectory() as empty:
            once, modules[name] = run_in_fresh_process(FIT, NUMBA_CACHE_DIR=empty)
        seconds[name] = [once] * args.repeats
    numpy_seconds = seconds["import numpy"]
    table(
        ["statement", "relative to import numpy", "ms", "modules", "heavy modules"],
        [
            [
                name,
                ratio(times, numpy_seconds),
                1000 * statistics.median(times),
                len(modules[name]),
                " ".join(h for h in HEAVY if h in modules[name]) or "none",
            ]
            for name, times in seconds.items()
        ],
    )
    loaded = [h for h in HEAVY if h in modules["import eigenecho"]]
    share = ratio(seconds["import eigenecho"], numpy_seconds)
    return verdict(
        {
            at_most("heavy modules loaded by import eigenecho", 0, "modules"): len(loaded),
            at_most("time of import eigenecho", 0.5, "times that of import numpy"): share,
        }
    )


if __name__ == "__main__":
    sys.exit(main())
