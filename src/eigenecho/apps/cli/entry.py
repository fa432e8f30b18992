"""Where the ``eigenecho`` command starts, with or without the extra that it needs."""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDED = ("typer", "rich", "matplotlib", "jinja2")


def main() -> None:
    """Run the command line; without its packages say how to install them, and exit with 2."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        print(
            f"eigenecho: the command line needs {', '.join(missing)}: pip install 'eigenecho[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        # A pipe or terminal without Greek letters gets a question mark, not a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        from eigenecho.apps.cli.app import app
    except KeyboardInterrupt:  # the imports take a second; after them typer sees to it
        sys.exit(130)
    app()
