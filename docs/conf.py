"""The site that `make docs` builds of these pages: see docs/development.md. Pages read well without it, too."""

import os
import pathlib

import sphinxcontrib.katex

ROOT = pathlib.Path(__file__).resolve().parents[1]
KATEX = pathlib.Path(os.environ["M4N_KATEX"])  # the unpacked package of npm: formulas are drawn while building

import m4n  # noqa: E402

project = "m4n"
author = "the m4n authors"
copyright = author
version = release = m4n.__version__

extensions = ["myst_parser", "sphinx_gallery.gen_gallery", "sphinxcontrib.katex"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
highlight_language = "none"  # of indented blocks: commands and tables

# Links between pages stay those of Markdown; a link to a heading that is not there is a warning.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_fence_as_directive = ["math"]

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
html_theme_options = {"show_prev_next": False, "footer_start": ["copyright"], "footer_end": []}
html_show_sourcelink = False
html_copy_source = False
html_static_path = ["static", str(KATEX / "dist")]
html_css_files = ["site.css"]

# Formulas are drawn while building; one that is wrong ends the build. Pages fetch style and fonts from the site itself.
katex_prerender = True
katex_js_path = str(KATEX / "dist" / "katex.min.js")
katex_css_path = "katex.min.css"
sphinxcontrib.katex.KATEX_DEFAULT_OPTIONS = {"throwOnError": True}
