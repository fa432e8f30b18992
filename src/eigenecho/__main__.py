"""Entry point of the command ``eigenecho`` and of ``python -m eigenecho``."""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDED = ("typer", "rich", "matplotlib", "jinja2")


def main() -> None:
    """Run the command line; if packages are missing, print a message and exit with code 2."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"Error: The command line requires packages that are not installed: "
            f"{', '.join(missing)}. Install them with: pip install 'eigenecho[cli]'.\n"
        )
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        # Print a question mark for each character that the terminal cannot display.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        from eigenecho.cli.app import app
    except KeyboardInterrupt:  # during imports; later, typer handles it
        sys.exit(130)
    app()


if __name__ == "__main__":
    main()
