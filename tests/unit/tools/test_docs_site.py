"""The site has every page in its navigation, and pages made of the engine with every kind, key and code."""

import re

import pytest

from specledger.core.diagnostics import codes
from specledger.evidence.receipts.schemas import schema_of
from specledger.kinds import KINDS
from tools.docs_reference import PAGE_OF_CODES, PAGE_OF_KINDS, PAGE_OF_LAWS, anchor, page_of_kind, reference_pages
from tools.docs_site import ROOT, copy_pages, link_keys, navigation, sections

INDEX = (ROOT / "docs/index.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pages():
    return reference_pages()


def test_the_sections_are_those_of_documentation_and_have_every_page():
    listed = sections(INDEX)
    assert list(listed) == ["Tutorials", "How to", "Reference", "Explanation"]
    named = [page for pages in listed.values() for page in pages]
    assert sorted(named) == sorted({page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"})


def test_a_page_outside_the_sections_is_refused():
    with pytest.raises(ValueError, match=r"is in no section of docs/index\.md"):
        sections("# Documentation\n\n[A](a.md)\n")


@pytest.mark.medium
def test_generated_pages_stand_in_the_reference(pages):
    by_title = {title: names for entry in navigation(INDEX, pages)[2:] for title, names in entry.items()}
    *_, laws_page, codes_page, receipts, kinds = by_title["Reference"]
    assert [laws_page, codes_page] == [f"docs/{PAGE_OF_LAWS}", f"docs/{PAGE_OF_CODES}"]
    assert list(receipts.values()) == [[f"docs/receipts-{name}.md" for name in KINDS.receipts()]]
    assert list(kinds.values()) == [[f"docs/{page}" for page in [PAGE_OF_KINDS, *map(page_of_kind, KINDS)]]]


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_of_a_kind_has_an_example_and_every_key(pages, kind):
    text = pages[page_of_kind(kind)]
    assert f"```yaml\nspec: {kind}/v1\n" in text
    shapes = KINDS[kind].model.model_json_schema(by_alias=True)
    reused = {"Use", "Placeholder"}
    models = [shapes, *(shape for name, shape in shapes["$defs"].items() if name not in reused)]
    keys = {key for shape in models for key in shape.get("properties", ())}
    described = re.findall(r"^\| `(\S+)` \|.* \| \S.* \|$", text, re.MULTILINE)
    assert keys - set(described) == set()
    assert len(described) == len(re.findall(r"^\| `", text, re.MULTILINE))


@pytest.mark.parametrize("name", KINDS.receipts())
def test_the_page_of_receipts_has_every_field_with_the_text_of_its_class(pages, name):
    text = pages[page_of_kind(f"receipts/{name}")]
    schema = schema_of(name, KINDS.receipts()[name])
    fields = {
        (key, below["description"]) for shape in schema["$defs"].values() for key, below in shape["properties"].items()
    }
    described = set(re.findall(r"^\| `(\S+)` \| .* \| (.*?)(?: See \[.*)? \|$", text, re.MULTILINE))
    assert {key for key, _ in fields} <= {key for key, _ in described}
    told = {re.sub(r"\\", "", words) for _, words in described}
    assert [about for _, about in sorted(fields) if re.sub(r"\\", "", about) not in told] == []


def test_the_line_of_a_page_becomes_a_link_to_the_keys_of_the_kind(pages):
    text = "# Law\n\nAll keys: `spec explain law`.\n\nAs in `spec explain law`.\n"
    linked = "All keys: [`spec explain law`](keys-law.md)."
    assert link_keys(text) == text.replace("All keys: `spec explain law`.", linked)
    assert "keys-law.md" in pages
    assert (
        link_keys("All fields: `spec explain receipts/law`.\n")
        == "All fields: [`spec explain receipts/law`](receipts-law.md).\n"
    )
    assert "receipts-law.md" in pages


def test_links_of_generated_pages_lead_to_their_headings(pages):
    for name, text in pages.items():
        headings = {anchor(title.replace("`", "")) for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
        for page, heading in re.findall(r"\]\(([\w.-]*)#?([\w.-]*)\)", text):
            assert not page or page in pages or (ROOT / "docs" / page).is_file(), (name, page)
            assert not heading or heading in headings, (name, heading)


def test_the_page_of_codes_has_every_code_with_its_example(pages):
    text = pages[PAGE_OF_CODES]
    assert set(re.findall(r"^## ([EW]_\w+)$", text, re.MULTILINE)) == codes().keys()
    assert "spec check axion-basic --set agent=mine.yaml" in text


def test_the_files_that_pages_link_to_are_copied_and_theirs(tmp_path):
    root, folder = tmp_path / "root", tmp_path / "folder"
    texts = {
        "README.md": "[d](docs/a.md)\n",
        "docs/a.md": "[spec](../specs/a.yaml#top) [more](../more/README.md) [web](https://example.com/x.md) [no](no.md)\n\n```text\n[x](hidden.md)\n```\n",
        "docs/hidden.yaml": "not linked to",
        "more/README.md": "[deep](deep.txt) [out](../../secret.txt)\n",
        "more/deep.txt": "deep",
        "specs/a.yaml": "a: 1\n",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (tmp_path / "secret.txt").write_text("outside of the repository")
    assert sorted(copy_pages(folder, root)) == [
        "docs/a.md: no.md is no file of the repository",
        "more/README.md: ../../secret.txt is no file of the repository",
    ]
    copied = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert copied == {name: text for name, text in texts.items() if name != "docs/hidden.yaml"}


def test_a_text_is_shown_as_it_is(pages):
    assert r"`{use: NAME, with: {PARAM: VALUE}}`" in pages[PAGE_OF_KINDS]
    assert r"The operators are + - \* == != &lt; &lt;= > >= => and, or, not." in pages[PAGE_OF_CODES]
