"""Crafted model files with matching digests, and a process that loads and uses them.

    python tests/crafted.py first count

Case ``seed`` is always the same file. The process prints one line of JSON for each case,
[seed, "loaded"], [seed, "refused"] or [seed, failure], after a line [seed, "begun"], which shows
the case that was running if the process dies.
"""

from __future__ import annotations

import hashlib
import json
import resource
import struct
import sys
import tempfile
import tracemalloc
import warnings
from copy import deepcopy
from pathlib import Path

import numpy as np

import eigenecho as ee
from eigenecho import files
from eigenecho.errors import StorageError, UnstableError

TIMES, CONSTANT = 10, 2**20
"""Maximum memory of loading a file in bytes: TIMES times its size plus CONSTANT."""

ADDRESS_SPACE = 16 << 30
"""Address space of the process in bytes, so that huge allocations fail immediately."""

DTYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32",
    "int16": "I16", "int8": "I8", "uint64": "U64", "uint32": "U32", "uint8": "U8",
    "bool": "BOOL", "complex64": "C64",
}  # fmt: skip

STRANGE = [
    None, True, False, 0, 1, -1, 2, 7, 2**31, 2**63, -(2**63), 10**12, 10**400, 0.5, 1.5, -0.0,
    1e308, 5e-324, -1e308, float("nan"), float("inf"), float("-inf"), "", "1", "0.5", "float32",
    "float64", "complex128", "O", "<U500000000", "<M8[ns]", "qr", "Gram", "matrix", "golden",
    "identity", "größe", "\ud800", {"time": "2024"}, {"time": "NaT"}, {"tuple": ["a", 1]},
    {"tuple": [[1]]}, {"dtype": "<U500000000"}, {"dtype": "O"}, {"class": "Gram"},
    [], [1], [0.5, "a"], [[1.0]], [1e-3] * 40, {}, {"a": 1}, {"numpy": "float32"}, [None],
]  # fmt: skip


EXTRA = [
    "extra", "W_out", "reservoir.bias", "reservoir.W_fb", "basis.Q", "inputs.mean",
    "fitted.stored_noise", "fitted.model.reservoir.bias", "fitted.model.basis.Q",
]  # fmt: skip


# Saved objects --------------------------------------------------------------------------------

WAVES = np.column_stack([np.sin(0.3 * np.arange(80.0)), np.cos(0.2 * np.arange(80.0))])


def matrix(density=1.0, N=8, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(N, N)) * (rng.random((N, N)) < density)
    return 0.8 * W / max(np.abs(np.linalg.eigvals(W)).max(), 0.1)


def networks():
    from scipy import sparse

    def fitted(columns=1, **options):
        X, Y = WAVES[:-1, :columns], WAVES[1:, :columns]
        return ee.LinearESN(**{"units": 8, "seed": 0, "ridge": 1e-3, **options}).fit(X, Y)

    everything = {
        "feedback": True, "fb_scaling": 0.1, "output_to_readout": True, "standardize": True,
        "input_bias": True, "lr": 0.5, "warmup": 3, "ridge": 1.0, "penalize_bias": False,
    }  # fmt: skip
    import pandas as pd

    frame = pd.DataFrame(WAVES, columns=["load", "größe"])
    named = ee.LinearESN(8, ridge=1e-3, input_scaling=[0.5, 2.0], seed=0)
    return {
        "plain": fitted(),
        "identity": fitted(penalty="identity", fit_bias=False),
        "auto": fitted(2, ridge="auto", solver="normal"),
        "everything": fitted(2, **everything),
        "everything float32": fitted(2, **everything, dtype="float32"),
        "normal": fitted(2, solver="normal", ridge=[1e-3, 1.0]),
        "dense": fitted(basis="neuron", spectrum="matrix", dtype="float32"),
        "sparse": fitted(basis="neuron", spectrum=sparse.csr_matrix(matrix(0.3))),
        "sparse float32": fitted(2, basis="neuron", spectrum=matrix(0.15), dtype="float32"),
        "given": fitted(spectrum=ee.Spectrum([0.5, -0.2], [0.3 + 0.4j])),
        "matrix": fitted(2, spectrum=matrix(), warmup=2),
        "generator": ee.LinearESN(8, feedback=True, ridge=1e-3, seed=0).fit(None, WAVES[:, 0]),
        "named": named.fit(frame[:-1], frame[1:]),
        "features": fitted(2, features=ee.features.joined("quadratic", *random_features())),
        "delay line": fitted(2, spectrum=ee.delay_line(2, spacing=3), features="quadratic"),
        "linear delay line": fitted(2, spectrum=ee.delay_line(3), dtype="float32"),
    }


