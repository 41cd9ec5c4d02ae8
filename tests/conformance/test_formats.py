"""Reports open in the tools that they are for: programs and grammars of others read what each format writes.

`make slow` installs the programs in `.venv/readers`, and the schema of SARIF by npm; a test says what is missing.
"""

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from markdown_it import MarkdownIt

from specledger.core.diagnostics import printable
from tests.unit.report.rendering import summary_of, text_of
from tests.unit.report.test_formats import EACH, HOSTILE, PROFILE, hostile

REPORTS = {"each": EACH, "profile": PROFILE, **{f"hostile-{n}": hostile(text) for n, text in enumerate(HOSTILE)}}
SCHEMA = Path(__file__).parent / "browser/node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"


def run(folder, *words):
    """The status of a program and what it printed."""
    program = shutil.which(words[0])
    if program is None:
        pytest.skip(f"{words[0]} is missing: `make slow` installs it")
    done = subprocess.run([program, *words[1:]], cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    return done.returncode, done.stdout + done.stderr


def write(folder, format_, ending, names=tuple(REPORTS), **options):
    for name in names:
        (folder / f"{name}.{ending}").write_text(text_of(format_, REPORTS[name], **options), encoding="utf-8")


@pytest.mark.slow
def test_sarif_fits_the_schema_of_its_standard():
    if not SCHEMA.exists():
        pytest.skip("the schema is missing: `npm ci --prefix tests/conformance/browser` installs it")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    validator = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())
    for report in REPORTS.values():
        log = json.loads(text_of("sarif", report))
        assert [error.message for error in validator.iter_errors(log)] == []
        log["runs"][0]["results"][0]["kind"] = "passed"
        assert not validator.is_valid(log)


@pytest.mark.slow
def test_sarif_tools_count_the_results_of_each_level(tmp_path):
    write(tmp_path, "sarif", "sarif")
    levels = Counter(
        result["level"]
        for file in tmp_path.glob("*.sarif")
        for one in json.loads(file.read_text(encoding="utf-8"))["runs"]
        for result in one["results"]
    )
    status, said = run(tmp_path, "sarif", "summary", ".")
    assert status == 0
    assert {
        level: int(count) for level, count in re.findall(r"^(\w+): (\d+)$", said, re.MULTILINE) if int(count)
    } == levels


@pytest.mark.slow
def test_junitparser_merges_all_and_finds_the_failures(tmp_path):
    write(tmp_path, "junit", "xml")
    assert run(tmp_path, "junitparser", "merge", "--glob", "*.xml", "merged.txt") == (0, "")
    counted = ("tests", "failures", "errors", "skipped")
    given = [ElementTree.parse(file).getroot() for file in tmp_path.glob("*.xml")]
    merged = ElementTree.parse(tmp_path / "merged.txt").getroot()
    assert {key: int(merged.get(key, 0)) for key in counted} == {
        key: sum(int(one.get(key, 0)) for one in given) for key in counted
    }
    assert run(tmp_path, "junitparser", "verify", "each.xml")[0] == 1
    kept = re.sub(r"<(failure|error)[^>]*?(/>|>.*?</\1>)", "", text_of("junit", EACH), flags=re.DOTALL)
    (tmp_path / "kept.xml").write_text(kept, encoding="utf-8")
    assert run(tmp_path, "junitparser", "verify", "kept.xml")[0] == 0


@pytest.mark.slow
def test_trestle_imports_and_validates_the_assessment_results(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    names = ("each", "profile")
    write(tmp_path, "oscal", "json", names, date="2026-01-31")
    assert run(home, "trestle", "init", "--local")[0] == 0
    for name in names:
        status, said = run(home, "trestle", "import", "-f", f"../{name}.json", "-o", name)
        assert (status, "ERROR" in said) == (0, False), said
    assert run(home, "trestle", "validate", "-a")[0] == 0
    wrong = (tmp_path / "each.json").read_text(encoding="utf-8").replace('"not-satisfied"', '"unknown"')
    (tmp_path / "wrong.json").write_text(wrong, encoding="utf-8")
    assert run(home, "trestle", "import", "-f", "../wrong.json", "-o", "wrong")[0] != 0


def annotation(line):
    """A workflow command as the runner of GitHub Actions reads it: its name, its properties, its message."""
    head, data = line.removeprefix("::").split("::", 1)
    name, _, written = head.partition(" ")
    properties = dict(one.split("=", 1) for one in written.split(","))

    def plain(text, escapes):
        for code, character in escapes:
            text = text.replace(code, character)
        return text.replace("%25", "%")

    ends = [("%0D", "\r"), ("%0A", "\n")]
    return (
        name,
        {key: plain(value, [*ends, ("%3A", ":"), ("%2C", ",")]) for key, value in properties.items()},
        plain(data, ends),
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_an_annotation_is_read_as_what_the_evidence_says(text):
    found = [annotation(line) for line in text_of("github", hostile(text)).splitlines()]
    assert {name for name, _, _ in found} <= {"error", "warning", "notice"}
    assert {key for _, properties, _ in found for key in properties} <= {"title", "file", "line", "col"}
    said = printable(text)[:60]
    assert any(said in message for _, _, message in found)
    assert any(said in properties["title"] for _, properties, _ in found)


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_a_summary_is_markdown_in_which_evidence_is_only_code(report):
    tokens = MarkdownIt("commonmark").enable("table").parse(summary_of(report))
    types = {inner.type for token in tokens for inner in (token, *(token.children or ()))}
    assert "table_open" in types
    assert not types & {"html_block", "html_inline", "link_open", "image", "fence", "code_block"}
    rows = "".join(
        {"tr_open": "\n", "th_open": "|", "td_open": "|", "table_open": "\n\n"}.get(token.type, "") for token in tokens
    )
    for table in rows.split("\n\n\n"):
        assert len({row.count("|") for row in table.split("\n") if row}) <= 1
