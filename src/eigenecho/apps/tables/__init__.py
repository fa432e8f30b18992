"""Forecasts of a column of a table: read, choose, test against naive forecasts, report."""
