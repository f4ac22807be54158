"""The library's references in the words of a shell: which argument is which option."""

from __future__ import annotations

from shortlist.cli._options import OPTIONS
from shortlist.errors import Face

_BY_NAME = {option.name: option for option in reversed(OPTIONS)}
"""The first row of each: those of questions stand before others."""

_OTHER_WORDS = {
    "data": "FILE",
    "url": "--store",
    "url_or_store": "--store",
    "sl.pairs": "--user",
    "sl.counts": "--count",
    "sl.store": "--store",
    "sl.comparisons": "shortlist rank",
    "sl.scores": "shortlist scores",
    "sl.association": "shortlist associate",
    "discoveries": "associate",
    "sl.IN_TABLE": "--public-items-in-table",
    "or_prepare": "",
    "give_a_relation": "run duckdb plays.duckdb \"CREATE VIEW plays AS FROM '…'\" and write "
    "duckdb:///plays.duckdb --table plays",
    "several_columns": "repeat the option, as in --item country --item city",
    "url_or_path": "BUDGET",
    "sl.Budget.create": "shortlist budget create",
    "sl.Budget.show": "shortlist budget show",
    "sl.Budget.verify": "shortlist budget verify",
    "n_items": "--public-items",
    "ordered": "--unordered",
    "path": "SERIES",
    "sl.Series.create": "shortlist series create",
    "sl.Series.recover": "shortlist series recover",
    "sl.Series.show": "shortlist series show",
    "sl.Series.prolong": "shortlist series prolong",
    "sl.Reuse.CHANGED_DATA": "--reuse-changed",
    "sl.ShareOfUsers.COUNTED": "--share-of-users counted",
    "sl.ShareOfUsers.STATED": "--share-of-users stated",
}
"""What Python has other names for, or the command does in another way."""


class _Shell:
    """Any name that the command has no word for stays as it is in Python."""

    def argument(self, name: str, value: str | None) -> str:
        option, known = self.reference(name), _BY_NAME.get(name)
        if value is None or (value == "True" and known is not None and known.is_flag):
            return option
        if (name, value) == ("ordered", "False"):
            return self.reference("ordered")
        if (name, value) == ("public_items", "IN_TABLE"):
            return self.reference("sl.IN_TABLE")
        if value == "...":
            return f"{option} {known.placeholder if known else 'COLUMN'}".strip()
        if option == name:  # what only a mechanism takes
            return f"--option {name}={value}"
        return value if name == "data" else f"{option} {value}"

    def reference(self, name: str) -> str:
        if name in _OTHER_WORDS:
            return _OTHER_WORDS[name]
        return _BY_NAME[name].in_shell if name in _BY_NAME else _names().get(name, name)


SHELL: Face = _Shell()


def _names() -> dict[str, str]:
    """Mechanisms and questions, as the command takes them; those of other packages, too."""
    from shortlist import questions
    from shortlist.mechanisms.registry import mechanism_names

    kinds = (getattr(questions, name) for name in questions.__all__)
    asked = {kind.method(): kind.name for kind in kinds if hasattr(kind, "name")}
    names = mechanism_names()
    return asked | {name.replace("-", " ").title().replace(" ", ""): name for name in names}
