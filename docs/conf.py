"""Sphinx configuration. Everything is built offline: no page of another project is fetched."""

import inspect
import os
import re
import sys
import warnings
from importlib.metadata import files as installed_files
from importlib.metadata import version as installed_version
from pathlib import Path

import numpydoc.xref

import riemdp

# examples have seeds, and pages would show the warnings with paths of this machine
warnings.filterwarnings("ignore", category=riemdp.PublicWarning)

os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.insert(0, str(Path(__file__).parent))  # of _gallery

project = "riemdp"
author = "The riemdp developers"
copyright = "The riemdp developers"
release = version = installed_version("riemdp")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build"]
templates_path = ["_templates"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# MathJax in one file, with its fonts: copied beside the pages, which need no network for formulas.
mathjax_path = "tex-svg-full.js"
(MATHJAX,) = (
    str(file.locate())
    for file in installed_files("sphinx-mathjax-offline")
    if file.name == mathjax_path
)
html_static_path = ["_static", MATHJAX]
html_css_files = ["pages.css"]

autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"  # the column is narrow
autodoc_typehints = "none"  # types stand in the numpydoc sections
# autosummary lists the members; numpydoc would list them a second time
numpydoc_show_class_members = False

# Types in the sections of parameters link to their pages; words that are no type stay words.
numpydoc.xref.DEFAULT_LINKS.clear()  # to other hosts' pages, of which there is no inventory here
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
# Names as the docstrings have them: without their package. Of two pages the first one counts.
numpydoc_xref_aliases = {
    name.rpartition(".")[2]: f"riemdp.{name}"
    for name in reversed(
        re.findall(
            r"^   ([a-z_.]*[A-Z]\w*)$",
            Path(__file__).with_name("api").joinpath("index.rst").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )
} | {"Verification": "riemdp.release.Verification"}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_.*\.py",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "plot_gallery": True,
    "reset_modules": ("matplotlib", "_gallery.readable"),
    "thumbnail_size": (560, 400),
    "within_subsection_order": "_gallery.StudyOrder",
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "riemdp"
html_show_sourcelink = False
# A page without children has an empty navigation, and wide tables need the room.
html_sidebars = {"*": [], "proofs/*": [], "extending/*": [], "reproduction/*": []}
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,  # all: they fit in one line
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def escape_stars(*event):
    """Let a docstring write the shape (*batch, dim): the star is no emphasis, outside literals."""
    lines = event[-1]
    for i, line in enumerate(lines):
        parts = line.split("``")
        parts[::2] = [re.sub(r"(?<![\\*\w])\*(?=\w)", r"\\*", part) for part in parts[::2]]
        lines[i] = "``".join(parts)


def skip_foreign(*event):
    """Leave out what estimators inherit from scikit-learn, whose pages explain it."""
    obj, skip = event[3:5]
    return skip or str(getattr(obj, "__module__", "")).startswith("sklearn.")


def inherit_sections(*event):
    """Give a method without them the parameters and results of the method that it overrides."""
    _, what, _, obj, _, lines = event
    if what != "method" or {"Parameters", "Returns"} & set(lines):
        return
    module = sys.modules.get(getattr(obj, "__module__", ""))
    owner = getattr(module, obj.__qualname__.split(".")[0], None)
    for base in getattr(owner, "__mro__", ())[1:]:
        overridden = inspect.getdoc(vars(base).get(obj.__name__)) or ""
        found = re.search(r"^Parameters\n.*?(?=^Raises\n|\Z)", overridden, re.DOTALL | re.MULTILINE)
        if found:
            place = [i for i, line in enumerate(lines) if line.startswith("---")]
            start = place[0] - 1 if place else len(lines)
            lines[start:start] = ["", *found.group().splitlines(), ""]
            return


def setup(app):
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("autodoc-process-docstring", inherit_sections, priority=90)
    app.connect("autodoc-process-docstring", escape_stars, priority=100)
