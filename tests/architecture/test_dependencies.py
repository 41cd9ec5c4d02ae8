"""The page of dependencies is true: its rows are those of pyproject.toml, and each is imported where the page says."""

import ast
import re
import sys

import pytest

MODULES = {
    "google-genai": "google",
    "google-re2": "re2",
    "inspect-ai": "inspect_ai",
    "jsonschema-rs": "jsonschema_rs",
    "pyyaml": "yaml",
    "rfc3161-client": "rfc3161_client",
    "cel-expr-python": "cel_expr_python",
}


def name_of(requirement):
    return re.split(r"[^\w.-]", requirement)[0]


@pytest.fixture(scope="module")
def rows(root):
    """The cells of both tables by package; of the first with an empty extra."""
    text = (root / "docs/dependencies.md").read_text(encoding="utf-8")
    core, extras = (re.findall(r"^\| (`[\w-]+` \|.*) \|$", part, re.MULTILINE) for part in text.split("## Extras"))
    split = [[cell.strip() for cell in row.split("|")] for row in core + extras]
    return {cells[0].strip("`"): ([""] if len(cells) == 6 else []) + cells[1:] for cells in split}


@pytest.fixture(scope="module")
def importers(sources):
    """The rooms that import each package from outside."""
    found: dict[str, set[str]] = {}
    for path, text in sources.items():
        room = path.removeprefix("engine/specledger/").partition("/")[0].removesuffix(".py")
        for node in ast.walk(ast.parse(text)):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for top in {name.partition(".")[0].removesuffix("_core") for name in names}:  # pydantic_core is pydantic's
                if top not in sys.stdlib_module_names and top != "specledger":
                    found.setdefault(top, set()).add(room)
    return found


def test_rows_are_the_dependencies(rows, project):
    extras = {name: held for name, held in project["project"]["optional-dependencies"].items() if name != "dev"}
    wanted = {name_of(one): "" for one in project["project"]["dependencies"]}
    wanted |= {name_of(one): f"`{extra}`" for extra, held in extras.items() for one in held}
    assert {name: cells[0] for name, cells in rows.items()} == wanted


def test_every_cell_but_that_of_importers_is_filled(rows):
    assert {name for name, cells in rows.items() if not all(cells[1:3] + cells[4:])} == set()
    assert all(re.fullmatch(r"\d+", cells[2]) for cells in rows.values())


def test_packages_are_imported_where_the_page_says(rows, importers):
    said = {MODULES.get(name, name): set(re.findall(r"`(\w+)`", cells[3])) for name, cells in rows.items()}
    assert {name: rooms for name, rooms in importers.items() if name not in {"httpx2", "pytest"}} == {
        name: rooms for name, rooms in said.items() if rooms
    }
    assert importers["pytest"] == {"pytest_plugin"}
    assert importers["httpx2"] <= said["openai"]
