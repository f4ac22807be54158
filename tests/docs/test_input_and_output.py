"""What the page on input says of filters, done."""

import re
from pathlib import Path

import pytest

from shortlist.table._filters_in_sql import parsed

PAGE = (Path(__file__).parents[2] / "docs" / "input-and-output.md").read_text()
FILTERS = PAGE.split("### Which rows count")[1].split("\n## ")[0]


def test_the_example_names_what_it_says():
    (block,) = re.findall(r"^```python\n(.*?)^```$", FILTERS, re.MULTILINE | re.DOTALL)
    *lines, asked = block.strip().split("\n")
    names = {}
    exec("\n".join(lines), names)  # noqa: S102 - as readers do
    assert list(eval(asked, names)) == ["Emma"]  # noqa: S307 - likewise


EXAMPLES = [
    example
    for row in FILTERS.split("|---|---|\n")[1].split("\n\n")[0].splitlines()
    for example in re.findall(r"`([^`]+)`", row.split(" | ")[-1])
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_is_in_the_language(example):
    is_value = re.fullmatch(r"('.*'|[0-9.]+|date .*|timestamp .*|true)", example)
    assert str(parsed(f"x = {example}" if is_value else example))
