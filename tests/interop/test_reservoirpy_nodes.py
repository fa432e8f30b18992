"""Conversion of trained reservoirpy models, and our reservoir as a node of reservoirpy."""

from __future__ import annotations

import copy
import itertools
import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import eigenecho as ee
from eigenecho.errors import UnstableError
from eigenecho.transition import Diagonal

rp = pytest.importorskip("reservoirpy")
nodes = pytest.importorskip("reservoirpy.nodes")

from reservoirpy.mat_gen import bernoulli, normal  # noqa: E402

from eigenecho.interop.reservoirpy import DiagonalReservoirNode  # noqa: E402

N, T, D_in = 80, 250, 2
EQUAL = 1e-8
RIDGE = 1e-2


def series(seed=0, T=T):
    """Return inputs (T, 2), and two outputs that remember them."""
    u = np.random.default_rng(seed).uniform(-1, 1, (T, D_in))
    return u, np.stack([0.5 * u[:, 0] + 1.0, np.roll(u[:, 1], 1) - u[:, 0]], axis=1)


def assert_equal(actual, expected, tolerance=EQUAL):
    assert np.shape(actual) == np.shape(expected)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def reservoir(**options):
    return nodes.Reservoir(
        **{"units": N, "sr": 0.9, "activation": "identity", "seed": 3, **options}
    )


RATES = np.random.default_rng(9).uniform(0.1, 1.0, N)


# Conversion of trained reservoirpy models ------------------------------------------------------


def check_conversion(model, X):
    """Assert equal outputs from the reset model and from its current state."""
    converted, state = ee.from_reservoirpy(model, return_state=True)
    standing = copy.deepcopy(model)
    assert_equal(converted.predict(X, initial_state=state), standing.run(X))
    model.reset()
    assert_equal(converted.predict(X), model.run(X))
    assert converted.certificate.difference < EQUAL
    return converted


def networks():
    """Yield all combinations; half are not slow and cover any three options at every leak."""
    leaks = {"no leak": 1.0, "leak": 0.3, "leak of each unit": RATES}
    for name, lr in leaks.items():
        for options in itertools.product((False, True), repeat=4):
            marks = [pytest.mark.slow] if sum(options) % 2 else []
            yield pytest.param(lr, *options, marks=marks, id="-".join([name, *map(str, options)]))


@pytest.mark.parametrize(("lr", "feedback", "input_to_readout", "two", "bias"), [*networks()])
def test_networks(lr, feedback, input_to_readout, two, bias):
    (u, y), outputs = series(), 1 + two
    model = rp.ESN(
        units=N, sr=0.9, lr=lr, activation="identity", bias=bernoulli if bias else 0.0,
        feedback=feedback, input_to_readout=input_to_readout, ridge=RIDGE, seed=3,
    ).fit(u, y[:, :outputs], warmup=20)  # fmt: skip
    converted = check_conversion(model, series(1)[0])
    assert converted.certificate.form == "diagonal"
    assert converted.closed == feedback
    assert converted.D_out == outputs


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_matrix, sparse.csc_array, sparse.coo_array]
)
@pytest.mark.parametrize("fit_bias", [True, False])
def test_matrices_of_any_kind(form, fit_bias):
    rng = np.random.default_rng(0)
    W = rng.normal(size=(N, N)) * (rng.random((N, N)) < 0.2)
    W *= 0.9 / np.abs(np.linalg.eigvals(W)).max()
    node = reservoir(W=form(W), Win=form(rng.normal(size=(N, D_in))), bias=rng.normal(size=N))
    model = node >> nodes.Ridge(RIDGE, fit_bias=fit_bias)
    check_conversion(model.fit(*series()), series(1)[0])


@settings(max_examples=15, deadline=None)
@given(
    units=st.integers(1, 40),
    connectivity=st.sampled_from([0.05, 0.3, 1.0]),
    lr=st.floats(0.05, 1.0),
    feedback=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_any_drawn_network(units, connectivity, lr, feedback, seed):
    u, y = series(seed, 60)
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(units, units)) * (rng.random((units, units)) < connectivity)
    W *= 0.8 / max(np.abs(np.linalg.eigvals(W)).max(), 0.1)
    model = rp.ESN(
        W=W, lr=lr, activation="identity", feedback=feedback, ridge=1.0, seed=seed
    ).fit(u, y)  # fmt: skip
    model.reset()
    expected = model.run(u)
    if np.abs(expected).max() < 1e3:  # a stable loop, which does not amplify rounding
        assert_equal(ee.from_reservoirpy(model).predict(u), expected)


