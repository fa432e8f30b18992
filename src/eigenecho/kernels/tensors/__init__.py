"""The kernels of ``reference`` for torch tensors, parallel over time.

    r(qL + k) = r(qL) λ^k + Σ_j a(qL + j) B λ^(k−j)

Series are cut into chunks of L steps. The contribution of each chunk is one matrix product of its
drive with powers of λ. The states between chunks are then computed by doubling, and finally all
chunks run in parallel. A stack of series (…, T, D) is one run. Loops that a device does not speed
up (single steps, and outputs that are fed back) run on the host.

This package imports torch, so it is imported only when there is a tensor.

In Triton, a lane writes one column of the Q layout and steps both parts of its pair. The
additional arithmetic takes no extra time, and whole rows are written, wherever the pairs begin.
Outputs are computed without the states within chunks: they are the states before chunks times
powers of λ, plus the drive times a Toeplitz matrix of the impulse response. Tables of powers are
cached on the device as long as the arrays on which they depend exist (``arrays.compute_once``).
Their lengths are powers of two, so that series of different lengths share tables.
"""

from eigenecho.kernels.tensors.scans import scan, scan_readout
