"""The kernels of ``reference`` for torch tensors, for all steps at once.

    r(cL + k) = r(cL) λ^k + Σ_j a(cL + j) B λ^(k−j)

Series are cut into chunks of L steps. The contribution of each chunk is one matrix product of its
drive with powers of λ; the states between chunks follow by doubling; then all chunks run in
parallel. A stack of series (…, T, D) is one run. Loops that no device speeds up (single steps and
outputs that are fed back) stay on the host.

Torch is imported here, and this package with the first tensor.

In Triton, a lane writes one column of the Q layout and steps both parts of its pair: the
additional arithmetic is free, and whole rows are written wherever pairs begin. Readouts need no
states: they are starts of chunks times powers of λ, plus the drive times a Toeplitz matrix of the
impulse response. Tables of powers are cached on the device as long as the arrays live that they
depend on (``arrays.kept``); their lengths are powers of two, so that series of all lengths share
a few.
"""

from eigenecho.kernels.tensors.scans import scan, scan_readout
