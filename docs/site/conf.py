"""How the site is built: `make docs`. Its pages are the Markdown files where they stand.

The source folder is the whole project, so that a link between two files, as GitHub follows it, is a
link between two pages here.
"""

import os
import sys
from pathlib import Path

import shortlist

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
os.environ["IPYTHONDIR"] = str(HERE / "ipython")  # notebooks show their charts as SVG

project = "shortlist"
author = "the authors of shortlist"
copyright = "the authors of shortlist, under the MIT licence"  # noqa: A001 - Sphinx's name
version = release = shortlist.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "myst_nb",
    "site_contents",
    "site_docstrings",
    "site_links",
    "site_mathematics",
    "site_names",
    "site_notation",
    "site_pictures",
]
root_doc = "docs/index"
include_patterns = [
    "docs/*.md",
    "docs/*.ipynb",
    "docs/proofs/*.md",
    "docs/reference/*.md",
    "bench/results/*.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
]
exclude_patterns = [".*", "build", "src", "tests", "tools", "demo", "**/__pycache__"]

myst_enable_extensions = ["colon_fence", "attrs_block"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_in_temp = True
nb_merge_streams = True

autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
napoleon_use_ivar = True
napoleon_custom_sections = ["Guarantee"]
default_role = "py:obj"  # a name in backticks is a link where it is documented, else code
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"

highlight_language = "none"
html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "shortlist"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/mark.svg"
html_extra_path = ["extra"]
html_copy_source = False
html_show_sourcelink = False
html_permalinks_icon = "#"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {
        "text": "shortlist",
        "image_light": "static/mark.svg",
        "image_dark": "static/mark.svg",
        "alt_text": "",
    },
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button-field"],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "show_toc_level": 1,
    "back_to_top_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"docs/index": [], "docs/concepts": []}
