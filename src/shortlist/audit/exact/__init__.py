"""The exact instrument: output laws of the code as it runs, enumerated."""

from shortlist.audit.exact.enumerator import Enumerator, law, law_in_balls

__all__ = ["Enumerator", "law", "law_in_balls"]
