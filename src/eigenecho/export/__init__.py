"""Export of networks as source code in other languages, with a test vector.

``step`` specifies the order of operations in plain Python, ``program`` contains the constants of a
network, ``reference`` runs the specification, and ``translate`` writes it in C or JavaScript.
"""

from eigenecho.export.program import StepProgram
from eigenecho.export.reference import Reference, example_run
from eigenecho.export.selftest import run_selftest
from eigenecho.export.source import FORMATS, source_files
