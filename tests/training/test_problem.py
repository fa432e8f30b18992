"""A problem is a value: gathering it repeatedly, in parts or as a whole, gives equal statistics."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eigenecho as ee
import naive
from eigenecho.errors import UnstableError
from eigenecho.readout import Gram, Penalty, Remainder, Triangle
from eigenecho.reservoir import Recipe, Reservoir, draw
from eigenecho.rows import Fold
from eigenecho.scaling import Scaling
from eigenecho.training import Problem, Settings, pose, train

KINDS = [Gram, Triangle, Remainder]
each_kind = pytest.mark.parametrize("kind", KINDS)
LENGTHS = 300, 170
FOLD = Fold([(20, 200), (0, 100)], ([(200, 250), (100, 130)], [(260, 300), (130, 170)]))

NETWORKS = {
    "modes": {},
    "leaky": {"lr": 0.3, "input_bias": True},
    "dense": {"basis": "neuron"},
    "sparse": {"basis": "neuron", "spectrum": "matrix", "rc_connectivity": 0.1},
    "feedback": {"fb_scaling": 0.1},
    "float32": {"dtype": "float32"},
}
each_network = pytest.mark.parametrize("name", NETWORKS)


def series(seed=0, lengths=LENGTHS):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(T, 2)) for T in lengths], [rng.normal(size=(T, 3)) for T in lengths]


def make(name="modes", *, previous=False, starts=None, lengths=LENGTHS):
    inputs, outputs = series(lengths=lengths)
    drawn = draw(Recipe(12, **NETWORKS[name]), 2, 3 if name == "feedback" else 0, seed=1)
    dtype = drawn.reservoir.dtype
    return Problem(
        reservoir=drawn.reservoir,
        inputs=[u.astype(dtype) for u in inputs],
        outputs=[y.astype(dtype) for y in outputs],
        penalty=Penalty(13 + 3 * previous),
        output_to_readout=previous,
        basis=drawn.basis,
        starts=starts,
    )


def textbook_states(problem, i):
    """Return the states of series i by the naive loop, and y(t−1)."""
    r, start = problem.reservoir, problem.starts[i] if problem.starts else None
    before = naive.shifted(problem.outputs[i], 0.0 if start is None else start[1])
    W_fb = {} if r.W_fb is None else {"W_fb": r.W_fb, "y_previous": before}
    r0 = None if start is None else start[0]
    return naive.states(
        r.transition.dense, r.W_in, problem.inputs[i], bias=r.bias, r0=r0, **W_fb
    ), before


def arrays(value):
    """Return all arrays in gathered statistics or in a problem."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, list | tuple):
        return [a for part in value for a in arrays(part)]
    if hasattr(value, "__dataclass_fields__"):
        return [a for field in fields(value) for a in arrays(getattr(value, field.name))]
    return []


# Gathering ------------------------------------------------------------------------------------


@each_kind
@each_network
def test_gathering_is_pure(kind, name):
    problem = make(name, starts=[(np.ones(12), np.ones(3)), None])
    before = [a.copy() for a in arrays(problem)]
    first, second = (problem.gather(kind, FOLD) for _ in range(2))
    assert arrays(first)
    for a, b in zip(arrays(first), arrays(second), strict=True):
        assert a.tobytes() == b.tobytes()
    for a, b in zip(arrays(problem), before, strict=True):
        assert a.tobytes() == b.tobytes()


@each_network
@pytest.mark.parametrize("started", [False, True])
def test_ends_are_the_states_of_the_textbook_loop(name, started):
    starts = [(np.full(12, 0.5), np.ones(3)), None] if started else None
    problem = make(name, starts=starts)
    tol = 1e-4 if name == "float32" else 1e-11
    for fold in (FOLD, Fold([(0, 300), (0, 170)]), Fold([(20, 150), (0, 1)])):
        actual = problem.gather(Gram, fold)
        for i, end in enumerate(actual.ends):
            stop = max(block[i][1] for block in (fold.train, *fold.held_out))
            expected = textbook_states(problem, i)[0][stop - 1]
            np.testing.assert_allclose(end, expected, rtol=0, atol=tol * np.abs(expected).max())


