"""A ledger in a file has one name: what one who was killed left unfinished is seen by everybody."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import shortlist as sl
from helpers import power
from helpers.budgets import columns, created, plan_of
from helpers.refusals import refusal
from shortlist.databases import sqlite_file

forked = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
HALF = 0.5


class Dying(apsw.VFS):
    """A disk on which a process dies in a commit: when all is written, before the journal goes."""

    def __init__(self):
        super().__init__("power", "")

    def xDelete(self, name, sync):  # noqa: ARG002, N802 - SQLite's name
        os._exit(9)


def killed_in_a_commit(path):
    """Charge half of a budget in a process that dies before the charge is acknowledged."""
    budget = sl.Budget(path)
    plan = plan_of(budget, HALF)
    child = os.fork()
    if child == 0:
        disk = Dying()
        sqlite3.connect = power.connect
        with contextlib.suppress(BaseException):
            budget.charge(plan)
        disk.unregister()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert Path(f"{path}-journal").exists()


def delivered(*paths):
    """How much epsilon answers are worth that are got by these names, one after the other."""
    worth = 0
    for path in paths:
        with contextlib.suppress(sl.InputError):
            worth += HALF * len(plan_of(sl.Budget(path), HALF).run())
    return worth


@forked
@pytest.mark.parametrize("folder", ["elsewhere", "."])
def test_a_second_name_does_not_let_a_budget_be_overspent(path, folder):
    created(path, epsilon=1.0)
    other = Path(path).parent / folder / "other.budget"
    other.parent.mkdir(exist_ok=True)
    killed_in_a_commit(path)
    other.hardlink_to(path)
    assert delivered(other, path, path) <= 1.0
    for name in (other, path):
        refusal(lambda name=name: sl.Budget(name), "has a second name", "Remove one of the names")
    other.unlink()
    assert delivered(path, path, path) == 1.0
    assert sl.Budget(path).verify() == []


def test_a_name_that_is_added_later_is_refused_unread(path):
    budget = created(path)
    Path(f"{path}-2").hardlink_to(path)
    plan = plan_of(budget)
    refusal(plan.run, "has a second name")
    assert plan.engine.times_read == 0


def test_a_ledger_whose_creator_died_before_it_had_one_name_is_opened(path):
    """The name that it has while it is created is removed by whoever opens it first."""
    created(path)
    left = Path(path).with_name(".plays.budget-0123abcd.tmp")
    left.hardlink_to(path)
    foreign = Path(path).with_name(".plays.budget-other.tmp")
    foreign.write_text("somebody else's")
    assert len(plan_of(sl.Budget(path)).run()) == 1
    assert not left.exists()
    assert foreign.read_text() == "somebody else's"


def test_it_is_opened_while_it_is_created(path, monkeypatch):
    """Between its two names, by somebody who is quick."""
    link, seen = os.link, []

    def linking(new, name):
        link(new, name)
        seen.append(sl.Budget(name).dataset)

    monkeypatch.setattr(os, "link", linking)
    assert seen == [created(path).dataset] == ["plays-2026"]
    assert [file.name for file in Path(path).parent.iterdir()] == ["plays.budget"]


def mounting():
    """The words that run a command where mounts are its own; none where that is not allowed."""
    words = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    if shutil.which("unshare") is None or sys.platform != "linux":
        return None
    tried = subprocess.run([*words, "true"], capture_output=True, check=False)  # noqa: S603
    return None if tried.returncode else words


def test_a_file_that_is_mounted_by_itself_is_refused(tmp_path):
    """As `docker run --volume plays.budget:…` does it. With its folder, it is as good as any."""
    if (words := mounting()) is None:
        pytest.skip("nothing may be mounted here")
    made, alone, whole = (tmp_path / name for name in ("made", "alone", "whole"))
    for folder in (made, alone, whole):
        folder.mkdir()
    created(made / "x y.budget")
    (alone / "x y.budget").touch()
    opening = """
