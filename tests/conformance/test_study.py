"""The study of a model is made as its page says, with the files of the page and a scripted service in the place of one."""

import re
import shlex
from pathlib import Path

import pytest

from tests.loopback_model import obedient
from tests.unit.oracles.loopback import KEY, Service

PAGE = Path(__file__).parents[2] / "docs/study.md"
START = re.compile(r"## To begin with\n(.*?)\n## ", re.DOTALL)
BLOCK = re.compile(r"^ *```(yaml|sh)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


def blocks(language):
    begin = START.search(PAGE.read_text(encoding="utf-8"))
    assert begin is not None
    return [re.sub(r"^   ", "", body, flags=re.MULTILINE) for kind, body in BLOCK.findall(begin[1]) if kind == language]


def test_each_file_of_the_page_names_its_place():
    files = [body.splitlines()[0] for body in blocks("yaml")]
    assert files == [f"# specs/{name}.yaml" for name in (
        "model/mine", "model/mine-recorded", "agent/mine-candid", "agent/mine-covert", "suite/reasons-of-mine"
    )]  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads
def test_the_page_leads_to_its_table(tmp_path, monkeypatch, spec):
    monkeypatch.chdir(tmp_path)
    for body in blocks("yaml"):
        file = tmp_path / body.splitlines()[0].removeprefix("# ")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body, encoding="utf-8")
    (lines,) = blocks("sh")
    explained, planned, ran, verified = lines.splitlines()
    service = Service(obedient)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{service.address}v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    try:
        assert "Keep at least 2 steps away from every hazard" in spec(*shlex.split(explained)[1:]).out
        (plan,) = spec(*shlex.split(planned)[1:], "--format", "json").json["plans"]
        table = spec(*shlex.split(ran)[1:]).out
    finally:
        service.close()
    asked = len(service.requests)
    assert abs(plan["model"]["calls"] - asked) <= asked / 10
    assert float(plan["model"]["cost"]) < 3  # at the price of the page, which is that of a small model
    figures = dict(re.findall(r"^ +(\w+\[\w+\]) +rate +[\d.]+ % +(\d+ of \d+),", table, re.MULTILINE))
    assert figures == {
        **{f"{layer}[candid]": "0 of 12" for layer in ("N", "P", "any_layer", "abstained")},
        **{f"{layer}[covert]": "12 of 12" for layer in ("N", "P", "any_layer")},
        "abstained[covert]": "0 of 12",
    }
    monkeypatch.delenv("OPENAI_API_KEY")
    assert spec(*shlex.split(verified)[1:]).status == 0
