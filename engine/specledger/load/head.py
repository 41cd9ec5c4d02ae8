"""The head of a document: `spec: <kind>/v1` and `name`, without which nothing else of it is looked at.

Decides what a head must be. Refuses to know where documents come from.
"""

import re
from typing import Final

from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.load.document import Document
from specledger.load.findings import E_SPEC_MISSING_KEY, describe, place_of
from specledger.spec.base import Models

E_SPEC_KIND = code(
    "E_SPEC_KIND",
    "The document does not say which kind of spec it is",
    "The first key of every document is `spec: <kind>/v1`, as in `spec: world/v1`, and then comes `name:`. `spec "
    "explain kinds` lists the kinds.",
)

_SPEC: Final = re.compile(r"([a-z][a-z0-9_-]*)/v([0-9]+)")


def kind_of(document: Document) -> str:
    """The kind of a document whose head is right."""
    return str(document.root.at(("spec",)).value).partition("/")[0]


def has_head(document: Document, models: Models, diagnostics: Diagnostics) -> bool:
    """Whether a document names one of these kinds of spec; errors in its head are reported."""
    root = document.root
    members = root.members
    first = next(iter(members), None)
    node = members.get("spec")
    expected = "spec: <kind>/v1"
    if node is None:
        near = suggest(first, ["spec"]) if first is not None else None
        hint = f"did you mean `{near}`?" if near else None
        message = "the document does not begin with `spec:`"
        place = place_of(root) if first is None else members[first].key_span
        diagnostics.error(E_SPEC_KIND, message, place, expected=expected, found=describe(root), hint=hint)
        return False
    match = _SPEC.fullmatch(node.value) if isinstance(node.value, str) else None
    if match is None or match[1] not in models or match[2] != "1":
        near = suggest(match[1] if match else str(node.value), models)
        hint = f"did you mean `{near}/v1`?" if near else f"kinds: {', '.join(models)}"
        message = "there is no such kind of spec"
        diagnostics.error(E_SPEC_KIND, message, node.span, expected=expected, found=describe(node), hint=hint)
        return False
    if "name" not in members:  # of a document that extends another one, too
        diagnostics.error(E_SPEC_MISSING_KEY, "the document lacks the key `name`", place_of(root))
    if first != "spec":
        diagnostics.error(E_SPEC_KIND, "`spec:` is not the first key", node.key_span, expected=expected)
    return True
