"""Parts of a model are checked for consistency when they are combined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import crafted
import eigenecho as ee
from eigenecho import Basis, LinearModel, Spectrum, diagonalize
from eigenecho.errors import StorageError
from eigenecho.model import Learner, State
from eigenecho.readout import Gram, Penalty, Triangle
from eigenecho.reservoir import Reservoir
from eigenecho.scaling import Scaling
from eigenecho.training import Evidence, TrainingState

SPECTRUM = Spectrum([0.5, -0.2], [0.3 + 0.4j])
RESERVOIR = Reservoir(SPECTRUM, np.ones((1, 4)))
MODEL = LinearModel(RESERVOIR, np.ones((5, 2)))
EVIDENCE = Evidence(Gram.empty(5, 2), Penalty(5), 1.0, np.ones((5, 2)), np.eye(2), 9.0)


@pytest.mark.parametrize(
    "transition",
    [
        np.ones((4, 3)),
        np.ones(4),
        np.ones((0, 0)),
        np.full((4, 4), np.nan),
        np.ones((4, 4), complex),
        sparse.csr_matrix(np.ones((4, 3))),
        sparse.csr_matrix(np.full((4, 4), np.inf)),
    ],
    ids=["oblong", "1-D", "empty", "NaN", "complex", "oblong sparse", "Inf sparse"],
)
def test_transition_must_be_a_real_square_matrix(transition):
    with pytest.raises(ValueError, match=r"W[=:]"):
        Reservoir(transition, np.ones((1, 4)))


def test_list_is_not_a_transition():
    with pytest.raises(ValueError, match="transition: got type list; expected a Spectrum"):
        Reservoir([[1.0]], np.ones((1, 4)))


def test_weights_of_a_reservoir_have_one_real_dtype():
    with pytest.raises(ValueError, match="W_in: got dtype complex128"):
        Reservoir(SPECTRUM, np.ones((1, 4), complex))
    reservoir = Reservoir(SPECTRUM, np.ones((1, 4), np.float32), np.ones(4), np.ones((2, 4)))
    assert {reservoir.bias.dtype, reservoir.W_fb.dtype} == {np.dtype(np.float32)}
    with pytest.raises(ValueError, match="bias: got NaN or infinity"):
        Reservoir(SPECTRUM, np.ones((1, 4), np.float32), np.full(4, 1e300))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Basis(np.eye(4) * 1j, 4), "Q: got dtype"),
        (lambda: Scaling(np.ones(2), np.ones(3)), "mean and scale[=:]"),
        (lambda: Scaling(np.ones((2, 1)), np.ones((2, 1))), "mean and scale[=:]"),
        (lambda: Scaling(np.ones(2), np.array([1.0, 0.0])), "scale[=:]"),
        (lambda: Scaling(np.ones(1), np.array([np.nan])), "scale[=:]"),
        (lambda: Penalty(4, 2), "free=2"),
        (lambda: Penalty(4, 0.0), "free=0.0"),
        (lambda: Penalty(4, 1, Basis(np.eye(4), 4)), "size=4"),
        (lambda: Gram(np.ones((3, 2)), np.ones((3, 1)), 5).check(), "XtX[=:]"),
        (lambda: Gram(np.ones((3, 3)), np.ones((2, 1)), 5).check(), "XtY[=:]"),
        (lambda: Triangle(np.ones((3, 3)), np.ones((3, 2)), np.ones((2, 2)), 5).check(), "R[=:]"),
        (lambda: Triangle(np.eye(3), np.ones((3, 2)), np.ones((1, 1)), 5).check(), "rest[=:]"),
        (lambda: replace(MODEL, readout_bias=1), "readout_bias=1"),
        (lambda: replace(MODEL, W_out=MODEL.W_out * 1j), "W_out: got dtype"),
        (lambda: replace(MODEL, output_to_readout="no"), "output_to_readout='no'"),
        (lambda: replace(MODEL, basis=Basis(np.eye(3), 1)), "basis[=:]"),
        (lambda: replace(MODEL, basis=Basis(np.eye(4), 0)), "basis[=:]"),
        (lambda: replace(MODEL, inputs=Scaling.identity(2)), "inputs[=:]"),
        (lambda: replace(MODEL, outputs=Scaling.identity(1)), "outputs[=:]"),
        (
            lambda: LinearModel(Reservoir(np.eye(4), np.ones((1, 4))), np.ones((5, 2)), True, False,
                                Basis(np.eye(4), 4)),
            "basis[=:]",
        ),
        (lambda: MODEL.stream(State(np.ones(4) * 1j, np.ones(2))), "state[=:]"),
        (lambda: MODEL.stream(State(["1"] * 4, np.ones(2))), "state[=:]"),
    ],
)  # fmt: skip
def test_inconsistent_parts(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    "change",
    [
        {"weights": np.ones((4, 2))},
        {"scatter": np.ones((1, 1))},
        {"penalty": Penalty(4)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_inconsistent_evidence(change):
    EVIDENCE.check()
    with pytest.raises(ValueError, match=f"Invalid {next(iter(change))}"):
        replace(EVIDENCE, **change).check()


def refusal(path, change):
    """Return the message with which a file with changed values is refused."""
    crafted.change_file(path, lambda values, _: change(values))
    with pytest.raises(StorageError) as caught:
        ee.load(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("rows", rows) for rows in (-1, 1.5, True, 2**70)],
        *[("ridge", ridge) for ridge in (-1.0, np.nan, True)],
    ],
)
@pytest.mark.parametrize("solver", ["normal", "qr"])
def test_stored_evidence_with_invalid_values(solver, name, value, tmp_path):
    X = np.sin(np.arange(50.0))[:, None]
    esn = ee.LinearESN(5, solver=solver, ridge=0.1, seed=0).fit(X, X)
    esn.save(tmp_path / "file", statistics=True)

    def change(values):
        evidence = values["evidence"]
        (evidence["statistics"] if name == "rows" else evidence)[name] = value

    assert f"{name}=" in refusal(tmp_path / "file", change)


TRAINING_STATE = TrainingState.initial(MODEL.W_out, Penalty(5), 1.0)


@pytest.mark.parametrize("name", ["R", "Z", "weights", "centre"])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (2, 4), (50, 50), (5,)])
def test_learner_with_arrays_of_other_shapes_than_the_model(name, shape):
    training_state = TRAINING_STATE._replace(**{name: np.ones(shape)})
    with pytest.raises(ValueError, match=f"{name}: got shape"):
        Learner(MODEL, training_state, Penalty(5), 1.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ridge": True}, "ridge=True"),
        ({"forgetting": True}, "forgetting=True"),
        ({"training_state": TRAINING_STATE._replace(R=np.ones((5, 5)))}, "R.* upper triangular"),
        ({"penalty": Penalty(4)}, "penalty[=:]"),
    ],
)
def test_learner_with_invalid_numbers(change, words):
    parts = {"model": MODEL, "training_state": TRAINING_STATE, "penalty": Penalty(5), "ridge": 1.0}
    Learner(**parts)
    with pytest.raises(ValueError, match=words):
        Learner(**(parts | change))


@pytest.mark.parametrize("count", [-1, 1.5, True, 2**70])
@pytest.mark.parametrize("name", ["warmup", "rows"])
def test_stored_learner_with_invalid_counts(name, count, tmp_path):
    Learner(MODEL, TRAINING_STATE, Penalty(5), 1.0).save(tmp_path / "file")

    def change(values):
        (values["training_state"] if name == "rows" else values)[name] = count

    assert f"{name}=" in refusal(tmp_path / "file", change)


def test_only_a_bias_can_be_unpenalised():
    model = LinearModel(RESERVOIR, np.ones((4, 2)), readout_bias=False)
    with pytest.raises(ValueError, match=r"free=1.*no bias"):
        Learner(model, TrainingState.initial(model.W_out, Penalty(4, 1), 1.0), Penalty(4, 1), 1.0)


@pytest.mark.parametrize(
    "change",
    [
        {"form": 3},
        {"reason": None},
        {"condition": "1"},
        {"residual": None},
        {"steps": 1.5},
        {"steps": -1},
        {"products_after": 0},
        {"products_before": 1.5},
        {"along": ["a"]},
        {"error": "1"},
        {"error": 10**400},
        {"error_steps": 1.5},
        {"radius": 10**400},
        {"readout": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_stored_certificate_with_invalid_values(change, tmp_path):
    model = diagonalize(np.diag([0.5, 0.2]), np.ones((1, 2)))
    model.save(tmp_path / "file")
    assert str(ee.load(tmp_path / "file").certificate) == str(model.certificate)
    words = refusal(tmp_path / "file", lambda values: values["certificate"].update(change))
    assert next(iter(change)) in words


def test_evidence_with_a_singular_triangle():
    # Without rows and with a zero penalty, every degree of freedom is used.
    basis = Basis(np.zeros((4, 4)), 2)
    weights, penalty = np.ones((5, 1)), Penalty(5, 1, basis)
    evidence = Evidence(Triangle.empty(5, 1), penalty, 1.0, weights, np.eye(1), 0.0)
    assert evidence.freedom == 5.0


def test_model_with_integer_weights():
    model = LinearModel(
        Reservoir(np.eye(3, dtype=int), np.ones((1, 3), int)), np.ones((4, 1), int), True
    )
    assert model.predict(np.ones((2, 1))).tolist() == [[4.0], [7.0]]
