"""What is refused, and with which words."""

import pytest

from shortlist.errors import InputError

MARKER = "Zz-private-91"
"""What stands for private values, and is in no message."""


def refused(action):
    """The error with which `action` is refused."""
    with pytest.raises(InputError) as caught:
        action()
    return caught.value


def refusal(action, *contains):
    """The message of the refusal, which says all this."""
    message = str(refused(action))
    for part in contains:
        assert part in message
    return message
