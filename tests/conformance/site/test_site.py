"""The site is built of the pages, and is not built if a link leads nowhere; `make docs` runs this with Zensical."""

import json
import re

import pytest

pytest.importorskip("zensical")

from tools.docs_site import ROOT, build

EXTERNAL = re.compile(r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=\"?(?:https?:)?//[^>]*>")
PAGE = "# First\n\nMore in [the second](second.md#a-heading).\n"
LOST = {
    "a page": ("[x](nothing.md)", "page does not exist"),
    "a heading of another page": ("[x](second.md#nothing)", "anchor does not exist"),
    "a heading of the page": ("[x](#nothing)", "anchor does not exist"),
    "a heading of the keys of a kind": ("[x](keys-world.md#worldnothing)", "anchor does not exist"),
    "a file": ("[x](../specs/nothing.yaml)", "is no file of the repository"),
}


@pytest.fixture
def repository(tmp_path):
    """A repository with an index and two pages, and the one that generated pages name."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# A project\n\n[Documentation](docs/index.md)\n", encoding="utf-8")
    index = "# Documentation\n\n| reference | |\n| --- | --- |\n| [One](first.md), [two](second.md), [evidence](evidence.md) | pages |\n"
    (tmp_path / "docs/index.md").write_text(index, encoding="utf-8")
    (tmp_path / "docs/evidence.md").write_text("# Evidence\n", encoding="utf-8")
    (tmp_path / "docs/first.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "docs/second.md").write_text(
        "# Second\n\n## A heading\n\nA sentence with zygomorphic.\n", encoding="utf-8"
    )
    return tmp_path


def test_pages_can_be_read_and_searched_without_a_network(repository):
    folder = repository / "build"
    assert build(folder, repository) == 0
    pages = {
        path.relative_to(folder / "site").as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*.html")
    }
    assert {
        "index.html",
        "docs/index.html",
        "docs/first.html",
        "docs/keys-world.html",
        "docs/codes.html",
    } <= pages.keys()
    assert {name: found for name, text in pages.items() if (found := EXTERNAL.findall(text))} == {}
    assert 'href="second.html#a-heading"' in pages["docs/first.html"]
    found = [
        item["location"]
        for item in json.loads((folder / "site/search.json").read_bytes())["items"]
        if "zygomorphic" in item["text"]
    ]
    assert found == ["docs/second.html#a-heading"]


@pytest.mark.parametrize(("link", "says"), LOST.values(), ids=LOST)
def test_a_link_that_leads_nowhere_stops_the_build(repository, link, says, capfd):
    (repository / "docs/first.md").write_text(f"{PAGE}\nThen {link}.\n", encoding="utf-8")
    assert build(repository / "build", repository) != 0
    said = "".join(capfd.readouterr())
    assert "first.md:" in said
    assert says in said


def test_the_pages_of_this_repository_render_as_they_were_meant():
    """Lists and tables that lack the blank line before them, and fences, would be text of a paragraph."""
    if not (ROOT / "build/docs/site").is_dir():
        build(ROOT / "build/docs")
    raw = re.compile(r"<p>(?:(?!</p>).)*?(?:^\s*(?:[-*] |\d+\. |\| )|```)", re.MULTILINE | re.DOTALL)
    pages = sorted((ROOT / "build/docs/site").rglob("*.html"))
    assert len(pages) > 60
    lost = {page.name: found[0][-200:] for page in pages if (found := raw.findall(page.read_text(encoding="utf-8")))}
    assert lost == {}
