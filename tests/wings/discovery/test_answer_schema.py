"""The form of an answer admits every shipped law, and refuses what is none."""

import json

import pytest
from jsonschema import Draft202012Validator

from specledger.core.canonical import canonical_bytes
from specledger.wings.discovery.parser import answer_schema
from tests.wings.discovery.shipped import NAMES, law, proposal, templates

FORM = answer_schema(templates())


def errors(answer):
    return list(Draft202012Validator(FORM).iter_errors(answer))


def test_every_shipped_law_that_counts_steps_in_numbers_has_the_form():
    """A file may also count them by the length of the ring, a model's answer may not."""
    Draft202012Validator.check_schema(FORM)
    for name in NAMES:
        document = proposal(law(name))
        in_numbers = all(isinstance(steps, int) for steps in document.get("quantifiers", {}).values())
        assert in_numbers == (not errors([document])), name


GOOD = proposal(law("total-particles"))
BAD = {
    "no list": GOOD,
    "another template": [GOOD | {"template": "theorem"}],
    "no forbidden": [{key: value for key, value in GOOD.items() if key != "forbidden"}],
    "an operator that there is not": [GOOD | {"claim_ast": {"op": "/"}}],
    "an operator below": [GOOD | {"claim_ast": {"op": "not", "arg": {"op": "xor"}}}],
    "steps by the length of the ring": [GOOD | {"quantifiers": {"T": "grid_length"}}],
    "a bound that is no integer": [GOOD | {"bound_value": "5"}],
}


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
def test_what_is_no_law_does_not(answer):
    assert errors(answer)


def test_the_form_is_small_and_has_only_what_services_understand():
    text = json.dumps(FORM)
    assert len(canonical_bytes(FORM)) < 8_000
    assert not any(f'"{word}":' in text for word in ("pattern", "additionalProperties", "default", "title", "allOf"))
    assert not {"seed", "cases", "mutations", "expect", "universe"} & FORM["items"]["properties"].keys()