def test_series_without_used_rows_ends_in_its_start_state():
    problem = make(starts=[(np.full(12, 0.5), np.ones(3)), None])
    result = problem.gather(Gram, Fold([(0, 0), (0, 50)]))
    np.testing.assert_array_equal(result.ends[0], np.full(12, 0.5))
    assert result.statistics.rows == 50


def test_sums_over_time_end_in_the_same_states():
    problem = make()
    block = problem.everything(20)
    actual, expected = problem.gather_gram(block), problem.gather(Gram, Fold(block))
    for a, b in zip(actual.ends, expected.ends, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-13)


@pytest.mark.parametrize("previous", [False, True])
@each_network
def test_rows_equal_the_textbook(name, previous):
    problem = make(name, previous=previous)
    rows = []
    for i, (start, stop) in enumerate(FOLD.train):
        r, before = textbook_states(problem, i)
        rows.append(naive.extended(r, before, True, previous)[start:stop])
    X = np.concatenate(rows)
    Y = np.concatenate([y[a:b] for y, (a, b) in zip(problem.outputs, FOLD.train, strict=True)])
    result = problem.gather(Gram, FOLD).statistics
    assert problem.size == X.shape[1]
    scale, tol = np.abs(X.T @ X).max(), 1e-4 if name == "float32" else 1e-11
    np.testing.assert_allclose(result.XtX, X.T @ X, rtol=0, atol=tol * scale)
    np.testing.assert_allclose(result.XtY, X.T @ Y, rtol=0, atol=tol * scale)


@each_network
def test_held_out_blocks_equal_blocks_gathered_alone(name):
    problem = make(name)
    result = problem.gather(Triangle, FOLD)
    together = (result.statistics, *result.held_out)
    for statistics, block in zip(together, (FOLD.train, *FOLD.held_out), strict=True):
        alone = problem.gather(Triangle, Fold(block)).statistics
        assert statistics.rows == alone.rows == sum(stop - start for start, stop in block)
        np.testing.assert_allclose(statistics.rest, alone.rest, rtol=0, atol=1e-11)
        for a, b in zip(naive.gram(statistics)[:2], naive.gram(alone)[:2], strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * np.abs(b).max())


