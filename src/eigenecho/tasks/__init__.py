"""Benchmark series and tasks for reservoirs.

mso, mso_split               sums of sines, and the split of the paper for next-step prediction
delayed_recall               recall of white noise from earlier rows
memory_capacity              memory capacity of a model, measured by delayed recall
narma                        a nonlinear autoregressive system driven by noise
mackey_glass                 a chaotic delay differential equation
lorenz                       a chaotic system of ordinary differential equations

Series are arrays (steps, D). Seeds of random series are ints or NumPy Generators.
"""

from eigenecho.tasks.flows import lorenz
from eigenecho.tasks.mackey_glass import mackey_glass
from eigenecho.tasks.memory import MemoryCapacity, delayed_recall, memory_capacity
from eigenecho.tasks.mso import MSO_FREQUENCIES, MSOSplit, mso, mso_split
from eigenecho.tasks.narma import narma

__all__ = [
    "MSO_FREQUENCIES",
    "MSOSplit",
    "MemoryCapacity",
    "delayed_recall",
    "lorenz",
    "mackey_glass",
    "memory_capacity",
    "mso",
    "mso_split",
    "narma",
]