def test_graphs_written_by_hand():
    u, y = series()
    X = series(1)[0]
    model = reservoir() >> nodes.Ridge(RIDGE)
    check_conversion(model.fit(u, y), X)

    # The readout reads [r, u] or [u, r], depending on the order of the edges.
    for first in (True, False):
        source, node, readout = nodes.Input(), reservoir(), nodes.Ridge(RIDGE)
        through, past = source >> node >> readout, source >> readout
        model = (through & past) if first else (past & through)
        assert (model.parents[readout][0] is node) == first
        check_conversion(model.fit(u, y), X)

    node, readout = reservoir(), nodes.Ridge(RIDGE)
    model = (node >> readout) & (node << readout)
    assert check_conversion(model.fit(u, y), X).reservoir.W_fb is not None

    # The readout receives its own last output.
    node, readout, source = reservoir(), nodes.Ridge(RIDGE), nodes.Input()
    model = (source >> [node, readout]) & (node >> readout) & (readout << readout)
    assert check_conversion(model.fit(u, y), X).output_to_readout
    node, readout, source = reservoir(), nodes.Ridge(RIDGE), nodes.Input()
    model = (source >> [node, readout]) & (node >> readout) & (readout << readout)
    check_conversion((model & (node << readout)).fit(u, y), X)


def test_probes_are_ignored():
    u, y = series()
    model = rp.ESN(
        units=N, sr=0.9, activation="identity", return_reservoir_activity=True, ridge=RIDGE, seed=3
    ).fit(u, y)
    converted = ee.from_reservoirpy(model)
    model.reset()
    assert_equal(converted.predict(u), model.run(u)["readout"])


def test_generator_without_input():
    y = np.sin(0.2 * np.arange(300)).reshape(-1, 1)
    node, readout = reservoir(), nodes.Ridge(1e-4)
    model = ((node >> readout) & (node << readout)).fit(np.empty((300, 0)), y)
    converted, state = ee.from_reservoirpy(model, return_state=True)
    assert converted.D_in == 0
    assert_equal(converted.predict(np.empty((50, 0)), initial_state=state), model.run(iters=50))


@pytest.mark.parametrize("kind", ["RLS", "LMS"])
def test_readouts_trained_online(kind):
    u, y = series()
    model = reservoir(input_scaling=0.1) >> getattr(nodes, kind)()
    model.partial_fit(u, y)
    check_conversion(model, series(1)[0])


def test_single_reservoir_returns_its_states():
    u, _ = series()
    node = reservoir(lr=0.5)
    node.run(u)
    converted, state = ee.from_reservoirpy(node, return_state=True)
    X = series(1)[0]
    assert_equal(converted.predict(X, initial_state=state), node.run(X))


def test_node_with_array_parameters():
    # The repr of reservoirpy compares parameters with defaults, and fails for arrays.
    node = reservoir(lr=RATES, activation="tanh", name="res")
    with pytest.raises(ValueError, match="Reservoir 'res' with activation tanh"):
        ee.from_reservoirpy((node >> nodes.Ridge(RIDGE)).fit(*series()))


def test_matrix_without_eigenbasis_is_converted():
    W = np.diag(np.full(N - 1, 0.5), 1)
    model = reservoir(W=W) >> nodes.Ridge(RIDGE)
    converted = check_conversion(model.fit(*series()), series(1)[0])
    assert converted.certificate.form != "diagonal"


def test_converted_models_are_saved(tmp_path):
    u, y = series()
    converted = ee.from_reservoirpy((reservoir() >> nodes.Ridge(RIDGE)).fit(u, y))
    converted.save(tmp_path / "model.safetensors")
    loaded = ee.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict(u), converted.predict(u))


