"""Associations as the source: who counts, what is refused before a charge, and what leaves."""

import json

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.refusals import refusal
from shortlist.draws import ExactDraws
from shortlist.evidence import LabelledCounts, Wants

DRUGS = ["A", "B", "C"]
ROWS = {
    "patient": [1, 1, 1, 2, 3, 4, 5, 9, None],
    "drug": ["A", "B", "A", "A", "B", "C", "D", "A", "A"],
}
LABELS = {
    "patient": [1, 2, 3, 4, 5, 6, 7, 7, 8, None],
    "event": ["yes", "no", "no", "yes", "yes", "no", "yes", "no", "unknown", "yes"],
}


def texts(values):
    return [None if value is None else str(value) for value in values]


def study(rows=ROWS, labels=LABELS, **given):
    usual = {"user": "patient", "item": "drug", "label": "event", "case": "yes", "control": "no"}
    rows, labels = (pl.DataFrame(x) if isinstance(x, dict) else x for x in (rows, labels))
    return sl.association(rows, labels=labels, **{"public_items": DRUGS, **usual, **given})


def many(n=4000):
    """Every second patient has the event, and takes A twice as often."""
    users = np.arange(n)
    takes = (users % 4 == 0) | (users % 16 == 3)
    rows = pl.DataFrame({"patient": users, "drug": np.where(takes, "A", "B")})
    labels = pl.DataFrame({"patient": users, "event": np.where(users % 2 == 0, "yes", "no")})
    return rows, labels


def counted(source):
    with source._engine.show(Wants(LabelledCounts), ExactDraws()) as shown:
        return shown.evidence


def held(source):
    found = counted(source)
    return found.cases.tolist(), found.controls.tolist(), found.n_cases, found.n_controls


def test_who_counts_is_decided_by_that_user_s_rows_alone():
    """Not 7, who has both labels, nor 8, of another, nor 9, who has none."""
    assert held(study()) == ([1, 1, 1], [1, 1, 0], 3, 3)


def test_users_who_hold_nothing_are_in_the_sizes():
    assert held(study(rows={"patient": [1], "drug": ["Z"]})) == ([0] * 3, [0] * 3, 3, 3)


def test_repeated_labels_are_one():
    twice = {"patient": [1, 1, 2], "event": ["yes", "yes", "no"]}
    assert held(study(labels=twice))[2:] == (1, 1)


def test_a_row_filter_takes_items_away_and_no_users():
    source = study(where="drug <> 'A'")
    assert held(source) == ([0, 1, 1], [0, 1, 0], 3, 3)
    plan = source.plan(sl.Discoveries(1), epsilon=1.0, delta=1e-6)
    assert "Only rows count where" in plan.explain()


@pytest.mark.parametrize(
    ("rows", "labels", "given"),
    [
        ({**ROWS, "patient": pl.Series(ROWS["patient"], dtype=pl.Int32)}, LABELS, {}),
        ({**ROWS, "patient": texts(ROWS["patient"])},
         {**LABELS, "patient": texts(LABELS["patient"])}, {}),
        (ROWS, {"patient": LABELS["patient"],
                "event": [{"yes": 1, "no": 0}.get(x, 2) for x in LABELS["event"]]},
         {"case": 1, "control": "0"}),
        (ROWS, {"who": LABELS["patient"], "event": LABELS["event"]}, {"label_user": "who"}),
    ],
)  # fmt: skip
def test_users_and_labels_of_every_type_are_the_same(rows, labels, given):
    assert held(study(rows, labels, **given)) == ([1, 1, 1], [1, 1, 0], 3, 3)


def test_labels_that_are_true_and_false():
    labels = {"patient": [1, 2], "event": [True, False]}
    assert held(study(labels=labels, case=True, control=False))[2:] == (1, 1)


