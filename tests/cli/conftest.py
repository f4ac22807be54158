"""What tests of the command have in common."""

import json

import pytest


@pytest.fixture
def answered(run):
    """What a command prints that succeeds and says nothing else."""

    def answered(*words):
        status, out, err = run(*words)
        assert (status, err) == (0, "")
        return out

    return answered


@pytest.fixture
def in_json(answered):
    """What a question answers, read from JSON."""
    return lambda *words: json.loads(answered(*words, "--json"))
