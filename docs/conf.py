"""Settings of the documentation: ``make docs`` builds it into ``docs/_build/html``.

Nothing is fetched while it is built, and a warning is an error.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import matplotlib
from numpydoc.docscrape import NumpyDocString

# One thread: the examples are small, and what they print must not depend on the machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")
matplotlib.use("agg")

import scoresieve

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent

project = "scoresieve"
author = "The scoresieve developers"
copyright = "The scoresieve developers, BSD-3-Clause"
version = release = scoresieve.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    # Formulas without a network, for whoever reads them as well.
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "_templates", "gallery/**/*.ipynb", "gallery/**/*.py"]
templates_path = ["_templates"]
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

# Markdown --------------------------------------------------------------------------------------

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
# "studies/RESULTS.md" and its like hold tables with "<" in them.
suppress_warnings = ["myst.html"]

# Names -----------------------------------------------------------------------------------------

autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# It reads signatures from docstrings as they are, and warns of sections that it does not know.
NumpyDocString.sections["Conventions"] = []

# Examples --------------------------------------------------------------------------------------


sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    # Other programs in that folder are no examples of the gallery.
    "ignore_pattern": r"(^|[/\\])(?!plot_)[^/\\]*\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    # Seconds of a shared machine tell nobody anything.
    "min_reported_time": 10_000,
    "image_srcset": ["2x"],
    "capture_repr": ("_repr_html_",),
    "plot_gallery": "True",
}

# Pages -----------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "scoresieve"
html_static_path = ["_static"]
html_css_files = ["scoresieve.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "changelog": [], "contributing": []}
copybutton_exclude = ".linenos, .gp, .go"

#: Pages of the repository that stand outside of this folder, by the name that they have here.
#: Here each is one line, which says so.
OUTSIDE = {
    "results": ROOT / "studies" / "RESULTS.md",
    "studies": ROOT / "studies" / "README.md",
    "paper_results": ROOT / "studies" / "paper" / "results" / "README.md",
    "contributing": ROOT / "CONTRIBUTING.md",
    "changelog": ROOT / "CHANGELOG.md",
    "releasing": ROOT / "RELEASING.md",
    "security": ROOT / "SECURITY.md",
}
#: The target of a link or an image in Markdown, with the place in the page that it names.
LINK = re.compile(r"(?<=\]\()(?P<path>[^)#:\s]+)(?P<place>#[^)\s]*)?(?=\))")
#: A link with its text.
WHOLE_LINK = re.compile(r"\[(?P<text>[^\[\]]*)\]\((?P<path>[^)#:\s]+)\)")


def read_page(app: Any, docname: str, source: list[str]) -> None:
    """Read pages that stand elsewhere, and point links at pages where they are here."""
    outside = OUTSIDE.get(docname)
    if outside is not None:
        app.env.note_dependency(str(outside))
        source[0] = outside.read_text(encoding="utf-8")
    folder = DOCS if outside is None else outside.parent
    shown = {path: DOCS / f"{name}.md" for name, path in OUTSIDE.items()}

    def pointed(link: re.Match[str]) -> str:
        there = Path(os.path.normpath(folder / link["path"]))
        if there == ROOT / "README.md":
            return "index.md"  # the start page takes its place here
        here = shown.get(there, there)
        if not here.exists():
            return link[0]
        return Path(os.path.relpath(here, DOCS)).as_posix() + (link["place"] or "")

    def without_folders(link: re.Match[str]) -> str:
        return link["text"] if (folder / link["path"]).is_dir() else link[0]

    if not docname.startswith(("gallery/", "generated/")):
        source[0] = LINK.sub(pointed, WHOLE_LINK.sub(without_folders, source[0]))


def show_conventions(
    app: object, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Give numpydoc the section "Conventions", which it does not know, as a heading of the text."""
    for number in range(len(lines) - 1):
        if lines[number] == "Conventions" and re.fullmatch("-+", lines[number + 1]):
            lines[number : number + 2] = [".. rubric:: Conventions", ""]


def leave_out_inherited(
    app: object, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Leave out what other packages document: the methods that every estimator has."""
    home = getattr(obj, "__module__", None) or getattr(
        getattr(obj, "fget", None), "__module__", "scoresieve"
    )
    return None if str(home).startswith("scoresieve") else True


def setup(app: object) -> None:
    """Connect the functions above."""
    app.connect("source-read", read_page)
    app.connect("autodoc-process-docstring", show_conventions, priority=400)
    app.connect("autodoc-skip-member", leave_out_inherited)
