"""Each code has a page with an example that gives exactly that code, or, where none can, a test that does."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from specledger.core.diagnostics import codes
from specledger.core.wing import GROUP
from specledger.load.doc_pages import FILE, CodePage, page_of, read_pages
from specledger.load.shipped import find_docs
from specledger.pipeline.authoring import write_new
from specledger.pipeline.checking import check
from tests.code_examples import ExampleRunner, codes_in
from tests.conftest import ALL_TESTS
from tests.given_codes import named_tests

pytestmark = [pytest.mark.wing(wing.name) for wing in entry_points(group=GROUP)]
"""The page has the codes of all wings that specledger ships."""

DOCS = find_docs()
assert DOCS is not None
PAGES = read_pages(DOCS / FILE)
HIDES_A_PACKAGE = "PYTHONPATH=hidden "
"""What stands before a command in a process of its own, which takes longer than all of another example."""
EXAMPLES = [
    pytest.param(code, marks=[pytest.mark.slow] if HIDES_A_PACKAGE in "\n".join(page.commands()) else [])
    for code, page in PAGES.items()
    if not page.test
]
KINDS_OF_FIRST = sorted({page.example[0] for page in PAGES.values() if isinstance(page.example, tuple)})

OF_A_CLUSTER = "a cluster of several machines, whose scheduler or worker is changed or ended while it works"
NO_EXAMPLE = {
    "E_CLUSTER_ENGINE": OF_A_CLUSTER,
    "E_CLUSTER_LOST": OF_A_CLUSTER,
    "E_CLUSTER_RESULT": OF_A_CLUSTER,
    "W_CLUSTER_ENGINE": OF_A_CLUSTER,
    "E_EVIDENCE_SIZE": "receipts that no run of the engine writes",
    "E_GUARD_TOOLS": "an MCP server whose tools do not fit a world",
    "E_INTERNAL": "a defect of the engine, of which none is known",
    "E_JUDGE": "a defect of one of two evaluators, of which none is known",
    "E_KERNEL_DIFFERS": "a kernel that steps otherwise than the engine that compares, which is the same program",
    "E_TAPE_SIZE": "256 MiB of answers, which take most of a minute",
    "E_TOOLS_SIZE": "logs with calls of 50,000 tools",
    "E_WATCHDOG_SYSTEM": "a system without process groups, such as Windows",
}
"""Codes that no command gives on every machine, or soon, and why. Each has a test of its own that gives it."""


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """`kind -> the name and the text of its first spec`, which is in order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("first"))
        paths = {kind: write_new(kind) for kind in KINDS_OF_FIRST}
        assert check(list(map(str, paths.values())))[1] == ()
        return {kind: (path.name, path.read_text(encoding="utf-8")) for kind, path in paths.items()}


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    """Runs the commands of examples; what begins several of them is run once."""
    return ExampleRunner(tmp_path_factory.mktemp("shared"))


@pytest.mark.medium
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads
@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_gives_exactly_its_code(tmp_path, monkeypatch, first, runner, spec, code):
    page = PAGES[code]
    if code == "E_CLUSTER_ADDRESS":  # nobody answers, however long that is waited for
        monkeypatch.setattr("specledger.wings.bridges.cluster.connection._PATIENCE", 1)
    if isinstance(page.example, tuple):
        kind, right, wrong = page.example
        name, text = first[kind]
        assert right in text
        (tmp_path / name).write_text(text.replace(right, wrong, 1), encoding="utf-8")
        said = [(name, "\n".join(one.code for one in check([str(tmp_path / name)])[1]))]
    else:
        said = list(runner.run(page, tmp_path, spec))
    given = [codes_in(printed) for _, printed in said]
    assert given == [*(set() for _ in given[1:]), {code, *page.beside}], said


def test_each_code_has_an_example_that_is_run_but_for_few():
    assert {code for code, page in PAGES.items() if page.test} == NO_EXAMPLE.keys()
    assert len(NO_EXAMPLE) <= 12


def test_each_test_that_is_named_exists(request):
    """What each gives is demanded where it runs, by `tests/conftest.py`."""
    if ALL_TESTS not in request.config.stash:
        pytest.skip("not all tests were collected")
    assert sorted(named_tests().keys() - request.config.stash[ALL_TESTS]) == []


def test_a_test_that_does_not_give_its_code_fails(pytester):
    """The hook of these tests, in a session of its own that is named for four codes and gives two of them."""
    pytester.makeconftest(
        "from tests import given_codes\n"
        "from tests.conftest import pytest_runtest_call\n"
        "NAMED = {'test_a.py::test_gives': {'E_CHAIN', 'E_LINE'}, 'test_a.py::test_prints': {'E_USAGE'},\n"
        "    'test_a.py::test_gives_another': {'E_CHAIN'}, 'test_a.py::test_names_it': {'E_CHAIN'}}\n"
        "given_codes.named_tests = lambda: NAMED\n"
    )
    pytester.makepyfile(
        test_a="""
        import subprocess, sys
        from specledger.core.diagnostics import Diagnostic, codes
        from specledger.verify.checks import E_CHAIN, E_LINE, Broken

        def test_gives(): Diagnostic(E_CHAIN, ""); Broken(E_LINE, "")
        def test_prints(): subprocess.run([sys.executable, "-c", "print('E_USAGE: no')"], capture_output=True)
        def test_gives_another(): Diagnostic(E_LINE, "")
        def test_names_it(): assert "E_CHAIN" in codes()
        def test_is_not_named(): pass
        """
    )
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    done.assert_outcomes(passed=3, failed=2)
    done.stdout.fnmatch_lines(
        [
            "docs/codes.yaml names this test for E_CHAIN; given: E_LINE",
            "docs/codes.yaml names this test for E_CHAIN; given: nothing",
        ]
    )


@pytest.mark.parametrize("code", PAGES)
def test_each_code_is_explained(spec_out, code):
    """The title, what it is about, and the example as it can be written."""
    page = PAGES[code]
    title, about, example = spec_out(code).split("\n\n", 2)
    assert title == f"{code}: {codes()[code]}"
    assert about == page.about
    lines = [page.example] if isinstance(page.example, str) else page.example[1:]
    assert example.startswith("Example: ")
    for line in "\n".join(lines).splitlines():
        assert line.strip() in example


@pytest.mark.medium
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
    assert spec_out("E_LOG_NO_CALL").endswith("\nEND\nspec scan log.json\n")
    assert "Example: \n\ncat > log.json <<'END'\n[{" in spec_out("E_LOG_NO_CALL")
    assert spec_out("E_RUNS").endswith("\nspec verify new\n\nAlso given: E_FILES\n")
    assert "Example: \n\nexport PYTHONPATH=/path/to/specledger  #" in spec_out("E_CHAIN")
    in_folder = CodePage("", "spec check a/b.yaml", {"a/b.yaml": "x\n"}).shown_example()
    assert in_folder == "\n\nmkdir -p a\ncat > a/b.yaml <<'END'\nx\nEND\nspec check a/b.yaml"


@pytest.fixture
def spec_out(capsys):
    def explain(code):
        from specledger.cli.authoring import explain as command

        capsys.readouterr()
        command(code)
        return str(capsys.readouterr().out)

    return explain


@pytest.mark.parametrize(
    ("word", "says"),
    [("matches", "whether a pattern of RE2 occurs"), ("endsWith", "begins or ends it"), ("cel", "The language of")],
)
def test_keys_of_rules_and_functions_are_explained_by_their_bare_name(spec_out, word, says):
    assert says in spec_out(word)
