"""Sweeps over estimators' parameters, with the collapsed paths."""

from eigenecho.grid_search.result import SearchResult
from eigenecho.grid_search.sweep import search

__all__ = ["SearchResult", "search"]
