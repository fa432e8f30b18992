"""Conversion of arrays, lists and DataFrames to equally spaced series, and of results back.

- ``read`` converts data to tables of numbers with times, ``align`` places tables on grids of
  regular times, and ``panel`` combines both and writes results. Arrays do not require pandas.
- The step (``clock``) is selected among the most common time differences and the offsets of the
  calendar, so that as few rows as possible are missing. A row that is not on the grid is an error,
  and missing rows are filled with NaN. Steps shorter than a day are measured in absolute time, and
  longer steps follow the local calendar.
- Columns of X that are listed in ``past`` are filled from earlier rows, never from later ones. All
  other columns are known in advance and must be complete.
"""
