"""``python -m eigenecho``: the command line."""

from eigenecho.cli import main

main()
