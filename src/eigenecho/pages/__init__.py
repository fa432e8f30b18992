"""Self-contained pages: templates, embedded figures, and numbers in tables."""

from eigenecho.pages.page import aligned, environment, format_duration, format_ratio, write_whole
from eigenecho.pages.pictures import LARGEST_SVG, NARROW, WIDE, Picture, picture, rendered, source

__all__ = [
    "LARGEST_SVG",
    "NARROW",
    "WIDE",
    "Picture",
    "aligned",
    "environment",
    "format_duration",
    "format_ratio",
    "picture",
    "rendered",
    "source",
    "write_whole",
]
