"""What leaves: the items, their scores, and the guarantee under which they were drawn."""

from shortlist.privacy.guarantee import Guarantee
from shortlist.release.about import NOTHING_SAID, About
from shortlist.release.noisy_scores import Scores
from shortlist.release.release import NONE_CHARGED, GivenBefore, Release
from shortlist.release.saving import check_output

__all__ = [
    "NONE_CHARGED",
    "NOTHING_SAID",
    "About",
    "GivenBefore",
    "Guarantee",
    "Release",
    "Scores",
    "check_output",
]
