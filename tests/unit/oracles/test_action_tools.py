"""The functions that a model is offered, as JSON Schemas."""

import pytest

from specledger.lang.choices import Choices
from specledger.oracles.action_tools import MOST_REASONS, tools_of, with_offer

GO = {"op": "go", "doc": "Go there."}
SCHEMAS = {"go": {"n": {"type": "integer"}}, "rest": {}}
LISTED, FORMS = Choices(("a", "b"), listed=True), Choices(("go(n=0)",), listed=False)


def tools(operations=(GO,), claims=None, document=False, choices=LISTED, variables=("x",), **hello):
    said = {"claims": claims or {}, "document": document, "operations": operations, **hello}
    return tools_of(said, SCHEMAS, {"go": choices}, variables)


def reasons(**fields):
    (tool,) = tools(document=True, **fields)
    return tool.parameters["properties"]["reasons"]


def test_a_function_for_each_operation():
    go, rest = tools([GO, {"op": "rest"}])
    assert (go.name, go.description, rest.name, rest.description) == ("go", "Go there.", "rest", "rest: one action.")
    assert go.parameters == {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert rest.parameters == {"type": "object", "properties": {}, "required": []}


def test_claims_are_an_argument_of_their_own():
    (tool,) = tools(claims={"why": "string", "cost": "int", "sure": "bool", "share": "qfixed"})
    assert tool.parameters["required"] == ["claims", "n"]
    assert tool.parameters["properties"]["claims"] == {
        "type": "object",
        "properties": {
            "why": {"type": "string"},
            "cost": {"type": "integer"},
            "sure": {"type": "boolean"},
            "share": {"type": "string"},
        },
        "required": ["cost", "share", "sure", "why"],
    }


def test_reasons_take_the_place_of_claims():
    (tool,) = tools(claims={"why": "string"}, document=True)
    assert tool.parameters["required"] == ["n", "reasons"]


@pytest.mark.parametrize(("needed", "least", "most"), [(0, None, 64), (3, 3, 64), (70, 70, 70)])
def test_as_many_reasons_as_are_demanded(needed, least, most):
    schema = reasons(counterfactuals=needed)
    assert (schema.get("minItems"), schema["maxItems"], MOST_REASONS) == (least, most, 64)


def test_a_reason_names_what_there_is():
    item = reasons()["items"]
    assert item["properties"]["variable"] == {"type": "string", "enum": ["x"]}
    assert item["properties"]["choice"] == {"type": "string", "enum": ["a", "b"]}
    assert (item["properties"]["confidence"]["minimum"], item["properties"]["confidence"]["maximum"]) == (0, 1)
    assert item["required"] == ["variable", "choice"]
    assert reasons(variables=())["items"]["properties"]["variable"] == {"type": "string"}


def test_choices_that_cannot_be_listed_have_a_form():
    form = {"type": "string", "description": "of the form go(n=0)"}
    assert reasons(choices=FORMS)["items"]["properties"]["choice"] == form
    said = {"claims": {}, "document": True, "operations": [GO]}
    (tool,) = tools_of(said, SCHEMAS, {"go": FORMS, "rest": LISTED}, ())
    assert tool.parameters["properties"]["reasons"]["items"]["properties"]["choice"] == {
        "anyOf": [{"type": "string", "enum": ["a", "b"]}, form]
    }


def test_an_offer_is_one_more_argument():
    (tool,) = tools()
    offered = with_offer(tool)
    assert offered.parameters["required"] == ["accept", "n"]
    assert offered.parameters["properties"]["accept"]["type"] == "boolean"
    assert tool.parameters["required"] == ["n"]