def trained(model, y=None):
    u, targets = series()
    return model.fit(u, targets if y is None else dict.fromkeys(y, targets))


def delayed(steps):
    node, readout = reservoir(), nodes.Ridge(1.0)
    return (node >> readout) & (readout >> steps >> node)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: trained(reservoir(activation="tanh") >> nodes.Ridge()), "activation tanh.*linear"),
        (lambda: trained(reservoir(activation=np.sin) >> nodes.Ridge(1.0)), "activation sin"),
        (lambda: reservoir() >> nodes.Ridge(), "Reservoir without weights.*Train"),
        (lambda: reservoir(), "Reservoir without weights"),
        (lambda: nodes.Ridge(), "Ridge; expected a trained linear Reservoir"),
        (lambda: trained(reservoir(name="one") >> reservoir(name="two") >> nodes.Ridge(1.0)),
         "reservoirs: Reservoir 'one', Reservoir 'two'.*exactly one"),
        (lambda: trained(nodes.ES2N(N, activation="identity") >> nodes.Ridge(1.0)), "ES2N"),
        (lambda: trained(nodes.NVAR(2, 2) >> nodes.Ridge(1.0)), "NVAR"),
        (lambda: trained(reservoir() >> nodes.Tanh(name="f") >> nodes.Ridge(1.0)), "Tanh 'f'"),
        (lambda: reservoir() >> nodes.Tanh(), "Tanh"),
        (lambda: nodes.Input() >> reservoir(), "readouts: none"),
        (lambda: trained(reservoir() >> [nodes.Ridge(1.0, name="a"), nodes.Ridge(1.0, name="b")],
                         y=["a", "b"]), "readouts: Ridge 'a', Ridge 'b'"),
        (lambda: trained([nodes.Input(name="i"), reservoir(name="r")] >> nodes.Ridge(1.0)),
         "inputs Input 'i', Reservoir 'r'"),
        (lambda: trained(delayed(2)), "edge from Ridge to Reservoir, delay 2"),
        (lambda: np.eye(3), "numpy.ndarray"),
        (lambda: ee.LinearESN(), "LinearESN"),
    ],
)  # fmt: skip
def test_unsupported_parts_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        ee.from_reservoirpy(make())


def test_nodes_derived_from_reservoirpy_nodes():
    class Renamed(nodes.Reservoir):
        pass

    class Squared(nodes.Reservoir):
        def _step(self, state, x):
            return {"out": super()._step(state, x)["out"] ** 2}

    class Doubled(nodes.Reservoir):
        def _run(self, state, x):
            state, out = super()._run(state, x)
            return state, 2 * out

    class Halved(nodes.Ridge):
        def _run(self, state, x):
            state, out = super()._run(state, x)
            return state, out / 2

    options = {"units": N, "sr": 0.5, "activation": "identity", "seed": 0}
    for model in (
        Doubled(**options) >> nodes.Ridge(RIDGE),
        nodes.Reservoir(**options) >> Halved(RIDGE),
    ):
        with pytest.raises(ValueError, match=r"graph with (Doubled|Halved)"):
            ee.from_reservoirpy(trained(model))
    check_conversion(trained(Renamed(**options) >> nodes.Ridge(RIDGE)), series(1)[0])
    with pytest.raises(ValueError, match="graph with Squared"):
        ee.from_reservoirpy(Squared(**options) >> nodes.Ridge(RIDGE))


def test_unfitted_ridge():
    node = reservoir()
    node.run(series()[0])
    with pytest.raises(ValueError, match=r"Ridge without weights.*Train"):
        ee.from_reservoirpy(node >> nodes.Ridge())


# Our node in reservoirpy models ----------------------------------------------------------------


def pair(**options):
    """Return a reservoir of reservoirpy and ours with the same weights and neuron states."""
    shared = {"units": N, "sr": 0.9, "seed": 3, **options}
    theirs = nodes.Reservoir(activation="identity", **shared)
    return theirs, DiagonalReservoirNode(W=normal, basis="neuron", **shared)