@given(cut=st.integers(21, 299), kind=st.sampled_from(KINDS))
@settings(deadline=None, max_examples=25)
def test_series_gathered_in_parts_merge_to_the_whole(cut, kind):
    """Each part starts in the end state of the previous part, with y(t−1) of the row before it."""
    problem = make("feedback", lengths=(300,), previous=True)
    u, y = problem.inputs[0], problem.outputs[0]
    whole = problem.gather(kind, Fold([(20, 300)]))
    first = problem.gather(kind, Fold([(20, cut)]))
    start = (first.ends[0], y[cut - 1])
    later = replace(problem, inputs=[u[cut:]], outputs=[y[cut:]], starts=[start])
    rest = later.gather(kind, Fold([(0, 300 - cut)]))
    merged = first.statistics.merge(rest.statistics)
    if kind is Triangle:
        merged, expected = naive.gram(merged), naive.gram(whole.statistics)
    else:
        expected = whole.statistics
    for a, b in zip(arrays(merged), arrays(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-11 * max(np.abs(b).max(), 1.0))
    np.testing.assert_allclose(rest.ends[0], whole.ends[0], rtol=0, atol=1e-11)


def test_in_double_returns_a_double_precision_problem_itself():
    double, single = make(), make("float32")
    assert double.in_double is double
    assert single.in_double is single.in_double
    assert {a.dtype for a in arrays(single.in_double.inputs)} == {np.dtype(np.float64)}
    np.testing.assert_array_equal(single.in_double.reservoir.W_in, single.reservoir.W_in)
    np.testing.assert_array_equal(single.in_double.inputs[0], single.inputs[0])


# Settings -------------------------------------------------------------------------------------


def test_settings_of_a_default_network_are_the_defaults():
    params = ee.LinearESN().get_params(deep=False)
    result = Settings.of(params)
    assert result == Settings() == Settings.of({})
    assert result.recipe == Recipe()
    assert result.ridge == (params["ridge"],)
    for field in fields(Settings):
        if field.name not in ("recipe", "ridge", "updates"):
            assert getattr(result, field.name) == params[field.name], field.name
    for field in fields(Recipe):
        if field.name not in ("eigenvectors", "even_defective"):
            assert getattr(result.recipe, field.name) == params[field.name], field.name


def test_no_parameter_of_a_network_is_left_out():
    own = {field.name for field in (*fields(Settings), *fields(Recipe))}
    assert set(inspect.signature(ee.LinearESN).parameters) - own == {"seed"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("units", 7), ("spectrum", "ring"), ("sr", 0.3), ("lr", 0.5), ("input_scaling", 2.0),
        ("ridge", [1e-3, 1.0]), ("solver", "qr"), ("warmup", 9), ("penalize_bias", False),
        ("feedback", True), ("standardize", True), ("dtype", "float32"), ("penalty", "identity"),
    ],
)  # fmt: skip
def test_settings_follow_the_parameters(name, value):
    result = Settings.of(ee.LinearESN(**{name: value}).get_params(deep=False))
    owner = result.recipe if hasattr(result.recipe, name) and name != "ridge" else result
    assert getattr(owner, name) == (tuple(value) if name == "ridge" else value)
    assert result.recipe.eigenvectors == (name != "penalty")


@pytest.mark.parametrize(
    "bad",
    [
        {"warmup": -1}, {"warmup": 1.5}, {"ridge": -1.0}, {"ridge": []}, {"ridge": [np.nan]},
        {"ridge": "1"}, {"solver": "lu"}, {"penalty": "none"}, {"feedback": 1}, {"fit_bias": "no"},
        {"standardize": None}, {"lr": 0}, {"sr": -1}, {"dtype": "int8"},
    ],
    ids=str,
)  # fmt: skip
def test_settings_are_validated_at_construction(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))}="):
        Settings.of(bad)


def test_fit_solves_the_problem_of_its_settings():
    inputs, outputs = series()
    esn = ee.LinearESN(12, ridge=1e-2, warmup=10, standardize=True, feedback=True, fb_scaling=0.1)
    settings_ = Settings.of(esn.get_params(deep=False))
    problem = pose(settings_, settings_.draw(2, 3, 5), inputs, outputs)
    trained = train(problem, settings_)
    esn.set_params(seed=5).fit(inputs, outputs)
    np.testing.assert_array_equal(trained.evidence.weights, esn.W_out_)
    np.testing.assert_array_equal(trained.end, esn.final_state_.r)
    assert trained.solver == esn.solver_


