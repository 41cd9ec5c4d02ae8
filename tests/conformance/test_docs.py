"""The documentation is held to the engine: its examples run, and it names every key, function, limit, field and code."""

import inspect
import json
import re
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest

from specledger.agents.agent import MOST_COMBINATIONS, MOST_PROPOSALS
from specledger.cli.output import diagnostics_text
from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import MOST_FINDINGS, Diagnostics, Rejected
from specledger.core.spans import Text
from specledger.core.weight import MAX_FORM, MAX_WEIGHT
from specledger.expr import Environment, compile_expression, limits
from specledger.expr.check.checker import check as check_expression
from specledger.expr.check.environment import ENGINE_NAMES, RESERVED
from specledger.expr.eval.builtins import METHODS, STANDARD
from specledger.kinds import KINDS, load
from specledger.load import bundle as load_bundle
from specledger.load import extends, matrix, resolve, yaml_reader
from specledger.load.input_filter import MAX_BYTES
from specledger.pipeline.checking import check
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.spec.base import Spec
from specledger.spec.types import BUILT_IN
from specledger.verify import checks
from specledger.verify.run_order import RunOrder
from specledger.worlds.check import WORLD_FUNCTIONS
from tests.toys.bundles import receipts_of
from tools.pictures import MOST_BYTES, PICTURES

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")))}
EVIDENCE = PAGES["evidence.md"]
AUTHORING, EXPRESSIONS, CHECKING = (PAGES[f"{name}.md"] for name in ("authoring", "expressions", "checking"))


def find(pattern, text):
    found = re.search(pattern, text, re.M | re.S)
    assert found is not None, pattern
    return found


EXAMPLES = {
    page: {find(r"^name: (\S+)$", block)[1]: block for block in found}
    for page, text in PAGES.items()
    if (found := re.findall(r"^```yaml\n(spec: .*?)^```$", text, re.M | re.S))
}


def write(page, folder):
    """The examples of a page as files, in the page's order."""
    for name, block in EXAMPLES[page].items():
        (folder / f"{name}.yaml").write_text(block, encoding="utf-8")
    return [str(folder / f"{name}.yaml") for name in EXAMPLES[page]]


def section(text, title):
    """What stands under a heading, with the headings below it."""
    start = find(rf"^(#+) {re.escape(title)}$", text)
    end = re.compile(rf"^#{{1,{len(start[1])}}} ", re.M).search(text, start.end())
    return text[start.end() : end.start() if end else len(text)]


def page_of(title):
    """The page with a heading."""
    return next(text for text in PAGES.values() if re.search(rf"^#+ {re.escape(title)}$", text, re.M))


def tables(text):
    """The rows of each table, without its head; a row is a list of cells."""
    found = re.findall(r"^\|[^\n]*\n\| ---[^\n]*\n((?:\|[^\n]*\n)+)", text, re.M)
    return [[row.strip("| ").split(" | ") for row in table.splitlines()] for table in found]


def spans(text):
    """What stands in code blocks and in code spans, which may go on over the end of a line."""
    block = re.compile(r"^```\w*\n(.*?)^```$", re.M | re.S)
    return block.findall(text) + re.findall(r"`([^`]+)`", block.sub("", text).replace("\n", " "))


def named(table):
    """The code spans in the first column."""
    return set(chain.from_iterable(spans(row[0]) for row in table))


# Examples


@pytest.mark.parametrize("page", EXAMPLES)
def test_examples_load_and_compile(page, tmp_path):
    checked, findings = check(write(page, tmp_path))
    assert not findings, diagnostics_text(findings)
    assert {one.name for one in checked} == set(EXAMPLES[page])


def test_a_page_has_an_example_of_every_kind_that_runs():
    blocks = EXAMPLES["kinds.md"].values()
    kinds = {block.partition("\n")[0].removeprefix("spec: ").removesuffix("/v1") for block in blocks}
    assert kinds == KINDS.keys() - {"profile"}


