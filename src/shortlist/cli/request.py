"""What was asked: from a command's arguments to the source, the question and the release."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.bits import Bits
    from shortlist.mechanisms import Mechanism
    from shortlist.release import Release

__all__ = ["Request"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of a command."""

    question: str
    file: str
    user: str
    item: list[str]
    epsilon: float
    delta: float
    max_items_per_user: int
    public_items: str | None
    mechanism: str | None
    output: Path | None
    as_json: bool
    dry_run: bool
    seed: int | None
    not_private: bool
    k: int | None = None

    def asked(self) -> dict[str, Any]:
        """The arguments of the question that a mechanism is built from."""
        asked = {"epsilon": self.epsilon, "delta": self.delta}
        return asked if self.k is None else {"k": self.k, **asked}

    def kind(self) -> type[Mechanism] | None:
        """The mechanism asked for by name."""
        from shortlist.sources.question import mechanism_named

        return None if self.mechanism is None else mechanism_named(self.mechanism)

    def plan(self) -> Mechanism:
        """The mechanism that would answer, from the arguments alone."""
        from shortlist.sources.question import build_mechanism

        return build_mechanism(
            self.kind(),
            items_are_public=self.public_items is not None,
            max_items_per_user=self.max_items_per_user,
            **self.asked(),
        )

    def saves(self) -> bool:
        """Whether the answer goes to a file."""
        return self.output is not None and not self.dry_run

    def files(self) -> list[str]:
        """The paths and globs of all that is read."""
        return [self.file] if self.public_items is None else [self.file, self.public_items]

    def bits(self) -> Bits | None:
        """Where the noise comes from, if not from the operating system."""
        from shortlist.bits import SeededBits

        if self.seed is None:
            if self.not_private:
                raise InputError(
                    "--not-private goes with --seed, and without a seed the answer is private; "
                    "leave it away."
                )
            return None
        if not self.not_private:
            raise InputError(
                f"--seed {self.seed}: whoever knows the seed can undo the noise, so a seeded "
                "release is not private; add --not-private if this is a test."
            )
        if self.seed < 0:
            raise InputError(f"--seed {self.seed}: must be a whole number, 0 or more.")
        return SeededBits(self.seed)

    def release(self, bits: Bits | None) -> Release:
        """The answer."""
        import shortlist

        source = shortlist.pairs(
            self.file,
            user=self.user,
            item=self.item[0] if len(self.item) == 1 else self.item,
            max_items_per_user=self.max_items_per_user,
            public_items=self.public_items,
        )
        question = getattr(source, self.question)
        release: Release = question(**self.asked(), mechanism=self.kind(), random=bits)
        return release
