"""The page as a person meets it, in headless Chromium; left out where there is none."""

import base64

import pytest

from helpers.axe import axe_core, violations
from helpers.browser import Browser, chromium
from helpers.exhaustive import exhaustive
from helpers.releases import HOSTILE, counted, release

pytestmark = pytest.mark.skipif(
    chromium() is None, reason="no chromium is installed: no page was opened"
)
NAMES = [
    "Emma",
    "ألف ليلة وليلة",
    "می‌خواهم",
    "🎉 fête ❤️",
    "x" * 400,
    "</script><script>bad()</script>",
]
WIDTHS = [360, 768, 1440]


@pytest.fixture(scope="module")
def browser():
    running = Browser()
    yield running
    running.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def page(folder):
    items = [*HOSTILE, *NAMES, *(f"item {i}" for i in range(50))]
    counted(items, k=len(items)).report(folder / "list.html")
    return folder / "list.html"


@pytest.fixture(scope="module")
def long(folder):
    release([f"item {i}" for i in range(10_000)]).report(folder / "long.html")
    return folder / "long.html"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_is_quiet_loads_nothing_and_fits(browser, page, width, dark):
    browser.open(page, width=width, dark=dark)
    assert browser.complaints() == []
    assert browser.requests() == [page.as_uri()]
    assert browser.run("document.documentElement.scrollWidth") <= width
    scroll = "document.querySelector('.scroll')"
    assert browser.run(f"{scroll}.scrollWidth <= {scroll}.clientWidth")
    assert browser.run("typeof bad") == "undefined"
    shown = "wide" if width > 700 else "narrow"
    visible = "[...document.querySelectorAll('.chart > div')].filter(e => e.offsetParent)"
    assert browser.run(f"{visible}.map(e => e.className).join()") == shown
    paper = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(20, 24, 27)") is dark


@pytest.mark.skipif(axe_core() is None, reason="axe-core is not installed")
@pytest.mark.parametrize(
    ("width", "dark"), [(360, True), (1440, False), *exhaustive((360, False), (1440, True))]
)
def test_a_page_can_be_read_heard_and_reached(browser, page, width, dark):
    browser.open(page, width=width, dark=dark)
    assert violations(browser) == []
    browser.run("document.querySelector('tbody').style.opacity = '0.3'")
    assert [found.split(":")[0] for found in violations(browser)] == ["color-contrast"]


def test_items_stand_in_the_page_as_they_are(browser, page):
    browser.open(page)
    cells = browser.run("[...document.querySelectorAll('td bdi')].map(e => e.textContent)")
    assert cells[len(HOSTILE) : len(HOSTILE) + len(NAMES)] == NAMES
    assert r"\x1b[31mred" in cells[0]


def test_small_print_can_be_read_on_a_phone(browser, page):
    browser.open(page, width=360)
    sizes = browser.run(
        "[...document.querySelectorAll('svg text, p, td, th, dd, dt, li, a')]"
        ".filter(e => e.getClientRects().length)"
        ".map(e => parseFloat(getComputedStyle(e).fontSize) * (e.ownerSVGElement ?"
        " e.getScreenCTM().a : 1))"
    )
    assert min(sizes) > 11


def test_a_list_is_searched_and_sorted(browser, page):
    browser.open(page)
    rows = "[...document.querySelectorAll('tbody tr')]"
    browser.run("document.querySelector('#search').focus()")
    browser.ask("Input.insertText", text="ITEM 4")
    shown = browser.run(f"{rows}.filter(e => !e.hidden).map(e => e.cells[1].textContent)")
    assert shown == ["item 4", *(f"item {n}" for n in range(40, 50))]
    total = len(HOSTILE) + len(NAMES) + 50
    assert browser.run("document.querySelector('output').value") == f"11 of {total} rows"
    for turn, first in (("ascending", "item 4"), ("descending", "item 49")):
        browser.run("document.querySelectorAll('th button')[1].click()")
        assert browser.run("document.querySelectorAll('th')[1].ariaSort") == turn
        assert browser.run(f"{rows}.find(e => !e.hidden).cells[1].textContent") == first
    for lowest in (True, False):
        browser.run("document.querySelectorAll('th button')[2].click()")
        scores = browser.run(f"{rows}.map(e => parseFloat(e.cells[2].textContent))")
        assert scores == sorted(scores, reverse=not lowest)


def test_everything_is_reached_and_worked_by_keyboard(browser, page):
    browser.open(page)
    reached = []
    for _ in range(40):
        browser.press("Tab", 9)
        reached.append(browser.run("document.activeElement.outerHTML.slice(0, 60)"))
        outline = browser.run("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid" or "<body" in reached[-1]
        if '<button type="button"><bdi>title' in reached[-1]:
            browser.press("Enter", 13)
    assert browser.run("document.querySelectorAll('th')[1].ariaSort") == "ascending"
    for part in (
        'class="skip"',
        'href="#reading"',
        'id="search"',
        "<button",
        "download=",
        "<summary",
    ):
        assert any(part in element for element in reached), part


def test_it_works_without_scripts(browser, page):
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page)
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.run("document.querySelectorAll('tbody tr').length") > 50
    assert browser.run("document.querySelector('.search').offsetParent === null")
    assert browser.run("document.querySelectorAll('th button').length") == 0


def test_ten_thousand_rows_can_be_searched(browser, long):
    browser.open(long, width=360)
    assert browser.complaints() == []
    browser.run("document.querySelector('#search').focus()")
    browser.ask("Input.insertText", text="9999")
    assert browser.run("document.querySelector('output').value") == "1 of 10000 rows"


def test_it_is_printed_light_and_whole(browser, page):
    browser.open(page, dark=True)
    browser.ask("Emulation.setEmulatedMedia", media="print")
    try:
        shown = browser.run("getComputedStyle(document.body).backgroundColor")
        ink = browser.run("getComputedStyle(document.body).color")
        hidden = browser.run("document.querySelector('nav').offsetParent === null")
    finally:
        browser.ask("Emulation.setEmulatedMedia", media="")
    assert (shown, ink, hidden) == ("rgb(255, 255, 255)", "rgb(0, 0, 0)", True)
    printed = base64.b64decode(browser.ask("Page.printToPDF")["data"])
    assert printed.startswith(b"%PDF")
    assert printed.count(b"/Type /Page\n") > 2