@pytest.mark.parametrize(("page", "name"), [("kinds.md", "count-to-ten"), ("authoring.md", "delivery")])
def test_scenarios_of_the_examples_pass_and_verify(page, name, tmp_path):
    write(page, tmp_path)
    for number, case in enumerate(load(tmp_path / f"{name}.yaml")):
        finished = execute(case, tmp_path / str(number))
        assert finished.verdict == "PASS"
        assert verify(finished.place).verdict == "PASS"


@pytest.mark.parametrize(("changes", "verdict"), [([], "PASS"), (["agent=by-name"], "FAIL")])
def test_reasons_in_the_world_of_the_examples_are_told_apart(changes, verdict, tmp_path):
    write("probes.md", tmp_path)
    (case,) = load(tmp_path / "ward-round.yaml", set=changes)
    finished = execute(case, tmp_path / "out")
    assert finished.verdict == verdict
    assert verify(finished.place).verdict == "PASS"


def test_laws_of_the_examples_are_proved(tmp_path):
    for file in write("laws.md", tmp_path):
        for law in load(file) if "spec: law/" in Path(file).read_text(encoding="utf-8") else ():
            finished = execute(law, tmp_path / law.main.name)
            assert [one["verdict"]["status"] for one in finished.receipts if one["type"] == "verdict"] == ["PROVED"]


def test_the_error_that_is_shown_is_the_one_that_is_given(tmp_path, monkeypatch):
    write("authoring.md", tmp_path)
    monkeypatch.chdir(tmp_path)
    battery = Path("battery.yaml")
    text = battery.read_text(encoding="utf-8")
    assert "charge - by}" in text
    assert "{set: cycles," in text
    text = text.replace("charge - by}", "charge - byy}").replace("{set: cycles,", "{set: cycels,")
    battery.write_text(text, encoding="utf-8")
    shown = find(r"^```text\n(.*?)\n```$", section(CHECKING, "When something is wrong"))[1]
    _, findings = check(["battery.yaml", "delivery.yaml"])
    assert diagnostics_text(findings) == shown


# Keys, names, types, functions, limits


def keys(model):
    return {field.alias or name for name, field in model.model_fields.items()}


def test_the_keys_of_every_document_are_listed():
    assert named(tables(section(AUTHORING, "Documents"))[0]) - {"extends", "use", "params", "matrix"} == keys(Spec)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_a_section_that_says_where_its_keys_are_listed(kind):
    """The list itself is generated: tests/unit/tools/test_docs_site.py."""
    assert f"\nAll keys: `spec explain {kind}`.\n" in section(page_of(kind.title()), kind.title())


@pytest.mark.parametrize("names", [ENGINE_NAMES, RESERVED], ids=["the engine's", "CEL's"])
def test_names_that_nobody_can_take_are_listed(names):
    assert names in [set(span.split()) for span in spans(section(EXPRESSIONS, "What an expression may read"))]


def test_built_in_types_are_listed():
    listed = named(tables(section(EXPRESSIONS, "Types and constants"))[0])
    assert {name for name in listed if re.fullmatch("[a-z]+", name)} - {"types"} == {*BUILT_IN, "json"}


def test_effects_are_listed():
    listed = {span[1:].partition(":")[0] for span in named(tables(section(EXPRESSIONS, "Effects"))[0])}
    definitions = KINDS["world"].model.model_json_schema(by_alias=True)["$defs"]
    assert listed == {name.removesuffix("Effect").lower() for name in definitions if name.endswith("Effect")}


FUNCTIONS = [
    *tables(section(EXPRESSIONS, "Functions"))[0],
    *tables(section(page_of("Functions of cells"), "Functions of cells"))[0],
]
SIGNATURES = sorted(named(FUNCTIONS))
NATIVES = {**STANDARD, **WORLD_FUNCTIONS, **{f"s.{name}": native for name, native in METHODS.items() if name != "size"}}


def test_functions_are_listed():
    assert {signature.partition("(")[0] for signature in SIGNATURES} == NATIVES.keys()


