"""Every matrix converts: the outputs are the original's, and the certificate says how closely.

Checks outputs against a plain NumPy loop over 2000 steps, the certificate's difference against
that check, and the form that each kind of matrix takes. Times the original as SciPy and NumPy run
it (dense, or CSR where that is faster, on one thread) and as our own compiled loops do.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy.sparse import csr_matrix

import eigenecho as ee
from common import machine, table, verdict
from eigenecho.threads import one_blas_thread

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from matrices import DIAGONAL, KINDS, matrix

EQUAL = 1e-8
FASTER = 10
ROUNDING = 1e-13


def plain(W, W_in, W_out, u):
    """Outputs of the original by a textbook loop, and seconds a step."""
    r, outputs = np.zeros(len(W_in[0])), np.empty((len(u), W_out.shape[1]))
    # Columns, so that a CSR matrix is on the left of a product, where it is fastest.
    Wt = W.T.tocsr() if hasattr(W, "tocsr") else np.ascontiguousarray(W.T)
    start = perf_counter()
    for t, row in enumerate(u):
        r = Wt @ r + row @ W_in
        outputs[t] = r @ W_out
    return outputs, (perf_counter() - start) / len(u)


def one(kind, N, seed):
    """A row of the table, and whether each claim holds for it."""
    rng = np.random.default_rng(seed)
    W = matrix(kind, N, seed)
    W_in, W_out = rng.uniform(-1, 1, (1, N)), rng.normal(size=(N, 2))
    start = perf_counter()
    model = ee.diagonalize(W, W_in, W_out)
    took = perf_counter() - start
    said = model.certificate
    u, _ = ee.probe(model)
    wanted, _ = plain(W, W_in, W_out, u)
    measured = float(np.abs(model.predict(u) - wanted).max() / np.abs(wanted).max())
    before, after = [], []
    for _ in range(3):  # in turns: a slow moment of the machine hits both
        with one_blas_thread():
            before += [plain(V, W_in, W_out, u[:400])[1] for V in (W, csr_matrix(W))]
        start = perf_counter()
        model.predict(u)
        after.append((perf_counter() - start) / len(u))
    speedup = min(before) / min(after)
    row = [f"{N} {kind}", said.form, f"{said.condition:.0e}", f"{said.difference:.1e}",
           f"{measured:.1e}", said.steps, speedup, said.speedup, took]  # fmt: skip
    return row, {
        f"outputs equal to {EQUAL:g} over 2000 steps": said.steps == 2000 and measured <= EQUAL,
        "the certificate's difference is what the check measures": (
            abs(said.difference - measured) <= max(0.1 * measured, ROUNDING)
        ),
        "Gaussian, orthogonal and degree ≥ 10 come out diagonal": (
            kind not in DIAGONAL or said.form == "diagonal"
        ),
        f"those are {FASTER} times faster than plain at N = 1000": (
            kind not in DIAGONAL or N < 1000 or speedup >= FASTER
        ),
    }


def main() -> int:
    """Print a row for every matrix; exit with 1 where a claim fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 2, 50, 300, 1000])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    print(machine("numpy", "scipy", "numba"), end="\n\n")
    rows, held = [], {}
    for N in options.sizes:
        for kind in options.kinds:
            for seed in range(options.seeds):
                row, claims = one(kind, N, seed)
                rows.append(row)
                for claim, holds in claims.items():
                    held[claim] = held.get(claim, True) and holds
                    if not holds:
                        print(f"fails at N = {N}, {kind}, seed {seed}: {claim}")
    headers = ("N and W", "form", "cond(Q)", "stated", "measured", "steps", "times faster",
               "than ours", "seconds to convert")  # fmt: skip
    table(headers, rows)
    return max(verdict(claim, holds) for claim, holds in held.items())


if __name__ == "__main__":
    sys.exit(main())