CHECKS = pytest.mark.parametrize(
    "options",
    [{}, {"lr": 0.3}, {"lr": RATES}, {"bias": bernoulli}, {"input_scaling": np.array([0.5, 2.0])},
     {"rc_connectivity": 1.0, "input_connectivity": 0.5}],
    ids=["plain", "leak", "leaks", "bias", "scaling", "connectivity"],
)  # fmt: skip


@CHECKS
def test_equal_weights_give_equal_states(options):
    theirs, ours = pair(**options)
    modes = DiagonalReservoirNode(N, sr=0.9, seed=3, W=normal, **options)
    u, _ = series()
    expected = theirs.run(u)
    assert_equal(ours.run(u), expected)
    assert_equal(neurons(modes, u), expected)
    assert isinstance(modes.reservoir_.transition, Diagonal)
    for name in ("W", "Win"):
        drawn = [sparse.csr_array(getattr(node, name)).toarray() for node in (modes, theirs)]
        np.testing.assert_array_equal(*drawn)
    given = DiagonalReservoirNode(W=theirs.W, Win=theirs.Win, bias=theirs.bias,
                              lr=options.get("lr", 1.0))  # fmt: skip
    assert_equal(neurons(given, u), expected)


def neurons(node, u):
    states = node.run(u)
    return node.basis_.states_to_neuron(states)


@CHECKS
@pytest.mark.parametrize("feedback", [False, True])
def test_pipeline_with_our_node_equals_that_of_reservoirpy(options, feedback):
    if feedback and "input_scaling" in options:
        options = {"input_scaling": np.array([0.5, 2.0, 0.1, 0.1])}
    u, y = series()
    X, Y = series(1, 120)
    runs = []
    for node in pair(**options):
        esn = rp.ESN(reservoir=node, readout=nodes.Ridge(RIDGE), feedback=feedback)
        esn.fit(u, y, warmup=30)
        rows = [esn.run(X), esn.run(X[:50])]  # continues after training, and after the first run
        esn.reset()
        rows += [esn.run(X), esn.predict(X[:1])]
        rows += [np.array([esn(x) for x in X[:20]]), esn.step(X[0])[None]]
        esn.fit([u, X], [y, Y], warmup=10)  # ragged
        rows += esn.run([u, X])
        stack = np.stack([X, X[::-1]])
        esn.fit(stack, np.stack([Y, Y[::-1]]), warmup=10)
        rows += list(esn.run(stack))
        runs.append(rows)
    for expected, actual in zip(*runs, strict=True):
        assert_equal(actual, expected)


def test_modes_and_neurons_give_equal_fits():
    # Another basis of the same space gives equal fits if the ridge is tiny.
    u, y = series(T=1500)
    outputs = []
    for node in (pair()[0], DiagonalReservoirNode(N, sr=0.9, seed=3, W=normal)):
        model = (node >> nodes.Ridge(1e-10)).fit(u, y, warmup=50)
        model.reset()
        outputs.append(model.run(u))
    assert_equal(outputs[1], outputs[0], 1e-6)


@pytest.mark.parametrize("basis", ["eigen", "neuron"])
@pytest.mark.parametrize("spectrum", ["golden", "matrix", [0.5, 0.3 + 0.4j, 0.3 - 0.4j]])
def test_steps_equal_runs(spectrum, basis):
    u, _ = series()
    units = 3 if isinstance(spectrum, list) else N
    node = DiagonalReservoirNode(
        units, spectrum=spectrum, basis=basis, sr=0.9, lr=0.5, input_bias=True,
        rc_connectivity=1.0, seed=0,
    )  # fmt: skip
    whole = node.run(u)
    assert whole.shape == (T, units)
    np.testing.assert_array_equal(node.state["out"], whole[-1])
    before = node.reset()
    np.testing.assert_array_equal(before["out"], whole[-1])
    assert_equal(np.array([node(x) for x in u]), whole, 1e-13)
    node.reset()
    parts = [node.run(u[:100]), node.run(u[100:])]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    node.reset()
    np.testing.assert_array_equal(node.run([u, u[:10]])[1], whole[:10])
    assert node.run(u[:0]).shape == (0, units)


