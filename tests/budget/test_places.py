"""Where a ledger is: what cannot be one is refused, each time with what to do."""

import contextlib
import os
import resource
import signal
import sqlite3
from pathlib import Path

import pytest

import shortlist as sl
from helpers.budgets import columns, created, plan_of, running_by, tampered
from helpers.refusals import refusal
from postgres import PASSWORD
from shortlist.databases.sqlite_file import network_filesystem


def untouched(action, *contains):
    """The refusal of what must not read a row."""
    plan = action()
    message = refusal(plan.run, *contains)
    assert plan.engine.times_read == 0
    assert PASSWORD not in message
    return message


def test_a_budget_is_made_of_both_kinds_and_opened_again(place):
    made = created(place, epsilon=2.0, delta=1e-6, who="Ann")
    plan_of(made, 0.1).run()
    again = sl.Budget(place)
    assert again.terms == made.terms
    assert columns(again, "who", "outcome") == [("Ann", "released")]
    assert 0 < again.epsilon_left < 2.0
    refusal(lambda: created(place), "exists" if "://" not in str(place) else "has a budget of")
    assert PASSWORD not in repr(again)


def test_a_missing_ledger_is_never_created(tmp_path):
    for name in ("plays.budget", "no/plays.budget"):
        refusal(lambda name=name: sl.Budget(tmp_path / name), "does not exist", "sl.Budget.create")
    refusal(lambda: created(tmp_path / "no" / "x"), "a folder that does not exist; create the")
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_that_is_gone_is_refused(path):
    budget = created(path)
    Path(path).unlink()
    untouched(lambda: plan_of(budget), "does not exist")
    assert not Path(path).exists()


def test_what_is_no_ledger_is_refused(tmp_path):
    empty, text, folder = tmp_path / "empty", tmp_path / "text", tmp_path / "folder"
    empty.write_bytes(b"")
    text.write_text("user,item\n" * 500)
    folder.mkdir()
    with contextlib.closing(sqlite3.connect(tmp_path / "other")) as connection:
        connection.execute("CREATE TABLE items (name)")
    for path in (empty, text, folder, tmp_path / "other"):
        refusal(lambda path=path: sl.Budget(path), "is no budget", "name the file of one")
    for wrong in (3, None, "mysql://host/db", "sqlite:///x.db"):
        refusal(lambda wrong=wrong: sl.Budget(wrong), "url_or_path")


def test_no_half_of_a_ledger_is_left_where_it_cannot_be_made(path, monkeypatch):
    monkeypatch.setattr("shortlist.budget._ledger_tables._TABLES", ("CREATE TABLE x (",))
    refusal(lambda: created(path), "cannot be read or written")
    assert list(Path(path).parent.iterdir()) == []


