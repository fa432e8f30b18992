"""Self-contained pages: templates, embedded figures, and numbers in tables."""

from eigenecho.pages.page import (
    Picture,
    aligned,
    environment,
    format_duration,
    format_ratio,
    picture,
    rendered,
    source,
    write_whole,
)
