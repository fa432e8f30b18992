"""Runs of the self-test of exported code on this machine, where it has a compiler."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

C_COMPILERS = ("cc", "gcc", "clang")
C_FLAGS = ("-std=c99", "-O2", "-ffp-contract=off")
LIMIT = 60
"""Seconds for a compilation, and for a run."""

LONGEST = 300
"""Characters of an error message."""

MAIN = "run-selftest.c"
"""Not a C identifier, as the name of a network is."""

C_MAIN = """\
#include <stdio.h>
#include "{name}.h"
int main(void)
{{
    return printf("%.17g\\n", (double){name}_selftest()) < 0;
}}
"""


def run_selftest(files: Mapping[str, str], name: str) -> tuple[float | None, str]:
    """Return the largest difference of the self-test and the program that compiled or ran it.

    The difference is None, with the reason, if it could not be run. ``files`` are texts by suffix.
    """
    tools = C_COMPILERS if ".c" in files else ("node",)
    tool = next(filter(shutil.which, tools), None)
    if tool is None:
        return None, f"not run: none of {', '.join(tools)} is installed"
    try:
        with tempfile.TemporaryDirectory() as folder:
            run = _run_c if ".c" in files else _run_javascript
            return float(run(tool, files, name, Path(folder))), tool
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        reason = getattr(error, "stderr", None) or str(error)
        return None, f"not run: {tool} failed: {' '.join(reason.split())[:LONGEST]}"


def _run_c(tool: str, files: Mapping[str, str], name: str, folder: Path) -> str:
    for suffix, text in files.items():
        (folder / f"{name}{suffix}").write_text(text, encoding="utf-8")
    (folder / MAIN).write_text(C_MAIN.format(name=name), encoding="utf-8")
    program = folder / "run-selftest"
    _output([tool, *C_FLAGS, f"{name}.c", MAIN, "-o", program.name], folder)
    return _output([str(program)], folder)


def _run_javascript(tool: str, files: Mapping[str, str], name: str, folder: Path) -> str:
    (text,) = files.values()
    (folder / "network.mjs").write_text(text, encoding="utf-8")
    main = "import { selftest } from './network.mjs';\nconsole.log(selftest());\n"
    (folder / "main.mjs").write_text(main, encoding="utf-8")
    return _output([tool, "main.mjs"], folder)


def _output(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True, timeout=LIMIT
    )
    return done.stdout
