"""Where rows live. An engine shows a mechanism the evidence it wants, one file for each engine."""

from shortlist.engines.engine import Engine, ShownEvidence

__all__ = ["Engine", "ShownEvidence"]
