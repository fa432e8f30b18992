"""Searches over estimators' parameters: what shares a reservoir is scored at once."""

from eigenecho.grid_search.result import SearchResult
from eigenecho.grid_search.sweep import search
