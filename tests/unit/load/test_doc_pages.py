"""Each code has a page with an example, and what an example says is wrong is found with that code."""

import subprocess
import sys

import pytest

from specledger.load.doc_pages import FILE, CodePage, page_of, read_pages
from specledger.load.shipped import find_docs
from specledger.pipeline.authoring import write_new
from specledger.pipeline.checking import check

DOCS = find_docs()
assert DOCS is not None
PAGES = read_pages(DOCS / FILE)
IN_SPECS = {code: page.example for code, page in PAGES.items() if isinstance(page.example, tuple)}


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """`kind -> the name and the text of its first spec`, which is in order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("first"))
        paths = {kind: write_new(kind) for kind in sorted({kind for kind, _, _ in IN_SPECS.values()})}
        assert check(list(map(str, paths.values())))[1] == ()
        return {kind: (path.name, path.read_text(encoding="utf-8")) for kind, path in paths.items()}


@pytest.mark.parametrize("code", IN_SPECS)
def test_an_example_causes_its_code(tmp_path, first, code):
    kind, right, wrong = IN_SPECS[code]
    name, text = first[kind]
    assert right in text
    (tmp_path / name).write_text(text.replace(right, wrong, 1), encoding="utf-8")
    assert code in {one.code for one in check([str(tmp_path / name)])[1]}


def test_every_code_has_a_page_and_an_example():
    """In a process of its own: other tests register codes, too."""
    program = "import specledger.cli.codes\nfrom specledger.pipeline.authoring import load_codes\n"
    program += "from specledger.core.diagnostics import codes\nload_codes()\nprint(*codes())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    known = set(done.stdout.split())
    assert not PAGES.keys() - known
    assert sorted(known - PAGES.keys()) == [], f"add them to docs/{FILE}"
    assert [code for code, page in PAGES.items() if not page.example or len(page.about.split()) <= 5] == []
    assert [code for code, page in PAGES.items() if not page.about.endswith(".")] == []


def test_how_an_example_is_shown(spec_out):
    assert spec_out("E_EXPR_TYPE").endswith(
        "Example: in a world, instead of\n\n    when: n + by <= MOST\n\nthis was written:\n\n    when: n + by\n"
    )
    assert spec_out("E_SPEC_MISSING_KEY").endswith("    (nothing)\n")
    assert spec_out("E_NEW_KIND").endswith("Example: spec new wrold\n")
    assert page_of("E_NOT_A_CODE") == CodePage()


@pytest.fixture
def spec_out(capsys):
    def explain(code):
        from specledger.cli.authoring import explain as command

        capsys.readouterr()
        command(code)
        return str(capsys.readouterr().out)

    return explain
