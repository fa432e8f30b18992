"""The store, the runner, and every experiment at a size that takes no time."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from eigenecho.apps.paper import runner, workers
from eigenecho.apps.paper.cell_store import SCHEMA, CellStore, StoreError, UnusableStoreError
from eigenecho.apps.paper.experiment import encode
from eigenecho.plots.spectrum import importance
from eigenecho.spectra import Spectrum
from fake_experiment import HELD, Alone, Dying, Failing, Fake, FakeConfig, Slow, wait_for

HERE = Path(__file__).parent


def silent(name, done, total):
    pass


def fill(path, *jobs, workers=1):
    """Run jobs into a store; how many cells were computed."""
    store = CellStore(path)
    computed = []
    add = store.add
    store.add = lambda *row: (computed.append(row[2]), add(*row))
    try:
        runner.run(jobs, store, workers, silent)
    finally:
        store.close()
    return len(computed)


def contents(path, job):
    store = CellStore(path)
    try:
        return {k: r for k, (r, _) in store.load(job.experiment.name, job.identity).items()}
    finally:
        store.close()


def assert_same(one, other):
    assert one.keys() == other.keys()
    for key in one:
        assert one[key].keys() == other[key].keys()
        for name in one[key]:
            np.testing.assert_array_equal(one[key][name], other[key][name], strict=True)


def job(experiment=None, **changes):
    experiment = experiment or Fake()
    return runner.Job(experiment, replace(experiment.config, **changes))


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    path = tmp_path_factory.mktemp("filled") / "store.sqlite"
    assert fill(path, job(), workers=1) == 6
    return path


@pytest.fixture
def copy(filled, tmp_path):
    path = tmp_path / "store.sqlite"
    path.write_bytes(filled.read_bytes())
    return path


# The store ------------------------------------------------------------------------------------


def test_results_come_back_as_they_were(filled):
    stored = contents(filled, job())
    assert_same(
        stored, {encode(k): Fake().run(job().config, k) for k in Fake().cells(job().config)}
    )


def test_a_second_start_computes_nothing(copy):
    assert fill(copy, job()) == 0


def test_a_changed_configuration_computes_anew(copy):
    assert fill(copy, job(size=3)) == 6
    assert fill(copy, job()) == 0


def test_a_new_version_of_the_code_computes_anew(copy):
    class Newer(Fake):
        version = 2

    assert Newer().identity(FakeConfig()) != Fake().identity(FakeConfig())


@pytest.mark.parametrize(("seeds", "missing"), [(2, 0), (3, 0), (4, 2)])
def test_other_seeds_use_what_is_there(copy, seeds, missing):
    assert fill(copy, job(seeds=seeds)) == missing


def test_every_field_but_the_seeds_is_part_of_the_identity():
    for experiment in runner.EXPERIMENTS:
        kept = {f.name for f in fields(experiment.config) if not f.metadata.get("identity", True)}
        assert kept == {"seeds"}
        assert experiment.config.identity() == experiment.config.with_seeds(77).identity()


def test_machine_and_versions_are_stored(filled):
    store = CellStore(filled)
    (machine,) = store.machines("fake", job().identity)
    store.close()
    assert machine == runner.describe_machine()
    assert {"eigenecho", "numpy", "python", "cores", "processor"} <= set(machine)


def test_forget_drops_one_configuration(copy):
    fill(copy, job(size=3))
    store = CellStore(copy)
    store.forget("fake", job().identity)
    store.close()
    assert not contents(copy, job())
    assert len(contents(copy, job(size=3))) == 6


def test_a_file_that_is_no_store(tmp_path):
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"not a database, but long enough to look like one" * 100)
    with pytest.raises(UnusableStoreError, match=r"store\.sqlite is damaged .*--fresh"):
        CellStore(path)


def test_a_torn_page_is_found_before_the_work(copy):
    data = bytearray(copy.read_bytes())
    data[4096 : 3 * 4096] = bytes(2 * 4096)
    copy.write_bytes(data)
    with pytest.raises(UnusableStoreError, match=r"store\.sqlite is damaged"):
        CellStore(copy)


def test_a_truncated_file(copy):
    copy.write_bytes(copy.read_bytes()[:-5000])
    with pytest.raises(UnusableStoreError, match="damaged"):
        CellStore(copy)


@pytest.mark.parametrize("blob", [b"", b"garbage", b"PK\x03\x04 half a zip"])
def test_a_damaged_cell_is_an_error(copy, blob):
    with sqlite3.connect(copy) as connection:
        connection.execute("UPDATE cells SET result = ? WHERE key = ?", (blob, encode(("a", 0))))
    with pytest.raises(UnusableStoreError, match=r"store\.sqlite is damaged"):
        contents(copy, job())


def test_a_flipped_bit_in_a_cell_is_an_error(copy):
    with sqlite3.connect(copy) as connection:
        (blob,) = connection.execute("SELECT result FROM cells").fetchone()
        flipped = bytearray(blob)
        flipped[len(blob) // 2] ^= 1
        connection.execute("UPDATE cells SET result = ?", (bytes(flipped),))
    with pytest.raises(UnusableStoreError, match="damaged"):
        contents(copy, job())


def test_a_store_from_another_version(copy):
    with sqlite3.connect(copy) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    with pytest.raises(UnusableStoreError, match=r"another version.*--fresh"):
        CellStore(copy)


def test_a_full_disk_loses_nothing(copy):
    before = contents(copy, job())
    store = CellStore(copy)
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match=r"store\.sqlite: .*full.*finished cells are kept") as e:
        runner.run([job(size=9)], store, 1, silent)
    store.close()
    assert not isinstance(e.value, UnusableStoreError)
    assert_same(contents(copy, job()), before)


# The runner -----------------------------------------------------------------------------------


def test_the_number_of_workers_changes_nothing(filled, tmp_path):
    path = tmp_path / "two.sqlite"
    assert fill(path, job(), workers=2) == 6
    assert_same(contents(path, job()), contents(filled, job()))


def test_progress_hears_of_every_cell(copy):
    store = CellStore(copy)
    heard = []
    runner.run([job(Alone()), job(seeds=4)], store, 2, lambda *said: heard.append(said))
    store.close()
    # Those that need the machine for themselves come last.
    assert heard[:3] == [("fake", 6, 8), ("fake", 7, 8), ("fake", 8, 8)]
    assert heard[3:] == [("alone", n, 6) for n in range(7)]


def test_a_cell_that_fails_is_named_and_the_others_kept(tmp_path):
    path = tmp_path / "store.sqlite"
    failing = job(Failing())
    with pytest.raises(workers.CellError, match=r"failing \('b', 0\) .*ZeroDivisionError: nothing"):
        fill(path, failing)
    assert encode(("a", 0)) in contents(path, failing)


def test_a_worker_that_dies_is_an_error(tmp_path):
    with pytest.raises(workers.CellError, match=r"worker process died.*--workers"):
        fill(tmp_path / "store.sqlite", job(Dying()))


def start(path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import pathlib, test_experiments as t\n"
        "t.fill(pathlib.Path(sys.argv[2]), t.job(t.Slow()), workers=2)"
    )
    arguments = [sys.executable, "-c", code, str(HERE), str(path)]
    return subprocess.Popen(arguments, env={**os.environ, HELD: "1"})


def finished(path):
    if not path.exists():
        return 0
    try:
        with sqlite3.connect(path, timeout=10) as connection:
            return connection.execute("SELECT count(*) FROM cells").fetchone()[0]
    except sqlite3.OperationalError:  # not made yet
        return 0


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_kill_9_in_the_middle_and_start_again(tmp_path):
    path = tmp_path / "store.sqlite"
    slow = job(Slow())
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
    quick = job(Slow(), pause=0.0)  # another identity, the same numbers
    fill(path, quick, workers=1)
    assert_same(now, contents(path, quick))


# The experiments ------------------------------------------------------------------------------

SMALL = {
    "spectra": dict(units=80),
    "mso-signal": dict(),
    "mso": dict(units=10, tasks=(1, 5), lrs=(1.0,), srs=(0.9,), ridges=(1e-8, 1e-4)),
    "mso-accurate": dict(units=10, tasks=(1, 5), lrs=(1.0,), srs=(0.9,), ridges=(1e-20, 1e-12)),
    "spectral-importance": dict(units=10),
    "mc-delay": dict(sizes=(10,), steps=(600,), warmup=100, ring_radii=(0.8,)),
    "mc-connectivity": dict(sizes=(10,), steps=(600,), warmup=100, degrees=(2, 5)),
    "timing": dict(sizes=(8, 12, 16, 20), seconds=0.0, repeats=2),
    "win-after": dict(units=10, steps=300, washout=50),
}


def small(experiment):
    return replace(experiment.quick, seeds=2, **SMALL[experiment.name])


@pytest.fixture(scope="module")
def computed():
    return {
        e.name: {key: e.run(small(e), key) for key in e.cells(small(e))} for e in runner.EXPERIMENTS
    }


@pytest.fixture(params=runner.EXPERIMENTS, ids=lambda e: e.name)
def experiment(request):
    return request.param


def test_the_catalogue_has_every_table_and_figure():
    assert [e.name for e in runner.EXPERIMENTS] == list(SMALL)
    assert all(e.title and e.paper for e in runner.EXPERIMENTS)
    assert runner.find_experiments([]) == runner.EXPERIMENTS
    assert [e.name for e in runner.find_experiments(["timing", "mso"])] == ["mso", "timing"]


def test_the_paper_is_the_default(experiment):
    assert experiment.config.seeds >= experiment.quick.seeds
    assert len(experiment.cells(experiment.config)) >= len(experiment.cells(experiment.quick))


def test_keys_are_unique_and_survive_the_store(experiment):
    for config in (experiment.config, experiment.quick):
        texts = [encode(key) for key in experiment.cells(config)]
        assert len(set(texts)) == len(texts)


def test_more_seeds_keep_the_cells_of_fewer(experiment):
    few, many = (set(experiment.cells(experiment.quick.with_seeds(n))) for n in (2, 5))
    assert few <= many


def test_cells_are_pure(experiment, computed):
    config = small(experiment)
    assert experiment.identity(config) == experiment.identity(small(experiment))
    if experiment.exclusive:  # times differ from run to run
        return
    for key in experiment.cells(config)[:2]:
        again = experiment.run(config, key)
        for name, value in computed[experiment.name][key].items():
            np.testing.assert_array_equal(np.asarray(again[name]), np.asarray(value))


def test_sections_show_what_the_report_needs(experiment, computed):
    section = experiment.section(small(experiment), computed[experiment.name])
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
        assert claim.verdict in ("holds", "holds in part", "does not hold")


def test_importance_is_the_modulus_of_a_pair():
    spectrum = Spectrum(np.array([0.5]), np.array([0.1 + 0.2j]))
    np.testing.assert_allclose(importance(spectrum, np.array([5.0, 3.0, 4.0])), [1, 1, 1])
    np.testing.assert_allclose(importance(spectrum, np.array([1.0, 0.0, -2.0])), [0.5, 1, 1])


def test_coverage_knows_a_lattice_from_a_heap():
    from eigenecho.apps.paper.spectra_figure import measure_cover

    x, y = np.meshgrid(np.arange(-0.9, 1.0, 0.2), np.arange(-0.9, 1.0, 0.2))
    lattice = measure_cover((x + 1j * y).ravel())
    assert lattice["unevenness"] < 1e-10
    assert lattice["hole"] < 0.15
    heap = measure_cover(0.05 * np.exp(2j * np.pi * np.arange(50) / 50))
    assert heap["hole"] > 0.9
    assert heap["density"] > 0.9


def test_w_in_after_the_steps_is_exact(computed):
    for (_, D_in, _), result in computed["win-after"].items():
        assert result["states"] < 1e-13
        assert ("recovered" in result) == (D_in == 1)
    for (spectrum, D_in, _), result in computed["win-after"].items():
        if spectrum == "ring" and D_in == 1:
            assert result["recovered"] < 1e-12
            assert result["refitted"] < 1e-12
            assert result["ridge"] > 1e-6  # another penalty, as the paper says


def test_slopes_are_those_of_power_laws():
    from eigenecho.apps.paper.step_times import StepTimes, StepTimesConfig

    config = StepTimesConfig(sizes=(100, 200, 400, 800))
    power = {"Dense": 2, "Sparse": 2, "Normal": 3, "Diagonalization": 3}
    results = {
        key: {"seconds": np.array([1e-9 * key[2] ** power.get(key[1], 1)])}
        for key in StepTimes().cells(config)
    }
    section = StepTimes().section(config, results)
    for name, slope in section.numbers["exponent"].items():
        assert slope == pytest.approx(power.get(name.split(": ")[1], 1))
    assert {claim.verdict for claim in section.claims} == {"holds"}


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ((0.97, 0.99), "holds"),
        ((0.951, 1.0), "holds"),
        ((0.97, 0.94), "holds in part"),  # too far below at one N
        ((1.01, 0.99), "holds in part"),  # above at one N
        ((1.01, 0.9), "does not hold"),
    ],
)
def test_sim_is_judged_by_its_total_capacity(shares, verdict):
    from eigenecho.apps.paper.mc_delay import MCDelay, MemoryConfig

    config = MemoryConfig(sizes=(20, 40), steps=(600, 600), seeds=1, ring_radii=(0.9,))
    share = dict(zip(config.sizes, shares, strict=True))
    results = {
        (N, network, seed): {
            "capacity": np.full(N + N // 4, 0.5 * (share[N] if network == "Sim" else 1))
        }
        for N, network, seed in MCDelay().cells(config)
    }
    # One delay that is far off does not decide, but it is printed.
    capacity = results[20, "Sim", 0]["capacity"]
    capacity[3] += 0.25
    capacity[4] -= 0.25
    section = MCDelay().section(config, results)
    (claim,) = [claim for claim in section.claims if claim.claim.startswith("Sim")]
    assert claim.verdict == verdict
    assert f"N = 20: {shares[0] - 1:+.1%} in total" in claim.measured
    assert "at most 0.2" in claim.measured
    assert "after the first runs" in section.text


def test_a_worker_has_one_thread():
    with workers._single_threaded():
        assert {os.environ[name] for name in workers.ONE_THREAD} == {"1"}
