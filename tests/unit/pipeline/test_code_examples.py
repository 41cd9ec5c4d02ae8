"""Each code has an example, and what an example says is wrong is found with that code."""

import subprocess
import sys

import pytest

from specledger.load.shipped import find_docs
from specledger.pipeline.authoring import write_new
from specledger.pipeline.checking import check
from specledger.pipeline.code_examples import FILE, example_of, examples

DOCS = find_docs()
assert DOCS is not None
EXAMPLES = examples(DOCS / FILE)
IN_SPECS = {code: example for code, example in EXAMPLES.items() if isinstance(example, tuple)}


@pytest.mark.parametrize("code", IN_SPECS)
def test_an_example_causes_its_code(tmp_path, monkeypatch, code):
    monkeypatch.chdir(tmp_path)
    kind, right, wrong = IN_SPECS[code]
    path = write_new(kind)
    text = path.read_text(encoding="utf-8")
    assert right in text
    assert code not in {one.code for one in check([str(path)])[1]}
    path.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    assert code in {one.code for one in check([str(path)])[1]}


def test_every_code_has_an_example():
    """In a process of its own: other tests register codes, too."""
    program = "import specledger.cli.codes\nfrom specledger.pipeline.authoring import load_codes\n"
    program += "from specledger.core.diagnostics import codes\nload_codes()\nprint(*codes())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    known = set(done.stdout.split())
    assert not EXAMPLES.keys() - known
    assert sorted(known - EXAMPLES.keys()) == [], f"add them to docs/{FILE}"


def test_how_an_example_is_shown(spec_out):
    assert spec_out("E_EXPR_TYPE").endswith(
        "Example: in a world, instead of\n\n    when: n + by <= MOST\n\nthis was written:\n\n    when: n + by\n"
    )
    assert spec_out("E_SPEC_MISSING_KEY").endswith("    (nothing)\n")
    assert spec_out("E_NEW_KIND").endswith("Example: spec new wrold\n")
    assert example_of("E_NOT_A_CODE") is None


@pytest.fixture
def spec_out(capsys):
    def explain(code):
        from specledger.cli.specs import explain as command

        capsys.readouterr()
        command(code)
        return str(capsys.readouterr().out)

    return explain
