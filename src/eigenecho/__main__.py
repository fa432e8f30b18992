"""``python -m eigenecho`` and the command ``eigenecho``."""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDED = ("typer", "rich", "matplotlib", "jinja2")


def main() -> None:
    """Run the command line, or print how to install its packages and exit with code 2."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        names = ", ".join(missing)
        sys.stderr.write(
            f"eigenecho: the command line needs {names}: pip install 'eigenecho[cli]'\n"
        )
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        # Print a question mark for characters that the terminal cannot show.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        from eigenecho.cli.app import app
    except KeyboardInterrupt:  # during imports; later, typer handles it
        sys.exit(130)
    app()


if __name__ == "__main__":
    main()
