"""ARCHITECTURE.md and docs/extending.md are true: types are where the table says, files of the lists exist."""

import re
from importlib import import_module

import pytest

from specledger.core.events import Severity
from specledger.core.wing import wings
from specledger.expr.eval.builtins import PROFILE_FUNCTIONS
from specledger.kinds import KINDS
from specledger.report.formats import FORMATS
from specledger.wings.trajectories.reading import READERS
from tests.toys import number_scenario, plan_of


@pytest.fixture(scope="module")
def bodies(root):
    """The lines of each list by its title."""
    text = (root / "docs" / "extending.md").read_text(encoding="utf-8")
    titles = re.findall(r"^\*\*An? (.+?)\*\*.*\n((?:(?!\*\*).*\n)+)", text, re.MULTILINE)
    return {title: re.findall(r"^- .*", body, re.MULTILINE) for title, body in titles}


@pytest.fixture(scope="module")
def lists(bodies):
    """The first path of each line, by the title of its list."""
    return {title: [line.split("`")[1] for line in lines] for title, lines in bodies.items()}


def files_of(line, root):
    """All files that a line names before its colon: `a/{b, c}.py` is two, later ones stand in a folder of the first."""
    names = re.findall("`([^`]+)`", line.split("`: ")[0] + "`")
    folders = [*(root / names[0]).parents]
    for name in names:
        head, _, tail = name.partition("{")
        inner, _, end = tail.partition("}")
        for part in re.split(", *", inner) if inner else [""]:
            path = head + part + end
            yield next((folder / path for folder in folders if (folder / path).exists()), root / path)


def test_types_are_where_the_table_says(root):
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("| type | module |")[2].partition("\n\n")[0]
    rows = [[re.findall("`([A-Za-z._]+)`", cell) for cell in row.split("|")[1:3]] for row in text.splitlines()[2:]]
    assert len(rows) > 10
    for types, modules in rows:
        there = {name for module in modules for name in vars(import_module(f"specledger.{module}"))}
        assert set(types) <= there


def test_every_list_is_there(lists):
    assert set(lists) == {
        "kind",
        "wing",
        "severity",
        "error code",
        "check of verification",
        "gate",
        "reader of logs",
        "report format",
        "observable",
        "CEL function",
    }


def test_paths_without_a_placeholder_exist(bodies, root):
    fixed = [path for lines in bodies.values() for line in lines if "<" not in line for path in files_of(line, root)]
    assert len(fixed) > 20
    assert [path for path in fixed if not path.exists()] == []


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_the_files_of_its_list(lists, root, kind):
    expected = [path for path in lists["kind"] if "<kind>" in path]
    assert len(expected) == 4
    for path in expected:
        if path.startswith("engine/") and (
            type(KINDS[kind]).__module__.startswith("specledger.wings") or ("/kinds/" in path and not KINDS[kind].runs)
        ):
            continue
        assert (root / path.replace("<kind>", kind)).exists(), path


@pytest.mark.parametrize("wing", wings(), ids=lambda wing: wing.name)
def test_each_wing_has_the_files_of_its_list(lists, root, wing):
    expected = [path for path in lists["wing"] if "<wing>" in path]
    assert len(expected) == 3
    for path in expected if wing.kinds() else (path for path in expected if not path.endswith("kinds.py")):
        assert (root / path.replace("<wing>", wing.name)).exists(), path


def test_each_format_has_a_module_and_no_other_package_names_it(lists, root, sources):
    module, table, _, _ = lists["report format"]
    for row in FORMATS.values():
        own = module.replace("<format>", row.writer.__name__.removeprefix("_"))
        assert (root / own).exists() or (root / own.removesuffix(".py") / "__init__.py").exists()
    own_folder = module.rpartition("/")[0]
    naming = {path for path, text in sources.items() if '"oscal"' in text}
    assert table in naming
    assert {path for path in naming if not path.startswith(own_folder)} == set()
    page = (root / lists["report format"][-1]).read_text(encoding="utf-8")
    assert [name for name in FORMATS if f"`{name}`" not in page] == []


@pytest.mark.parametrize("reader", READERS)
def test_each_reader_has_the_files_of_its_list(lists, root, reader):
    module, table, page, logs = lists["reader of logs"]
    readers = (root / module).parent
    naming = [path for path in readers.glob("*.py") if f'"{reader}"' in path.read_text(encoding="utf-8")]
    assert naming
    assert f"`{reader}`" in (root / page).read_text(encoding="utf-8")
    if reader not in ("canonical", "inspect"):  # what `spec import` writes; archives, which tests write
        assert any((root / logs.replace("<format>", reader)).iterdir())
    assert f"/{table}".endswith("wings/trajectories/reading.py")


DECIDES_BY_SEVERITY = re.compile(rf"(?:\bis|\bis not|[=!]=|\bin) \(?Severity\.({'|'.join(Severity.__members__)})\b")


def test_what_a_severity_does_is_said_in_one_module(sources):
    assert {path for path, text in sources.items() if DECIDES_BY_SEVERITY.search(text)} == set()


@pytest.mark.parametrize("text", ["x is Severity.FATAL", "if x == Severity.WARN:", "x in (Severity.FATAL, y)"])
def test_a_decision_by_a_severity_is_noticed(text):
    assert DECIDES_BY_SEVERITY.search(text)


def test_every_schema_of_severities_is_in_their_list(bodies, root):
    listed = {path for line in bodies["severity"] for path in files_of(line, root)}
    word = "|".join(f'"{severity}"' for severity in Severity)
    enumeration = re.compile(rf'"enum":\s*\[\s*(?:(?:{word}),?\s*){{{len(Severity)}}}\]')
    stating = {path for path in (root / "schemas").rglob("*.json") if enumeration.search(path.read_text("utf-8"))}
    assert len(stating) > 3
    assert stating - listed == set()


def test_each_error_code_is_in_the_files_of_its_list(lists, root, sources):
    _, page = lists["error code"]
    declared = {name for text in sources.values() for name in re.findall(r'\bcode\("([EW]_\w+)", ', text)}
    assert len(declared) > 300
    described = {*re.findall(r"^([EW]_\w+):", (root / page).read_text(encoding="utf-8"), re.MULTILINE)}
    assert declared - described == set()


@pytest.mark.parametrize("name", sorted(PROFILE_FUNCTIONS))
def test_each_function_is_named_in_the_files_of_its_list(lists, root, name):
    missing = [path for path in lists["CEL function"] if name not in (root / path).read_text(encoding="utf-8")]
    assert missing == []


def test_a_function_needs_no_other_module(lists, sources):
    naming = {path for path, text in sources.items() if re.search(r"[\"']argmin[\"']", text)}
    assert naming == {path for path in lists["CEL function"] if path.endswith(".py")}


def test_a_gate_is_data(tmp_path, lists):
    assert all(path.startswith("specs/") for path in lists["gate"])
    gate = {"id": "odd", "deny": "action.n == 3", "reason": "odd"}
    plan = plan_of(number_scenario(tmp_path, governor={"gates": [gate]}))
    assert "odd" in plan.gates


def test_an_observable_is_data(lists):
    assert all(path.startswith("specs/") for path in lists["observable"])
