"""Every matrix can be converted, and outputs agree to the accuracy stated in the certificate.

Compares the outputs with a plain NumPy loop over 2000 steps, compares the result with the
certificate, and checks the form of each kind of matrix. Times the original in NumPy and SciPy
(dense or CSR, whichever is faster, on one thread) and in compiled loops.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy.sparse import csr_matrix

import eigenecho as ee
from common import WrongAnswer, at_least, at_most, machine, table, verdict
from eigenecho.threads import one_blas_thread

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from matrices import DIAGONAL, KINDS, matrix

EQUAL = 1e-8
FASTER = 10
ROUNDING = 1e-13


def plain(W, W_in, W_out, u):
    """Return the outputs of the original network by a plain loop, and the seconds per step."""
    r, outputs = np.zeros(len(W_in[0])), np.empty((len(u), W_out.shape[1]))
    # States are columns here, because products with a CSR matrix on the left are fastest.
    Wt = W.T.tocsr() if hasattr(W, "tocsr") else np.ascontiguousarray(W.T)
    start = perf_counter()
    for t, row in enumerate(u):
        r = Wt @ r + row @ W_in
        outputs[t] = r @ W_out
    return outputs, (perf_counter() - start) / len(u)


def measure_conversion(kind, N, seed):
    """Return a row of the table, the form, the speedup, and a list of errors."""
    rng = np.random.default_rng(seed)
    W = matrix(kind, N, seed)
    W_in, W_out = rng.uniform(-1, 1, (1, N)), rng.normal(size=(N, 2))
    start = perf_counter()
    model = ee.diagonalize(W, W_in, W_out)
    took = perf_counter() - start
    certificate = model.certificate
    u, _ = ee.probe(model)
    wanted, _ = plain(W, W_in, W_out, u)
    measured = float(np.abs(model.predict(u) - wanted).max() / np.abs(wanted).max())
    before, after = [], []
    for _ in range(3):  # alternate, so that a slow phase of the machine affects both
        with one_blas_thread():
            before += [plain(V, W_in, W_out, u[:400])[1] for V in (W, csr_matrix(W))]
        start = perf_counter()
        model.predict(u)
        after.append((perf_counter() - start) / len(u))
    speedup = min(before) / min(after)
    row = [f"{N} {kind}", certificate.form, f"{certificate.condition:.0e}",
           f"{certificate.difference:.1e}", f"{measured:.1e}", certificate.steps, speedup,
           took]  # fmt: skip
    wrong = []
    if not (certificate.steps == 2000 and measured <= EQUAL):
        wrong.append(f"outputs differ by {measured:.1e} over {certificate.steps} steps")
    if not abs(certificate.difference - measured) <= max(0.1 * measured, ROUNDING):
        wrong.append(f"certificate says {certificate.difference:.1e}, measured {measured:.1e}")
    return row, certificate.form, speedup, wrong


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 2, 50, 300, 1000])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    print(machine("numpy", "scipy", "numba"), end="\n\n")
    rows, wrong, speedups, others = [], [], [], 0
    for N in options.sizes:
        for kind in options.kinds:
            for seed in range(options.seeds):
                row, form, speedup, errors = measure_conversion(kind, N, seed)
                rows.append(row)
                wrong += [f"N = {N}, {kind}, seed {seed}: {error}" for error in errors]
                if kind in DIAGONAL:
                    others += form != "diagonal"
                    speedups += [speedup] if N >= 1000 else []
    headers = ("N and W", "form", "cond(Q)", "certified", "measured", "steps", "speedup",
               "conversion (s)")  # fmt: skip
    table(headers, rows)
    if wrong:
        raise WrongAnswer("; ".join(wrong))
    measured = {
        at_most("Gaussian, orthogonal and degree ≥ 10 not in diagonal form", 0, "matrices"): others
    }
    if speedups:
        goal = at_least(
            "slowest of these at N = 1000, compared with a plain loop", FASTER, "times faster"
        )
        measured[goal] = min(speedups)
    return verdict(measured)


if __name__ == "__main__":
    sys.exit(main())
