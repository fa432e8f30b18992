"""Forecasts of series as people hold them: arrays, lists and frames in, the same out."""
