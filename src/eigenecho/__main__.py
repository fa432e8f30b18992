"""``python -m eigenecho``: the command line."""

from eigenecho.apps.cli import main

main()
