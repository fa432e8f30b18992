"""The kernels of ``reference`` for tensors of torch, of all steps at once.

    r(cL + k) = r(cL) λ^k + Σ_j a(cL + j) B λ^(k−j)

Series are cut into chunks of L steps. What each chunk adds is one matrix product of its drive
with powers of λ; the states between chunks follow by doubling; and all chunks are then run side
by side. A stack of series (…, T, D) is one run, its chunks beside each other. Loops that no
device speeds up, those of single steps and of outputs fed back, stay on the host.

Torch is imported here, and this package when a tensor comes in.

In Triton, a lane writes one column of the Q layout and steps both parts of its pair: the
additional arithmetic is free, and whole rows are written wherever pairs begin. Readouts need no
states: they are starts of chunks times powers of λ, plus the drive times a Toeplitz matrix of the
impulse response. Tables of powers are cached on the device as long as the arrays live that they
depend on (``arrays.kept``); their lengths are powers of two, so that series of all lengths share
a few.
"""

from eigenecho.kernels.tensors.scans import scan, scan_readout
