"""Each code has a page with an example, which causes exactly that code, or names the test that does."""

import re
import shlex
import subprocess
import sys

import pytest

from specledger.core.diagnostics import Rejected, codes
from specledger.load.doc_pages import FILE, CodePage, page_of, read_pages
from specledger.load.shipped import find_docs
from specledger.pipeline.authoring import write_new
from specledger.pipeline.checking import check
from tests.conftest import ALL_TESTS
from tests.given_codes import named_tests

pytestmark = [pytest.mark.wing(name) for name in ("bridges", "discovery", "kernel", "laws", "trajectories")]
"""The page has the codes of all wings that specledger ships."""

DOCS = find_docs()
assert DOCS is not None
PAGES = read_pages(DOCS / FILE)
IN_SPECS = {code: page.example for code, page in PAGES.items() if isinstance(page.example, tuple)}
COMMANDS = {
    code: page.example.splitlines()
    for code, page in PAGES.items()
    if isinstance(page.example, str) and all(re.fullmatch("spec .*", line) for line in page.example.splitlines())
    if "   #" not in page.example
}
"""Examples without a remark about what must be there before."""


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
    assert {one.code for one in check([str(tmp_path / name)])[1]} == {code}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The runs that commands read."""
    folder = tmp_path_factory.mktemp("made")
    for place, *words in (("run", "simple", "--set", "episodes=1", "--set", "horizon=2"), ("law", "total-particles")):
        command = [sys.executable, "-m", "specledger", "run", *words, "--out", str(folder / place)]
        subprocess.run(command, check=False, capture_output=True)
    return folder


@pytest.mark.parametrize("code", COMMANDS)
def test_a_command_causes_its_code(tmp_path, monkeypatch, made, spec, code):
    (tmp_path / "notes.txt").write_text("notes\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("notes\n", encoding="utf-8")
    (tmp_path / "out").symlink_to(made)
    monkeypatch.chdir(tmp_path)
    *first, last = [spec(*shlex.split(line)[1:]) for line in COMMANDS[code]]
    said = [set(re.findall(r"\b[EW]_[A-Z_0-9]+\b", done.out + done.err)) for done in (*first, last)]
    assert said == [*(set() for _ in first), {code}]


def test_a_code_has_an_example_that_is_tried_or_names_a_test():
    assert {code for code, page in PAGES.items() if page.test} == PAGES.keys() - IN_SPECS.keys() - COMMANDS.keys()


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


def test_a_cluster_without_its_package(monkeypatch):
    from specledger.wings.bridges.cluster.connection import connect

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(Rejected, match="E_CLUSTER_PACKAGE"), connect("local:1"):
        pass


def test_a_prompt_about_agents_asks_for_no_laws(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_new("discovery")
    path.write_text(
        path.read_text(encoding="utf-8").replace("prompt: blind", "prompt: follow-objective"), encoding="utf-8"
    )
    assert "E_PROMPT_ABOUT" in {one.code for one in check([str(path)])[1]}


def test_states_that_are_not_the_recorded_ones_are_not_traced(spec, made, monkeypatch):
    monkeypatch.setattr("specledger.report.trace.state_digest", lambda state: "0" * 64)
    assert "E_TRACE_STATE" in spec("trace", made / "run", "--field", "state.t").err


def test_an_argument_that_a_model_gives_already(tmp_path, spec):
    change = "world.actions.noop={args: {reasons: {enum: [a]}}}"
    done = spec("check", "axion-basic", "--set", "agent=candid-model", "--set", change)
    assert "E_AGENT_ARGUMENT" in done.err


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