def in_a_child(action):
    """What an action returns in a process of its own, which its limits end with."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        with contextlib.suppress(BaseException):
            os.write(writer, action().encode())
        os._exit(0)
    os.close(writer)
    os.wait()
    with open(reader) as pipe:  # noqa: PTH123 - a number
        return pipe.read()


@pytest.mark.skipif(not hasattr(os, "fork") or os.geteuid() != 0, reason="as another user")
def test_a_ledger_that_may_only_be_read_is_shown_and_not_charged(path):
    """Root may write everything, so that this happens in a child who is nobody."""
    plan_of(created(path)).run()
    os.chmod(path, 0o444)  # noqa: PTH101
    os.chmod(Path(path).parent, 0o555)  # noqa: PTH101, S103

    def charging():
        os.setuid(65534)
        budget = sl.Budget(path)
        try:
            budget.charge(plan_of(budget))
        except sl.InputError as error:
            return f"{len(budget.to_csv().splitlines())} {error}"

    said = in_a_child(charging)
    os.chmod(Path(path).parent, 0o755)  # noqa: PTH101, S103
    assert said.startswith("2 ")
    assert "may not be written, so that nothing can be charged; check the permissions" in said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_full_disk_is_refused_and_leaves_the_ledger_whole(path):
    """A file may not grow beyond its size: as on a disk that is full."""
    budget = created(path)
    plan_of(budget).run()
    before = columns(budget, "number")

    def charging():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        size = os.path.getsize(path)  # noqa: PTH202
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        try:
            for _ in range(50):
                budget.charge(plan_of(budget))
        except sl.InputError as error:
            return str(error)

    said = in_a_child(charging)
    assert "the disk is full, so that nothing can be charged; make room and ask again" in said
    assert budget.verify() == []
    assert columns(budget, "number")[: len(before)] == before
    plan_of(budget).run()


def test_a_newer_ledger_is_refused(place, request):
    budget = created(place)
    if "://" in str(place):
        request.getfixturevalue("postgresql").run("UPDATE shortlist_budgets SET version = 3")
    else:
        with tampered(place) as connection:
            connection.execute("UPDATE shortlist_budgets SET version = 3")
    refusal(lambda: sl.Budget(place), "made by a newer shortlist", "install a newer one")
    untouched(lambda: plan_of(budget), "in version 3 of the ledger, and this one knows version 2")


MOUNTS = """\
/dev/vda / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
tmpfs /home/local tmpfs rw 0 0
me@host:/ /mnt/far\\040away fuse.sshfs rw 0 0
cut short
server:/a /mnt/a\x0bb\x85c\u2028d\u00a0e\x1cf\rg nfs rw 0 0
"""


def test_network_file_systems_are_seen(tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_bytes(MOUNTS.encode())
    for place, kind in {
        "/home/ann/plays.budget": "nfs4",
        "/home/local/plays.budget": None,
        "/homely/plays.budget": None,
        "/mnt/far away/x": "fuse.sshfs",
        "/mnt/a\x0bb\x85c\u2028d\u00a0e\x1cf\rg/x": "nfs",
        "/plays.budget": None,
    }.items():
        assert network_filesystem(Path(place), mounts) == kind
    assert network_filesystem(Path("/home/x"), tmp_path / "none") is None


def test_a_ledger_on_a_network_file_system_is_refused(path, monkeypatch):
    budget = created(path)
    monkeypatch.setattr("shortlist.databases.sqlite_file.network_filesystem", lambda _: "nfs4")
    untouched(lambda: plan_of(budget), "is on a network file system (nfs4)", "take postgresql://")
    refusal(lambda: created(f"{path}-2"), "is on a network file system")


def test_another_data_set_is_refused(place):
    budget = created(place)
    assert sl.Budget(place, dataset="plays-2026").dataset == budget.dataset
    refusal(
        lambda: sl.Budget(place, dataset="plays-2025"),
        'has no budget of dataset="plays-2025"',
        'Did you mean "plays-2026"?',
    )


def test_a_database_holds_the_budgets_of_several_data_sets(postgresql):
    url = postgresql.url
    refusal(lambda: sl.Budget(url), "has no budget", "sl.Budget.create")
    one, other = created(url), created(url, dataset="games")
    refusal(lambda: sl.Budget(url), "has budgets of 2 data sets", "Name one by dataset")
    plan_of(one).run()
    assert columns(sl.Budget(url, dataset="games"), "number") == []
    assert (one.verify(), other.verify()) == ([], [])
    assert len(plan_of(other).run()) == 1


def test_a_user_without_rights_is_told_which(server, postgresql):
    budget = created(postgresql.url)
    postgresql.run("DROP ROLE IF EXISTS poor")
    postgresql.run("CREATE ROLE poor LOGIN PASSWORD 'poor'")
    poor = server.url(user="poor", password="poor", database=postgresql.name)  # noqa: S106
    message = refusal(lambda: sl.Budget(poor), "is not open to this user")
    for statement in message[message.index("GRANT") :].replace(" it;", " poor;").split("; "):
        postgresql.run(statement)
    assert len(plan_of(sl.Budget(poor)).run()) == 1
    assert budget.verify() == []


def test_a_database_that_only_reads_is_refused(postgresql):
    created(postgresql.url)
    url = f"{postgresql.url}&options=-cdefault_transaction_read_only%3Don"
    assert len(plan_of(sl.Budget(url)).run()) == 1  # a default is no rule
    refusal(lambda: sl.Budget("postgresql://nobody@/none?host=/nowhere"), "cannot be connected to")


def with_path(postgresql, *schemas):
    """The address, with these schemas in the search path."""
    return f"{postgresql.url}&options=-csearch_path%3D{'%2C'.join(schemas)}"


@pytest.mark.parametrize("shadowed", ["budgets", "entries", "releases"])
def test_a_table_that_stands_before_one_of_a_ledger_changes_nothing(postgresql, shadowed):
    """A copy of one table, in a schema that comes first in somebody's search path."""
    budget = created(postgresql.url)
    plan_of(budget).run()
    table = f"shortlist_{shadowed}"
    postgresql.run("CREATE SCHEMA mine")
    postgresql.run(f"CREATE TABLE mine.{table} (LIKE public.{table} INCLUDING ALL)")
    postgresql.run(f"INSERT INTO mine.{table} SELECT * FROM public.{table}")
    url = with_path(postgresql, "mine", "public")
    if shadowed == "budgets":
        refusal(
            lambda: sl.Budget(url),
            'in several schemas of the search path: "mine", "public"',
            "search_path%3Dmine",
        )
        url = with_path(postgresql, "public")
    plan_of(sl.Budget(url)).run()
    assert columns(budget, "number", "outcome") == [("1", "released"), ("2", "released")]
    assert budget.verify() == sl.Budget(url).verify() == []
    plan_of(budget).run()


