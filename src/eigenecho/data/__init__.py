"""Conversion of arrays, lists and DataFrames to equally spaced series, and of results back.

- ``read`` turns data into tables of numbers with times, ``align`` places tables on a grid of
  regular times, ``panel`` joins both and writes results. Arrays need no pandas.
- The step (``clock``) is the one that leaves the fewest positions without a row, among the most
  common differences and the offsets of the calendar. A row off the grid is an error, a position
  without a row is NaN. Steps below a day are absolute time; days and longer steps follow the local
  calendar.
- Columns of X are known ahead, and complete, unless they are listed in ``past``: these are filled
  from earlier rows, never from later ones.
"""
