"""What the tests of the documents share."""

import shlex
import sys

import pytest

from shortlist import cli


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder; what it prints, on a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(command, status=0):
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        assert cli.exit_status() == status
        streams = capsys.readouterr()
        return streams.out or streams.err

    return run
