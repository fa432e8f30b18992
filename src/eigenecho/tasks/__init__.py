"""Benchmark signals and tasks: what to feed a reservoir, and what to ask of it.

mso, mso_split               superimposed sines, and the paper's split for next-step prediction
delayed_recall               white noise in, its own past out
memory_capacity              how much of that past a model recalls
narma                        a nonlinear moving average driven by noise
mackey_glass, lorenz         chaotic flows, to forecast

Series are arrays (steps, D). Whatever is random takes a seed: an int or a NumPy Generator.
"""

from eigenecho.tasks.lorenz import lorenz
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
