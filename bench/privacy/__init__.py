"""Whether the claims of privacy hold: they are neither accuracy nor speed."""

from __future__ import annotations

from bench.common.parts import Part
from bench.privacy import audit

__all__ = ["PARTS"]

PARTS = {"audit": Part(lambda asked: audit.write_tables(asked.out, asked.of), apart=True)}