def test_an_item_of_several_columns():
    rows = pl.DataFrame({"patient": [1, 2], "drug": ["A", "A"], "dose": [5, 10]})
    source = study(rows, item=["drug", "dose"], public_items=[("A", 5), ("A", 10)])
    assert held(source)[:2] == ([1, 0], [0, 1])


def test_from_files_in_which_all_is_text(tmp_path):
    for name, frame in (("rows", pl.DataFrame(ROWS)), ("labels", pl.DataFrame(LABELS))):
        frame.write_csv(tmp_path / f"{name}.csv")
    source = study(str(tmp_path / "rows.csv"), str(tmp_path / "labels.csv"))
    assert held(source) == ([1, 1, 1], [1, 1, 0], 3, 3)


def test_what_goes_with_the_label_is_named():
    release = study(*many()).discoveries(k=2, epsilon=1.0, delta=1e-6)
    assert release.items == ["A"]
    assert len(release) == 1
    assert "A" in release
    assert "B" not in release
    table = release.to_polars()
    assert table.columns == [
        *("rank", "drug", "named", "direction", "e_value", "level", "difference"),
        *("difference_low", "difference_high"),
    ]
    assert table["drug"][0] == "A"
    assert table["named"].to_list() == [True, False]
    assert table["difference_low"][0] < 0.375 < table["difference_high"][0]
    assert release.k is None
    assert repr(release).startswith("<Release discoveries: 1 item, epsilon=1.0")


def test_it_comes_back_from_its_files(tmp_path):
    release = study(*many()).discoveries(k=2, epsilon=1.0, delta=1e-6, side=sl.Side.BOTH)
    for suffix in ("json", "parquet"):
        release.save(tmp_path / f"a.{suffix}")
        again = sl.load(tmp_path / f"a.{suffix}")
        assert again == release
        assert again.items == release.items
        assert again.explain() == release.explain()
    changed = json.loads((tmp_path / "a.json").read_text())
    changed["items"][1]["named"] = not changed["items"][1]["named"]
    (tmp_path / "b.json").write_text(json.dumps(changed))
    with pytest.raises(sl.InputError, match="it names other items than its levels say"):
        sl.load(tmp_path / "b.json")
    del changed["columns"]["level"]
    (tmp_path / "c.json").write_text(json.dumps(changed))
    with pytest.raises(sl.InputError):
        sl.load(tmp_path / "c.json")


def test_what_must_be_said_is_said_everywhere():
    source = study(*many())
    plan = source.plan(sl.Discoveries(2), epsilon=1.0, delta=1e-6)
    release = plan.run()
    for text in (plan.explain(), release.explain(), str(release), release.to_markdown()):
        words = " ".join(text.split())
        assert "could just as well be the cases" in words
        assert "A common cause is a relation" in words
        assert "shops, families or days" in words
        assert "more of everything than controls" in words
        assert "on average over repetitions" in words or "average over repetitions" in words
    assert "says nothing about privacy" in " ".join(release.explain().split())
    assert "no estimate for other people" in " ".join(str(release).split())


def test_nothing_is_a_release_too():
    rows, labels = many()
    release = study(rows.with_columns(drug=pl.lit("B")), labels).discoveries(
        k=1, epsilon=1.0, delta=1e-6
    )
    assert release.items == []
    assert release.to_polars().height == 1
    assert "no item that was looked at had enough evidence" in " ".join(str(release).split())


def test_stated_sizes_are_public_and_never_compared_with_the_table():
    sizes = {"cases": 50, "controls": 60, "size_error": 0}
    source = study(**sizes)
    plan = source.plan(sl.Discoveries(1), epsilon=1.0, delta=1e-6)
    assert plan.mechanism.cases == 50
    assert any("was public before" in line for line in plan.guarantee.assumes)
    assert len(plan.run().to_polars()) == 1


