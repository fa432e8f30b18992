"""Arrays and pandas objects, read as series on a regular clock and written back.

- Arrays and lists (``arrays``) need no pandas, which is imported only for pandas objects. Frames
  go through ``sheets`` (rows that share their times, in order), ``readings`` (a regular grid with
  the columns of X) and ``answers`` (results); ``frames`` is the holder.
- The step (``steps``) is the one that leaves the fewest places without a row, among the most
  common difference and the steps of the calendar. A row off the grid is an error, a place without
  a row is NaN. Steps below a day are absolute time; days and longer steps follow the local
  calendar.
- Columns of X are known ahead, and complete, unless ``past`` names them: those are filled from
  earlier rows, never from later ones.
"""
