"""The claims that docs/laws.md shows for each shipped template are claims of it."""

import re
from pathlib import Path

import pytest
import yaml

from specledger.kinds import load
from specledger.wings.laws.candidate import bundle_of
from specledger.wings.laws.compile import compile_law

ROOT = Path(__file__).parents[3]
TEMPLATES = {path.stem: path for path in sorted((ROOT / "specs" / "template").glob("*.yaml"))}
ROW = re.compile(r"^\| `(\w+)` \| (?:`(\{.*\})`)? ?\| (?:`(.*?)`|none) \| .* \|$", re.MULTILINE)
SHOWN = {
    name: (yaml.safe_load(fields or "{}"), claim)
    for name, fields, claim in ROW.findall((ROOT / "docs" / "laws.md").read_text(encoding="utf-8"))
    if name in TEMPLATES
}


def test_every_shipped_template_has_its_row():
    assert set(SHOWN) == set(TEMPLATES)


@pytest.mark.parametrize("name", SHOWN)
def test_the_claim_is_of_the_form(name):
    fields, claim = SHOWN[name]
    template = load(str(TEMPLATES[name]))[0]
    observables = [{"name": "N", "expr": "incoming_collisions"}, {"name": "X", "expr": "count('X')"}]
    candidate = {"template": name, "forbidden": "x", "claim": claim or "c", "observables": observables, **fields}
    plan = compile_law(bundle_of(candidate, load("specs/universe/kinetic_grid_v1.yaml")[0], {name: template}))
    assert plan.law.unknown is None
    assert plan.warnings == ()
