"""The playground computes what the library computes, and works with a mouse and a keyboard."""

import functools
import http.server
import importlib.util
import json
import re
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

import eigenecho as ee

DOCS = Path(__file__).parents[1] / "docs"
FOLDER = DOCS / "_static" / "playground"
SMALL = 1e-9
"""Largest difference from Python."""


@pytest.fixture(scope="module")
def maker():
    spec = importlib.util.spec_from_file_location("make_playground", DOCS / "make_playground.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_node(code, tmp_path):
    """Run a module in a copy of the playground and return what it prints, as JSON."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    shutil.copytree(FOLDER, tmp_path / "playground")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "main.js").write_text(code)
    done = subprocess.run([node, "main.js"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["step.js", "data.js"])
def test_generated_modules_are_up_to_date(maker, name):
    assert (FOLDER / name).read_text(encoding="utf-8") == maker.MODULES[name](), "make playground"


def stored_cases():
    text = (FOLDER / "cases.js").read_text(encoding="utf-8")
    return json.loads(re.search(r"CASES = (.*);", text)[1])


def test_stored_cases_are_those_of_the_library(maker):
    assert len(stored_cases()) == len(maker.CASES) == 3
    for case, current in zip(stored_cases(), maker.CASES, strict=True):
        expected = case.pop("expected")
        assert case == current
        for name, values in maker.expected(current).items():
            np.testing.assert_allclose(expected[name], values, rtol=0, atol=SMALL)


def test_numbers_agree_with_python(tmp_path):
    code = """
        import { compareWithPython } from "./playground/check.js";
        console.log(JSON.stringify(compareWithPython()));
    """
    results = run_node(code, tmp_path)
    assert len(results) == 3
    assert max(result["difference"] for result in results) < SMALL


def test_laws_agree_with_python(tmp_path):
    code = """
        import { LAWS, memoryCurve } from "./playground/spectra.js";
        const results = [];
        for (const law of Object.keys(LAWS)) {
            for (const [n, sr] of [[2, 0.5], [7, 0.3], [30, 0.9], [60, 0.999]]) {
                const points = LAWS[law](n, sr);
                results.push({ law, n, sr, points, curve: [...memoryCurve(points, 60)] });
            }
        }
        console.log(JSON.stringify(results));
    """
    for result in run_node(code, tmp_path):
        spectrum = ee.spectra.law(result["law"])(result["n"], sr=result["sr"], seed=0)
        points = [complex(point["re"], point["im"]) for point in result["points"]]
        expected = np.concatenate([spectrum.real, spectrum.pairs])
        np.testing.assert_allclose(points, expected, rtol=0, atol=1e-14)
        curve = ee.spectra.memory_curve(spectrum, 60)
        np.testing.assert_allclose(result["curve"], curve, rtol=0, atol=1e-10)


def test_least_squares_agree_with_python(tmp_path):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(40, 7)), rng.normal(size=(40, 2))
    A[:, 3] = A[:, 2] + 1e-5 * A[:, 3]  # normal equations would lose nine digits
    for i, ridge in enumerate((0.0, 1e-3)):
        code = f"""
            import {{ leastSquares }} from "./playground/least_squares.js";
            const [A, B] = {json.dumps([A.T.tolist(), B.T.tolist()])};
            const float = (rows) => rows.map((row) => Float64Array.from(row));
            const solutions = leastSquares(float(A), float(B), {ridge});
            console.log(JSON.stringify(solutions.map((x) => [...x])));
        """
        (tmp_path / str(i)).mkdir()
        solutions = np.array(run_node(code, tmp_path / str(i))).T
        root = np.sqrt(ridge) * np.eye(7)
        rows, targets = np.vstack([A, root]), np.vstack([B, np.zeros((7, 2))])
        expected = np.linalg.lstsq(rows, targets, rcond=None)[0]
        np.testing.assert_allclose(A @ solutions, A @ expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(solutions, expected, rtol=1e-8)


HOST = """<!DOCTYPE html><html lang="en" data-theme="dark"><meta charset="utf-8">
<link rel="stylesheet" href="playground/playground.css">
<div class="playground"></div><div class="playground" data-compact></div>
<script type="module" src="playground/main.js"></script>
<script type="module" src="actions.js"></script>"""

ACTIONS = """
const page = document.querySelector(".playground");
let last = "";
const summary = async () => {  // wait for another one
    for (let i = 0; i < 100 && page.querySelector(".summary").textContent === last; i++) {
        await new Promise((done) => setTimeout(done, 50));
    }
    last = page.querySelector(".summary").textContent;
    return last;
};
const field = (name) => page.querySelector(`[name=${name}]`);
const set = (name, value) => {
    field(name).value = value;
    field(name).dispatchEvent(new Event("input", { bubbles: true }));
};
const disc = page.querySelector(".plane-disc");
const press = (key) => disc.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const place = () => [field("selected").value, field("modulus").value, field("angle").value];
const results = { start: await summary(), first: place() };
disc.focus();
results.focus = document.activeElement === disc;
press("ArrowLeft");
results.moved = place();
results.law = field("law").value;
press("PageDown");
results.next = place();
const target = disc.querySelector("[data-i='0']"), box = target.getBoundingClientRect();
const x = box.x + box.width / 2, clientY = box.y + box.height / 2;
const at = (dx) => ({ bubbles: true, pointerId: 1, clientX: x + dx, clientY });
disc.setPointerCapture = () => {};  // there is no real pointer
target.dispatchEvent(new PointerEvent("pointerdown", at(0)));
results.grabbed = place();
disc.dispatchEvent(new PointerEvent("pointermove", at(-20)));
disc.dispatchEvent(new PointerEvent("pointerup", at(-20)));
results.dragged = place();
results.edited = await summary();
set("task", "memory");
set("law", "ring");
set("units", 30);
results.memory = await summary();
results.freeIsHidden = page.querySelector("[data-chart=free]").hidden;
field("pair").click();
results.added = await summary();
field("check").click();
results.checked = page.querySelector(".checked").textContent;
const fields = [...page.querySelectorAll("input, select")];
results.unlabelled = fields.filter((e) => !e.labels.length).length;
results.paths = page.querySelectorAll("figure path").length;
document.title = JSON.stringify(results);
"""


@pytest.mark.slow
def test_page_in_a_browser(tmp_path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("Chromium is not installed")
    shutil.copytree(FOLDER, tmp_path / "site" / "playground")
    (tmp_path / "site" / "index.html").write_text(HOST, encoding="utf-8")
    (tmp_path / "site" / "actions.js").write_text(ACTIONS, encoding="utf-8")
    handler = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(tmp_path / "site")
    )
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        options += ["--disable-background-networking", "--disable-component-update"]
        options += ["--disable-sync", f"--user-data-dir={tmp_path / 'profile'}"]
        options += ["--virtual-time-budget=20000", "--dump-dom"]
        address = f"http://127.0.0.1:{server.server_port}/index.html"
        done = subprocess.run(
            [browser, *options, address], capture_output=True, text=True, timeout=120
        )
        server.shutdown()
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title, done.stdout[-2000:] + done.stderr[-2000:]
    results = json.loads(title[1].replace("&amp;", "&"))
    assert "20 units. Next step: error" in results["start"]
    assert results["focus"]
    assert results["moved"] != results["first"]
    assert results["law"] == "own"
    assert results["next"][0] != results["moved"][0]
    assert results["grabbed"][0] == "0"
    assert float(results["dragged"][1]) != float(results["grabbed"][1])
    assert results["edited"] != results["start"]
    assert "capacity" in results["memory"]
    assert "30.00 of 30" in results["memory"]
    assert results["freeIsHidden"]
    assert results["added"].startswith("32 units")
    assert float(re.search(r"networks: (\S+)\.$", results["checked"])[1]) < SMALL
    assert results["unlabelled"] == 0
    assert results["paths"] >= 5
