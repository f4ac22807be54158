"""What can be asked where users' amounts are summed up, and what is refused by its reason."""

from __future__ import annotations

from shortlist.errors import InputError
from shortlist.parameters import GroupItems
from shortlist.questions import Question, TopK


def of_known() -> InputError:
    """The refusal of a list that would help to find items."""
    return InputError(
        "with {amount} no list says which of the private items are known",
        "give the list by {public_items}, to rank its items alone; or omit it",
        given={"known_items": ...},
    )


def require_ranking(question: Question) -> None:
    """Refuse what is asked of users.

    Raises:
        InputError: It is no list in order, or it counts users.
    """
    if not isinstance(question, TopK):
        raise InputError(
            "{question}: sums of {amount} rank items, and it asks who holds them",
            "ask for {top_k}, or omit {amount}",
            question=question.name,
        )
    if not question.ordered:
        raise InputError(
            "with {amount} a list has an order", "omit it, or {amount}", given={"ordered": False}
        )
    for name in ("min_users", "others"):
        if value := getattr(question, name):
            raise InputError(
                "with {amount} no users are counted", "omit it, or {amount}", given={name: value}
            )


def require_groups(group_items: GroupItems) -> None:
    """Refuse items of amounts that would be found pair by pair."""
    if group_items is not GroupItems.SHARED:
        raise InputError(
            "with {amount} the items of each group are found and ranked by themselves anyway",
            "omit it, and give {max_groups_per_user}",
            given={"group_items": ...},
        )
