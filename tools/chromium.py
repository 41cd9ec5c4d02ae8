"""A headless Chromium, driven over a pipe by the DevTools protocol and the standard library."""

from __future__ import annotations

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
from pathlib import Path
from typing import Any, Final

FOUND: Final = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING: Final = "Chromium is missing: `apt-get install chromium` brings it"

_FLAGS: Final = (
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
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_PATIENCE: Final = 120  # seconds after which a browser counts as dead; nothing is measured by them

_KEYS: Final = {
    "Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "ArrowRight": (39, ""), "ArrowLeft": (37, ""),
    "ArrowDown": (40, ""), "End": (35, ""), "Home": (36, ""), "Space": (32, " "),
}  # fmt: skip


class RefusalError(Exception):
    """The browser did not do as it was told."""


class Chromium:
    """The browser's end of the pipe: commands, their answers, and the events of each page."""

    def __init__(self, profile: Path) -> None:
        """Start the browser with an empty folder as its profile."""
        here_in, there_out = os.pipe()
        there_in, here_out = os.pipe()
        given = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (there_in, there_out)]  # above those that it will have
        for fd in (there_in, there_out):
            os.close(fd)
        program = "import os, sys; os.dup2({}, 3); os.dup2({}, 4); os.execv(sys.argv[1], sys.argv[1:])".format(*given)
        command = [sys.executable, "-I", "-S", "-c", program, str(FOUND), *_FLAGS, f"--user-data-dir={profile}"]
        none = subprocess.DEVNULL
        self.process = subprocess.Popen(command, pass_fds=given, stdin=none, stdout=none, stderr=none)
        for fd in given:
            os.close(fd)
        self.reads, self.writes = here_in, here_out
        self.buffer, self.number = b"", 0
        self.events: dict[str | None, list[dict[str, Any]]] = {}

    def say(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        sent = json.dumps(message).encode() + b"\0"
        while sent:
            sent = sent[os.write(self.writes, sent) :]
        while True:
            heard = self._hear()
            if heard.get("id") == self.number:
                if "error" in heard:
                    raise RefusalError(method, heard["error"])
                result: dict[str, Any] = heard["result"]
                return result

    def _hear(self) -> dict[str, Any]:
        """The next message; events are kept with their session."""
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.reads], [], [], _PATIENCE)
            more = os.read(self.reads, 1 << 20) if ready else b""
            assert more, "the browser says nothing any more"
            self.buffer += more
        text, _, self.buffer = self.buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self.events.setdefault(message.get("sessionId"), []).append(message)
        return message

    def close(self) -> None:
        """End the browser."""
        os.close(self.writes)
        self.process.terminate()
        self.process.wait(_PATIENCE)
        os.close(self.reads)


class Page:
    """One page in a tab of its own."""

    def __init__(self, chromium: Chromium, address: str) -> None:
        """Open a page at an address."""
        self.chromium = chromium
        self.target = chromium.say("Target.createTarget", url="about:blank")["targetId"]
        self.session = chromium.say("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.say(f"{domain}.enable")
        self.go(address)

    def say(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command about this page."""
        return self.chromium.say(method, self.session, **params)

    def named(self, *methods: str) -> list[dict[str, Any]]:
        """The parameters of the events of these names."""
        return [event["params"] for event in self.chromium.events.get(self.session, []) if event["method"] in methods]

    def go(self, address: str) -> None:
        """Open another file and wait until its script, if it has one, has judged its receipts."""
        self.say("Page.navigate", url=address)
        self.until("location.protocol === 'file:' && document.readyState === 'complete'")
        self.until("document.documentElement.dataset.state !== 'unchecked'")

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page."""
        asked = self.say("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in asked, asked["exceptionDetails"]
        return asked["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until an expression holds; while one page gives way to another, none does."""
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            with suppress(RefusalError):
                if self.ask(f"Boolean({expression})"):
                    return
            time.sleep(0.01)
        raise AssertionError(f"never came true: {expression}")

    def press(self, *keys: str) -> None:
        """Press and release each key, by its name or as a character."""
        for key in keys:
            code, text = _KEYS.get(key, (ord(key[0].upper()), key))
            pressed = {"key": " " if key == "Space" else key, "windowsVirtualKeyCode": code}
            self.say("Input.dispatchKeyEvent", type="keyDown", **pressed, **({"text": text} if text else {}))
            self.say("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def write(self, text: str) -> None:
        """Type a text where the focus is."""
        self.say("Input.insertText", text=text)

    def text(self, selector: str) -> Any:
        """The text of the first element of a selector."""
        return self.ask(f"document.querySelector({json.dumps(selector)}).textContent")

    def visible(self, selector: str) -> Any:
        """The ids of the elements that take room on the page."""
        return self.ask(
            f"[...document.querySelectorAll({json.dumps(selector)})].filter(e => e.offsetHeight).map(e => e.id)"
        )

    @property
    def state(self) -> Any:
        """What the page's script found."""
        return self.ask("document.documentElement.dataset.state")

    @property
    def errors(self) -> list[dict[str, Any]]:
        """What the console complains of."""
        called = self.named("Runtime.consoleAPICalled")
        bad = [event for event in called if event["type"] in ("error", "warning", "assert")]
        return self.named("Runtime.exceptionThrown", "Log.entryAdded") + bad

    @property
    def requests(self) -> list[str]:
        """Every address that was asked for."""
        return [event["request"]["url"] for event in self.named("Network.requestWillBeSent")]

    def shape(self, width: int, height: int = 900, scheme: str = "light") -> None:
        """Set the size of the window and the colour scheme of its reader."""
        mobile = width < 600
        self.say("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.say("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self) -> bytes:
        """A PNG of what the window shows."""
        return base64.b64decode(self.say("Page.captureScreenshot", format="png")["data"])

    def pdf(self) -> bytes:
        """The page on paper."""
        return base64.b64decode(self.say("Page.printToPDF", printBackground=False, preferCSSPageSize=True)["data"])

    def close(self) -> None:
        """Close the tab."""
        self.chromium.say("Target.closeTarget", targetId=self.target)
        self.chromium.events.pop(self.session, None)
