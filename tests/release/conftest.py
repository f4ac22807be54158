"""What tests of releases have in common."""

import pytest


@pytest.fixture(autouse=True)
def _charts_are_drawn_here(monkeypatch):
    """In this process, which loads once what draws; another one would take a second for each."""

    def drawn(charts):
        import vl_convert

        return [vl_convert.vegalite_to_svg(chart) for chart in charts]

    monkeypatch.setattr("shortlist.release.report.drawn", drawn)
