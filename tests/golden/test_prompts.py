"""The shipped prompts say, word for word, what is pinned in `fixtures/prompts`.

`python -m tests.golden.test_prompts` accepts a change; the difference is then read as one of texts.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from specledger.discovery.prompt import PromptBuilder, compile_prompt
from specledger.kinds import load
from tests.unit.discovery.shipped import snapshot, templates, universe

FOLDER = Path("fixtures/prompts")
PROMPTS = sorted(path.stem for path in Path("specs/prompt").glob("*.yaml"))
LISTS = ("accepted_laws", "falsified_laws", "unknown_laws", "counterexamples")


@dataclass(frozen=True)
class Request:
    count: int = 5
    target_templates: None = None
    exclude_templates: tuple = ("monotone",)


def written(name):
    """A prompt with three entries of each list: enough to see how they are written."""
    remembered = snapshot()
    few = replace(remembered, **{each: getattr(remembered, each)[:3] for each in LISTS})
    spec = load(f"specs/prompt/{name}.yaml")[0].main
    told = PromptBuilder(compile_prompt(spec, universe()[1], templates(), 42, 8000)).build(few, Request())
    return "".join(f"=== {part} ===\n{getattr(told, part)}" for part in ("system", "static", "dynamic"))


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_is_the_pinned_one(name):
    pinned = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert written(name) == pinned, "accept: python -m tests.golden.test_prompts"


def test_nothing_else_is_pinned():
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.txt" for name in PROMPTS}


if __name__ == "__main__":
    for each in PROMPTS:
        (FOLDER / f"{each}.txt").write_text(written(each), encoding="utf-8")
