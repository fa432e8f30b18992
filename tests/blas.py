"""Threads of BLAS, as users have them: what is ours must not depend on how many."""

from contextlib import contextmanager

import numpy.linalg  # noqa: F401, it and SciPy bring a BLAS each, which must be loaded to be found
import scipy.linalg.blas  # noqa: F401
from threadpoolctl import threadpool_limits


@contextmanager
def several():
    """Three threads, however many cores there are."""
    with threadpool_limits(limits=3, user_api="blas"):
        yield
