"""What leaves: the items, their scores, and the guarantee under which they were drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from shortlist.release.display import html, rich, text
from shortlist.release.formats import about, as_json, encoder, records
from shortlist.release.saving import check_output, write_whole
from shortlist.release.scores import Scores
from shortlist.release.sheet import sheet

if TYPE_CHECKING:
    import os

    import polars as pl
    from rich.console import RenderableType

    from shortlist.privacy import Cost

__all__ = ["Guarantee", "Mechanism", "Release", "Scores", "check_output"]


class Mechanism(Protocol):
    """What a release says about the mechanism that drew it: its class name and parameters."""

    def parameters(self) -> dict[str, object]:
        """All public parameters by name, given and derived: numbers, strings, None and dicts."""
        ...


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """The privacy promise of one release.

    Attributes:
        epsilon: The epsilon that was asked for.
        delta: The delta that is spent: what was asked for, or 0 where nothing is made of it.
        cost: The cost as the value that composes with other costs.
        adjacency: Which tables count as neighbours, such as "add or remove one user".
        protects: The privacy unit, such as 'everything that one value of "user" holds'.
        assumes: What is taken as public or promised by the caller, one sentence each.
        private: False where the noise came from a seed: then nothing above holds.
    """

    epsilon: float
    delta: float
    cost: Cost
    adjacency: str
    protects: str
    assumes: tuple[str, ...]
    private: bool = True


class Release:
    """A private answer: safe to publish as a whole, and only as good as its guarantee says.

    A release behaves as the collection of its items, best first: `len(release)`, `for item in
    release`, `item in release`. It prints as a table in a terminal and in a notebook.

    In tables (`to_polars`, files, displays) the added columns are called `rank` and `score`. Where
    an item column already has that name, "shortlist_" is put before the added one's, until it is
    free; the item columns always keep their own names. There is no score column where the mechanism
    gives no scores.

    Attributes:
        question: What was asked, such as "top-k" or "domain".
        scores: One score per item, or None.
        guarantee: The privacy promise.
        mechanism: What drew the items.

    Raises:
        ValueError: There are not as many scores as items.
    """

    question: str
    scores: Scores | None
    guarantee: Guarantee
    mechanism: Mechanism
    _frame: pl.DataFrame

    def __init__(
        self,
        *,
        question: str,
        items: pl.DataFrame,
        scores: Scores | None,
        guarantee: Guarantee,
        mechanism: Mechanism,
    ) -> None:
        if scores is not None and len(scores) != items.height:
            raise ValueError("as many scores as items are needed.")
        vars(self).update(
            question=question,
            scores=scores,
            guarantee=guarantee,
            mechanism=mechanism,
            _frame=items.clone(),
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a release is a value: {name} cannot be set.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a release is a value: {name} cannot be deleted.")

    @property
    def items(self) -> list[Any]:
        """The items, best first: values, or tuples where the item is made of several columns."""
        return list(self._values)

    @cached_property
    def _values(self) -> tuple[Any, ...]:
        frame = self._frame
        return tuple(frame.to_series().to_list() if frame.width == 1 else frame.rows())

    @cached_property
    def _members(self) -> frozenset[Any]:
        return frozenset(self._values)

    def __len__(self) -> int:
        return self._frame.height

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __contains__(self, item: object) -> bool:
        return item in self._members

    def to_polars(self) -> pl.DataFrame:
        """A frame with the columns rank (UInt32, from 1), the item columns, score (Float64)."""
        import polars as pl

        taken, frame = self._frame.columns, self._frame.clone()
        ranks = pl.int_range(1, len(self) + 1, dtype=pl.UInt32, eager=True)
        frame.insert_column(0, ranks.alias(_free("rank", taken)))
        if self.scores is not None:
            scores = pl.Series(_free("score", taken), list(self.scores), dtype=pl.Float64)
            frame.insert_column(frame.width, scores)
        return frame

    def to_dict(self) -> dict[str, Any]:
        """The whole release as JSON values, under a versioned format.

        `items` holds one dict per item, with the column names of `to_polars`; `columns` says which
        of them are the rank, the item and the score. Dates are ISO strings, integers stay integers.
        """
        return about(self) | {"items": list(records(self))}

    def to_json(self) -> str:
        """`to_dict` as JSON text, in ASCII, one item a line: safe to print in any terminal."""
        return as_json(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_polars().__arrow_c_stream__(requested_schema)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the release to `path`, whole or not at all, replacing what is there.

        The suffix chooses the format: `.json` (as `to_dict`), `.csv` or `.parquet` (as
        `to_polars`). JSON and Parquet carry the guarantee, Parquet in its file metadata under
        "shortlist.release"; CSV does not. CSV holds the items as they are: a spreadsheet may take
        one that starts with =, +, - or @ for a formula.

        Raises:
            InputError: The suffix is another, or the path cannot be written.
        """
        check_output(path)
        write_whole(path, encoder(path)(self))

    def __rich__(self) -> RenderableType:
        return rich(sheet(self))

    def __str__(self) -> str:
        return text(sheet(self))

    def _repr_html_(self) -> str:
        return html(sheet(self))

    def __repr__(self) -> str:
        size = f"{len(self)} item{'s' * (len(self) != 1)}"
        guarantee = self.guarantee
        promise = f"epsilon={guarantee.epsilon!r}, delta={guarantee.delta!r}"
        seeded = "" if guarantee.private else ", not private"
        return f"<Release {self.question}: {size}, {promise}{seeded}>"


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name = f"shortlist_{name}"
    return name