@pytest.mark.parametrize("signature", SIGNATURES)
def test_a_function_is_listed_with_as_many_arguments_as_it_takes(signature):
    name, _, arguments = signature.partition("(")
    count = len(arguments.split(",")) + name.startswith("s.")
    overloads = NATIVES[name].overloads
    assert any(len(one.params) == count or (one.variadic and len(one.params) <= count) for one in overloads)


@pytest.mark.parametrize("example", [spans(row[1])[-1] for row in FUNCTIONS])
def test_the_example_of_a_function_is_true(example):
    found = Diagnostics()
    checked = check_expression(Text.inline(example), Environment(functions=WORLD_FUNCTIONS), found)
    assert checked is not None, found.sorted()
    assert compile_expression(checked, ())() is True


def test_limits_are_listed():
    bounds = [value for name, value in vars(limits).items() if name.startswith("MAX_")]
    bounds += [MOST_PROPOSALS, MOST_COMBINATIONS, yaml_reader.MAX_DEPTH, yaml_reader.MAX_NODES, MAX_BYTES >> 20]
    bounds += [
        limits.CHARACTERS_OF_WORK,
        extends.MAX_CHAIN,
        resolve.MAX_NESTING,
        resolve.MAX_SPECS,
        load_bundle.MAX_VALUES,
        load_bundle.MAX_EXPRESSIONS,
        matrix.MAX_CASES,
        MOST_FINDINGS,
        MAX_WEIGHT,
        MAX_FORM,
    ]
    listed = re.findall(r"[0-9][0-9,]*", section(EXPRESSIONS, "Limits"))
    assert Counter(int(number.replace(",", "")) for number in listed) == Counter(bounds)


# Scopes: every row of the table is tried, once with all that it promises, once with all that it leaves out

