"""The command line, with the commands forecast, convert, reduce, export and reproduce."""
