"""Benchmark of classifiers: sets, methods, stored scores and the page."""
