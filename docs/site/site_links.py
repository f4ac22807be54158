"""A page that is named as a file, such as `costs.md`, is a link to that page."""

import posixpath

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform

END = ".md"


class Links(SphinxTransform):
    """Makes links of files that are named in code, where they are pages."""

    default_priority = 270

    def apply(self) -> None:
        """Look at each word in code outside of links and headings."""
        for word in list(self.document.findall(nodes.literal)):
            page = _page(self.env, word.astext(), self.env.docname)
            free = not isinstance(
                word.parent, nodes.reference | addnodes.pending_xref | nodes.title
            )
            if page and free and page != self.env.docname:
                link = addnodes.pending_xref(
                    "",
                    refdomain="std",
                    reftype="doc",
                    reftarget=f"/{page}",
                    refdoc=self.env.docname,
                    refexplicit=True,
                    refwarn=True,
                )
                word.parent.replace(word, link)
                link.append(word)


def _page(env: BuildEnvironment, name: str, beside: str) -> str | None:
    """The page of that name: beside another one, or from the root of the project."""
    if not name.endswith(END):
        return None
    name = name.removesuffix(END)
    here = posixpath.normpath(posixpath.join(posixpath.dirname(beside), name))
    return next((page for page in (here, name) if page in env.found_docs), None)


def _of_docstring(
    app: Sphinx, env: BuildEnvironment, link: addnodes.pending_xref, shown: nodes.Element
) -> nodes.Node | None:
    """The page that a docstring names, of which Sphinx takes the name for that of an object."""
    page = _page(env, link["reftarget"], "")
    if page is None:
        return None
    address = app.builder.get_relative_uri(link["refdoc"], page)
    return nodes.reference("", "", shown, internal=True, refuri=address)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register both ways."""
    app.add_transform(Links)
    app.connect("missing-reference", _of_docstring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
