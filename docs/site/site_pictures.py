"""Pictures that were drawn twice, for light pages and dark ones, each where it is seen."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

LIGHT, DARK = "-light.svg", "-dark.svg"


class Pictures(SphinxTransform):
    """Adds its twin to a picture; the theme shows one of them."""

    default_priority = 260

    def apply(self) -> None:
        """Look at each image of the page."""
        for picture in list(self.document.findall(nodes.image)):
            if picture["uri"].endswith(LIGHT):
                twin = picture.copy()
                twin["uri"] = picture["uri"].removesuffix(LIGHT) + DARK
                picture["classes"].append("only-light")
                twin["classes"] = [*twin["classes"], "only-dark"]
                picture.parent.insert(picture.parent.index(picture) + 1, twin)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(Pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
