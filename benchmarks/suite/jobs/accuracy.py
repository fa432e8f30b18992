"""Accuracy of fast methods, compared with slow reference methods."""

from __future__ import annotations

import hashlib
import os
import warnings

import numpy as np

import eigenecho as ee
from common import WrongAnswer, check
from eigenecho.kernels import reference
from suite.job import Job, exact
from suite.jobs.predict import random_model
from suite.networks import white
from suite.record import Record

WARMUP = 200
INPUTS = ("white", "sinusoidal", "AR")
RIDGES = (1e-9, 1e-6, 1e-3)
"""Ridges, relative to the mean diagonal of XᵀX in the neuron basis."""

WRONG = 1e-5
"""Relative difference above which a result is wrong, not just less accurate than required."""


def normal_equations(record: Record) -> None:
    """Compare refined normal equations with the orthogonal solver."""
    N, T = record.pick((1000, 10_000), (100, 1500))
    for kind in INPUTS:
        u, y = task(kind, T)
        worst, fell_back, count = 0.0, 0, 0
        for sr in (0.9, 0.99, 1.0):
            diagonal = mean_diagonal(N, sr, u, y)
            for relative in RIDGES:
                record.say(f"{kind}, radius {sr:g}, ridge {relative:g} of the mean diagonal")
                count += 1
                fast, slow = (fitted(N, sr, relative * diagonal, s, u, y) for s in ("normal", "qr"))
                if fast.solver_ == "normal":
                    truth = slow.predict(u)[WARMUP:]
                    error = np.abs(fast.predict(u)[WARMUP:] - truth).max() / np.abs(truth).max()
                    check(f"normal and qr, {kind}, radius {sr:g}", error, WRONG)
                    worst = max(worst, float(error))
                else:
                    fell_back += 1
        if fell_back == count:
            raise AssertionError(f"{kind}: every fit fell back to qr, so nothing was compared")
        remark = f"largest of {count - fell_back} fits; {fell_back} of {count} fell back to `qr`"
        record.measured(f"normal {kind}", worst, remark=remark)


def fitted(
    N: int, sr: float, ridge: float, solver: str, u: np.ndarray, y: np.ndarray
) -> ee.LinearESN:
    """Fit a golden network, ignoring the warning about growth at radius 1."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ee.LinearESN(N, sr=sr, ridge=ridge, solver=solver, warmup=WARMUP, seed=0).fit(u, y)


def mean_diagonal(N: int, sr: float, u: np.ndarray, y: np.ndarray) -> float:
    """Return the mean of Σ r(t)² over neurons, after the warmup."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        short = ee.LinearESN(N, sr=sr, ridge=1.0, solver="normal", warmup=1, seed=0).fit(
            u[:9], y[:9]
        )
        return float(np.sum(short.states(u, basis="neuron")[WARMUP:] ** 2) / N)


