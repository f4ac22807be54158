"""The tutorial of budgets, done as it says."""

import re

import shortlist as sl
from helpers.pages import blocks

WRITE, PYTHON = blocks("tutorial-budget", "python")
(
    *(
        CREATE,
        CREATED,
        PLAN,
        PLANNED,
        SHARE,
        SHARED,
        DRY,
        LEAVES,
        ASK,
        CHARGED,
        DEAR,
        AGAIN,
        SHOW,
        CHARGES,
    ),
    REST,
) = blocks("tutorial-budget", "")


def dated(text):
    return re.sub(r"\d{4}-\d\d-\d\d", "DATE", text)


def test_it_is_as_the_tutorial_says(run):
    exec(WRITE, {})  # noqa: S102 - our own tutorial
    assert run(CREATE) == CREATED
    assert run(PLAN) == PLANNED
    assert SHARED in run(SHARE)
    assert LEAVES in run(DRY)
    answer = run(ASK)
    assert CHARGED in answer
    again = run(AGAIN)
    listed, about = answer.split("\n\nprotects")
    assert again.startswith(listed)
    assert re.search(r"^given before +by charge 1, of DATE", dated(again), re.MULTILINE)
    assert CHARGED.split(maxsplit=1)[1] in again
    assert "given before" not in about
    refused = run(DEAR, status=2)
    assert "left, and this question costs" in refused
    assert "Nothing was read" in refused
    names = {}
    exec(PYTHON, names)  # noqa: S102 - our own tutorial
    assert names["again"].to_polars().equals(names["release"].to_polars())
    assert names["again"].given_before.charge == 2
    assert names["release"].budget.startswith('charge 2 of "plays-2026": ')
    assert 2.8 < names["budget"].epsilon_left < 3
    assert dated(run(SHOW)).endswith(dated(CHARGES))
    export, verify = REST.splitlines()
    assert run(export).count("\n") == 3
    head = sl.Budget("plays.budget").head
    assert run(verify).endswith(f"The hash of the last one is\n{head}\n")
    assert run(f"{verify} --known {head}")
    assert "no entry has the hash" in run(f"{verify} --known {'0' * 64}", status=1)