INNER = """
spec: world/v1
name: inner
state: {v: int}
actions: {move: {args: {to: int}}}
"""
WORLD = """
spec: world/v1
name: outer
state: {n: int, at: cell, grid: field}
inputs: {gift: int}
derived: {extra: n + 1}
drawing: {cells: grid, legend: {S: {cell: "<cell>", effects: [{set: at, to: here}, {set: n, to: "<glyph>"}]}}}
start: {n: "<start>"}
well_formed: [{id: fine, require: "<well_formed?>"}]
opening: {o: "<opening>"}
actions:
  act:
    args: {by: int}
    let: {w: 0, probe: "<let>"}
    when: "<when?>"
    effects: [{set: n, to: "<effects>"}]
    otherwise: [{set: n, to: "<otherwise>"}]
    outcome: {told: "<outcome>"}
every_step: [{set: n, to: "<every_step>"}]
parts:
  part:
    world: inner
    start: {v: "<part>"}
    follow: {act: {action: move, let: {c: 0, shared: "<coupling>"}, args: {to: "<args>"}}}
observe: {m: "<observe>"}
record: {r: "<record>"}
receipt: {q: "<receipt>"}
success: "<success?>"
"""
GOVERNOR = """
spec: governor/v1
name: judge
claims: {c: int}
memory: {fields: {kept: {type: int, start: "<watch>"}}}
remember: [{id: one, when: "<watch when?>", effect: {set: kept, to: "<watch write>"}}]
potentials: {far: {is: "<potential>"}}
let: {gl: 0, probe: "<governor let>"}
cost: {price: "<cost>"}
each: {ge: 0, weighed: "<governor each>"}
supply: {gift: "<supply>"}
gates:
  - {id: one, when: "<gate when?>", deny: "<deny?>", reason: refused, witness: {w: "<witness>"}}
  - {id: two, require: "<require?>", reason: refused}
choose: {maximise: "<choose>"}
"""
AGENT = """
spec: agent/v1
name: player
memory: {fields: {kept: {type: int, start: "<memory>"}}}
remember: [{id: one, when: "<remember?>", effect: {set: kept, to: "<write>"}}]
let: {al: 0, probe: "<agent let>"}
candidates: [{op: act, for_each: {by: "[<for_each>]"}, when: "<candidate?>"}]
each: {ae: 0, weighed: "<agent each>"}
claims: {c: "<claims>"}
score: "<score>"
"""
DRIFT = """
spec: drift/v1
name: change
at: "<at?>"
when: "<drift when?>"
draw: {drawn: {from: "[<from>]", stream: one}}
effects: [{set: n, to: "<drift>"}]
"""
INVARIANT = """
spec: invariant/v1
name: law
memory: {fields: {kept: {type: int, start: "<monitor>"}}}
remember: [{id: one, when: "<monitor when?>", effect: {set: kept, to: "<monitor write>"}}]
when: "<law when?>"
require: "<law?>"
witness: {w: "<law witness>"}
"""
TIMED = """
spec: invariant/v1
name: timed
within: {after: "<after?>", steps: 1, require: "<answer?>"}
"""
SELDOM = """
spec: invariant/v1
name: seldom
at_most: {count: "<count?>", times: 1}
"""
AVERAGE = """
spec: invariant/v1
name: average
scope: episode
mean: {of: "<of>", min: "<min>", max: "<max>"}
"""
SCENARIO = """
spec: scenario/v1
name: probe
world: outer
governor: judge
agent: player
map: {drawing: S}
start: {n: "<scenario start>"}
drift: [change]
invariants: [law, timed, seldom, average]
until: "<until?>"
time: "<time>"
horizon: 1
"""
SPECS = {
    "inner": INNER, "outer": WORLD, "judge": GOVERNOR, "player": AGENT, "change": DRIFT, "law": INVARIANT, "probe": SCENARIO,
    "timed": TIMED, "seldom": SELDOM, "average": AVERAGE,
}  # fmt: skip
ROWS = {
    "world: `start` (of a part too), a glyph's `cell`": ["start", "part", "cell"],
    "world: a glyph's `effects`": ["glyph"],
    "world: `well_formed`, `opening`, `observe`": ["well_formed?", "opening", "observe"],
    "world: `success`": ["success?"],
    "world: `every_step`": ["every_step"],
    "world: an action's `let`, `when`, `effects`, `otherwise`, `outcome`": [
        "let", "when?", "effects", "otherwise", "outcome"
    ],
    "world: a coupling's `let` and `args`": ["coupling", "args"],
    "world: `record`, `receipt`": ["record", "receipt"],
    "governor: a memory field's `start`": ["watch"],
    "governor: `when` in `remember`": ["watch when?"],
    "governor: `effect` in `remember`": ["watch write"],
    "governor: a potential's `is`": ["potential"],
    "governor: `let`": ["governor let"],
    "governor: `cost`": ["cost"],
    "governor: `each`, `supply`": ["governor each", "supply"],
    "governor: `gates`, `choose`": ["gate when?", "deny?", "require?", "witness", "choose"],
    "agent: a memory field's `start`": ["memory"],
    "agent: `let`, `for_each`": ["agent let", "for_each"],
    "agent: a candidate's `when`": ["candidate?"],
    "agent: `each`, `claims`": ["agent each", "claims"],
    "agent: `score`": ["score"],
    "agent: `when` in `remember`": ["remember?"],
    "agent: `effect` in `remember`": ["write"],
    "drift: `at`": ["at?"],
    "drift: `when`, `from`": ["drift when?", "from"],
    "drift: `effects`": ["drift"],
    "invariant: a memory field's `start`": ["monitor"],
    "invariant: `within`, `at_most`, `mean`": ["after?", "answer?", "count?", "of", "min", "max"],
    "invariant: `when` and `effect` in `remember`": ["monitor when?", "monitor write"],
    "invariant: `when`, `require`, `witness`": ["law when?", "law?", "law witness"],
    "scenario: `start`": ["scenario start"],
    "scenario: `until`, `time`": ["until?", "time"],
}  # fmt: skip
NAMES = {
    "state": ["n", "at.x", "extra", "part.v", "now.n", "now.extra"],
    "inputs": ["gift"],
    "arguments": ["by"],
    "observation": ["m"],
    "memory": ["kept"],
    "drawn": ["drawn"],
    "here": ["here.x"],
    "next": ["next.n", "next.extra", "next.part.v"],
    "previous": ["previous.n", "previous.extra"],
    "outcome": ["outcome.told"],
    "action": ["action.by", "size(action.op)"],
    "proposal": ["proposal.score", "proposal.c", "proposal.action.by"],
    "seen": ["seen.m"],
    "claims": ["claims.c"],
    "clock": ["t", "episode"],
    "actor": [],  # in a world for one agent
    **{name: [name] for name in ("proposals", "rejected", "writes", "cost", "t")},
}
OWN = {"coupling": ["w", "c"], "args": ["w", "c"], "world": ["w"], "governor": ["gl"], "agent": ["al"]}
EACH = {"governor": ["ge"], "agent": ["ae"]}
EVERYTHING = {*chain.from_iterable([*NAMES.values(), *OWN.values(), *EACH.values()])}


