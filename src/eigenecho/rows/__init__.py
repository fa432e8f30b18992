"""Rows of a readout, produced from series in chunks."""

from eigenecho.rows.series_rows import SeriesRows, chunk_rows
