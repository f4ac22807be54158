"""Users who were erased: what is left of each, by which one who returns gets no second account."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shortlist.errors import InputError
from shortlist.series.weekly_run import ITEMS, State

if TYPE_CHECKING:
    import polars as pl

    from shortlist.series._stored_state import Held


class Account(NamedTuple):
    """What must be kept of a user.

    Attributes:
        used: What was added, as a sum of squares.
        slots: How many slots were filled.
    """

    used: int
    slots: int


@dataclass(frozen=True)
class ErasedUsers:
    """The accounts of erased users, each under a hash of the id.

    Attributes:
        key: What ids are hashed with: of this series alone.
        accounts: By the hash of the id.
    """

    key: bytes = b""
    accounts: Mapping[str, Account] = field(default_factory=dict)

    @classmethod
    def from_bytes(cls, cells: bytes) -> ErasedUsers:
        """What `as_bytes` has written."""
        if not cells:
            return cls()
        key, accounts = json.loads(cells)
        return cls(bytes.fromhex(key), {name: Account(*said) for name, said in accounts.items()})

    def as_bytes(self) -> bytes:
        """All of it, in an order that tells nothing; empty where nobody was ever erased."""
        accounts = dict(sorted(self.accounts.items()))
        return json.dumps([self.key.hex(), accounts]).encode() if self.key else b""

    def _hashed(self, users: pl.DataFrame) -> list[str]:
        import polars as pl

        texts: list[str] = users.to_series().to_physical().cast(pl.String).to_list()
        return [blake2b(t.encode(), key=self.key, digest_size=32).hexdigest() for t in texts]

    def with_more(self, users: pl.DataFrame, accounts: Iterable[Account]) -> ErasedUsers:
        """The same and those of more users."""
        kept = self if self.key else ErasedUsers(secrets.token_bytes(32))
        new = dict(zip(kept._hashed(users), accounts, strict=True))  # noqa: SLF001 - of this class
        return ErasedUsers(kept.key, {**kept.accounts, **new})

    def returned(self, state: State, new: pl.DataFrame) -> tuple[State, ErasedUsers]:
        """The state in which new users who were erased have their accounts, and who is left.

        Args:
            state: Before they are known.
            new: Users whose codes follow those of the state.
        """
        if not self.accounts:
            return state, self
        hashes, first = self._hashed(new), len(state.used)
        back = {first + place: h for place, h in enumerate(hashes) if h in self.accounts}
        used = np.append(state.used, np.full(len(hashes), state.used_by_others, np.int64))
        used[list(back)] = [self.accounts[h].used for h in back.values()]
        slots = [self.accounts[h].slots for h in back.values()]
        emptied = np.append(state.emptied, np.repeat(np.array([*back], np.int64), slots))
        left = {h: self.accounts[h] for h in self.accounts if h not in set(back.values())}
        return replace(state, used=used, emptied=emptied), ErasedUsers(self.key, left)


def after_forgetting(held: Held, users: Sequence[object]) -> Held:
    """The state without what these users hold; of those who are not known there is nothing.

    Items stay counted, and sums stay as they are, noise and past shares included.
    """
    state, places = held.state, _places(held.users, users)
    n_users = held.users.height
    filled = np.append(state.slots // ITEMS, state.emptied)
    slots = np.bincount(filled, minlength=n_users)
    accounts = [Account(int(state.used[place]), int(slots[place])) for place in places]
    stays = np.ones(n_users, np.bool_)
    stays[places] = False
    codes = np.cumsum(stays) - 1  # of those who stay
    of_slots, items = np.divmod(state.slots, ITEMS)
    left = replace(
        state,
        used=state.used[stays],
        slots=(codes[of_slots] * ITEMS + items)[stays[of_slots]],
        emptied=codes[state.emptied[stays[state.emptied]]],
    )
    forgotten = held.forgotten.with_more(held.users[places], accounts)
    return held._replace(users=held.users.filter(stays), state=left, forgotten=forgotten)


def _places(known: pl.DataFrame, users: Sequence[object]) -> list[int]:
    """Where those that are known stand, rising."""
    import polars as pl

    dtype = known.dtypes[0]
    if not users or not all(_is_id(user) for user in users):
        raise _unlike_ids(dtype)
    try:
        ids = pl.Series([str(user) for user in users]).cast(dtype)
    except pl.exceptions.PolarsError:
        ids = None
    if ids is None:
        raise _unlike_ids(dtype)
    return known.to_series().is_in(ids.implode()).arg_true().to_list()


def _is_id(user: object) -> bool:
    return isinstance(user, str | int | date) and not isinstance(user, bool)


def _unlike_ids(dtype: pl.DataType) -> InputError:
    return InputError(
        "an id must be of the type of the column of users, which is {dtype}",
        "give one id or more, each as it is in that column",
        dtype=str(dtype),
    )
