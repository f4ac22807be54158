"""Small releases to look at."""

from dataclasses import dataclass, replace

import polars as pl

from shortlist.privacy import Gaussian
from shortlist.privacy.guarantee import Guarantee
from shortlist.release import Release, Scores

GUARANTEE = Guarantee(
    epsilon=1.0,
    delta=1e-6,
    cost=Gaussian(0.02),
    adjacency="add or remove one user",
    protects='all rows of any one "user"',
    assumes=("the names of the columns are public",),
)

HOSTILE = [
    "\x1b[31mred\x1b]8;;http://evil\x07link",
    "tab\tline\nreturn\rnul\x00del\x7fcsi\x9b31m",
    "\u202aa\u202bb\u202cc\u202dd\u202ee\u2066f\u2067g\u2068h\u2069",
    "zero\u200bwidth\u200c\u200d\u2060\ufeff\u00ad, lines\u2028\u2029\x85",
    "[bold]x[/] [link=http://evil]y[/link] [/] \\[red] :smile:",
    "<script>alert('x')</script><img src=x onerror=\"alert(1)\"> &amp;",
    "=HYPERLINK(A1)",
    "",
]


@dataclass(frozen=True)
class Example:
    """Stands for a mechanism."""

    sigma: float = 4.88
    limit: float = float("inf")
    k: int | None = None
    counts: bool = False  # whether it has bought any

    def parameters(self):
        split = {"discover": 0.5, "rank": 0.25}
        asked = {} if self.k is None else {"k": self.k}
        bought = {"count_share": 0.3, "count_noise": "Normal"} if self.counts else {}
        return {
            **asked,
            **bought,
            "steps": 3,
            "delta": 1e-6,
            "sigma": self.sigma,
            "limit": self.limit,
            "split": split,
        }


def release(
    items, *, scores=True, question="top-k", private=True, k=None, unit="noisy weight", **other
):
    """A release of `items`: a list of strings, or columns by name.

    Scores may be given, or whether there are any; `other` are other parts of a release.
    """
    frame = pl.DataFrame(items if isinstance(items, dict) else {"title": items})
    values = [100.0 - (i if unit == "noisy count" else i / 4) for i in range(frame.height)]
    parts = {
        "guarantee": replace(GUARANTEE, private=private),
        "mechanism": Example(k=k),
        "scores": (Scores(values, unit=unit, noise_sd=4.88) if scores else None)
        if isinstance(scores, bool)
        else scores,
    }
    return Release(question=question, items=frame, **parts | other)


def counted(items, *, k=None, unit="noisy count", **other):
    """A release with numbers of users, which have noise of their own, and intervals."""
    return release(items, unit=unit, mechanism=Example(k=k, counts=True), **other)
