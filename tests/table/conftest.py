"""Tables in every form, and files of any content."""

import pytest

from helpers.tables import FORMS


@pytest.fixture(params=FORMS)
def form(request, tmp_path):
    return lambda frame: FORMS[request.param](frame, tmp_path)


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write