def test_a_budget_stays_in_the_schema_in_which_it_was_found(postgresql):
    postgresql.run('CREATE SCHEMA "inHouse"')
    postgresql.run("CREATE SCHEMA other")
    url = with_path(postgresql, '"inHouse"', "public")
    budget = created(url)
    assert postgresql.run('SELECT count(*) FROM "inHouse".shortlist_entries') == [(1,)]
    refusal(lambda: sl.Budget(postgresql.url), "has no budget")
    created(with_path(postgresql, "other"), dataset="other")
    postgresql.run(f'ALTER DATABASE "{postgresql.name}" SET search_path = other')
    plan_of(budget).run()
    assert columns(budget, "number") == [("1",)]
    assert sl.Budget(postgresql.url).dataset == "other"
    again = created(with_path(postgresql, "public", '"inHouse"'), dataset="beside")
    assert columns(again, "number") == []
    assert postgresql.run("SELECT to_regclass('public.shortlist_entries')") == [(None,)]
    refusal(lambda: created(with_path(postgresql, "none")), "has no schema in which this user")


def test_a_standby_shows_what_it_holds_and_charges_nothing(server, postgresql):
    budget = created(postgresql.url)
    plan_of(budget).run()
    with server.standby() as standby:
        there = sl.Budget(standby.url(database=postgresql.name))
        assert columns(there, "number", "outcome") == [("1", "released")]
        untouched(
            lambda: plan_of(there),
            "is a standby server, which only reads, so that nothing can be charged",
            "name the primary server",
        )
        refusal(lambda: created(standby.url(database=postgresql.name), dataset="new"), "a standby")
    assert columns(budget, "number") == [("1",)]


def test_a_commit_lasts_even_where_a_server_would_answer_sooner(postgresql, monkeypatch):
    """`synchronous_commit=off` of a server or a user is set aside."""
    url = f"{postgresql.url}&options=-csynchronous_commit%3Doff"
    budget = created(url)
    asked = []

    def looking(execute, statement, *values):
        if statement.startswith("INSERT INTO shortlist_entries"):
            asked.extend(execute("SHOW synchronous_commit"))
        return execute(statement, *values)

    running_by(monkeypatch, looking)
    plan_of(budget).run()
    assert asked == [("on",), ("on",)]  # the charge, and the release


def test_where_a_postgres_url_is_wrong_nothing_of_it_is_shown():
    for wrong in ("postgresql://u:Zz-secret@[", "postgres://u:Zz-secret@/x?host=/nowhere"):
        message = refusal(lambda wrong=wrong: sl.Budget(wrong), '"postgresql://…"')
        assert "secret" not in message
