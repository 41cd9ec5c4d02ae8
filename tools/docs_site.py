"""The documentation as a site: `make docs` writes it to `build/docs/site`, and fails if a link leads nowhere.

Zensical builds it of the README, the pages of `docs`, the files that they link to, and the pages that
`tools.docs_reference` makes. Its navigation is that of `docs/index.md`. Neither building nor reading needs a network.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from tools.docs_reference import PAGE_OF_CODES, PAGE_OF_LAWS, is_of_receipts, page_of_kind, reference_pages

ROOT: Final = Path(__file__).resolve().parents[1]
BUILD: Final = ROOT / "build" / "docs"
SETTINGS: Final = ROOT / "tools" / "docs_site.yaml"

REFERENCE: Final = "Reference"
"""The section of the navigation that has the generated pages."""

_FENCE: Final = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\]\(([^)#\s]+)")
_KEYS: Final = re.compile(r"^All (keys|fields): (`spec explain ([\w/]+)[\w.]*`)\.$", re.MULTILINE)
"""The line of a page of `docs` in whose place the site links to the keys of a kind, or the fields of receipts."""


def sections(index: str) -> Mapping[str, list[str]]:
    """The pages of each section of `docs/index.md`, by its name.

    Raises:
        ValueError: A page is linked to before the first section.
    """
    pages: dict[str, list[str]] = {}
    for line in index.split("\n"):
        if (title := re.fullmatch(r"\| (\S.*?) \| *\|", line)) is not None:
            pages[title[1][0].upper() + title[1][1:]] = []
        elif links := re.findall(r"\(([\w-]+\.md)\)", line):
            if not pages:
                raise ValueError(f"{line!r} is in no section of docs/index.md")
            last = pages[next(reversed(pages))]
            last += [page for page in links if page not in last]
    return pages


def navigation(index: str, generated: Iterable[str]) -> list[Any]:
    """The navigation of the site: the sections of the index; the generated pages are in that of the reference."""
    nav: list[Any] = ["README.md", "docs/index.md"]
    alone = [PAGE_OF_LAWS, PAGE_OF_CODES]
    fields = [f"docs/{page}" for page in generated if is_of_receipts(page)]
    keys = [f"docs/{page}" for page in generated if page not in alone and not is_of_receipts(page)]
    made = [*(f"docs/{page}" for page in alone), {"Fields of receipts": fields}, {"Keys of each kind": keys}]
    for title, pages in sections(index).items():
        nav.append({title: [*(f"docs/{page}" for page in pages), *(made if title == REFERENCE else [])]})
    return nav


def copy_pages(folder: Path, root: Path = ROOT) -> list[str]:
    """Copy the README, the pages of `docs`, and every file that they link to, under the paths of the repository.

    Returns:
        The links that lead to no file of the repository.
    """
    waiting = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    copied: set[Path] = set()
    lost = []
    while waiting:
        file = waiting.pop()
        if file in copied:
            continue
        copied.add(file)
        target = folder / file.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
        links = _LINK.findall(_FENCE.sub("", file.read_text(encoding="utf-8"))) if file.suffix == ".md" else []
        for link in links:
            linked = Path(os.path.normpath(file.parent / link))
            if linked.is_file() and linked.is_relative_to(root):
                waiting.append(linked)
            elif ":" not in link:
                lost.append(f"{file.relative_to(root)}: {link} is no file of the repository")
    return lost


def link_keys(text: str) -> str:
    """A page of `docs` with a link to each generated page of keys or fields, which only the site has."""
    return _KEYS.sub(lambda line: f"All {line[1]}: [{line[2]}]({page_of_kind(line[3])}).", text)


def write_source(folder: Path, root: Path = ROOT) -> list[str]:
    """Write the folder that the site is built in, its settings, and its pages under `source`; give the lost links."""
    shutil.rmtree(folder, ignore_errors=True)
    lost = copy_pages(folder / "source", root)
    for page in sorted((folder / "source" / "docs").glob("*.md")):
        page.write_text(link_keys(page.read_text(encoding="utf-8")), encoding="utf-8")
    generated = reference_pages()
    for name, text in generated.items():
        (folder / "source" / "docs" / name).write_text(text, encoding="utf-8")
    index = (root / "docs" / "index.md").read_text(encoding="utf-8")
    settings = yaml.safe_load(SETTINGS.read_text(encoding="utf-8")) | {"nav": navigation(index, generated)}
    (folder / "mkdocs.yml").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    return lost


def build(folder: Path, root: Path = ROOT) -> int:
    """Write the site of a repository; the status is 0 if it was built, and every link leads somewhere.

    The messages of Zensical name page, line and link; it does not look for files that are no pages.
    """
    lost = write_source(folder, root)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", str(folder / "mkdocs.yml")]
    status = subprocess.run(command, cwd=folder, check=False).returncode
    print("".join(f"{line}\n" for line in sorted(lost)), end="", file=sys.stderr)
    return status or bool(lost)


def main() -> int:
    """Build the site, and say how it is opened."""
    status = build(BUILD)
    if status == 0:
        print(f"read it with: python3 -m http.server --directory {BUILD.relative_to(ROOT) / 'site'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
