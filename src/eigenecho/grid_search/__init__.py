"""Hyperparameter search: combinations that share a reservoir are scored together."""

from eigenecho.grid_search.result import SearchResult
from eigenecho.grid_search.sweep import search
