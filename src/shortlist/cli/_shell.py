"""The library's references in the words of a shell: which argument is which option."""

from __future__ import annotations

import inspect
from functools import cache

from shortlist.errors import Face

__all__ = ["SHELL"]

_OPTIONS = {
    "data": "FILE",
    "k": "-k",
    "url": "--store",
    "url_or_store": "--store",
    "form": "--format",
    "as_json": "--json",
    "sl.pairs": "--user",
    "sl.counts": "--count",
    "sl.store": "--store",
    "sl.comparisons": "shortlist rank",
    "sl.IN_TABLE": "--public-items-in-table",
    "or_prepare": "",
    "give_a_relation": "run duckdb plays.duckdb \"CREATE VIEW plays AS FROM '…'\" and write "
    "duckdb:///plays.duckdb --table plays",
    "several_columns": "repeat the option, as in --item country --item city",
    "url_or_path": "BUDGET",
    "sl.Budget.create": "shortlist budget create",
    "sl.Budget.show": "shortlist budget show",
    "sl.Budget.verify": "shortlist budget verify",
}
_PLACEHOLDERS = {
    "public_items": "FILE",
    "public_groups": "FILE",
    "output": "FILE",
    "report": "FILE",
    "config": "FILE",
    "store": "URL",
    "table": "TABLE",
    "mechanism": "NAME",
    "budget": "BUDGET",
    "dataset": "NAME",
}
_FLAGS = {"overwrite", "pull"}


class _Shell:
    """Any name that the command has no word for stays as it is in Python."""

    def argument(self, name: str, value: str | None) -> str:
        option = self.reference(name)
        if value is None or (name in _FLAGS and value == "True"):
            return option
        if (name, value) == ("public_items", "IN_TABLE"):
            return self.reference("sl.IN_TABLE")
        if value == "...":
            return f"{option} {_PLACEHOLDERS.get(name, 'COLUMN')}"
        if option == name:  # what only a mechanism takes
            return f"--option {name}={value}"
        return value if name == "data" else f"{option} {value}"

    def reference(self, name: str) -> str:
        if name in _OPTIONS:
            return _OPTIONS[name]
        if name in _arguments():
            return f"--{name.replace('_', '-')}"
        return _names().get(name, name)


SHELL: Face = _Shell()


@cache
def _arguments() -> set[str]:
    """The names of all arguments of the commands, as Python has them."""
    from shortlist.cli import _budgets, commands

    questions = (commands.top_k, commands.domain, commands.hitting_set, commands.rank)
    asked = (*questions, commands.compare, _budgets.create)
    return {name for command in asked for name in inspect.signature(command).parameters}


def _names() -> dict[str, str]:
    """Mechanisms and questions, as the command takes them; those of other packages, too."""
    from shortlist import questions
    from shortlist.mechanisms.registry import mechanism_names

    kinds = (getattr(questions, name) for name in questions.__all__)
    asked = {kind.method(): kind.name for kind in kinds if hasattr(kind, "name")}
    names = mechanism_names()
    return asked | {name.replace("-", " ").title().replace(" ", ""): name for name in names}