def random_features():
    return ee.features.cosines(3, seed=1), ee.features.tanh(2, scale=0.5)


def forecasters():
    """Return forecasters of series in every container, with columns of both kinds and gaps."""
    import pandas as pd

    spectrum = ee.Spectrum([0.9, 0.5], [0.3 + 0.8j])
    rng = np.random.default_rng(2)
    Y = 5 + WAVES[:40] + 0.1 * rng.normal(size=(40, 2))
    Y[7, 1] = np.nan
    X = rng.normal(size=(40, 2))
    days = pd.date_range("2024-01-31", periods=45, freq="D", tz="Europe/Berlin", name="day")
    months = pd.period_range("2020-01", periods=40, freq="M")
    frame = pd.DataFrame(X, days[:40], columns=["promo", "größe"])
    later = pd.DataFrame({"promo": np.ones(5), "größe": 0.0}, days[40:])
    long = pd.DataFrame(
        {"shop": np.repeat([3, 1], [40, 35]), "ds": [*range(40), *range(35)], "y": 1.0}
    )
    long["y"] = np.concatenate([Y[:, 0], Y[:35, 1] ** 2])

    def fitted(y, X=None, horizon=2, **options):
        return ee.Forecaster(horizon, spectrum=spectrum, **options).fit(y, X)

    return [
        fitted(Y[:, 0] - 5, X, past=[1], seasons=[4], validation=10),
        fitted(Y, multivariate=True, sharing="own", refit=False, seed=None),
        fitted([Y[:, 0], Y[5:, 1]], strategy="recursive", sharing="own"),
        fitted(pd.Series(Y[:, 0], months, name="sales"), strategy="direct"),
        fitted(pd.DataFrame(Y, days[:40]), pd.concat([frame, later]), past=("größe",)),
        fitted(long, id="shop"),
        fitted(Y[:3, 0]),  # too short for a validation split
    ]


def classifiers():
    """Return classifiers with labels of several types, and features of a long frame."""
    import pandas as pd

    rng = np.random.default_rng(3)
    X, codes = rng.normal(size=(12, 9, 2)), np.arange(12) % 3
    frame = pd.DataFrame({"unique_id": np.repeat(codes, 5), "ds": np.arange(60), "größe": 1.0})
    counts = dict(time_constants=2, frequencies=2, phases=2, thresholds=1, seed=0)
    labels = (
        np.array(["a", "größe", "c"]),
        np.arange(3) > 0,
        np.array(["2020", "2021", "2022"], "M8[D]"),
    )
    fits = [ee.ReservoirClassifier(**counts).fit(X, kinds[codes]) for kinds in labels]
    return [*fits, ee.ReservoirFeatures(**counts, layout="channels_first").fit(frame)]


def converted(form):
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(2, 8)), rng.normal(size=(9, 2))
    return ee.diagonalize(matrix(0.2, seed=3), *weights, form=form)


def templates():
    """Return (kind, arrays, values) of every kind of file, the same in every process."""
    made = networks()
    objects = [(esn, {}) for esn in made.values()]
    objects += [(made[name], {"statistics": True}) for name in ("plain", "everything", "normal")]
    for name in (
        "plain",
        "everything",
        "dense",
        "sparse",
        "sparse float32",
        "features",
        "delay line",
    ):
        objects.append((made[name].model_, {}))
        objects.append((made[name].stream(made[name].final_state_), {}))
    for name in ("plain", "identity", "everything float32", "sparse", "normal"):
        for forgetting in (1.0, 0.9):
            learner = made[name].learner(made[name].final_state_, forgetting=forgetting)
            objects.append((learner, {}))
    if hasattr(ee.DiagonalReservoir, "save"):
        for spectrum in ("golden", matrix(0.3), matrix(0.15), matrix()):
            options = {"input_bias": True, "seed": 0, "spectrum": spectrum}
            objects.append((ee.DiagonalReservoir(8, **options).fit(WAVES), {}))
    objects += [(estimator, {}) for estimator in (*forecasters(), *classifiers())]
    objects += [(converted(form), {}) for form in ("diagonal", "sparse", "dense")]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for saved, options in objects:
            saved.save(Path(folder) / "file", **options)
            results.append(files.read(Path(folder) / "file"))
    return results


