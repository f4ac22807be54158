"""Which files a query of DuckDB reads, if that can be told of all that it reads."""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from shortlist.table.identity import identity_of_file

__all__ = ["UntoldError", "files_read"]

_VIEW = re.compile(r"CREATE VIEW .*? AS ", re.DOTALL)
_READERS = {"read_parquet", "parquet_scan", "read_csv", "read_csv_auto", "read_json", "read_ndjson"}
_PLAIN = {
    *("list_value", "struct_pack", "lower", "upper", "trim", "concat", "length", "replace"),
    *("substring", "year", "month", "day", "date_trunc", "hash", "round", "floor", "ceil", "abs"),
    *("count", "count_star", "sum", "min", "max", "avg", "row_number", "~~", "!~~", "between"),
}
"""Functions whose result hangs on their arguments alone, unless someone makes others so called."""
_MOMENTS = {"current_date", "current_timestamp", "current_time", "localtime", "localtimestamp"}
_OPAQUE = {"SHOW_REF", "COLUMN_DATA"}

Catalog = Mapping[str, str | None]


class UntoldError(Exception):
    """A part of a query is none that could be known again."""


def files_read(query: str, catalog: Catalog, parsed: Callable[[str], str]) -> list[object]:
    """The identities of all files outside of the databases that a query reads.

    Args:
        query: A SELECT.
        catalog: Tables and views of databases in files, with the statement of each view.
        parsed: Parses a SELECT into JSON, as DuckDB's `json_serialize_sql` does.

    Raises:
        UntoldError: It reads something else, or calls what may answer otherwise the next time.
    """
    found: list[object] = []
    waiting = [query]
    seen: set[str] = set()
    while waiting:
        nodes = list(_nodes(json.loads(parsed(waiting.pop()))))
        for name in sorted(_names(nodes) - seen):
            seen.add(name)
            if name not in catalog:
                found += _files(name)
            elif (view := catalog[name]) is not None:
                waiting.append(_VIEW.sub("", view, count=1))
    return found


def _names(nodes: list[dict[str, Any]]) -> set[str]:
    """Of tables, views and files."""
    within = {
        entry["key"] for node in nodes if "cte_map" in node for entry in node["cte_map"]["map"]
    }
    names: set[str] = set()
    for node in nodes:
        kind = node.get("type")
        if node.get("error") or kind in _OPAQUE or _MOMENTS & set(node.get("column_names", ())):
            raise UntoldError
        if kind == "BASE_TABLE" and (node["table_name"] not in within or node["schema_name"]):
            names.add(node["table_name"])
        if kind == "TABLE_FUNCTION":
            names |= _arguments(node["function"])
        elif "function_name" in node and not _is_plain(node):
            raise UntoldError
    return names


def _is_plain(node: dict[str, Any]) -> bool:
    return bool(node.get("is_operator")) or node["function_name"] in _PLAIN | _READERS


def _arguments(function: dict[str, Any]) -> set[str]:
    """The paths that a reader of files is given, all of which are constants."""
    if function["function_name"] not in _READERS:
        raise UntoldError
    first = list(_nodes(function["arguments"][:1]))
    paths = {n["text"] for n in first if n.get("kind") == "STRING"}
    told = {"VALUE_CONSTANT", "FUNCTION", "ORDER_MODIFIER", None}
    if not paths or any(n.get("type") not in told for n in first):
        raise UntoldError
    return paths


def _files(name: str) -> list[object]:
    found = glob.glob(name, recursive=True)  # noqa: PTH207 - as they are read
    if not found:
        raise UntoldError
    return [identity_of_file(file) for file in sorted(found)]


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _nodes(part)
