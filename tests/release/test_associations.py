"""Pictures of discoveries, and what is said where there is nothing to compare."""

import polars as pl
import pytest

import shortlist as sl


@pytest.fixture(scope="module")
def source():
    users = list(range(4000))
    drugs = ["A" if u % 4 == 0 or u % 16 == 3 else "B" for u in users]
    rows = pl.DataFrame({"patient": users, "drug": drugs})
    labels = pl.DataFrame({"patient": users, "event": ["yes", "no"] * 2000})
    return sl.association(
        rows, user="patient", item="drug", labels=labels, label="event",
        case="yes", control="no", public_items=["A", "B", "C"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def release(source):
    return source.discoveries(3, epsilon=1.0, delta=1e-6)


def test_the_chart_has_a_point_for_all_and_fills_those_named(release):
    pytest.importorskip("altair")
    chart = release.plot().to_dict()
    (rows,) = chart["datasets"].values()
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert [row["marked"] for row in rows] == [True, False, False]
    assert rows[0]["strength"] == release.associations[0].e_value


def test_the_page_has_the_chart_and_says_how_it_is_read(release, tmp_path):
    pytest.importorskip("vl_convert")
    release.report(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert "Filled points are the items named" in page
    assert "A dot is a noisy score" not in page
    assert "could just as well be the cases" in page
    assert page.count("<svg") == 2


def test_an_invented_table_has_no_labels(source):
    plan = source.plan(sl.Discoveries(1), epsilon=1.0, delta=1e-6)
    with pytest.raises(sl.InputError, match="an invented table has no labels"):
        plan.expect(users=100, items=10)


def test_no_table_tells_what_is_real(source):
    with pytest.raises(sl.InputError, match="no table tells"):
        sl.metrics.compare(source, sl.Discoveries(1), epsilon=1.0, delta=1e-6)