# Written files --------------------------------------------------------------------------------


def header_text(kind, arrays, values, form=files.FORMAT):
    """Return the header as the library writes it, with the digest of its own implementation."""
    header = {"format": form, "version": "0", "kind": kind, "values": values}
    return with_digest(json.dumps(header), arrays)


def with_digest(text, arrays):
    """Return the text of a header with the digest as its last entry."""
    text = text.rstrip().removesuffix("}")
    hasher = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name]).reshape(np.shape(arrays[name]))
        hasher.update(f"{name} {array.dtype.str} {array.shape};".encode())
        hasher.update(array.tobytes())
    return f'{text}, "digest": "{hasher.hexdigest()}"}}'


def text_of(path):
    """Return the header of a file."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size])["__metadata__"]["eigenecho"]


def change_file(path, change):
    """Call ``change`` with the values and arrays of a file, and write both with a new digest."""
    kind, arrays, values = files.read(path)
    change(values, arrays)
    path.write_bytes(file_bytes(arrays, header_text(kind, arrays, values)))


def file_bytes(arrays, text, foreign=()):
    """Return a safetensors file; ``foreign`` arrays are declared with types that NumPy lacks."""
    header, data = {"__metadata__": {"eigenecho": text}}, b""
    names = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    for name in names:
        array, stop = arrays[name], len(data) + arrays[name].nbytes
        kind = dict(foreign).get(name, DTYPES[array.dtype.name])
        header[name] = {
            "dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), stop],
        }  # fmt: skip
        data += array.tobytes()
    packed = json.dumps(header, ensure_ascii=False).encode("utf-8", "surrogatepass")
    packed += b" " * (-len(packed) % 8)
    return struct.pack("<Q", len(packed)) + packed + data


def crafted(seed, known):
    """Return the bytes of case ``seed``."""
    rng = np.random.default_rng(seed)
    kind, arrays, values = deepcopy(known[rng.integers(len(known))])
    other = deepcopy(known[rng.integers(len(known))])
    foreign = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        what = rng.random()
        if what < 0.5:
            change_array(rng, arrays, other[1], foreign)
            if rng.random() < 0.8:
                correct_rows(arrays)
        elif what < 0.85:
            values = change_value(rng, values, other[2])
        elif what < 0.9:
            kind = [other[0], "Transformer", None, 3, [kind], {}][rng.integers(6)]
        elif what < 0.95:
            arrays |= {name: a for name, a in other[1].items() if rng.random() < 0.5}
        else:
            kind, values = other[0], other[2]
    arrays = {name: np.asarray(array) for name, array in arrays.items()}
    form = STRANGE[rng.integers(len(STRANGE))] if rng.random() < 0.03 else files.FORMAT
    text = header_text(kind, arrays, values, form)
    if rng.random() < 0.06:
        text = change_text(rng, text, arrays)
    whole = file_bytes(arrays, text, foreign)
    return change_bytes(rng, whole) if rng.random() < 0.05 else whole


def change_array(rng, arrays, others, foreign):
    """Change the shape, type or content of an array, remove it, or add another."""
    if not arrays:
        return
    name = rng.choice(list(arrays))
    array = arrays[name]
    flat = array.ravel().copy()
    what = rng.integers(34)
    if what == 0:
        del arrays[name]
    elif what == 1:
        arrays[str(rng.choice(EXTRA))] = array
    elif what == 2:
        arrays[name] = others[rng.choice(list(others))]
    elif what == 3:
        second = rng.choice(list(arrays))
        arrays[name], arrays[second] = arrays[second], array
    elif what == 4:
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(rng.choice(list(DTYPES)))
    elif what == 5:
        foreign.append((name, str(rng.choice(["BF16", "F8_E4M3", "F8_E5M2", "F4", "I32", "F64"]))))
    elif what == 6:
        arrays[name] = flat
    elif what == 7:
        arrays[name] = array.T.copy()
    elif what == 8:
        arrays[name] = array[..., : int(rng.integers(array.shape[-1] + 1))] if array.ndim else flat
    elif what == 9:
        arrays[name] = array[int(rng.integers(3)) :] if array.ndim else flat
    elif what == 10:
        arrays[name] = np.concatenate([array, array]) if array.ndim else flat
    elif what == 11:
        arrays[name] = array[None] if rng.random() < 0.5 else array[..., None]
    elif what == 12:
        sizes = [(0,), (10**12, 0), (0, 10**9), (), (0, 8), (1, 1), (8, 0)]
        shape = sizes[rng.integers(len(sizes))]
        arrays[name] = np.zeros(shape, array.dtype)
    elif what in (13, 14, *range(23, 28)) and array.dtype.kind == "f":
        arrays[name] = (array * rng.choice([-1.0, 0.5, 3.0, 1e-9])).astype(array.dtype)
    elif what in (15, 16, *range(28, 34)):
        arrays[name] = rng.permutation(flat).reshape(array.shape)
    elif flat.size and array.dtype.kind == "f":
        strange = [np.nan, np.inf, -np.inf, 1e308, -1e300, 1e39, 5e-324, 0.0, -1.0, 1e160]
        places = rng.random(flat.size) < rng.choice([0.0, 0.2, 1.0])
        places[rng.integers(flat.size)] = True
        with np.errstate(over="ignore"):
            flat[places] = np.array(strange[rng.integers(len(strange))])
        arrays[name] = flat.reshape(array.shape)
    elif flat.size and array.dtype.kind == "i":
        limits = np.iinfo(array.dtype)
        strange = [-1, 0, 1, 7, 8, 9, 100, 10**6, limits.max, limits.min, limits.max - 1]
        for place in rng.integers(flat.size, size=rng.choice([1, 1, 2, flat.size])):
            flat[place] = np.clip(strange[rng.integers(len(strange))], limits.min, limits.max)
        if rng.random() < 0.3:
            flat[-1] = np.clip([0, flat.size, flat.max()][rng.integers(3)], 0, limits.max)
        arrays[name] = flat.reshape(array.shape)
    else:
        raw = np.frombuffer(array.tobytes(), np.uint8).copy()
        if raw.size:
            raw[rng.integers(raw.size)] ^= 1 << int(rng.integers(8))
        arrays[name] = np.frombuffer(raw.tobytes(), array.dtype).reshape(array.shape)


def correct_rows(arrays):
    """Update the stored numbers of rows, so that other checks must reject the file."""
    for name in [name for name in arrays if name.endswith(".rows")]:
        whole, rows = arrays.get(name.removesuffix(".rows")), arrays[name]
        if whole is not None and np.ndim(whole) and rows.dtype == np.int64 and rows.size:
            arrays[name] = rows = rows.ravel().copy()
            with np.errstate(over="ignore"):
                rows[-1] += len(whole) - rows.sum()


def change_value(rng, values, others):
    """Change, remove or add one of the plain values."""
    if not isinstance(values, dict) or not values:
        return values
    parent, key = values, rng.choice(list(values))
    while isinstance(parent[key], (dict, list)) and parent[key] and rng.random() < 0.95:
        parent = parent[key]
        key = rng.choice(list(parent)) if isinstance(parent, dict) else rng.integers(len(parent))
    strange = deepcopy(STRANGE[rng.integers(len(STRANGE))])
    if isinstance(parent, list):
        changes = [strange, deepcopy(parent[rng.integers(len(parent))]), 0, 1, 0.5, "a", True, None]
        parent[key] = changes[rng.integers(len(changes))]
        if rng.random() < 0.2:
            parent.append(deepcopy(parent[0]))
        if rng.random() < 0.2:
            del parent[0]
        return values
    what = rng.integers(10)
    if what == 0:
        del parent[key]
    elif what == 1:
        parent[str(rng.choice(["extra", "seed", "statistics", "learner", "params"]))] = strange
    elif what == 2 and others:
        parent[key] = deepcopy(others[rng.choice(list(others))])
    elif what == 3:
        second = rng.choice(list(parent))
        parent[key], parent[second] = parent[second], parent[key]
    elif what == 4 and isinstance(parent[key], (int, float)) and abs(parent[key]) < 2**64:
        parent[key] = parent[key] * [-1, 0, 2, 10**9, 1e300, 0.5][rng.integers(6)]
    elif what == 5 and rng.random() < 0.2:
        return strange
    else:
        parent[key] = strange
    return values


def change_text(rng, text, arrays):
    """Write unusual JSON with its digest: duplicate names, deep nesting or very long numbers."""
    names = ['"ridge"', '"readout_bias"', '"kind"', '"values"', '"lr"', '"seed"']
    name = names[rng.integers(len(names))]
    depth = int(rng.choice([50, 500, 5000, 100_000]))
    insert = [
        f"{name}: 1, {name}",
        f'"deep": {"[" * depth}{"]" * depth}, {name}',
        f'"deep": {json_nest(depth)}, {name}',
        f'"long": {"9" * depth}, {name}',
        f'"exponent": 1e{"9" * 5}, {name}',
        f'"many": [{"[]," * depth}[]], {name}',
    ][rng.integers(6)]
    return with_digest(text.rpartition(', "digest"')[0].replace(name, insert, 1), arrays)


def json_nest(depth):
    return '{"a": ' * depth + "1" + "}" * depth


def change_bytes(rng, data):
    """Damage bytes without updating the digest."""
    data = bytearray(data)
    what = rng.integers(3)
    if what == 0:
        return bytes(data[: int(rng.integers(len(data)))])
    for place in rng.integers(len(data), size=int(rng.integers(1, 9))):
        data[place] = int(rng.integers(256))
    return bytes(data)


# Use of loaded objects ------------------------------------------------------------------------


UNAVAILABLE = "not supported with features or a delay line"
"""Part of an error message of networks with features."""


def finite(*arrays):
    for array in arrays:
        assert np.all(np.isfinite(array)), "an output that is no number"


def allowed(use, *also):
    """Return the result of ``use``, or None if large but finite numbers make it overflow.

    ``also`` holds parts of error messages that are expected for the saved object as well.
    """
    try:
        return use()
    except UnstableError:
        return None
    except ValueError as error:
        if any(words in str(error) for words in also):
            return None
        raise


def use_model(model):
    inputs = np.ones((5, model.D_in))
    repr(model)
    str(model.certificate)
    outputs = allowed(lambda: model.predict(inputs))
    if outputs is not None:
        assert outputs.shape == (5, model.D_out)
        finite(outputs)
    assert model.inference(5) in ("scan", "convolution", "closed loop")
    model.matrices("work")
    allowed(lambda: model.matrices("neuron"), "neuron basis is unknown", UNAVAILABLE)
    # Eigenvalues of a matrix can overflow although its entries do not.
    allowed(lambda: model.effective_radius, "a list of finite numbers")
    if model.D_in == model.D_out or (model.D_in == 0 and model.closed):
        context = np.ones((4, model.D_out))
        use_forecast(model, context)
    use_stream(model.stream())
    learner = allowed(lambda: model.learner(0.1), UNAVAILABLE)
    if learner is not None:
        use_learner(learner)


def use_forecast(network, *context):
    """Forecast; with features, a forecast that diverges is NaN."""
    result = allowed(lambda: network.forecast(3, *context))
    if result is not None and getattr(network, "model_", network).output_range is None:
        finite(result)


def use_stream(stream):
    row = np.ones(stream.model.D_in)
    for _ in range(3):
        allowed(lambda: finite(stream.step(row)))
    allowed(lambda: finite(stream.run(np.tile(row, (3, 1)))))
    finite(*stream.copy().state)


def use_learner(learner):
    model = learner.model
    row, target = np.ones(model.D_in), np.ones(model.D_out)
    for _ in range(3):
        allowed(lambda: finite(learner.step(row, target)))
        allowed(lambda: finite(learner.step(row)))
    repr(learner)
    allowed(lambda: learner.model.predict(row[None]))


def knows_noise(fitted):
    return fitted.stored_noise is not None or fitted.evidence is not None


def use_esn(esn):
    from sklearn.base import clone

    model = esn.model_
    use_model(model)
    repr(esn)
    clone(esn)
    esn.get_feature_names_out()
    X = np.ones((6, model.D_in)) if model.D_in else None
    if X is not None and not hasattr(esn, "feature_names_in_"):
        y = np.ones(6) if esn._fitted.flat else np.ones((6, model.D_out))
        outputs = allowed(lambda: esn.predict(X))
        assert outputs is None or outputs.shape == y.shape
        allowed(lambda: esn.transform(X))
        if esn.warmup < 6:
            allowed(lambda: esn.score(X, y))
        if esn._fitted.evidence is not None and esn.warmup < 6:
            allowed(lambda: deepcopy(esn).partial_fit(X, y))
    if model.D_in == model.D_out or (model.D_in == 0 and model.closed):
        use_forecast(esn)
        if knows_noise(esn._fitted):
            allowed(lambda: esn.forecast(3, interval=0.9), UNAVAILABLE)
        assert getattr(esn, "closed_loop_radius_", 0.0) >= 0
    spectrum = allowed(lambda: esn.spectrum_, "a list of finite numbers")
    assert spectrum is None or spectrum.units == model.units
    use_stream(esn.stream(esn.final_state_))
    if esn._fitted.evidence is not None and np.all(np.asarray(esn.ridge_) > 0):
        words = "the normal equations positive definite"  # a fit with too small a ridge also fails
        others = "a single finite number > 0", UNAVAILABLE
        made = allowed(lambda: esn.learner(esn.final_state_), words, *others)
        if made is not None:
            use_learner(made)


def use_reservoir(reservoir):
    X = np.ones((6, reservoir.n_features_in_))
    states = allowed(lambda: reservoir.transform(X))
    if states is not None:
        assert states.shape == (6, len(reservoir.get_feature_names_out()))
        finite(states)
    repr(reservoir)


def use_features(features):
    from sklearn.base import clone

    X = np.ones((3, 6, 6))[:, :, : features.n_features_in_]
    X = X.transpose(0, 2, 1) if features.layout == "channels_first" else X
    if hasattr(features, "transform"):
        results = features.transform(X)
        assert results.shape == (3, len(features.get_feature_names_out()))
    else:
        results = features.predict_proba(X)
        assert results.shape == (3, len(features.classes_))
        assert set(features.predict(X)) <= set(features.classes_)
        finite(features.decision_function(X), features.coef_, features.intercept_)
    finite(results)
    repr(features)
    clone(features)


def use_forecaster(forecaster):
    from sklearn.base import clone

    repr(forecaster)
    clone(forecaster)
    assert forecaster.members_
    assert forecaster.seasons_ is not None
    panel = forecaster._fitted.panel
    kind, horizon = panel.form.kind, forecaster._fitted.config.horizon
    X = None
    if panel.known_names and kind in ("single", "columns", "list"):
        X = np.ones((horizon, len(panel.known_names)))
        X = [X] * len(panel) if kind == "list" else X
    # Parameters may be invalid for a new fit of the stored series, such as an unstable spectrum.
    words = "X in fit has", "the range of numbers", "do not overflow"
    made = allowed(lambda: forecaster.predict(X=X), *words)
    if made is not None:
        asked = {"interval": 0.9}, {"quantiles": [0.1, 0.5]}
        for options in asked if forecaster._fitted.bands is not None else ():
            allowed(lambda options=options: forecaster.predict(X=X, **options), *words)
    if panel.known_names or panel.past_names:
        return
    if kind in ("single", "columns", "list"):
        y = [np.ones(4)] * len(panel)
        y = {"single": y[0], "columns": np.stack(y, axis=1), "list": y}[kind]
        allowed(lambda: forecaster.rolling(y, [2]))
        allowed(lambda: forecaster.update(y).predict(), *words)
    elif made is not None and kind != "long":
        allowed(lambda: forecaster.rolling(made, [0]))
        allowed(lambda: forecaster.update(made).predict(), *words)


USES = {
    "LinearModel": use_model,
    "LinearESN": use_esn,
    "Stream": use_stream,
    "Learner": use_learner,
    "DiagonalReservoir": use_reservoir,
    "Forecaster": use_forecaster,
    "ReservoirFeatures": use_features,
    "ReservoirClassifier": use_features,
}


def attempt(path):
    """Return True if a file loads; raise if the library fails to reject it or to use it."""
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            loaded = ee.load(path)
    except StorageError:
        loaded = None
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = path.stat().st_size
    assert taken <= TIMES * size + CONSTANT, f"{taken} bytes taken for a file of {size}"
    if loaded is None:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = path.with_name("again")
        loaded.save(again)
        assert type(ee.load(again)) is type(loaded)
        if isinstance(loaded, ee.LinearESN) and loaded._fitted.evidence is not None:
            loaded.save(again, statistics=True)
            ee.load(again)
        USES[type(loaded).__name__](loaded)
    return True


def tell(case, what):
    print(json.dumps([case, what[:300]]), flush=True)


def main(first, count):
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crafted"
        known = templates()
        for number, (kind, arrays, values) in enumerate(known):  # unchanged templates must load
            path.write_bytes(file_bytes(arrays, header_text(kind, arrays, values)))
            assert attempt(path), f"template {number}, a {kind}, is refused"
        for seed in range(first, first + count):
            tell(seed, "begun")
            path.write_bytes(crafted(seed, known))
            try:
                tell(seed, "loaded" if attempt(path) else "refused")
            except Exception as error:
                tell(seed, f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
