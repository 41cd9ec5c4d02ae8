"""A candidate law in the JSON of law proposers as a bundle, equal to one loaded from YAML.

Source: law proposer, sections 6 and 7.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.load import Bundle
from specledger.load.bundle import LoadedKind, ReservedKey, dump, key_of, restore
from specledger.load.from_document import bundle_from_document
from specledger.wings.laws.spec.law import Law

E_LAW_CANDIDATE = code("E_LAW_CANDIDATE", "a candidate is no law")

REQUIRED: Final = ("template", "forbidden")


def bundle_of(candidate: Any, universe: Bundle, templates: Mapping[str, Bundle], name: str | None = None) -> Bundle:
    """The bundle of a candidate, ready to be compiled.

    Args:
        candidate: A JSON value; anything at all, since it is not trusted.
        universe: The universe that it is about.
        templates: The known templates by name.
        name: What it is called, if it was read before; else its id names it, or its digest.

    Raises:
        Rejected: The candidate is no law; it carries all findings.
    """
    diagnostics = Diagnostics()
    template = _template(candidate, templates, diagnostics)
    diagnostics.raise_if_errors()
    data = {key: value for key, value in candidate.items() if value is not None}
    name = name_of(candidate) if name is None else name
    data |= {"spec": "law/v1", "name": name, "template": template.root, "universe": universe.root}
    try:
        form = dump(restore(Law, data))
        key = key_of("law", name, form)
    except (ValueError, ReservedKey) as error:
        for line in _reasons(error):
            diagnostics.error(E_LAW_CANDIDATE, line)
        diagnostics.raise_if_errors()
        raise
    specs = {**universe.document()["specs"], **template.document()["specs"], key: form}
    return bundle_from_document(
        {"root": key, "specs": specs}, {"law": LoadedKind(Law)}, {**universe.specs, **template.specs}
    )


def _template(candidate: Any, templates: Mapping[str, Bundle], diagnostics: Diagnostics) -> Bundle:
    """The candidate's template; any, after a finding."""
    fallback = next(iter(templates.values()))
    try:
        canonical_bytes(candidate)
    except NotCanonical as error:
        diagnostics.error(E_LAW_CANDIDATE, f"no canonical JSON: {error}")
        return fallback
    if not isinstance(candidate, Mapping):
        diagnostics.error(E_LAW_CANDIDATE, "a candidate is an object")
        return fallback
    for key in REQUIRED:
        if not isinstance(candidate.get(key), str) or not candidate[key]:
            diagnostics.error(E_LAW_CANDIDATE, f"the candidate lacks `{key}`")
    name = candidate.get("template")
    if isinstance(name, str) and name not in templates:
        near = suggest(name, templates)
        hint = f"did you mean {near!r}?" if near else f"templates: {', '.join(sorted(templates))}"
        diagnostics.error(E_LAW_CANDIDATE, f"there is no template {name!r}", hint=hint)
    return templates[name] if isinstance(name, str) and name in templates else fallback


def name_of(candidate: Mapping[str, Any]) -> str:
    """A spec's name from the candidate's id, or from its digest if it has none."""
    data = {key: value for key, value in candidate.items() if value is not None}
    law_id = data.get("law_id")
    words = re.findall(r"[a-z0-9]+", law_id.lower()) if isinstance(law_id, str) else []
    name = "-".join(words)[:80].rstrip("-")
    return name if name[:1].isalpha() else f"law-{key_of('law', name, data).rpartition('@')[2]}"


def _reasons(error: Exception) -> list[str]:
    """What is wrong, a line for each finding of the model."""
    list_errors = getattr(error, "errors", None)
    if list_errors is None:
        return [str(error)]
    items = list_errors(include_url=False, include_input=False, include_context=False)
    return [f"`{'.'.join(map(str, item['loc']))}`: {item['msg']}" for item in items]
