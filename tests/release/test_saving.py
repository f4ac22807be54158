import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.releases import release
from shortlist.errors import InputError
from shortlist.release import check_output
from shortlist.release.saving import check_replaces_none

SAVE_SLOWLY = """
import io, sys, time
from pathlib import Path
import shortlist._version
from helpers.releases import release

class Slow(io.FileIO):
    def write(self, content):
        super().write(content[: len(content) // 2])
        print("half", flush=True)
        time.sleep(60)

Path.open = lambda *arguments: Slow(*arguments)
release(["a", "b"]).save(sys.argv[1], overwrite=True)
"""


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def _strict_umask():
    old = os.umask(0o027)
    yield
    os.umask(old)


@pytest.mark.parametrize(
    ("suffix", "old"), [(".json", None), (".csv", b"old"), (".parquet", b"old")]
)
def test_a_kill_in_the_middle_leaves_the_old_file_or_none(tmp_path, suffix, old):
    target = tmp_path / f"out{suffix}"
    if old:
        target.write_bytes(old)
    command = [sys.executable, "-c", SAVE_SLOWLY, target]
    places = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(places)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as child:  # noqa: S603 - our own code
        assert child.stdout.readline() == b"half\n"
        child.send_signal(signal.SIGKILL)
    assert (target.read_bytes() if target.exists() else None) == old
    (stale,) = set(tmp_path.iterdir()) - {target}
    assert stale.match(".shortlist-*.tmp")
    assert stale.stat().st_size > 0


@pytest.mark.parametrize("old", [None, "old"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("place", ["os.fsync", "pathlib.Path.replace"])
def test_an_interrupt_leaves_no_temporary_file(tmp_path, monkeypatch, place, error, old):
    def interrupt(*_):
        raise error

    target = tmp_path / "out.csv"
    if old:
        target.write_text(old)
    monkeypatch.setattr(place, interrupt)
    with pytest.raises(error):
        release(["a"]).save(target, overwrite=True)
    monkeypatch.undo()
    assert [path.read_text() for path in tmp_path.iterdir()] == [old] * bool(old)


@pytest.mark.usefixtures("_strict_umask")
def test_a_new_file_follows_the_umask(tmp_path):
    release(["a"]).save(tmp_path / "out.csv")
    assert mode(tmp_path / "out.csv") == 0o640


@pytest.mark.usefixtures("_strict_umask")
@pytest.mark.parametrize("kept", [0o600, 0o666, 0o755])
def test_a_replaced_file_keeps_its_mode(tmp_path, kept):
    target = tmp_path / "out.csv"
    target.write_text("old")
    target.chmod(kept)
    release(["a"]).save(target, overwrite=True)
    assert mode(target) == kept
    assert target.read_text() != "old"


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "real.csv", tmp_path / "link.csv"
    link.symlink_to(target)
    release(["a"]).save(link)
    assert link.is_symlink()
    assert target.read_text().startswith("rank,title")
    assert list(target.parent.iterdir()) == [target]


def test_saves_beside_where_the_caller_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    release(["a"]).save("out.csv")
    assert (tmp_path / "out.csv").exists()


def test_a_possible_output_passes_and_nothing_changes(tmp_path):
    old = tmp_path / "old.json"
    old.write_text("old")
    before = old.stat()
    check_output(tmp_path / "new.csv")
    check_output(str(old), overwrite=True)
    assert list(tmp_path.iterdir()) == [old]
    assert (old.read_text(), old.stat().st_mtime_ns) == ("old", before.st_mtime_ns)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("missing/out.csv", "the folder does not exist"),
        ("file/out.csv", "the folder does not exist"),
        ("folder.csv", "it exists and is not a file"),
        ("pipe.csv", "it exists and is not a file"),
        ("loop.csv", "symbolic links"),
        ("x" * 300 + ".csv", "name too long"),
        ("nul\0.csv", "no such path can exist"),
        ("out.txt", r"its name must end in \.md, \.json, \.csv or \.parquet"),
    ],
)
def test_an_impossible_output_is_refused_beforehand(tmp_path, name, rule):
    (tmp_path / "file").touch()
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    before = sorted(tmp_path.iterdir())
    for refuse in (check_output, release(["a"]).save):
        with pytest.raises(InputError, match=f"(?i)^cannot write '.*': .*{rule}"):
            refuse(tmp_path / name)
    assert sorted(tmp_path.iterdir()) == before


def test_what_is_read_is_not_replaced(tmp_path):
    read, other, link = (tmp_path / f"{name}.csv" for name in ("read", "other", "link"))
    read.touch()
    other.touch()
    link.symlink_to(read)
    (tmp_path / "dangling.csv").symlink_to(tmp_path / "nowhere")
    for name in (read, link, f"{tmp_path}/./read.csv"):
        for given in (read, link, tmp_path / "rea[d].csv", tmp_path / "*.csv", tmp_path / "**"):
            with pytest.raises(InputError, match=r"^cannot write '.*': it is a file to be read; "):
                check_replaces_none(name, ["none.csv", str(given)])
    for given in (other, tmp_path / "new.csv", tmp_path / "o*", tmp_path / "none*", tmp_path):
        check_replaces_none(read, [str(given), str(tmp_path / "dangling.csv")])
    check_replaces_none(tmp_path / "new.csv", [str(tmp_path / "*.csv"), str(tmp_path / "new.csv")])


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no folder that refuses even root")
def test_a_folder_that_cannot_be_written_is_refused():
    with pytest.raises(InputError, match=r"^cannot write '/proc/out\.csv': "):
        check_output("/proc/out.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_write_protection_is_respected(tmp_path):
    (tmp_path / "out.csv").touch(mode=0o444)
    (tmp_path / "folder").mkdir(mode=0o555)
    for name in ("out.csv", "folder/out.csv"):
        with pytest.raises(InputError, match="Permission denied"):
            check_output(tmp_path / name, overwrite=True)