# Posing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("until", [None, (100, 50), (300, 1)])
def test_scaling_uses_only_the_first_rows(until):
    inputs, outputs = series()
    for one in (inputs, outputs):  # the scaling must not use later rows
        for s, n in zip(one, until or LENGTHS, strict=True):
            s[n:] = 1e6
    settings_ = Settings(Recipe(12), standardize=True)
    problem = pose(settings_, settings_.draw(2, 3, 0), inputs, outputs, until=until)
    first = until or LENGTHS
    for actual, given_, scaling in zip(
        (problem.inputs, problem.outputs), (inputs, outputs), problem.scalings, strict=True
    ):
        expected = Scaling.of([s[:n] for s, n in zip(given_, first, strict=True)])
        np.testing.assert_array_equal(scaling.mean, expected.mean)
        np.testing.assert_array_equal(scaling.scale, expected.scale)
        for a, b in zip(actual, given_, strict=True):
            np.testing.assert_array_equal(a, expected.forward(b))
    known = np.concatenate([u[:n] for u, n in zip(problem.inputs, first, strict=True)])
    np.testing.assert_allclose(known.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(known.std(axis=0), 1.0, atol=1e-12)


def test_series_are_unchanged_without_standardize():
    inputs, outputs = series()
    settings_ = Settings(Recipe(12))
    problem = pose(settings_, settings_.draw(2, 3, 0), inputs, outputs, until=(5, 5))
    assert problem.scalings == (None, None)
    assert all(a is b for a, b in zip(problem.inputs, inputs, strict=True))


def test_generator_scales_only_outputs():
    _, outputs = series()
    settings_ = Settings(Recipe(12), feedback=True, standardize=True)
    nothing = [y[:, :0] for y in outputs]
    problem = pose(settings_, settings_.draw(0, 3, 0), nothing, outputs)
    assert problem.scalings[0] is None
    np.testing.assert_array_equal(problem.scalings[1].mean, Scaling.of(outputs).mean)


@pytest.mark.parametrize("penalty", ["neuron", "identity"])
@pytest.mark.parametrize("penalize_bias", [False, True])
@pytest.mark.parametrize("fit_bias", [False, True])
def test_the_penalty_covers_every_column(penalty, penalize_bias, fit_bias):
    settings_ = Settings(
        Recipe(12), penalty=penalty, penalize_bias=penalize_bias, fit_bias=fit_bias,
        output_to_readout=True,
    )  # fmt: skip
    problem = pose(settings_, settings_.draw(2, 3, 0), *series())
    assert problem.penalty.size == problem.size == fit_bias + 3 + 12
    assert problem.penalty.free == (fit_bias and not penalize_bias)
    assert (problem.penalty.basis is problem.basis) == (penalty == "neuron")


def test_inconsistent_series_are_rejected():
    inputs, outputs = series()
    settings_ = Settings(Recipe(12), warmup=170)
    drawn = settings_.draw(2, 3, 0)
    with pytest.raises(ValueError, match=r"warmup=170.*series 1"):
        pose(settings_, drawn, inputs, outputs)
    with pytest.raises(ValueError, match="X and y of series 0 have inconsistent lengths"):
        pose(settings_, drawn, inputs, outputs[::-1])
    with pytest.raises(ValueError, match=r"y: got 1 series"):
        pose(settings_, drawn, inputs, outputs[:1])


def test_overflow_of_states_is_reported_with_its_step():
    reservoir = Reservoir(ee.Spectrum([4.0]), np.ones((1, 1)))
    ones = [np.ones((700, 1))]
    problem = Problem(reservoir=reservoir, inputs=ones, outputs=ones, penalty=Penalty(2))
    with pytest.raises(UnstableError, match="states overflowed"):
        problem.gather(Gram, Fold([(0, 700)]))


def test_sums_over_time_depend_on_the_initial_state():
    from eigenecho.readout import Penalty
    from eigenecho.reservoir import Recipe, draw
    from eigenecho.training import Problem
    from eigenecho.training.refine import project
    from eigenecho.training.sums import applies, lag_count

    rng = np.random.default_rng(0)
    u, y, r = rng.normal(size=(20_000, 1)), rng.normal(size=(20_000, 1)), rng.normal(size=200)
    drawn = draw(Recipe(units=200, sr=0.5), 1, seed=0)
    parts = {"reservoir": drawn.reservoir, "penalty": Penalty(201), "inputs": [u], "outputs": [y]}
    fresh = Problem(**parts)
    assert lag_count(fresh) is not None  # otherwise the test of the cut-off below is void
    going_on = Problem(**parts, starts=[(100 * r, np.zeros(1))])
    assert not applies(going_on)
    states, _ = drawn.reservoir.scan(drawn.reservoir.drive(u, None), 100 * r)
    expected = np.concatenate([y.sum(axis=0)[None], states.T @ y])
    actual = project(going_on, [(0, len(u))], [y])
    np.testing.assert_allclose(actual, expected, atol=1e-9 * np.abs(expected).max())
