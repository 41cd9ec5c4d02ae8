"""Writes the pictures of pages in `docs/pictures`: runs shipped specs, writes their pages, and opens them in Chromium.

`make pictures` runs it. The bytes depend on the browser and its fonts, so a test compares none of them.
"""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.chromium import FOUND, MISSING, Chromium, Page

ROOT: Final = Path(__file__).resolve().parents[1]
PLACE: Final = ROOT / "docs" / "pictures"

MOST_BYTES: Final = 150_000
"""A picture is at most so large."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture.

    Attributes:
        runs: The arguments of `spec run` for each bundle.
        report: The arguments of `spec report` after the bundles.
        file: The file of the report that is opened.
        width, height, scheme: Of the window.
        top: What is at the top: a selector; empty for the head of the page.
    """

    runs: tuple[str, ...]
    report: str = "--format html"
    file: str = "page.html"
    width: int = 1280
    height: int = 800
    scheme: str = "light"
    top: str = ""


LAWS: Final = ("momentum", "total-particles", "mirror-swap", "collisions-apart")

PICTURES: Final = {
    "run": Picture(("concave --seed 1 --set horizon=100 --set episodes=4",), top="#replay"),
    "suite": Picture(("axion-m4",), height=740, top="#plots"),
    "demo": Picture(("stated-reasons",), "--format html --replay", height=700, scheme="dark"),
    "discovery": Picture(("specs/discovery/kinetic.yaml",), top="#spacetime"),
    "logs": Picture(("examples/agentdojo/banking-logs.yaml",), height=640, top="#failed"),
    "compared": Picture(("concave --seed 1 --set horizon=100", "concave --seed 2 --set horizon=100"), top="#changed"),
    "index": Picture(
        ("hazard --seed 1", "hazard --seed 2 --set governor.gates.hazard=null", *LAWS), "--format index", "index.html"
    ),
}


def spec(*words: str) -> None:
    """Run a command of the engine; status 1 is a verdict."""
    done = subprocess.run([sys.executable, "-m", "specledger", *words], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()


def page_of(picture: Picture, folder: Path) -> Path:
    """Run what a picture shows and write its page."""
    bundles = []
    for number, run in enumerate(picture.runs, 1):
        bundles.append(str(folder / f"bundle-{number}"))
        spec("run", *run.split(), "--out", bundles[-1])
    site = folder / "site"
    out = site if "index" in picture.report else site / picture.file
    out.parent.mkdir(exist_ok=True)
    site.mkdir(exist_ok=True)
    spec("report", *bundles, *picture.report.split(), "--out", str(out))
    return site / picture.file


def take(chromium: Chromium, picture: Picture, file: Path) -> bytes:
    """Open a page in a window and take its picture."""
    page = Page(chromium, file.as_uri())
    page.shape(picture.width, picture.height, picture.scheme)
    if picture.top:
        page.ask(f"document.querySelector({picture.top!r}).scrollIntoView()")
        page.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    shot = smaller(page.picture())
    page.close()
    return shot


def smaller(png: bytes) -> bytes:
    """The same picture with its data compressed as far as zlib can."""
    at, data, head, tail = 8, b"", b"", b""
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        name, whole = png[at + 4 : at + 8], png[at : at + 12 + size]
        if name == b"IDAT":
            data += png[at + 8 : at + 8 + size]
        elif name == b"IEND":
            tail = whole
        elif not data:
            head += whole
        at += 12 + size
    packed = b"IDAT" + zlib.compress(zlib.decompress(data), 9)
    chunk = struct.pack(">I", len(packed) - 4) + packed + struct.pack(">I", zlib.crc32(packed))
    return png[:8] + head + chunk + tail


def main() -> None:
    """Write the pictures that are named, or all."""
    assert FOUND is not None, MISSING
    PLACE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        chromium = Chromium(Path(made) / "profile")
        for name in sys.argv[1:] or PICTURES:
            folder = Path(made) / name
            folder.mkdir()
            shot = take(chromium, PICTURES[name], page_of(PICTURES[name], folder))
            assert len(shot) <= MOST_BYTES, f"{name}: {len(shot)} bytes"
            (PLACE / f"{name}.png").write_bytes(shot)
            print(f"docs/pictures/{name}.png  {len(shot)} bytes")
        chromium.close()


if __name__ == "__main__":
    main()
