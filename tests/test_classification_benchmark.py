"""The classification benchmark: formats of sets, stored results and the page.

Nothing is timed, and aeon is not needed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

import classification
from classifiers import methods
from classifiers.memory import METHODS, measure
from classifiers.methods import OURS, PEER, SMALL
from classifiers.page import page
from classifiers.scores import Comparison, Results, SetScore
from classifiers.sets import DESIGN, read_sets


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {}
    for name, shape in {"Plane": (8, 20), "Other": (8, 2, 15)}.items():
        for part in ("tr", "te"):
            arrays[f"{name}/X{part}"] = rng.normal(size=shape).astype(np.float32)
            arrays[f"{name}/y{part}"] = np.array(["a", "b"] * 4)
    arrays["Plane/minirocket"] = np.array(0.9)
    arrays["incomplete/Xtr"] = np.zeros((3, 4))
    np.savez(tmp_path / "sets.npz", **arrays)
    return tmp_path


def test_sets_of_a_folder_and_of_a_file(folder):
    sets = list(read_sets(folder))
    assert [s.name for s in sets] == ["Other", "Plane"]
    assert [s.X.shape for s in sets] == [(8, 2, 15), (8, 1, 20)]
    assert [s.published for s in sets] == [None, 0.9]
    assert sets[1].shape == "8 / 8 | 1 | 20"
    again = list(read_sets(folder / "sets.npz"))
    assert [s.digest for s in again] == [s.digest for s in sets]
    assert len({s.digest for s in sets}) == 2


def test_results_are_stored_and_resumed(folder, monkeypatch, capsys):
    monkeypatch.setattr(classification, "SIZES", ((6, 12),))
    arguments = [str(folder), "--methods", OURS, SMALL, "--seeds", "2"]
    arguments += ["--results", str(folder / "results")]
    assert classification.main(arguments) == 0
    first = capsys.readouterr().out
    assert "Plane: eigenecho" in first
    calls = []
    monkeypatch.setattr(classification, "run", lambda *arguments: calls.append(arguments))
    assert classification.main(arguments) == 0
    assert capsys.readouterr().out == first
    assert len(calls) == 4  # only to compile
    results = Results(folder / "results" / "runs.json")
    assert results.get(OURS, "Plane", 0, "other data") is None
    assert classification.main([str(folder), "--only", "nothing"]) == 2


def test_unsupported_series_are_reported(folder, monkeypatch):
    class Picky:
        def fit(self, X, y):
            raise ValueError("unequal lengths")

    monkeypatch.setitem(methods.METHODS, PEER, lambda seed: Picky())
    assert methods.run(PEER, next(read_sets(folder)), 0) == {"error": "unequal lengths"}


def test_wilcoxon_and_ties():
    comparison = Comparison.of([0.9, 0.8, 0.7, 0.5], [0.8, 0.8, 0.6, 0.6])
    assert (comparison.wins, comparison.ties, comparison.losses) == (2, 1, 1)
    assert 0.5 < comparison.p_value <= 1
    assert Comparison.of([0.5], [0.5]).p_value == 1
    assert SetScore.of(
        [
            {"accuracy": 0.8, "fit": 2.0, "predict": 1.0},
            {"accuracy": 0.9, "fit": 3.0, "predict": 0.5},
        ]
    ) == SetScore(pytest.approx(0.85), 2.0, 0.5)


def test_page(folder):
    sets = list(read_sets(folder))
    scores = {
        OURS: {"Plane": SetScore(0.9, 1, 1), "Other": SetScore(0.7, 1, 1)},
        PEER: {"Plane": SetScore(0.95, 2, 2), "Other": SetScore(0.75, 2, 2)},
    }
    speeds = {name: {"20 × 50": SetScore(1.0, 0.5, 0.2)} for name in scores}
    text = page(sets, scores, speeds, seeds=3)
    assert "On 1 data sets that were not used to choose the settings" in text
    assert "0 wins, 0 ties and 1 losses" in text
    assert "| Plane* | 8 / 8 | 1 | 20 | 90.00 | 95.00 | 90.00 |" in text
    assert "Other (5.0), Plane (5.0)" in text
    assert "Plane" in DESIGN
    del scores[PEER]["Plane"]
    assert "| 90.00 | – |" in page(sets, scores, speeds, seeds=3)


@pytest.mark.parametrize("method", METHODS)
def test_memory_of_many_series(method):
    seconds, extra, features = measure(method, 30, 20)
    assert seconds > 0
    assert extra < 1000  # MiB, and may be slightly negative: the counters of Linux are approximate
    assert features == 4 * 30 * 7680 / 2**20
