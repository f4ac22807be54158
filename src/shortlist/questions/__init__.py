"""What can be asked of a source: one value for each question, one file for each kind."""

from shortlist.questions.domain import Domain
from shortlist.questions.hitting_set import HittingSet
from shortlist.questions.question import Question
from shortlist.questions.rank import Rank
from shortlist.questions.top_k import TopK

__all__ = ["Domain", "HittingSet", "Question", "Rank", "TopK"]