def test_series_is_one_scan(monkeypatch):
    node = DiagonalReservoirNode(N, sr=0.9, seed=0)
    monkeypatch.setattr(node, "_step", lambda *_: pytest.fail("stepped"))
    node.run(series()[0])
    (node >> nodes.Ridge(RIDGE)).fit(*series())


def test_seeds():
    u, _ = series()
    first, same, other = (DiagonalReservoirNode(N, sr=0.9, seed=s).run(u) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, same)
    assert np.abs(first - other).max() > 0.1
    rp.set_seed(5)
    drawn = DiagonalReservoirNode(N).run(u)
    rp.set_seed(5)
    np.testing.assert_array_equal(DiagonalReservoirNode(N).run(u), drawn)


def test_copies_and_pickles():
    u, y = series()
    model = (DiagonalReservoirNode(N, sr=0.9, seed=0) >> nodes.Ridge(RIDGE)).fit(u, y)
    others = copy.deepcopy(model), pickle.loads(pickle.dumps(model))
    expected = model.run(u)
    for other in others:
        np.testing.assert_array_equal(other.run(u), expected)
    fresh = pickle.loads(pickle.dumps(DiagonalReservoirNode(N, sr=0.9, seed=0)))
    np.testing.assert_array_equal(fresh.run(u), DiagonalReservoirNode(N, sr=0.9, seed=0).run(u))


def test_workers():
    u, y = series()
    model = (DiagonalReservoirNode(N, sr=0.9, seed=0) >> nodes.Ridge(RIDGE)).fit([u] * 3, [y] * 3)
    model.reset()
    one = model.run([u] * 3)
    model.reset()
    for a, b in zip(one, model.run([u] * 3, workers=2), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("basis", ["eigen", "neuron"])
@pytest.mark.parametrize("W", [None, normal])
@pytest.mark.parametrize("feedback", [False, True])
def test_model_with_our_node_is_converted(basis, W, feedback):
    u, y = series()
    node = DiagonalReservoirNode(
        N, sr=0.9, lr=0.7, W=W, basis=basis, rc_connectivity=1.0, input_bias=W is None, seed=0
    )
    esn = rp.ESN(reservoir=node, readout=nodes.Ridge(1.0), feedback=feedback, input_to_readout=True)
    check_conversion(esn.fit(u, y), series(1)[0])


def objective(dataset, config, *, units, sr, lr, input_scaling, ridge, seed):
    """Evaluate a configuration as in the hyperparameter guide of reservoirpy, with our node."""
    (u, y), (X, Y) = dataset
    node = DiagonalReservoirNode(
        units=units, sr=sr, lr=lr, input_scaling=input_scaling, spectrum="golden", seed=seed
    )
    model = (node >> nodes.Ridge(ridge)).fit(u, y, warmup=20)
    model.reset()
    loss = rp.observables.nrmse(Y[20:], model.run(X)[20:])
    return {"loss": float(loss), "r2": float(rp.observables.rsquare(Y[20:], model.run(X)[20:]))}


SPACE = {"units": ["choice", N], "sr": ["loguniform", 1e-2, 0.99], "lr": ["uniform", 0.2, 1.0],
         "input_scaling": ["choice", 1.0], "ridge": ["loguniform", 1e-8, 1e1],
         "seed": ["choice", 0]}  # fmt: skip


def test_objective_of_a_search():
    dataset = series(), series(1)
    shared = {"units": N, "lr": 1.0, "input_scaling": 1.0, "ridge": 1e-6, "seed": 0}
    losses = [objective(dataset, None, sr=sr, **shared)["loss"] for sr in (1e-3, 0.9)]
    assert losses[1] < 1e-3 < losses[0]  # the task needs memory of the last input


def test_reservoirpy_search(tmp_path):
    pytest.importorskip("hyperopt")
    from reservoirpy.hyper import research

    config = {"exp": "golden", "hp_max_evals": 8, "hp_method": "random", "seed": 0,
              "instances_per_trial": 1, "hp_space": SPACE}  # fmt: skip
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    best, trials = research(objective, (series(), series(1)), str(path), str(tmp_path))
    assert set(best) == set(SPACE)
    assert len(trials.losses()) == 8
    assert min(trials.losses()) < 0.5
    assert len(list((tmp_path / "golden" / "results").iterdir())) == 8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"units": None}, "units=None"),
        ({"units": 0}, "units=0"),
        ({"units": 4, "spectrum": [0.5, 0.1]}, "units=4.*None or 2, the size"),
        ({"units": 4, "W": np.eye(3)}, "units=4.*None or 3, the size"),
        ({"spectrum": "goldn"}, "spectrum='goldn'.*'golden'"),
        ({"sr": -1}, "sr=-1"),
        ({"lr": 0}, "lr=0"),
        ({"lr": RATES}, "require W"),
        ({"basis": "modes"}, "basis='modes'"),
        ({"rc_connectivity": 2}, "rc_connectivity=2"),
        ({"Win": np.ones((N, 2))}, "require W"),
        ({"bias": 1.0}, "require W"),
        ({"W": normal, "input_bias": True}, "input_bias=True.*bias"),
        ({"dtype": "int32"}, "dtype='int32'"),
        ({"input_scaling": [1.0, 2.0, 3.0]}, "input_scaling.*array .2,."),
        ({"seed": 0, "input_dim": 3}, "input_dim"),
    ],
)
def test_bad_parameters(options, words):
    with pytest.raises(ValueError, match=words):
        DiagonalReservoirNode(**{"units": N, **options}).initialize(np.ones((1, D_in)))


