"""The command line: ``eigenecho forecast``, ``convert``, ``reduce`` and ``reproduce``."""