def test_who_is_protected():
    guarantee = study().plan(sl.Discoveries(1), epsilon=1.0, delta=1e-6).guarantee
    assert guarantee.protects == 'all rows of any one "patient", and the "event"'
    assert guarantee.adjacency == "add or remove one user"


def test_a_budget_is_charged_and_keeps_the_answer(tmp_path):
    budget = sl.Budget.create(
        tmp_path / "b.db", epsilon=2.0, delta=1e-5, dataset="study",
        protects="patient",
    )  # fmt: skip
    rows, labels = many()
    for frame, name in ((rows, "rows"), (labels, "labels")):
        frame.write_parquet(tmp_path / f"{name}.parquet")
    source = study(str(tmp_path / "rows.parquet"), str(tmp_path / "labels.parquet"), budget=budget)
    first = source.discoveries(k=1, epsilon=0.5, delta=1e-6)
    again = source.discoveries(k=1, epsilon=0.5, delta=1e-6, reuse=True)
    assert again.to_polars().equals(first.to_polars())
    assert again.given_before is not None
    labels.head(100).write_parquet(tmp_path / "labels.parquet")
    changed = study(str(tmp_path / "rows.parquet"), str(tmp_path / "labels.parquet"), budget=budget)
    with pytest.raises(sl.InputError, match="changed"):
        changed.discoveries(k=1, epsilon=0.5, delta=1e-6, reuse=True)


REFUSED = [
    ({"case": "yes", "control": "yes"}, "a case and a control have two different labels"),
    ({"case": 1}, "case holds 1, of type int"),
    ({"public_items": None}, "public_items=None: how many items you ask about decides"),
    ({"public_items": sl.IN_TABLE}, "public_items=IN_TABLE"),
    ({"label": "events"}, 'label="events"'),
    ({"cases": 5}, "cases, controls and size_error go together"),
    ({"pull": True}, "these rows are read here anyway"),
    ({"pull": False}, "both tables are compared in memory"),
    ({"labels": "postgresql://who:secret@host/db"}, "labels are read from a file or a frame"),
    ({"labels": {"patient": ["1"], "event": ["yes"]}}, "users are of type Int64"),
]


@pytest.mark.parametrize(("given", "words"), REFUSED)
def test_what_cannot_be_is_refused_before_a_row_is_read(given, words):
    with pytest.raises(sl.InputError) as refused:
        study(**given)
    assert words in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_table_in_an_engine_is_fetched_only_if_that_is_asked():
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("ibis")
    held_there = duckdb.from_arrow(pl.DataFrame(ROWS).to_arrow())
    assert "add pull=True" in refusal(lambda: study(held_there))
    assert held(study(held_there, pull=True)) == ([1, 1, 1], [1, 1, 0], 3, 3)


def test_other_questions_are_refused_with_what_to_do():
    with pytest.raises(sl.InputError, match="which items go with the label"):
        study().plan(sl.TopK(1), epsilon=1.0, delta=1e-6)
    rows = sl.pairs(pl.DataFrame(ROWS), user="patient", item="drug", public_items=DRUGS)
    with pytest.raises(sl.InputError, match=r"give the labels, too, by sl\.association"):
        rows.plan(sl.Discoveries(1), epsilon=1.0, delta=1e-6)


def test_two_lists_of_discoveries_are_not_compared():
    source = study(*many())
    one, other = (source.discoveries(k=1, epsilon=1.0, delta=1e-6) for _ in "ab")
    with pytest.raises(sl.InputError, match="by noise alone"):
        sl.diff(one, other)


def test_a_seed_gives_the_same_answer_whatever_the_order_of_rows():
    rows, labels = many(400)
    answers = [
        study(r, x).discoveries(
            k=2, epsilon=1.0, delta=1e-6, random=sl.bits.SeededBits(5)
        ).to_polars()
        for r, x in ((rows, labels), (rows.reverse(), labels.sample(fraction=1, shuffle=True)))
    ]  # fmt: skip
    assert answers[0].equals(answers[1])
