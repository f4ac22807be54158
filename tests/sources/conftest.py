"""Data in every form that a source takes."""

import pytest

from helpers.forms import FORMS


@pytest.fixture(params=FORMS)
def form(request, tmp_path):
    return lambda frame: FORMS[request.param](frame, tmp_path)
