"""Benchmark series and tasks for reservoirs.

mso, mso_split               sums of sines, and the paper's split for next-step prediction
delayed_recall               white noise as input, its past as target
memory_capacity              memory capacity of a model on that task
narma                        a nonlinear autoregressive system driven by noise
mackey_glass                 a chaotic delay equation, for forecasting
lorenz, lorenz96, rossler    chaotic flows, for forecasting

Series are arrays (steps, D). Random functions take a seed: an int or a NumPy Generator.
"""

from eigenecho.tasks.flows import lorenz, lorenz96, rossler
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
    "lorenz96",
    "mackey_glass",
    "memory_capacity",
    "mso",
    "mso_split",
    "narma",
    "rossler",
]
