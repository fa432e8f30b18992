"""Check the distributions built by ``make dist``: ``python tools/dist_is_whole.py dist``.

The wheel is small and contains only the package: no tests, figures or caches. Installed in an empty
environment it trains a network; with the extra ``cli`` it imports every public name, runs the first
example of the README, and ``eigenecho reproduce --quick``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LARGEST = 2_000_000
"""Maximum size of a wheel in bytes."""

UNWANTED = re.compile(
    r"(^|/)(tests?|docs|benchmarks|tools|results|__pycache__|\.[^/]+)(/|$)"
    r"|\.(pyc|pyo|nbi|nbc|png|svg|ipynb|npz|sqlite|so|log)$"
)
NAMES = """
import importlib
import eigenecho
modules = ("errors", "metrics", "plots", "spectra", "tasks", "interop")
count = 0
for name in eigenecho.__all__:
    getattr(eigenecho, name)
    count += 1
for module in modules:
    package = importlib.import_module(f"eigenecho.{module}")
    for name in package.__all__:
        getattr(package, name)
        count += 1
print(f"eigenecho {eigenecho.__version__}: {count} public names")
"""


def check_wheel(wheel: Path) -> list[str]:
    """Return the problems of a wheel before it is installed."""
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {"eigenecho/py.typed", "eigenecho/__init__.py", "eigenecho/forecasting/prior.npz"}
    templates = sorted((ROOT / "src").rglob("templates/*"))
    wanted |= {str(path.relative_to(ROOT / "src")) for path in templates if path.is_file()}
    unwanted = sorted(name for name in names - wanted if UNWANTED.search(name))
    problems = [f"{wheel.name}: {name} does not belong there" for name in unwanted]
    size = wheel.stat().st_size
    print(f"{wheel.name}: {len(names)} files, {size / 1000:.0f} kB")
    if size > LARGEST:
        problems.append(f"{wheel.name}: {size} bytes, more than {LARGEST}")
    return problems + [f"{wheel.name}: {name} is missing" for name in sorted(wanted - names)]


def check_source(archive: Path) -> list[str]:
    """Return the problems of a source distribution: caches or missing files."""
    with tarfile.open(archive) as file:
        names = [name.partition("/")[2] for name in file.getnames()]
    print(f"{archive.name}: {len(names)} files, {archive.stat().st_size / 1000:.0f} kB")
    caches = [name for name in names if re.search(r"__pycache__|\.(pyc|nbi|nbc)$", name)]
    missing = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"} - set(names)
    return [f"{archive.name}: {name} does not belong there" for name in caches] + [
        f"{archive.name}: {name} is missing" for name in sorted(missing)
    ]


def examples() -> list[str]:
    """Return the Python code blocks of the README in order."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def check_installed(wheel: Path) -> list[str]:
    """Install the wheel in an empty environment and return what fails."""
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        _run(folder, python, *install, wheel)
        network, forecast, *_ = examples()
        problems += _try(folder, "a network, with the core alone", python, "-c", network)
        _run(folder, python, *install, f"{wheel}[cli]")
        problems += _try(folder, "the forecast of the README", python, "-c", forecast)
        problems += _try(folder, "every public name", python, "-c", NAMES)
        command = ("-m", "eigenecho", "reproduce", "--quick", "--out", "quick")
        problems += _try(folder, "eigenecho reproduce --quick", python, *command)
        if not (folder / "quick" / "report.html").is_file():
            problems.append("eigenecho reproduce --quick wrote no report")
    return problems


def _run(folder: Path, *command: object) -> subprocess.CompletedProcess[str]:
    # Run outside of the repository, so that the installed package is imported.
    words = [str(word) for word in command]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(words, cwd=folder, env=clean, check=True, capture_output=True, text=True)


def _try(folder: Path, what: str, *command: object) -> list[str]:
    try:
        done = _run(folder, *command)
    except subprocess.CalledProcessError as error:
        return [f"{what} failed:\n{error.stderr}"]
    print(f"{what}: works. {done.stdout.strip().splitlines()[0] if done.stdout.strip() else ''}")
    return []


def main() -> int:
    """Print all problems and return 1 if there are any."""
    folder = Path(sys.argv[1]).resolve()
    (wheel,) = folder.glob("*.whl")
    (archive,) = folder.glob("*.tar.gz")
    problems = [*check_wheel(wheel), *check_source(archive), *check_installed(wheel)]
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