import sys, shortlist as sl
print(sl.Budget(sys.argv[1]).dataset)
try:
    sl.Budget(sys.argv[2])
except sl.InputError as error:
    print(error)
"""
    mount = 'mount --bind "$1" "$2" && mount --bind "$3" "$4" && exec "$5" -c "$6" "$4/$7" "$2"'
    name = "x y.budget"
    given = [made / name, alone / name, made, whole, sys.executable, opening, name]
    done = subprocess.run(  # noqa: S603 - ours
        [*words, "sh", "-c", mount, "sh", *given], capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": str(Path(sl.__file__).parents[1])},
    )  # fmt: skip
    dataset, said = done.stdout.splitlines()
    assert dataset == "plays-2026"
    assert "is mounted by itself, without its folder" in said
    assert "; mount the folder that it is in." in said


def test_mount_points_are_seen(tmp_path, path, monkeypatch):
    budget = created(path)
    mounts, target = tmp_path / "mounts", os.path.realpath(path)
    for place, found in ((target, True), (f"{target}-2", False), (Path(target).parent, False)):
        mounts.write_text(f"/dev/vda / ext4 rw 0 0\n/dev/vdb {place} ext4 rw 0 0\n")
        assert sqlite_file.is_mount_point(Path(path), mounts) is found
    assert not sqlite_file.is_mount_point(Path(path), tmp_path / "none")
    monkeypatch.setattr("shortlist.databases.sqlite_file.is_mount_point", lambda _: True)
    plan = plan_of(budget)
    refusal(plan.run, "is mounted by itself", "mount the folder")
    assert plan.engine.times_read == 0


def test_a_relative_path_is_that_of_the_folder_in_which_it_was_opened(tmp_path, monkeypatch):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "there")
    created("plays.budget", dataset="another")
    monkeypatch.chdir(tmp_path / "here")
    budget = created("plays.budget")
    opened = sl.Budget("plays.budget")
    monkeypatch.chdir(tmp_path / "there")
    plan_of(opened).run()
    assert columns(budget, "number") == [("1",)]
    assert columns(sl.Budget("plays.budget"), "number") == []
    monkeypatch.chdir(tmp_path)
    assert len(plan_of(budget).run()) == 1


@forked
def test_a_link_is_followed_to_the_file_and_its_journal(path):
    """Once, when the budget is opened: a link that leads elsewhere later is of no consequence."""
    created(path, epsilon=1.0)
    link = Path(path).parent / "elsewhere" / "linked.budget"
    link.parent.mkdir()
    link.symlink_to(path)
    killed_in_a_commit(path)
    budget = sl.Budget(link)
    other = created(f"{path}-2", dataset="another")
    link.unlink()
    link.symlink_to(f"{path}-2")
    plan_of(budget, HALF).run()
    assert columns(sl.Budget(path), "number") == [("1",)]
    assert columns(other, "number") == []
    assert delivered(path, path) == HALF


@forked
def test_what_a_deleted_ledger_left_does_not_destroy_a_new_one(path):
    created(path)
    killed_in_a_commit(path)
    Path(path).unlink()
    said = refusal(lambda: created(path), 'beside it lies "plays.budget-journal"', "Give another")
    assert "probably left by a deleted budget, which would destroy a new one" in str(said)
    assert not Path(path).exists()
    Path(f"{path}-journal").unlink()
    for end in ("-wal", "-shm"):
        beside = Path(f"{path}{end}")
        beside.touch()
        refusal(lambda: created(path), f'"plays.budget{end}"')
        beside.unlink()
    assert len(plan_of(created(path)).run()) == 1


@pytest.mark.skipif(os.name == "nt", reason="permissions are others there")
def test_a_ledger_is_for_its_owner_until_that_is_changed(path):
    old = os.umask(0o022)
    try:
        created(path)
    finally:
        os.umask(old)
    assert Path(path).stat().st_mode & 0o777 == 0o600
