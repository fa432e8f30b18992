"""Sphinx configuration of the site, built by ``make docs``.

gallery/     scripts, run during the build; their pages are written to examples/
pictures/    scripts that draw the pictures of the pages, run during the build
_static/playground/
             modules of playground.md
api/         API reference; the page of each public name is generated in api/names/
*.md         pages that are also readable on GitHub
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from sphinx_gallery.sorting import FileNameSortKey

import eigenecho

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from figures_without_a_window import FiguresOfPyplot, OwnFigures  # noqa: E402
from repository_links import find_repository  # noqa: E402

project = "eigenecho"
author = "The eigenecho authors"
copyright = "the eigenecho authors, MIT licence"
version = release = eigenecho.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "plain_docstrings",
    "gallery_links",
    "gallery_sections",
    "pictures",
    "repository_links",
    "small_screens",
]
templates_path = ["_templates"]
exclude_patterns = ["gallery/**", "pictures/**", "_ext/**"]
if not all(importlib.util.find_spec(name) for name in ("dask", "eigenecho.dask")):
    exclude_patterns.append("api/clusters.rst")
root_doc = "index"
nitpicky = True
# Properties of a base class that has no page.
nitpick_ignore = [("py:obj", f"{n}_") for n in ("time_constants", "frequencies", "feature_shape")]
suppress_warnings = ["config.cache"]  # the sort key of the gallery cannot be pickled

# Pages are GitHub Markdown, with ```{directive} blocks where the site needs more.
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Docstrings.
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_show_inherited_class_members = False
numpydoc_xref_param_type = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# MathJax is copied from a package, with its fonts, so pages load nothing from other hosts.
_mathjax = importlib.util.find_spec("sphinx-mathjax-offline")
assert _mathjax is not None
assert _mathjax.origin is not None
mathjax_path = "tex-svg.js"
mathjax3_config = {
    "options": {"enableMenu": False},
    "svg": {"fontCache": "local"},
}

html_theme = "pydata_sphinx_theme"
html_title = "eigenecho"
html_static_path = [
    "_static",
    str(Path(_mathjax.origin).parent / "static" / "mathjax" / mathjax_path),
]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {
        "text": "eigenecho",
        "image_light": "_static/mark.svg",
        "image_dark": "_static/mark.svg",
    },
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
repository = find_repository()
if repository:
    html_theme_options["icon_links"] = [
        {"name": "Source code", "url": repository, "icon": "fa-solid fa-code-branch"}
    ]
html_sidebars = {name: [] for name in ("index", "start", "playground", "paper")}
html_context = {"default_mode": "auto"}

# Settings of ``make docs-links``; timeouts count as broken links.
linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_report_timeouts_as_broken = True

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

NEEDS = {"gestures": "aeon", "tensors": "torch", "dask": "dask", "clusters": "dask"}
"""Packages needed by gallery scripts; without them, the scripts are shown but not run."""

gallery = bool(list((HERE / "gallery").glob("plot_*.py")))
autosummary_context = {"gallery": gallery}
if gallery:
    extensions.append("sphinx_gallery.gen_gallery")
    absent = [name for name, package in NEEDS.items() if importlib.util.find_spec(package) is None]
    sphinx_gallery_conf = {
        "examples_dirs": "gallery",
        "gallery_dirs": "examples",
        "filename_pattern": rf"plot_(?!(?:{'|'.join(absent) or '$'})\.py)",
        "within_subsection_order": FileNameSortKey,
        "abort_on_example_error": True,
        "only_warn_on_example_error": False,
        "plot_gallery": True,
        "download_all_examples": False,
        "show_signature": False,
        "remove_config_comments": True,
        "doc_module": ("eigenecho",),
        "reference_url": {"eigenecho": None},
        "backreferences_dir": "examples/uses",
        "image_scrapers": (OwnFigures(), FiguresOfPyplot()),
        "matplotlib_animations": False,
        "write_computation_times": False,  # this page would load scripts from another host
        "capture_repr": ("_repr_html_",),
        "min_reported_time": 5,
        "parallel": False,
    }
