"""The command line, with the commands forecast, reduce, export and reproduce."""
