"""A project in a folder of its own, and short ways to say what is wrong with a document."""

import pytest

from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.kinds import load
from specledger.load import Search
from specledger.load.input_filter import read_text
from specledger.load.yaml_reader import parse

SPECS = {
    "world": """\
        spec: world/v1
        name: line
        state: {x: int}
        actions: {go: {args: {by: int}, effects: [{set: x, to: x + by}]}}
        """,
    "agent": """\
        spec: agent/v1
        name: walker
        candidates: [{op: go}]
        score: "0"
        """,
    "governor": """\
        spec: governor/v1
        name: keeper
        gates:
          - {id: floor, deny: next.x < 0, reason: below}
          - {id: roof, deny: next.x > 9, reason: above}
        choose: {maximise: 0}
        invariants: [safe]
        """,
    "invariant": """\
        spec: invariant/v1
        name: safe
        require: x >= 0
        """,
    "drift": """\
        spec: drift/v1
        name: push
        params: {every: {type: int, default: 5, minimum: 1}}
        constants: {EVERY: "${every}"}
        at: t % EVERY == 0
        effects: [{set: x, to: x + 1}]
        """,
    "scenario": """\
        spec: scenario/v1
        name: basic
        world: line
        governor: keeper
        agent: walker
        drift:
          - {use: push, with: {every: 3}}
        horizon: 10
        """,
}


def dedent(text):
    """The text without the indentation of its first line."""
    lines = text.split("\n")
    margin = len(lines[0]) - len(lines[0].lstrip(" "))
    return "\n".join(line[margin:] for line in lines)


class Project:
    """A folder that is the working folder, with a `specs/` folder and no shipped specs."""

    def __init__(self, folder):
        self.folder = folder
        self.search = Search(folder / "specs", None)

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else dedent(text).encode())
        return path

    def write_all(self, *kinds):
        for kind in kinds or SPECS:
            name = dedent(SPECS[kind]).split("name: ")[1].split("\n")[0]
            self.write(f"specs/{kind}/{name}.yaml", SPECS[kind])
        return "basic"

    def edit(self, path, *changes):
        """Replace texts of a file, each of which must be there."""
        text = (self.folder / path).read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (self.folder / path).write_text(text)

    def load(self, target, **options):
        return load(target, search=self.search, **options)

    def one(self, target, **options):
        (bundle,) = self.load(target, **options)
        return bundle

    def rejected(self, target, **options):
        with pytest.raises(Rejected) as caught:
            self.load(target, **options)
        return caught.value.diagnostics

    def found(self, target, **options):
        """What is wrong, as (code, file:line:column)."""
        return [(d.code, str(d.span) if d.span else None) for d in self.rejected(target, **options)]


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


@pytest.fixture
def read():
    """Reads bytes or text as one YAML document: (document or None, findings)."""

    def read(data, pure=False):
        diagnostics = Diagnostics()
        text = read_text(data if isinstance(data, bytes) else data.encode(), "f.yaml", diagnostics)
        document = None if text is None else parse(text, "f.yaml", diagnostics, pure=pure)
        return document, diagnostics.sorted()

    return read
