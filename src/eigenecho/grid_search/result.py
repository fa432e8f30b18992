"""Results of hyperparameter searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.errors import counted
from eigenecho.grid_search.grid import Params
from eigenecho.training import lowest
from eigenecho.types import Array


@dataclass(frozen=True, eq=False, repr=False)
class SearchResult:
    """The result of a search: the scores of all combinations, and the best combination.

    Attributes
    ----------
    params : list of dict
        All combinations, in the order of the grid.
    seeds : list
        The seeds that were used for every combination.
    errors : array (combinations, seeds, blocks)
        RMSE on each validation block.
    best_index : int
        Index of the combination with the lowest mean error.
    best_estimator : LinearESN or None
        The estimator with the best combination and the first seed, fitted to all data. None if
        ``refit=False``.
    test_errors : array (combinations, seeds) or None
        RMSE on the test rows. None if there are no test rows.

    See Also
    --------
    eigenecho.search : Run a search.

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> grid = {"sr": [0.5, 0.9], "ridge": [1e-10, 1e-2]}
    >>> result = ee.search(ee.LinearESN(50, warmup=50, seed=0), grid, series[:-1], series[1:])
    >>> len(result.params), result.errors.shape
    (4, (4, 1, 1))
    """

    params: list[Params]
    seeds: list[Any]
    errors: Array
    best_index: int
    best_estimator: Any = None
    test_errors: Array | None = None

    @property
    def mean_errors(self) -> Array:
        """Mean validation RMSE of each combination over seeds and blocks."""
        return self.errors.mean(axis=(1, 2))

    @property
    def best_params(self) -> Params:
        """The combination with the lowest mean error."""
        return self.params[self.best_index]

    @property
    def best_error(self) -> float:
        """Mean validation RMSE of the best combination."""
        return float(self.mean_errors[self.best_index])

    @property
    def best_per_seed(self) -> list[int]:
        """Index of the best combination for each seed."""
        return [lowest(errors) for errors in self.errors.mean(axis=2).T]

    @property
    def table(self) -> list[dict[str, Any]]:
        """A dict for each combination, best first, with its rank, error, spread and parameters.

        The spread is the standard deviation of the error over seeds. The error of a reservoir that
        overflowed is infinite. NaN is sorted last.
        """
        order = np.argsort(self.mean_errors, kind="stable")
        by_seed = self.errors.mean(axis=2)
        finite = np.isfinite(by_seed).all(axis=1)
        spread = np.where(finite, np.where(finite[:, None], by_seed, 0.0).std(axis=1), np.inf)
        return [
            {
                "rank": rank + 1,
                "error": float(self.mean_errors[i]),
                "spread": float(spread[i]),
                **self.params[i],
            }
            for rank, i in enumerate(order)
        ]

    def __repr__(self) -> str:
        combinations, seeds, blocks = self.errors.shape
        return (
            f"SearchResult({counted(combinations, 'combination')} × {counted(seeds, 'seed')} × "
            f"{counted(blocks, 'block')}, "
            f"best RMSE {self.best_error:.3g} with {self.best_params})"
        )
