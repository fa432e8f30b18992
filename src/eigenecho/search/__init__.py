"""Sweeps over estimators' parameters, with the collapsed paths."""

from eigenecho.search.result import SearchResult
from eigenecho.search.search import search

__all__ = ["SearchResult", "search"]
