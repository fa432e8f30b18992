"""The store, the runner, and every experiment at a tiny size."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from eigenecho.paper import runner
from eigenecho.paper.cell_store import CellStore, StoreError
from eigenecho.paper.claims import VERDICTS
from eigenecho.paper.experiment import Results, load_texts
from eigenecho.plots.spectrum import importance
from eigenecho.spectra import Spectrum
from fake_experiment import HELD, Alone, Dying, Failing, Fake, Slow, Threads, wait_for

HERE = Path(__file__).parent


def silent(name, done, total):
    pass


def fill(path, *experiments, workers=1):
    """Run experiments into a store; return the number of computed cells."""
    store = CellStore(path)
    computed = []
    add = store.add
    store.add = lambda *row: (computed.append(row[1]), add(*row))
    runner.run(experiments, store, workers, silent)
    return len(computed)


def contents(path, experiment):
    return {key: stored.cell for key, stored in CellStore(path).load(experiment).items()}


def assert_same(one, other):
    assert one.keys() == other.keys()
    for key in one:
        assert one[key].keys() == other[key].keys()
        for name in one[key]:
            np.testing.assert_array_equal(one[key][name], other[key][name], strict=True)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    path = tmp_path_factory.mktemp("filled") / "cells"
    assert fill(path, Fake(), workers=1) == 6
    return path


@pytest.fixture
def copy(filled, tmp_path):
    return shutil.copytree(filled, tmp_path / "cells")


# Store ----------------------------------------------------------------------------------------


def test_results_are_restored_exactly(filled):
    stored = contents(filled, Fake())
    assert_same(stored, {key: Fake().run(key) for key in Fake().cells()})


def test_second_run_computes_nothing(copy):
    assert fill(copy, Fake()) == 0


def test_changed_configuration_is_recomputed(copy):
    assert fill(copy, Fake(size=3)) == 6
    assert fill(copy, Fake()) == 0


def test_new_version_of_the_code_is_recomputed(copy):
    class Newer(Fake):
        version = 2

    assert Newer().identity != Fake().identity


@pytest.mark.parametrize(("seeds", "missing"), [(2, 0), (3, 0), (4, 2)])
def test_other_seeds_reuse_stored_cells(copy, seeds, missing):
    assert fill(copy, Fake(seeds=seeds)) == missing


def test_every_field_but_the_seeds_is_part_of_the_identity():
    for experiment in runner.EXPERIMENTS:
        assert replace(experiment, seeds=77).identity == experiment.identity
        for field in fields(experiment):
            changed = replace(experiment, **{field.name: "another value"})
            assert (changed.identity == experiment.identity) == (field.name == "seeds")


def test_stored_results_of_the_paper_are_found_again():
    """A changed identity would recompute hours of stored cells, so it must be intentional."""
    assert {experiment.name: experiment.identity for experiment in runner.EXPERIMENTS} == {
        "spectra": "2cdca319115e9c58-2",
        "mso-signal": "602850355a67038a-1",
        "same-network": "989898317f2d03f8-1",
        "mso": "fc8d2fe14af10c9a-1",
        "mso-normal-equations": "fc8d2fe14af10c9a-1",
        "mso-accurate": "dc74d0a7a934e3f2-1",
        "spectral-importance": "5e7328dfd4b82454-3",
        "mc-delay": "0a9421f349517f38-2",
        "mc-connectivity": "22930272e72e061a-5",
        "timing": "bb7aaa108108b60a-3",
        "win-after": "ed38723b45926ea4-2",
    }


def test_machine_and_versions_are_stored(filled):
    for stored in CellStore(filled).load(Fake()).values():
        assert stored.machine == runner.describe_machine()
        assert {"eigenecho", "numpy", "python", "cores", "processor"} <= set(stored.machine)
        assert stored.seconds > 0


def test_forget_deletes_one_configuration(copy):
    fill(copy, Fake(size=3))
    CellStore(copy).forget(Fake())
    assert not contents(copy, Fake())
    assert len(contents(copy, Fake(size=3))) == 6


def cell_file(path):
    """Return the file of the first cell in a store."""
    return next(path.rglob("a-0.npz"))


@pytest.mark.parametrize("data", [b"", b"garbage", b"PK\x03\x04 half a zip"])
def test_damaged_cell_is_an_error(copy, data):
    cell_file(copy).write_bytes(data)
    with pytest.raises(StoreError, match=r"a-0\.npz: .*Delete the file and run the command again"):
        contents(copy, Fake())


def test_truncated_cell_is_an_error(copy):
    file = cell_file(copy)
    file.write_bytes(file.read_bytes()[:-500])
    with pytest.raises(StoreError, match="Delete the file"):
        contents(copy, Fake())


def test_file_of_another_program_is_an_error(copy):
    np.savez(cell_file(copy), draw=np.zeros(4))
    with pytest.raises(StoreError, match="Delete the file"):
        contents(copy, Fake())


def test_flipped_bit_in_a_cell_is_an_error(copy):
    file = cell_file(copy)
    flipped = bytearray(file.read_bytes())
    flipped[len(flipped) // 2] ^= 1
    file.write_bytes(flipped)
    with pytest.raises(StoreError, match="Delete the file"):
        contents(copy, Fake())


def test_deleted_cell_is_computed_again(copy):
    before = contents(copy, Fake())
    cell_file(copy).unlink()
    assert fill(copy, Fake()) == 1
    assert_same(contents(copy, Fake()), before)


def test_full_disk_loses_no_results(copy, monkeypatch):
    before = contents(copy, Fake())
    write = Path.write_bytes

    def full(path, data):
        write(path, data[:10])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space left"):
            fill(copy, Fake(size=9))
    assert_same(contents(copy, Fake()), before)
    assert not contents(copy, Fake(size=9))
    assert not list(copy.rglob("*.part"))


# Runner ---------------------------------------------------------------------------------------


def test_results_do_not_depend_on_the_number_of_workers(filled, tmp_path):
    path = tmp_path / "two"
    assert fill(path, Fake(), workers=2) == 6
    assert_same(contents(path, Fake()), contents(filled, Fake()))


def test_progress_reports_every_cell(copy):
    heard = []
    experiments = [Alone(), Fake(seeds=4)]
    runner.run(experiments, CellStore(copy), 2, lambda *report: heard.append(report))
    # Experiments that need the whole machine come last.
    assert heard[:3] == [("fake", 6, 8), ("fake", 7, 8), ("fake", 8, 8)]
    assert heard[3:] == [("alone", n, 6) for n in range(7)]


def test_failed_cell_is_named_and_the_others_are_kept(tmp_path):
    path = tmp_path / "cells"
    failing = Failing()
    with pytest.raises(runner.CellError, match=r"failing \('b', 0\) .*ZeroDivisionError: nothing"):
        fill(path, failing)
    assert ("a", 0) in contents(path, failing)


def test_death_of_a_worker_is_an_error(tmp_path):
    with pytest.raises(runner.CellError, match=r"worker process died.*--workers"):
        fill(tmp_path / "cells", Dying())


def start(path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import pathlib, test_experiments as t\n"
        "t.fill(pathlib.Path(sys.argv[2]), t.Slow(), workers=2)"
    )
    arguments = [sys.executable, "-c", code, str(HERE), str(path)]
    return subprocess.Popen(arguments, env={**os.environ, HELD: "1"})


def finished(path):
    return len(list(path.rglob("*.npz")))


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_killed_run_can_be_resumed(tmp_path):
    path = tmp_path / "cells"
    slow = Slow()
    process = start(path)
    wait_for(lambda: finished(path) >= 3 or process.poll() is not None)
    workers = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    left = [int(pid) for pid in workers.read_text().split()] if workers.exists() else []
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    wait_for(lambda: not any(alive(pid) for pid in left))

    kept = contents(path, slow)
    assert len(kept) == 3
    assert fill(path, slow, workers=2) == 13
    now = contents(path, slow)
    assert_same({key: now[key] for key in kept}, kept)
    quick = Slow(pause=0.0)  # another identity with equal results
    fill(path, quick, workers=1)
    assert_same(now, contents(path, quick))


# Experiments ----------------------------------------------------------------------------------

SMALL = {
    "spectra": dict(units=80),
    "mso-signal": dict(),
    "same-network": dict(
        units=10, steps=300, train=200, washout=50, connectivities=(1.0, 0.3), radii=(0.9,)
    ),
    "mso": dict(units=10, tasks=(1, 5), lrs=(1.0,), srs=(0.9,), ridges=(1e-8, 1e-4)),
    "mso-normal-equations": dict(
        units=10, tasks=(1, 5), lrs=(1.0,), srs=(0.9,), ridges=(1e-8, 1e-4)
    ),
    "mso-accurate": dict(units=10, tasks=(1, 5), lrs=(1.0,), srs=(0.9,), ridges=(1e-20, 1e-12)),
    "spectral-importance": dict(units=10),
    "mc-delay": dict(sizes=(10,), steps=(600,), warmup=100),
    "mc-connectivity": dict(sizes=(10,), steps=(600,), warmup=100, degrees=(2, 5)),
    "timing": dict(
        sizes=(8, 12, 16), large=(8, 12, 16), trained=(8, 12, 16), inputs=(1, 3), seconds=0.0
    ),
    "win-after": dict(units=10, steps=300, washout=50),
}


def small(experiment):
    return quick(experiment, seeds=2, **SMALL[experiment.name])


@pytest.fixture(scope="module")
def computed():
    return {
        e.name: {key: small(e).run(key) for key in small(e).cells()} for e in runner.EXPERIMENTS
    }


@pytest.fixture(params=runner.EXPERIMENTS, ids=lambda e: e.name)
def experiment(request):
    return request.param


def test_catalogue_has_every_table_and_figure():
    assert [e.name for e in runner.EXPERIMENTS] == list(SMALL)
    assert all(e.texts["title"] and e.texts["paper"] for e in runner.EXPERIMENTS)
    assert runner.find_experiments([]) == runner.EXPERIMENTS
    assert [e.name for e in runner.find_experiments(["timing", "mso"])] == ["mso", "timing"]


def quick(experiment, **changes):
    return replace(experiment, **{**experiment.quick, **changes})


def test_defaults_equal_the_paper(experiment):
    assert experiment.seeds >= quick(experiment).seeds
    assert len(experiment.cells()) >= len(quick(experiment).cells())


def test_keys_are_unique_and_survive_the_store(experiment):
    for keys in (experiment.cells(), quick(experiment).cells()):
        store = CellStore(Path())
        assert len({store._path(experiment, key) for key in keys}) == len(keys)


def test_more_seeds_keep_the_cells_of_fewer(experiment):
    few, many = (set(quick(experiment, seeds=n).cells()) for n in (2, 5))
    assert few <= many


def test_cells_are_pure(experiment, computed):
    if experiment.exclusive:  # times differ between runs
        return
    for key in small(experiment).cells()[:2]:
        again = small(experiment).run(key)
        for name, value in computed[experiment.name][key].items():
            np.testing.assert_array_equal(np.asarray(again[name]), np.asarray(value))


def test_sections_have_the_content_of_the_report(experiment, computed):
    section = small(experiment).section(Results(computed[experiment.name]))
    assert section.text
    assert section.headline
    assert section.tables or section.figures
    for table in section.tables:
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert all(isinstance(cell, str) for row in table.rows for cell in row)
        assert all(table.rows[i][j] for i, j in table.bold)
    for shown in section.figures:
        assert shown.caption
        for ax in shown.figure.axes:
            assert ax.get_xlabel()
            assert ax.get_ylabel()
    for claim in section.claims:
        assert claim.claim
        assert claim.measured
        assert claim.rule
        assert claim.verdict in VERDICTS
        assert bool(claim.quote) == bool(claim.place)
        assert not re.search("nan|None", claim.note)


def test_every_claim_is_judged_by_one_experiment(computed):
    sections = [small(e).section(Results(computed[e.name])) for e in runner.EXPERIMENTS]
    judged = sorted(claim.claim for section in sections for claim in section.claims)
    assert judged == sorted(entry["claim"] for entry in load_texts("claims").values())


def test_importance_is_the_modulus_of_a_pair():
    spectrum = Spectrum(np.array([0.5]), np.array([0.1 + 0.2j]))
    np.testing.assert_allclose(importance(spectrum, np.array([5.0, 3.0, 4.0])), [1, 1, 1])
    np.testing.assert_allclose(importance(spectrum, np.array([1.0, 0.0, -2.0])), [0.5, 1, 1])


def test_cover_distinguishes_a_lattice_from_a_cluster():
    from eigenecho.paper.spectra import measure_cover

    x, y = np.meshgrid(np.arange(-0.9, 1.0, 0.2), np.arange(-0.9, 1.0, 0.2))
    lattice = measure_cover((x + 1j * y).ravel())
    assert lattice["unevenness"] < 1e-10
    assert lattice["hole"] < 0.15
    heap = measure_cover(0.05 * np.exp(2j * np.pi * np.arange(50) / 50))
    assert heap["hole"] > 0.9


def test_input_weights_after_training_are_exact(computed):
    for (_, D_in, _), result in computed["win-after"].items():
        assert result["states"] < 1e-13
        assert ("recovered" in result) == (D_in == 1)
    for (spectrum, D_in, _), result in computed["win-after"].items():
        if spectrum == "ring" and D_in == 1:
            assert result["exact"] < 1e-40
            assert result["recovered"] < 1e-12
            assert result["refitted"] < 1e-12
            assert result["ridge"] > 1e-6  # another penalty, as in the paper


def test_worker_has_one_thread(tmp_path):
    fill(tmp_path / "cells", Threads())
    for cell in contents(tmp_path / "cells", Threads()).values():
        assert len(cell["threads"]) > 1
        assert (cell["threads"] == 1).all()
