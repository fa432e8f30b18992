"""Self-test of exported code on this machine, if a compiler is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

C_COMPILERS = ("cc", "gcc", "clang")
C_FLAGS = ("-std=c99", "-O2", "-ffp-contract=off")
LIMIT = 60
"""Time limit of the compilation and of the run, in seconds each."""

LONGEST = 300
"""Largest number of characters of an error message."""

PROGRAM = "run-selftest"
"""Name of the test program, which differs from any network because it is not a C identifier."""

C_MAIN = """\
#include <stdio.h>
#include "{name}.h"
int main(void)
{{
    return printf("%.17g\\n", (double){name}_selftest()) < 0;
}}
"""


def run_selftest(files: Mapping[str, str], name: str) -> tuple[float | None, str]:
    """Return the largest difference in the self-test, and the compiler or interpreter used.

    If the test cannot be run, return None and the reason. ``files`` maps suffixes to texts.
    """
    tools, run = (C_COMPILERS, _run_c) if ".c" in files else (("node",), _run_javascript)
    tool = next(filter(shutil.which, tools), None)
    if tool is None:
        return None, f"not run: {' or '.join(tools)} is not installed"
    try:
        return float(run(tool, files, name)), tool
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        reason = error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error)
        return None, f"not run: {tool} failed: {' '.join(reason.split())[:LONGEST]}"


def _run_c(tool: str, files: Mapping[str, str], name: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        sources = {f"{name}{suffix}": text for suffix, text in files.items()}
        sources[f"{PROGRAM}.c"] = C_MAIN.format(name=name)
        for file, text in sources.items():
            Path(folder, file).write_text(text, encoding="utf-8")
        _output(tool, *C_FLAGS, f"{name}.c", f"{PROGRAM}.c", "-o", PROGRAM, cwd=folder)
        return _output(str(Path(folder, PROGRAM)))


def _run_javascript(tool: str, files: Mapping[str, str], name: str) -> str:
    module = f"{files['.js']}console.log(selftest());\n"
    return _output(tool, "--input-type=module", "-", input=module)


def _output(*command: str, **options: Any) -> str:
    options |= {"capture_output": True, "encoding": "utf-8", "timeout": LIMIT}
    return subprocess.run(command, check=True, **options).stdout
