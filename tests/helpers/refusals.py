"""What is refused, and with which words."""

import re

import pytest

from helpers.forms import said
from shortlist.errors import InputError

MARKER = "Zz-private-91"
"""What stands for private values, and is in no message."""


def refused(action):
    """The error with which `action` is refused."""
    with pytest.raises(InputError) as caught:
        action()
    return caught.value


def refused_silently(action, capfd, caplog, *private):
    """The error with which `action` is refused; of the data it holds, prints and logs nothing."""
    error = refused(action)
    streams = capfd.readouterr()
    for text in (*said(error), caplog.text, streams.out, streams.err):
        assert not [secret for secret in (MARKER, *private) if re.search(secret, text)], text
    return error


def refusal(action, *contains):
    """The message of the refusal, which says all this."""
    message = str(refused(action))
    for part in contains:
        assert part in message
    return message
