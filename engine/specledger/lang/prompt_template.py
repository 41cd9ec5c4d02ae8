"""Placeholders in the texts of a prompt: `{{fact}}`, and `{{fact|words}}` where the fact may be missing.

A fact is written on one line. What is filled in is never read for placeholders.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostics, code, printable, suggest
from specledger.core.spans import Span, Text
from specledger.load import Resolved
from specledger.spec.prompt import Prompt, Section

E_PROMPT_PLACE = code("E_PROMPT_PLACE", "a placeholder in a prompt that no fact fills")

E_PROMPT_ABOUT = code("E_PROMPT_ABOUT", "a prompt is used for something else than it is about")

ITEM: Final = "item"
"""The placeholder of an element that is not a mapping."""

Facts = Mapping[str, Any]

MOST_JSON: Final = 65_536
"""Characters of a fact in JSON."""


class JsonText(str):
    """A fact that is written in JSON already, so that an empty list is no missing fact."""

    __slots__ = ()


_PLACE: Final = re.compile(r"\{\{([a-z][a-z0-9_]*(?:\.[A-Za-z0-9_]+)*)(?:\|([^{}]*))?\}\}")
_BRACES: Final = re.compile(r"\{\{[^}]{0,40}")


def check_about(spec: Resolved, about: str, diagnostics: Diagnostics) -> None:
    """Find a prompt that is about something else."""
    model = spec.model
    assert isinstance(model, Prompt)  # noqa: S101 - a reference of kind prompt holds nothing else
    if model.about != about:
        diagnostics.error(E_PROMPT_ABOUT, f"{spec.name} is about {model.about}, not about {about}", spec.span("name"))


def fill_sections(sections: Sequence[Section], facts: Facts) -> str:
    """Sections, one after the other, about lists that are among the facts."""
    return "".join(
        fill_section(section, facts, fill_items(section, facts, _elements(section, facts))) for section in sections
    )


def fill_items(section: Section, facts: Facts, elements: Sequence[Any]) -> list[str]:
    """The line of each element of a section's list."""
    return [_fill(section.item or "", _inside(facts, element)).rstrip("\n") for element in elements]


def fill_section(section: Section, facts: Facts, items: Sequence[str]) -> str:
    """A section with the lines of its elements; empty, if there are none and there is nothing to say about that."""
    lines = [] if section.text is None else [_fill(section.text, facts).rstrip("\n")]
    if section.each is not None and not items:
        if section.none is None:
            return ""
        lines.append(_fill(section.none, facts).rstrip("\n"))
    return "\n".join([*lines, *items]) + "\n\n"


def check_sections(
    sections: Sequence[Section], facts: Facts, spec: Resolved, part: str, diagnostics: Diagnostics
) -> None:
    """Find the places that nothing fills.

    Args:
        sections: Sections about lists that are among the facts, or about what is remembered.
        facts: Each with a value that it may have; None where it may be missing.
        spec: The prompt's spec.
        part: The key that the sections stand under.
        diagnostics: Receives every finding.
    """
    for index, section in enumerate(sections):
        path = (part, index)
        for key in ("text", "none"):
            if getattr(section, key):
                _check(spec.text(*path, key), facts, diagnostics)
        if section.each is None or section.item is None:
            continue
        head = section.each.partition(".")[0]
        if head not in facts:
            _say(section.each, facts, spec.span(*path, "each"), diagnostics)
            continue
        listed = _at(facts, section.each)
        if facts[head] is None:  # what is remembered has other facts each time
            _check_braces(spec.text(*path, "item"), diagnostics)
        elif listed is not None and not isinstance(listed, list):
            _say(section.each, facts, spec.span(*path, "each"), diagnostics)
        else:
            element = listed[0] if listed else ""
            _check(spec.text(*path, "item"), _inside(facts, element), diagnostics)


def _elements(section: Section, facts: Facts) -> list[Any]:
    listed = None if section.each is None else _at(facts, section.each)
    return listed if isinstance(listed, list) else []


def _inside(facts: Facts, element: Any) -> Facts:
    return {**facts, **(element if isinstance(element, Mapping) else {ITEM: element})}


def _fill(text: str, facts: Facts) -> str:
    return _PLACE.sub(lambda match: _shown(_at(facts, match[1]), match[2] or ""), text)


def _at(facts: Any, path: str) -> Any:
    """What a path leads to; None if it leads nowhere."""
    for step in path.split("."):
        if isinstance(facts, Mapping):
            facts = facts.get(step)
        elif isinstance(facts, list) and step.isdecimal() and int(step) < len(facts):
            facts = facts[int(step)]
        else:
            return None
    return facts


def _shown(value: Any, otherwise: str) -> str:
    """A fact on one line: a text as it is, whatever else as JSON, which is of no use if it is cut."""
    if value is None or value in ("", []):
        return otherwise
    if type(value) is str:
        return printable(value)
    return printable(value if isinstance(value, JsonText) else canonical_bytes(value).decode(), MOST_JSON)


def _check(text: Text, facts: Facts, diagnostics: Diagnostics) -> None:
    _check_braces(text, diagnostics)
    for match in _PLACE.finditer(text.value):
        above, _, last = match[1].rpartition(".")
        owner = _at(facts, above) if above else facts
        known = last in owner if isinstance(owner, Mapping) else owner == [] and last.isdecimal()
        if not known and _at(facts, match[1]) is None:
            span = text.span(match.start(1), match.end(1))
            _say(match[1], owner if isinstance(owner, Mapping) else facts, span, diagnostics)


def _check_braces(text: Text, diagnostics: Diagnostics) -> None:
    """Find what looks like a placeholder and is not one."""
    rest = _PLACE.sub(lambda match: " " * len(match[0]), text.value)
    for match in _BRACES.finditer(rest):
        span = text.span(match.start(), match.end())
        hint = "a placeholder is written `{{fact}}` or `{{fact|words}}`, in lower-case letters, digits and _"
        diagnostics.error(E_PROMPT_PLACE, f"`{match[0]}` is not a placeholder", span, hint=hint)


def _say(path: str, facts: Facts, span: Span, diagnostics: Diagnostics) -> None:
    near = suggest(path.rpartition(".")[2], facts)
    hint = f"did you mean `{near}`?" if near else f"facts: {', '.join(sorted(facts))}"
    diagnostics.error(E_PROMPT_PLACE, f"there is no such fact or list: `{path}`", span, hint=hint)
