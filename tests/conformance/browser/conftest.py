"""One headless Chromium for all tests of pages, driven over a pipe by the DevTools protocol and the standard library."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from contextlib import suppress

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = "Chromium is missing, so pages are not tested in a browser: `apt-get install chromium` brings it"
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
]
PATIENCE = 120  # seconds after which a browser counts as dead; nothing is measured by them

KEYS = {
    "Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "ArrowRight": (39, ""), "ArrowLeft": (37, ""),
    "ArrowDown": (40, ""), "End": (35, ""), "Home": (36, ""), "Space": (32, " "),
}  # fmt: skip


class RefusalError(Exception):
    """The browser did not do as it was told."""


class Chromium:
    """The browser's end of the pipe: commands, their answers, and the events of each page."""

    def __init__(self, profile):
        here_in, there_out = os.pipe()
        there_in, here_out = os.pipe()
        given = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (there_in, there_out)]  # above those that it will have
        for fd in (there_in, there_out):
            os.close(fd)
        program = "import os, sys; os.dup2({}, 3); os.dup2({}, 4); os.execv(sys.argv[1], sys.argv[1:])".format(*given)
        command = [sys.executable, "-I", "-S", "-c", program, str(CHROMIUM), *FLAGS, f"--user-data-dir={profile}"]
        none = subprocess.DEVNULL
        self.process = subprocess.Popen(command, pass_fds=given, stdin=none, stdout=none, stderr=none)
        for fd in given:
            os.close(fd)
        self.reads, self.writes = here_in, here_out
        self.buffer, self.number, self.events = b"", 0, {}

    def say(self, method, session=None, **params):
        """Send a command and wait for its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self.writes, json.dumps(message).encode() + b"\0")
        while True:
            heard = self.hear()
            if heard.get("id") == self.number:
                if "error" in heard:
                    raise RefusalError(method, heard["error"])
                return heard["result"]

    def hear(self):
        """The next message; events are kept with their session."""
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.reads], [], [], PATIENCE)
            more = os.read(self.reads, 1 << 20) if ready else b""
            assert more, "the browser says nothing any more"
            self.buffer += more
        text, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(text)
        if "method" in message:
            self.events.setdefault(message.get("sessionId"), []).append(message)
        return message

    def close(self):
        os.close(self.writes)
        self.process.terminate()
        self.process.wait(PATIENCE)
        os.close(self.reads)


class Page:
    """One page in a tab of its own."""

    def __init__(self, chromium, address):
        self.chromium = chromium
        self.target = chromium.say("Target.createTarget", url="about:blank")["targetId"]
        self.session = chromium.say("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.say(f"{domain}.enable")
        self.go(address)

    def say(self, method, **params):
        return self.chromium.say(method, self.session, **params)

    def events(self, *methods):
        return [event["params"] for event in self.chromium.events.get(self.session, []) if event["method"] in methods]

    def go(self, address):
        """Open another file and wait until its script has judged its receipts."""
        self.say("Page.navigate", url=address)
        self.until("location.protocol === 'file:' && document.readyState === 'complete'")
        self.until("document.documentElement.dataset.state !== 'unchecked'")

    def ask(self, expression):
        """The value of an expression in the page."""
        asked = self.say("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in asked, asked["exceptionDetails"]
        return asked["result"].get("value")

    def until(self, expression):
        """Wait until an expression holds; while one page gives way to another, none does."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with suppress(RefusalError):
                if self.ask(f"Boolean({expression})"):
                    return
            time.sleep(0.01)
        raise AssertionError(f"never came true: {expression}")

    def press(self, *keys):
        """Press and release each key, by its name or as a character."""
        for key in keys:
            code, text = KEYS.get(key, (ord(key[0].upper()), key))
            pressed = {"key": " " if key == "Space" else key, "windowsVirtualKeyCode": code}
            self.say("Input.dispatchKeyEvent", type="keyDown", **pressed, **({"text": text} if text else {}))
            self.say("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def write(self, text):
        """Type a text where the focus is."""
        self.say("Input.insertText", text=text)

    def text(self, selector):
        return self.ask(f"document.querySelector({json.dumps(selector)}).textContent")

    def visible(self, selector):
        """The ids of the elements that take room on the page."""
        return self.ask(
            f"[...document.querySelectorAll({json.dumps(selector)})].filter(e => e.offsetHeight).map(e => e.id)"
        )

    @property
    def state(self):
        return self.ask("document.documentElement.dataset.state")

    @property
    def errors(self):
        """What the console complains of."""
        thrown = self.events("Runtime.exceptionThrown", "Log.entryAdded")
        called = [
            event
            for event in self.events("Runtime.consoleAPICalled")
            if event["type"] in ("error", "warning", "assert")
        ]
        return thrown + called

    @property
    def requests(self):
        """Every address that was asked for."""
        return [event["request"]["url"] for event in self.events("Network.requestWillBeSent")]

    def pdf(self):
        return base64.b64decode(self.say("Page.printToPDF", printBackground=False)["data"])

    def close(self):
        self.chromium.say("Target.closeTarget", targetId=self.target)
        self.chromium.events.pop(self.session, None)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """The browser; where there is none, the tests say so and are skipped."""
    if CHROMIUM is None:
        pytest.skip(MISSING)
    browser = Chromium(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def visit(chromium):
    """Open a file as a page."""
    pages = []

    def open_(file, fragment=""):
        pages.append(Page(chromium, file.as_uri() + fragment))
        return pages[-1]

    yield open_
    for page in pages:
        page.close()