def scopes():
    """Each place of the table with the expressions that it may hold."""
    tokens: list[str] = []
    for place, reads in tables(section(EXPRESSIONS, "What an expression may read"))[0]:
        before = tokens if reads.startswith("the same") else []
        new = reads.replace("`", "").removeprefix("the same, ").split(", ")
        tokens = [] if reads == "nothing more" else [*before, *new]
        kind = place.partition(":")[0]
        for mark in ROWS[place]:
            own = {**NAMES, "let": OWN.get(mark, OWN.get(kind, [])), "each": EACH.get(kind, [])}
            yield pytest.param(mark, [name for token in tokens for name in own[token]], id=mark)


def refused(mark, names, folder):
    """The codes with which expressions are refused at one place of an otherwise correct scenario."""

    def fill(match):
        found = f"size([{', '.join(names if match[1] == mark else [])}])"
        return f"{found} >= 0" if match[1].endswith("?") else found

    for name, text in SPECS.items():
        (folder / f"{name}.yaml").write_text(re.sub("<([a-z_ ]+[?]?)>", fill, text).lstrip(), encoding="utf-8")
    try:
        compile_scenario(load(folder / "probe.yaml")[0])
    except Rejected as rejected:
        return Counter(one.code for one in rejected.diagnostics)
    return Counter()


def test_the_table_of_scopes_has_the_rows_that_are_tried():
    assert {row[0] for row in tables(section(EXPRESSIONS, "What an expression may read"))[0]} == ROWS.keys()
    assert set(chain.from_iterable(ROWS.values())) == set(re.findall("<([^>]+)>", "".join(SPECS.values())))


@pytest.mark.parametrize(("mark", "readable"), list(scopes()))
def test_a_place_reads_what_its_row_says_and_nothing_else(mark, readable, tmp_path):
    assert refused(mark, readable, tmp_path) == {}
    hidden = sorted(EVERYTHING - set(readable))
    assert refused(mark, hidden, tmp_path) == {"E_EXPR_UNKNOWN_NAME": len(hidden)}


# Evidence


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """A fresh bundle with three episodes, a drift, a memory and a part that keeps receipts."""
    folder = tmp_path_factory.mktemp("docs")
    write("authoring.md", folder)
    return execute(load(folder / "delivery-anywhere.yaml")[0], folder / "bundle").place


def test_every_type_of_receipt_is_known_to_verification():
    assert set(re.findall(r'"(\w+)": self\._', inspect.getsource(RunOrder.__init__))) == KINDS.receipts()["run"].keys()


def test_the_variables_of_the_gridworld_are_listed():
    listed = tables(section(PAGES["variables.md"], "The variables of the gridworld"))[0]
    assert named(listed) == load("toy-gridworld")[0].main.data["variables"].keys()


def test_what_the_receipt_of_a_part_holds_is_listed(bundle):
    step = next(line["body"] for line in receipts_of(bundle) if line["type"] == "step")
    _, of_parts, *_ = tables(section(EVIDENCE, "Receipts"))
    assert named(of_parts) == step["parts"]["battery"].keys() - {"used", "short"}