def task(kind: str, T: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a task: a noisy delay, or the next step of noise-free sines."""
    if kind == "sinusoidal":
        series = ee.tasks.mso(5, steps=T + 1)
        return series[:-1], series[1:]
    u, y = white(T)
    if kind == "AR":
        from scipy.signal import lfilter

        u = lfilter([1.0], [1.0, -0.95], u, axis=0)
        y = np.roll(u, 10, axis=0) + 0.1 * y
    return u, y


def inference(record: Record) -> None:
    """Compare convolution and fused scan with the NumPy reference."""
    N, T = record.pick((1000, 20_000), (400, 4000))
    u, _ = white(T)
    for way, sr in (("convolution", 0.9), ("scan", 0.9999)):
        model = random_model(N, sr)
        taken = model.inference(T)
        if taken != way:
            raise AssertionError(f"radius {sr:g} uses {taken}, expected {way}")
        record.say(f"radius {sr:g}, by {way}")
        reservoir, (offset, _, weights, _) = model.reservoir, model.readout
        drive, r = reservoir.drive(u, None), reservoir.zero_state()
        truth = reference.scan_readout(reservoir.form, reservoir.B, drive, weights, r)[0] + offset
        error = np.abs(model.predict(u) - truth).max() / np.abs(truth).max()
        check(f"outputs by {way}", error, WRONG)
        record.measured(f"inference {way}", error, remark=f"radius {sr:g}, N = {N}, T = {T}")


def scan(record: Record) -> None:
    """Compare states at radius 1, of the scan and of a loop, with extended precision."""
    N, T = record.pick((500, 16_384), (100, 16_384))
    if np.finfo(np.longdouble).eps > 1e-18:
        record.skip("scan", "this platform has no extended precision")
        return
    u, _ = white(T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = ee.DiagonalReservoir(N, sr=1.0, seed=0).fit(u)
    reservoir = ours.reservoir_
    sequential = textbook_states(ours.spectrum_, reservoir.W_in, u)
    record.say("extended precision")
    of_ours, of_loop = rms_errors(ours.spectrum_, reservoir.W_in, u, ours.transform(u), sequential)
    remark = f"relative RMS errors of {of_ours:.1e} and {of_loop:.1e}; N = {N}"
    record.measured("scan", of_ours / of_loop, remark=remark)


def textbook_states(spectrum: ee.Spectrum, W_in: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Compute states with a plain loop in double precision."""
    n, (a, b) = spectrum.real.size, (spectrum.pairs.real, spectrum.pairs.imag)
    out = np.empty((len(u), W_in.shape[1]))
    r = np.zeros(W_in.shape[1])
    for t in range(len(u)):
        p, q = r[n::2], r[n + 1 :: 2]
        new = np.empty_like(r)
        new[:n], new[n::2], new[n + 1 :: 2] = spectrum.real * r[:n], a * p - b * q, b * p + a * q
        out[t] = r = new + u[t] @ W_in
    return out


def rms_errors(
    spectrum: ee.Spectrum, W_in: np.ndarray, u: np.ndarray, *computed: np.ndarray
) -> tuple[float, ...]:
    """Return the relative RMS error of each array of states."""
    n = spectrum.real.size
    eigenvalues = np.concatenate([spectrum.real, spectrum.pairs]).astype(np.clongdouble)
    b = W_in[0].astype(np.longdouble)
    b = np.concatenate([b[:n].astype(np.clongdouble), b[n::2] + 1j * b[n + 1 :: 2]])
    r, true = np.zeros_like(b), np.empty(W_in.shape[1], np.longdouble)
    squares, size = np.zeros(len(computed), np.longdouble), np.longdouble(0)
    for t in range(len(u)):
        r = r * eigenvalues + np.longdouble(u[t, 0]) * b
        true[:n], true[n::2], true[n + 1 :: 2] = r.real[:n], r.real[n:], r.imag[n:]
        squares += [np.sum((states[t] - true) ** 2) for states in computed]
        size += np.sum(true**2)
    return tuple(float(np.sqrt(s / size)) for s in squares)


def threads(record: Record) -> None:
    """Check that results are bit-identical for one to four threads."""
    N, T = record.pick((500, 20_000), (200, 8000))
    u, y = white(T)
    solvers = ("normal", "qr")
    digests: dict[int, tuple[str, ...]] = {}
    before = os.environ.get("EIGENECHO_NUM_THREADS")
    for count in (1, 2, 3, 4):
        record.say(f"{count} threads")
        os.environ["EIGENECHO_NUM_THREADS"] = str(count)
        digests[count] = bits(N, u, y, solvers)
    if before is None:
        del os.environ["EIGENECHO_NUM_THREADS"]
    else:
        os.environ["EIGENECHO_NUM_THREADS"] = before
    differ = sum(len({d[i] for d in digests.values()}) > 1 for i in range(len(digests[1])))
    if differ:
        raise WrongAnswer(f"{differ} results depend on the number of threads")
    fits = f"fits ({', '.join(solvers)})"
    remark = f"{len(digests[1])} results were compared: states, {fits}, outputs and forecasts"
    record.measured("threads", differ, remark=remark)


def bits(N: int, u: np.ndarray, y: np.ndarray, solvers: tuple[str, ...]) -> tuple[str, ...]:
    """Return digests of states, and of weights, outputs and forecasts of each solver."""
    arrays = [ee.DiagonalReservoir(N, seed=0).fit_transform(u)]
    for solver in solvers:
        esn = ee.LinearESN(N, ridge=1e-3, solver=solver, warmup=WARMUP, seed=0).fit(u, y)
        arrays += [esn.W_out_, esn.predict(u), esn.forecast(500, context=u[:500])]
    return tuple(hashlib.sha256(np.ascontiguousarray(a)).hexdigest() for a in arrays)


QR = "predictions with `qr` after the warmup"
JOBS = (
    Job("normal", "Normal equations compared with qr", normal_equations, tuple(
        exact(f"normal {kind}",
              f"refined normal equations, {kind} input, spectral radius up to 1, "
              "ridge at least 1e-9 times the mean diagonal entry of XᵀX", QR, 1e-8)
        for kind in INPUTS
    )),
    Job("inference", "Inference compared with the reference", inference, (
        exact("inference convolution", "`predict` by convolution", "NumPy loop", 1e-10),
        exact("inference scan", "`predict` by the fused scan", "NumPy loop", 1e-10),
    )),
    Job("scan", "Scan compared with extended precision", scan, (
        exact("scan", "error of the states compared with extended precision, T = 16 384, radius 1",
              "error of a sequential loop", 1.0, "no larger (ratio of at most {})"),
    )),
    Job("threads", "Reproducibility", threads, (
        exact("threads", "number of results that depend on the number of threads (1 to 4)", "–",
              0, "{}"),
    )),
)  # fmt: skip
