"""The site as a person meets it, in headless Chromium; left out where it was not built."""

import base64
import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from helpers.axe import axe_core, violations
from helpers.browser import Browser, chromium

SITE = Path(__file__).parents[2] / "build" / "site"
pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(not SITE.exists(), reason="make docs has not built the site"),
    pytest.mark.skipif(chromium() is None, reason="no chromium is installed: no page was opened"),
]
PAGES = [
    "docs/index",
    "docs/guide",
    "docs/first-list",
    "docs/concepts",
    "docs/choosing",
    "docs/tutorial-budget",
    "docs/which-words",
    "docs/choosing-epsilon",
    "docs/reference/shortlist",
    "docs/reference/mechanisms",
    "docs/proofs/README",
    "docs/proofs/adaptive-gaussian",
    "docs/audit",
    "docs/reviewers",
    "docs/comparison",
    "bench/results/README",
    "bench/results/unseen",
    "search",
]
LONG = {"docs/reference/mechanisms", "bench/results/unseen"}  # and like others that are shorter
EVERY = sorted(
    str(path.relative_to(SITE).with_suffix(""))
    for path in SITE.rglob("*.html")
    if "_static" not in path.parts and path != SITE / "index.html"
)


@pytest.fixture(scope="module")
def browser():
    running = Browser()
    yield running
    running.close()


def opened(browser, page, **look):
    browser.open(SITE / f"{page}.html", **look)
    return browser


def far(browser):
    """What was asked of another place than this machine's disk."""
    return [url for url in browser.requests() if not url.startswith(("file:", "data:"))]


@pytest.mark.parametrize("page", EVERY)
def test_a_page_is_quiet_loads_nothing_from_elsewhere_and_fits_a_phone(browser, page):
    opened(browser, page, width=360)
    assert browser.errors() == []
    assert far(browser) == []
    assert browser.run("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_a_desk(browser, page):
    opened(browser, page, width=1440, dark=True)
    assert browser.errors() == []
    assert far(browser) == []
    assert browser.run("document.documentElement.scrollWidth") <= 1440
    assert browser.run("document.documentElement.dataset.theme") == "dark"


@pytest.mark.skipif(axe_core() is None, reason="axe-core is not installed")
@pytest.mark.parametrize(("width", "dark"), [(360, True), (1440, False)])
@pytest.mark.parametrize("page", [page for page in PAGES if page not in LONG])
def test_a_page_can_be_read_heard_and_reached(browser, page, width, dark):
    assert violations(opened(browser, page, width=width, dark=dark)) == []


def test_the_first_page_leads_to_the_home(browser):
    browser.open(SITE / "index.html")
    browser.until(
        "location.pathname.endsWith('docs/index.html') && !!document.querySelector('pre')"
    )
    assert browser.run("document.querySelector('pre').textContent").startswith("make demo")


def test_the_keyboard_reaches_the_text_the_contents_and_the_search(browser):
    opened(browser, "docs/first-list")
    reached = []
    for _ in range(60):
        browser.press("Tab", 9)
        reached.append(browser.run("document.activeElement.outerHTML.slice(0, 200)"))
        seen = browser.run("document.activeElement.matches(':focus-visible')")
        assert seen or "<body" in reached[-1]
    assert "Skip to main content" in reached[0]
    for part in ("search-button", "theme-switch", 'href="private-or-public.html"', "#look-before"):
        assert any(part in element for element in reached), part


@pytest.fixture
def address():
    """Where a server of this machine shows the site: a search fetches pages, to quote them."""
    serve = functools.partial(Quiet, directory=SITE)
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


def test_search_is_opened_by_a_key_and_finds_a_page(browser, address):
    browser.open(f"{address}/docs/first-list.html")
    browser.press("k", 75, control=True)
    assert browser.run("document.activeElement.type") == "search"
    browser.ask("Input.insertText", text="ledger")
    browser.press("Enter", 13)
    browser.until("document.querySelectorAll('ul.search li a').length > 1")
    found = browser.run("[...document.querySelectorAll('ul.search li a')].map(e => e.textContent)")
    assert any("A ledger" in title for title in found)
    assert browser.errors() == []
    assert [url for url in far(browser) if not url.startswith(address)] == []


def test_formulas_are_mathematics_in_their_own_font(browser):
    opened(browser, "docs/proofs/adaptive-gaussian")
    assert browser.run("document.querySelectorAll('math').length") > 200
    assert browser.run("document.querySelectorAll('.formula math').length") == 6
    assert browser.run("document.querySelectorAll('merror').length") == 0
    loaded = "document.fonts.ready.then(() => [...document.fonts].map(f => f.family + f.status))"
    assert "STIX Two Mathloaded" in browser.run(loaded)
    left = "[...document.querySelectorAll('article p')].map(e => e.cloneNode(true))"
    bare = "e.querySelectorAll('math, code').forEach(m => m.remove()), e.textContent"
    assert "_" not in browser.run(f"{left}.map(e => ({bare})).join()")


@pytest.mark.parametrize("dark", [False, True])
def test_one_of_two_pictures_is_seen(browser, dark):
    opened(browser, "docs/concepts", dark=dark)
    seen = browser.run(
        "[...document.querySelectorAll('article img')].filter(e => e.offsetParent)"
        ".map(e => e.src.split('/').pop())"
    )
    shade = "dark" if dark else "light"
    assert seen == [f"{name}-{shade}.svg" for name in ("users", "epsilon", "delta", "silent")]


def test_it_works_without_scripts(browser):
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        opened(browser, "docs/proofs/joint")
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.run("document.querySelectorAll('math').length") > 50
    assert browser.run("getComputedStyle(document.querySelector('article')).display") == "block"


@pytest.mark.parametrize("page", ["docs/first-list", "docs/proofs/joint", "bench/results/unseen"])
def test_a_page_is_printed_light_and_without_its_frame(browser, page):
    opened(browser, page, dark=True)
    scheme = {"name": "prefers-color-scheme", "value": "dark"}
    browser.ask("Emulation.setEmulatedMedia", media="print", features=[scheme])
    browser.run("document.getAnimations().forEach(one => one.finish())")
    try:
        assert browser.run("document.documentElement.dataset.theme") == "dark"
        ink = browser.run("getComputedStyle(document.querySelector('article')).color")
        paper = browser.run("getComputedStyle(document.documentElement).backgroundColor")
        frame = "header.bd-header, .bd-sidebar-primary, .bd-sidebar-secondary"
        shown = browser.run(
            f"[...document.querySelectorAll('{frame}')].filter(e => e.offsetParent).length"
        )
        printed = base64.b64decode(browser.ask("Page.printToPDF")["data"])
    finally:
        browser.ask("Emulation.setEmulatedMedia", media="")
    assert max(int(part) for part in ink[4:-1].split(", ")) < 100
    assert paper == "rgb(255, 255, 255)"
    assert shown == 0
    assert printed.startswith(b"%PDF")
