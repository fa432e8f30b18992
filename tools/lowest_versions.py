"""Print the minimum versions in pyproject.toml as pip constraints, for ``make test-lowest``."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
EXTRAS = ("cli", "parquet")
"""Extras whose minimum versions are tested; development tools are not."""

LOWEST = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)$")


def lowest(project: dict) -> list[str]:
    """Return one constraint per package."""
    wanted = list(project["dependencies"])
    for extra in EXTRAS:
        wanted += project["optional-dependencies"][extra]
    matches = [LOWEST.match(line) for line in wanted]
    return [f"{match[1]}=={match[2]}" for match in matches if match]


if __name__ == "__main__":
    print(*lowest(tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]), sep="\n")
