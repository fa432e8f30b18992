"""Rows of a readout, produced from series in chunks."""

from eigenecho.rows.series_rows import BlockRows, SeriesRows, chunk_rows