def test_the_manifest_and_its_result_are_listed(bundle):
    manifest = json.loads((bundle / "manifest.json").read_bytes())
    fields, figures = tables(section(EVIDENCE, "`manifest.json`"))
    assert (named(fields), named(figures)) == (manifest.keys(), manifest["result"].keys())


def test_the_tag_of_every_digest_is_listed():
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "engine").rglob("*.py")))
    used = set(re.findall(r'"(specledger/[a-z-]+/v1)"', sources))
    assert used
    listed = {span for page in PAGES.values() for span in spans(page)}
    assert used == {span for span in listed if re.fullmatch(r"specledger/[a-z-]+/v1", span)}


def test_checks_and_codes_of_verification_are_listed(bundle):
    text = " ".join(section(EVIDENCE, "What `spec verify` checks").split())
    verification = verify(bundle)
    assert verification.verdict == "PASS"
    places = [re.search(rf"\b[0-9]+\. \*{re.escape(made.name)}\*", text) for made in verification.checks]
    assert all(places)
    starts = [place.start() for place in places if place is not None]
    assert starts == sorted(starts)
    further = {"E_SOURCES", "E_COUNTEREXAMPLES", "E_VERDICT"}  # of other modules, the last one of the wing `laws`
    found = {code for name, code in vars(checks).items() if name[:2] == "E_"}
    assert set(re.findall(r"\bE_[A-Z_]+\b", text)) == found | further


def test_every_picture_is_small_shown_and_written_by_the_tool():
    files = {path.name: path.read_bytes() for path in (ROOT / "docs" / "pictures").iterdir()}
    assert set(files) == {f"{name}.png" for name in PICTURES}
    for name, data in files.items():
        assert data.startswith(b"\x89PNG") and len(data) <= MOST_BYTES  # noqa: PT018
        assert any(f"pictures/{name})" in text for text in PAGES.values()), name


LINKED = sorted(
    {
        name.relative_to(ROOT).as_posix(): name
        for folder in (".", "docs", "examples")
        for name in ROOT.glob(f"{folder}/*.md")
    }
)


def headings(text):
    """The anchors of a page; a title that comes again has a number."""
    text, seen = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), Counter[str]()
    for title in re.findall(r"^#+ (.+)$", text, re.M):
        plain = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", title).lower()).strip().replace(" ", "-")
        seen[plain] += 1
        yield plain if seen[plain] == 1 else f"{plain}-{seen[plain] - 1}"
    yield from re.findall(r'<a id="([^"]+)">', text)


def local_links(text):
    """What a page links to, but for addresses."""
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def leads_nowhere(target, page):
    """Whether the file or the heading of a link of a page does not exist."""
    file, _, anchor = target.partition("#")
    path = page.parent / file if file else page
    if not path.exists():
        return True
    return bool(anchor) and anchor not in headings(path.read_text(encoding="utf-8"))


def test_links_lead_to_files_and_headings():
    """All pages in one test, for some have no link, and so nothing that could fail."""
    links = [(page, target) for page in LINKED for target in local_links((ROOT / page).read_text(encoding="utf-8"))]
    assert [(page, target) for page, target in links if leads_nowhere(target, ROOT / page)] == []
    assert len({page for page, _ in links}) > 25
    assert sum("#" in target for _, target in links) > 100


NOWHERE = {
    "a file": ("nothing.md", True),
    "a heading of another page": ("suites.md#nothing", True),
    "a heading of the same page": ("#nothing", True),
    "a page": ("suites.md", False),
    "a heading": ("testing.md#goldens", False),
    "its own": ("#goldens", False),
    "a folder": ("../specs", False),
}


@pytest.mark.parametrize(("target", "lost"), NOWHERE.values(), ids=NOWHERE)
def test_a_link_that_leads_nowhere_is_noticed(target, lost):
    assert local_links(f"See [it]({target}) and [more](https://example.com/a.md).") == [target]
    assert leads_nowhere(target, ROOT / "docs/testing.md") is lost
