"""Pages that need no other file: templates, figures inside them, numbers in tables."""

from eigenecho.pages.numerals import aligned
from eigenecho.pages.page import environment, write_whole
from eigenecho.pages.pictures import LARGEST_SVG, NARROW, WIDE, Picture, picture, rendered, source

__all__ = [
    "LARGEST_SVG",
    "NARROW",
    "WIDE",
    "Picture",
    "aligned",
    "environment",
    "picture",
    "rendered",
    "source",
    "write_whole",
]
