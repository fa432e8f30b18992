"""Training and predicting on a cluster: the same calls, on data that lie in shards.

    from eigenecho.dask import fit, predict

    fit(esn, X, y)          # dask arrays cut along time, lists or bags of series, frames
    predict(esn, X)         # a lazy dask array

All that is summed over time merges, in a tree that the shards alone fix: the numbers depend
neither on how many workers there are nor on which of them died. The page "On a cluster"
of the documentation has what travels, and what a death costs.
"""

from eigenecho.dask.cluster import Cluster
from eigenecho.dask.files import from_npy
from eigenecho.dask.fitting import fit
from eigenecho.dask.predicting import predict
