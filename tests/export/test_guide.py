"""The programs of the guide on deployment are compiled and give the numbers of Python."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest

from exported import STRICT, need_program

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "deploying.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    """Run the Python blocks, and write the programs; return the folder and the variables."""
    folder, names = tmp_path_factory.mktemp("guide"), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for language, text in BLOCK.findall(PAGE):
            if language == "python":
                exec(compile(text, "deploying.md", "exec"), names)
            elif language in ("c", "javascript"):
                (folder / re.match(r"\S+ ([\w.]+)", text)[1]).write_text(text)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder, names


def compiled(folder, program):
    """Compile a program with the command of the page, and with strict warnings."""
    (command,) = re.findall(rf"^\$ (cc .* -o {program})$", PAGE, re.MULTILINE)
    words = [need_program("cc"), *STRICT, *shlex.split(command)[1:]]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return str(folder / program)


def output_of(command, given=""):
    folder = Path(command[-1]).parent
    done = subprocess.run(
        command, cwd=folder, input=given, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_c_program_forecasts(guide):
    folder, names = guide
    program, esn, series = compiled(folder, "main"), names["esn"], names["series"]
    printed = output_of([program], (folder / "context.txt").read_text())
    expected = esn.forecast(10, context=series[:300])[:, 0]
    np.testing.assert_allclose(np.array(printed, float), expected, rtol=0, atol=1e-9)
    printed = output_of([program], "\n".join(map(repr, series[:2001, 0].tolist())))
    np.testing.assert_allclose(np.array(printed, float), esn.forecast(10)[:, 0], rtol=0, atol=1e-9)


def test_c_program_forecasts_in_single_precision(guide, tmp_path):
    folder, names = guide
    names["esn"].export(tmp_path / "network.c", dtype="float32")
    (tmp_path / "main.c").write_text((folder / "main.c").read_text())
    printed = output_of([compiled(tmp_path, "main")], (folder / "context.txt").read_text())
    expected = names["esn"].forecast(10, context=names["series"][:300])[:, 0]
    np.testing.assert_allclose(np.array(printed, float), expected, rtol=0, atol=1e-3)


def test_sensor_program_finds_unusual_readings(guide):
    folder, names = guide
    program = compiled(folder, "watch")
    assert f"LIMIT = {names['limit']:.2f}f" in PAGE
    readings = names["readings"].copy()
    readings[1000] += 2.0
    readings[2000:2005] = np.nan
    printed = output_of([program], "\n".join(map(str, readings)))
    assert printed == ["1000", *map(str, range(2000, 2005))]


def test_javascript_program_runs(guide):
    folder, names = guide
    need_program("node")
    printed = output_of(["node", str(folder / "main.js")])
    stream = names["esn"].stream()
    for value in (0.9, 1.0, 1.1):
        y = stream.step([value])
    following = names["esn"].forecast(1, state=stream.state)
    np.testing.assert_allclose(np.array(printed, float), [y[0], following[0, 0], 0], atol=1e-9)


@pytest.mark.parametrize("network", ["network", "sensor"])
def test_every_name_of_the_page_is_in_the_header(guide, network):
    folder, _ = guide
    header = (folder / f"{network}.h").read_text(encoding="utf-8")
    used = set(re.findall(rf"\b{network}_\w+", PAGE))
    assert used
    for name in used:
        assert name in header
