"""The jobs, a file for each thing that a user asks of a network."""
