"""The site that `make docs` builds of these pages: see docs/development.md. Pages read well without it, too."""

import json
import pathlib
import re
import subprocess

from docutils import nodes
from sphinx import addnodes
from sphinx.errors import ExtensionError

import m4n

ROOT = pathlib.Path(__file__).resolve().parents[1]
KATEX = ROOT / "build" / "katex" / "package" / "dist"  # as the Makefile fetches it from npm

project = "m4n"
author = "the m4n authors"
copyright = author
version = release = m4n.__version__

extensions = [
    "breathe",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["templates"]
exclude_patterns = ["templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
smartquotes = False  # two dashes begin an option
highlight_language = "none"  # of indented blocks: commands and tables

# Links between pages stay those of Markdown; a link to a heading that is not there is a warning.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_fence_as_directive = ["math"]

# The reference of Python comes from docstrings, that of C++ from what Doxygen finds in the comments of the headers.
autodoc_mock_imports = ["torch"]  # m4n.torch is described without it
autodoc_typehints = "none"  # docstrings say what is meant
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"
breathe_projects = {"m4n": str(ROOT / "build" / "docs" / "doxygen" / "xml")}
breathe_default_project = "m4n"
breathe_default_members = ("members",)
suppress_warnings = ["duplicate_declaration.cpp"]  # every header opens the namespace again

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "thumbnail_size": (640, 200),
    "write_computation_times": False,  # seconds of one machine say little
    "min_reported_time": 1e9,
}

html_theme = "pydata_sphinx_theme"
html_title = f"m4n {release}"
html_theme_options = {
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system
html_show_sourcelink = False
html_copy_source = False
html_static_path = ["static", str(KATEX)]
html_css_files = ["katex.min.css", "site.css"]
html_math_renderer = "katex"

DRAW = """const katex = require(process.argv[1]), asked = JSON.parse(require("fs").readFileSync(0));
const drawn = asked.map(([formula, displayMode]) => katex.renderToString(formula, {displayMode}));
process.stdout.write(JSON.stringify(drawn));"""


def draw_formulas(app, document, name):
    """All formulas of a page at once; one that is wrong ends the build. Pages need no script to show them."""
    found = [node for kind in (nodes.math, nodes.math_block) for node in document.findall(kind)]
    if not found or app.builder.format != "html":
        return
    asked = json.dumps([[node.astext(), isinstance(node, nodes.math_block)] for node in found])
    command = ["node", "-e", DRAW, str(KATEX / "katex.min.js")]
    done = subprocess.run(command, input=asked, capture_output=True, text=True)
    if done.returncode:
        raise ExtensionError(f"a formula of {name}: {done.stderr}")
    for node, drawn in zip(found, json.loads(done.stdout)):
        node["drawn"] = drawn


def write_formula(translator, node):
    alone = isinstance(node, nodes.math_block)  # reached by the keyboard, as it may have to be moved sideways
    translator.body.append(f'<div class="formula" tabindex="0">{node["drawn"]}</div>' if alone else node["drawn"])
    raise nodes.SkipNode


def of_another_library(app, what, name, obj, skip, options):
    """What estimators inherit from scikit-learn and Python is described there."""
    module = getattr(obj, "__module__", None) or getattr(getattr(obj, "__func__", obj), "__module__", None) or ""
    return True if not module.startswith("m4n") and not isinstance(obj, property) else None


def without_last_empty_lines(app, document):
    """Blocks of Python end by an empty line where they are run as tests."""
    for block in document.findall(nodes.literal_block):
        block.rawsource = block.astext().rstrip()
        block.children = [nodes.Text(block.rawsource)]


def to_the_gallery(app, document):
    """Links to programs of the gallery, right in the source tree, lead to their pages with pictures."""
    for link in list(document.findall(addnodes.download_reference)):
        found = re.search(r"examples/gallery/(\w+)\.\w+$", link["reftarget"])
        if found:
            page = "/gallery/" + found[1].replace("README", "index")
            there = addnodes.pending_xref("", refdomain="std", reftype="doc", reftarget=page, refexplicit=True)
            there.extend(link.children)
            link.replace_self(there)


def setup(app):
    app.add_html_math_renderer("katex", (write_formula, None), (write_formula, None))
    app.connect("doctree-resolved", draw_formulas)
    app.connect("doctree-read", without_last_empty_lines)
    app.connect("doctree-read", to_the_gallery)
    app.connect("autodoc-skip-member", of_another_library)
