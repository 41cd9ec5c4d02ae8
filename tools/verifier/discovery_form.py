"""The form of a proposed law: which documents are laws as far as their fields go, and the spec that they stand for.

A document that is no law raises `NoLaw` with the reason, which is the engine's own where `exact` says so.
"""

import re

from tools.verifier.basis import Open, tagged, write
from tools.verifier.discovery_prompt import shown_text

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
LAW_ORDERS = ("==", "!=", "<", "<=", ">", ">=")
SAFE_INTEGER = 2**53 - 1
CAPABILITIES = ("primitive_observables", "transforms", "generator_families")


class NoLaw(Exception):
    """A document is no law: why, and whether these are the very words of the engine."""

    def __init__(self, reason, exact=False):
        self.reason, self.exact = reason, exact
        super().__init__(reason)


def must_fit(holds):
    """A document is no law unless something holds."""
    if not holds:
        raise NoLaw("E_LAW_CANDIDATE")


# The form of a law, field by field; each gives the value of the resolved form, or None where that leaves it out


def form_is_label(value, most=120):
    return isinstance(value, str) and 1 <= len(value) <= most


def form_label(value):
    must_fit(form_is_label(value))
    return value


def form_sentence(value):
    must_fit(form_is_label(value, 4000) and re.search(r"\S", value))
    return value


def form_expression(value):
    """An expression, for which a number or a truth value may stand."""
    said = ("true" if value else "false") if isinstance(value, bool) else repr(value) if type(value) is int else value
    must_fit(form_is_label(said, 8192))
    return said


def form_symbol(value):
    must_fit(isinstance(value, str) and re.fullmatch("[!-~]", value))
    return value


def form_whole(least, most):
    def checked(value):
        must_fit(type(value) is int and least <= value <= most)
        return value

    return checked


def form_word(*words):
    def checked(value):
        must_fit(isinstance(value, str) and value in words)
        return value

    return checked


def form_list(member, most, least=0):
    def checked(value):
        must_fit(isinstance(value, list) and least <= len(value) <= most)
        return [member(one) for one in value]

    return checked


def form_mapping(fields, required, defaults=None):
    """A closed mapping; what equals its default is left out."""

    def checked(value):
        must_fit(isinstance(value, dict) and value.keys() <= fields.keys() and required <= value.keys())
        made = {name: fields[name](one) for name, one in value.items()}
        return {name: one for name, one in made.items() if one is not None and one != (defaults or {}).get(name)}

    return checked


def form_optional(member):
    return lambda value: None if value is None else member(value)


def form_parameters(value):
    must_fit(isinstance(value, dict) and len(value) <= 16)
    must_fit(all(IDENTIFIER.fullmatch(name) and len(name) <= 80 for name in value))
    return value


def form_identifier(value):
    must_fit(isinstance(value, str) and IDENTIFIER.fullmatch(value) and len(value) <= 80)
    return value


def form_precondition(value):
    return FORM_COMPARISON(value) if isinstance(value, dict) else form_expression(value)


def form_tree(value):
    must_fit(isinstance(value, dict))
    return value


FORM_COMPARISON = form_mapping(
    {"lhs": form_expression, "op": form_word(*LAW_ORDERS), "rhs": form_expression}, {"lhs", "op", "rhs"}
)
LAW_FORM = {
    "schema_version": form_word("1.0.0"),
    "law_id": form_label,
    "template": form_label,
    "quantifiers": form_mapping(
        {"T": form_whole(1, SAFE_INTEGER), "H": form_optional(form_whole(0, SAFE_INTEGER))}, set(), {"T": 50}
    ),
    "preconditions": form_list(form_precondition, 32),
    "observables": form_list(form_mapping({"name": form_identifier, "expr": form_expression}, {"name", "expr"}), 64),
    "claim": form_sentence,
    "forbidden": form_sentence,
    "claim_ast": form_tree,
    "transform": form_label,
    "direction": form_word("<=", ">="),
    "bound_value": form_whole(-SAFE_INTEGER, SAFE_INTEGER),
    "bound_op": form_word(*LAW_ORDERS),
    "trigger_symbol": form_symbol,
    "result_op": form_word("==", "!="),
    "result_symbol": form_symbol,
    "proposed_tests": form_list(
        form_mapping({"family": form_label, "params": form_parameters}, {"family"}, {"params": {}}), 16
    ),
    "capability_requirements": form_mapping(
        {name: form_list(form_label, 64) for name in CAPABILITIES}, set(), {name: [] for name in CAPABILITIES}
    ),
    "starts": form_mapping({"symbols": form_optional(form_list(form_symbol, 16, 1))}, set()),
    "cases": form_whole(1, 10_000),
    "mutations": form_whole(0, 100_000),
}
LAW_USUAL = {"schema_version": "1.0.0", "quantifiers": {}, "preconditions": [], "observables": [], "proposed_tests": []}
LAW_USUAL.update(capability_requirements={}, cases=300, mutations=1500)


def members_of(value):
    """A value and everything inside it."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()


def has_float(value):
    """Whether a value holds a number with a point, which has no canonical form."""
    return any(isinstance(one, float) for one in members_of(value))


def law_spec(document, book, name=None):
    """The resolved form of a proposed document, under its key."""
    if has_float(document):
        raise NoLaw("E_LAW_CANDIDATE")
    if not isinstance(document, dict):
        raise NoLaw("E_LAW_CANDIDATE: a candidate is an object", True)
    if any(isinstance(one, dict) and "$double" in one for one in members_of(document)):
        raise Open("E_REPLAY", "a law holds the key that marks doubles")
    lacking = [key for key in ("template", "forbidden") if not isinstance(document.get(key), str) or not document[key]]
    if lacking:
        raise NoLaw("E_LAW_CANDIDATE")
    template = document["template"]
    if template not in book.templates:
        raise NoLaw("E_LAW_CANDIDATE: " + shown_text(f"there is no template {template!r}"), True)
    given = {key: value for key, value in document.items() if value is not None}
    must_fit(given.keys() <= LAW_FORM.keys())
    made = {key: LAW_FORM[key](value) for key, value in given.items()}
    made = {key: value for key, value in made.items() if LAW_USUAL.get(key) != value}
    name = law_name(given) if name is None else name
    made.update(spec="law/v1", name=name, template=book.templates[template], universe=book.universe)
    return f"law/{name}@{tagged('spec', write(made))[:16]}", made


def law_name(given):
    """The name of a law: the words of its id, or its digest."""
    words = re.findall(r"[a-z0-9]+", given["law_id"].lower()) if isinstance(given.get("law_id"), str) else []
    name = "-".join(words)[:80].rstrip("-")
    return name if name[:1].isalpha() else f"law-{tagged('spec', write(given))[:16]}"
