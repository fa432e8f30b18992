"""Run tests with several BLAS threads, as users do; results must not depend on their number."""

from contextlib import contextmanager

import numpy.linalg  # noqa: F401, NumPy and SciPy each load a BLAS, which threadpoolctl must find
import scipy.linalg.blas  # noqa: F401
from threadpoolctl import threadpool_limits


@contextmanager
def several():
    """Use three BLAS threads, independent of the number of cores."""
    with threadpool_limits(limits=3, user_api="blas"):
        yield