def test_units_are_inferred_from_the_weights():
    assert DiagonalReservoirNode(W=np.eye(5)).units == 5
    assert DiagonalReservoirNode(spectrum=ee.spectra.ring(12, sr=0.9)).output_dim == 12


def test_matrix_without_eigenbasis_is_used_unchanged():
    W = np.diag(np.full(N - 1, 0.5), 1)
    states = DiagonalReservoirNode(W=W, seed=0).run(series()[0])
    assert_equal(states, nodes.Reservoir(W=W, activation="identity", seed=0).run(series()[0]))


def test_no_silent_nan():
    u, _ = series()
    with pytest.raises(UnstableError, match="overflowed"):
        DiagonalReservoirNode(N, sr=100.0, seed=0).run(u)
    bad = u.copy()
    bad[3] = np.nan
    node = DiagonalReservoirNode(N, sr=0.9, seed=0)
    with pytest.raises(ValueError, match="x: got NaN"):
        node.run(bad)
    with pytest.raises(ValueError, match="x: got NaN"):
        node(bad[3])


def test_single_precision():
    u, _ = series()
    double = DiagonalReservoirNode(N, sr=0.9, seed=0).run(u)
    for dtype in (np.float32, "float32"):
        node = DiagonalReservoirNode(N, sr=0.9, dtype=dtype, seed=0)
        states = node.run(u)
        assert states.dtype == np.float32
        assert_equal(states, double, 1e-5)


def test_nodes_can_be_printed():
    for node in (DiagonalReservoirNode(5), DiagonalReservoirNode(spectrum=[0.5, 0.1]),
                 DiagonalReservoirNode(W=np.eye(3), lr=np.array([0.1, 0.2, 0.3]))):  # fmt: skip
        assert "DiagonalReservoirNode(units=" in repr(node >> nodes.Ridge())


def test_docstring_examples():
    import doctest

    import eigenecho.interop.reservoirpy

    result = doctest.testmod(eigenecho.interop.reservoirpy)
    assert result.attempted
    assert not result.failed


def test_error_without_reservoirpy_has_a_hint(monkeypatch):
    import builtins
    import sys

    monkeypatch.delitem(sys.modules, "eigenecho.interop.reservoirpy")
    real = builtins.__import__

    def absent(name, *rest, **more):
        if name.split(".")[0] == "reservoirpy":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ImportError, match=r"eigenecho\[reservoirpy\]"):
        ee.from_reservoirpy(object())


def test_the_previous_name_of_the_node_is_deprecated():
    from eigenecho.interop import reservoirpy as module

    with pytest.warns(DeprecationWarning, match="DiagonalReservoirNode"):
        assert module.DiagonalReservoir is DiagonalReservoirNode
    with pytest.raises(AttributeError, match="nothing"):
        module.nothing  # noqa: B018
