"""`llms.txt` names every page of the documentation."""

import re
from pathlib import Path

from tools.llms_txt import ROOT, text


def test_the_file_is_the_one_that_is_made():
    assert (ROOT / "llms.txt").read_text(encoding="utf-8") == text(), "python -m tools.llms_txt > llms.txt"


def test_every_page_is_named_once_and_exists():
    links = re.findall(r"\]\(([^)]+)\)", text())
    pages = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")} - {"docs/index.md"}
    assert sorted(links) == sorted(pages)
    assert all((ROOT / link).is_file() for link in links)


def test_it_has_the_form_of_such_files():
    first, blank, quoted, *_ = text().split("\n")
    assert first.startswith("# ")
    assert blank == ""
    assert quoted.startswith("> ")


def test_a_new_page_is_named(tmp_path):
    (tmp_path / "docs").mkdir()
    Path(tmp_path / "docs/index.md").write_text(
        "# Documentation\n\n| to begin with | |\n| --- | --- |\n| [A](a.md) | b |\n"
    )
    (tmp_path / "docs/a.md").write_text("# First\n")
    (tmp_path / "docs/z.md").write_text("# Last\n")
    assert text(tmp_path).endswith(
        "\n## To begin with\n\n- [First](docs/a.md)\n\n## Other pages\n\n- [Last](docs/z.md)\n"
    )
