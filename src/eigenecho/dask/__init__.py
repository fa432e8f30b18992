"""Fit and predict on a Dask cluster.

    from eigenecho.dask import fit, predict

    fit(esn, X, y)          # dask arrays chunked along time, or lists of series
    fit(forecaster, y=y)    # long frames in partitions
    predict(esn, X)         # a lazy dask array

Statistics of chunks are merged in a tree that depends only on the chunks, so results are
bit-identical for any number of workers, even if workers die. The page "On a cluster" of the
documentation describes which data are sent between machines, and what happens if a worker dies.
"""

from eigenecho.dask.fitting import fit
from eigenecho.dask.predicting import predict
