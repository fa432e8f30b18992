"""Applications of the library: the paper reproduced, tables forecast, and the command line."""
