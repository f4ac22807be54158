"""Headless Chromium, spoken to by its own protocol through two pipes: no driver is needed."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"),
)
_AS_THREE_AND_FOUR = """
import os, sys
read, write = (os.dup(int(n)) for n in sys.argv[1:3])
while min(read, write) < 5:
    read, write = os.dup(read), os.dup(write)
os.dup2(read, 3)
os.dup2(write, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
_PATIENCE = 300.0  # seconds


def chromium():
    """Where it is; None where it is not."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


class BrowserError(AssertionError):
    """The browser did not do what it was asked; its answer says why."""


class Browser:
    """One page at a time. What it logs and asks the network for is kept."""

    def __init__(self):
        self._profile = tempfile.mkdtemp(prefix="shortlist-browser-")
        reads, writes = os.pipe(), os.pipe()  # as it reads and writes
        command = [chromium(), *_FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen(  # noqa: S603 - the system's own browser
            [sys.executable, "-c", _AS_THREE_AND_FOUR, str(reads[0]), str(writes[1]), *command],
            pass_fds=(reads[0], writes[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(reads[0])
        os.close(writes[1])
        self._to, self._from = reads[1], writes[0]
        self._left, self._numbers, self._events = b"", itertools.count(1), []
        self._session = None
        (target, *_) = [
            one for one in self.ask("Target.getTargets")["targetInfos"] if one["type"] == "page"
        ]
        attached = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self._profile, ignore_errors=True)

    def ask(self, method, **parameters):
        """The answer to a command of the protocol."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != number:
            self._events.append(answer)
        if "error" in answer:
            raise BrowserError(answer["error"])
        return answer["result"]

    def _next(self):
        until = time.monotonic() + _PATIENCE
        while b"\0" not in self._left:
            assert time.monotonic() < until, "the browser does not answer"
            block = os.read(self._from, 2**20)
            assert block, "the browser has ended"
            self._left += block
        message, _, self._left = self._left.partition(b"\0")
        return json.loads(message)

    def open(self, place, *, width=1440, dark=False):
        """Show a file or an address at a width, and wait until it is loaded."""
        address = place if isinstance(place, str) else place.as_uri()
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.ask("Emulation.setEmulatedMedia", features=scheme)
        for url in ("about:blank", address):  # so that no event of the page before is left
            self._events.clear()
            self.ask("Page.navigate", url=url)
            while not any(event.get("method") == "Page.loadEventFired" for event in self._events):
                self._events.append(self._next())

    def run(self, script):
        """The value of an expression in the page, or of what it promises."""
        told = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def until(self, script):
        """Wait until an expression in the page is true."""
        stop = time.monotonic() + _PATIENCE
        while not self._holds(script):
            assert time.monotonic() < stop, script
            time.sleep(0.02)

    def _holds(self, script):
        try:
            return self.run(script)
        except BrowserError as error:
            # The page that was asked is left for another: ask that one.
            if not re.search("navigated|context was destroyed|Cannot find context", str(error)):
                raise
            return False

    def press(self, key, code, *, control=False):
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            text["modifiers"] = 2 if control else 0
            self.ask(
                "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **text
            )

    def complaints(self):
        """What the page logged, and what went wrong in it."""
        self.run("0")  # so that all events before it have come
        bad = {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}
        return [event for event in self._events if event.get("method") in bad]

    def errors(self):
        """Of these, all but what is told to those who look for it."""
        return [event for event in self.complaints() if event["params"].get("type") != "log"]

    def requests(self):
        """What the page asked for, itself included."""
        self.run("0")
        asked = [e for e in self._events if e.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in asked]
