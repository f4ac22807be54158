"""What an index page lists is what stands below it: the lists of links, in their order.

Below the README of a folder stands the whole folder: what it does not list yet comes last.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

HOME = "docs/index"
INDEXES = {
    HOME,
    "docs/guide",
    "docs/reference",
    "docs/evidence",
    "docs/project",
    "docs/proofs/README",
    "bench/results/README",
}


class Contents(SphinxTransform):
    """Adds a hidden table of contents for each section's list of links."""

    default_priority = 250

    def apply(self) -> None:
        """Look at each section of an index page."""
        if self.env.docname not in INDEXES:
            return
        if self.env.docname == HOME:
            self.document[0]["classes"].append("home")
        named: set[str] = {self.env.docname}
        for section in list(self.document.findall(nodes.section)):
            listed = [page for part in section if _is_list(part) for page in _pages(part)]
            named.update(listed)
            if listed:
                section.append(self._toctree(section, listed))
        if rest := self._rest_of_the_folder(named):
            section.append(self._toctree(self.document[0], rest))

    def _rest_of_the_folder(self, named: set[str]) -> list[str]:
        folder, _, page = self.env.docname.rpartition("/")
        if page != "README":
            return []
        return sorted(p for p in self.env.found_docs - named if p.rpartition("/")[0] == folder)

    def _toctree(self, section: nodes.section, listed: list[str]) -> nodes.Node:
        top = section.parent is self.document
        toctree = addnodes.toctree(
            parent=self.env.docname,
            entries=[(None, page) for page in listed],
            includefiles=listed,
            maxdepth=1,
            caption=None if top else section[0].astext(),
            rawcaption="",
            glob=False,
            hidden=True,
            includehidden=False,
            numbered=0,
            titlesonly=True,
        )
        return nodes.compound("", toctree, classes=["toctree-wrapper"])


def _is_list(node: nodes.Node) -> bool:
    return isinstance(node, nodes.bullet_list | addnodes.only)


def _pages(listing: nodes.Node) -> list[str]:
    """The page that each point of a list begins with."""
    links = [next(item.findall(addnodes.pending_xref), None) for item in listing.children]
    return [link["reftarget"] for link in links if link is not None and link["refdomain"] == "doc"]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(Contents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
