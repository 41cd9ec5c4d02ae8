"""The controlled vocabulary of claims: a claim says its effect in one of a few forms, or it says nothing.

Decides whether a text is of a form, and what stands in its slots. A form is literal text with slots: `<counterfactual>`
takes an identifier, `<choice>` a label, which is what is left up to the next literal text. Free text fails, and so does
a text that can be read in two ways. Refuses to know whether what is claimed is so.

Source: toy-pseudo-axion, Directional check requirement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from specledger.core.diagnostics import Diagnostics, code
from specledger.load import Resolved
from specledger.spec.vocabulary import Vocabulary as VocabularySpec

E_VOCABULARY = code(
    "E_VOCABULARY",
    "a form of a vocabulary has slots that mean nothing",
    "A form has each slot once: <counterfactual>, the identifier of a counterfactual of the same proposal, and "
    "<choice>, the label of an action. Both are needed, with text between them.",
)

SLOTS: Final[Mapping[str, re.Pattern[str]]] = {
    "counterfactual": re.compile(r"[A-Za-z0-9_.-]{1,80}"),
    "choice": re.compile(r"[!-~]{1,80}"),  # a label holds no white space
}
"""What may stand in each slot."""

_SLOT: Final = re.compile(r"<([a-z]+)>")


class Vocabulary:
    """The forms of one spec."""

    def __init__(self, forms: list[str]) -> None:
        """Take checked forms; the first one is written, all are read."""
        self._forms = forms
        self._patterns = [_pattern(form) for form in forms]

    def say(self, values: Mapping[str, str]) -> str:
        """The first form with its slots filled.

        Raises:
            KeyError: A slot has no value.
        """
        return _SLOT.sub(lambda slot: values[slot[1]], self._forms[0])

    def parse(self, text: str) -> dict[str, str] | None:
        """What stands in the slots of the one form that a text is of; None if it is of none, or of several."""
        found = [match.groupdict() for pattern in self._patterns if (match := pattern.fullmatch(text))]
        return found[0] if len(found) == 1 else None


def check_vocabulary(spec: Resolved, diagnostics: Diagnostics) -> Vocabulary | None:
    """The vocabulary of a spec; None, with findings, if a form is wrong."""
    model = spec.model
    assert isinstance(model, VocabularySpec)  # noqa: S101 - a reference of kind vocabulary holds nothing else
    wrong = [index for index, form in enumerate(model.forms) if sorted(_SLOT.findall(form)) != sorted(SLOTS)]
    for index in wrong:
        message = f"expected the slots {', '.join(f'<{name}>' for name in sorted(SLOTS))}, each once"
        diagnostics.error(E_VOCABULARY, message, spec.span("forms", index))
    return None if wrong else Vocabulary(model.forms)


def _pattern(form: str) -> re.Pattern[str]:
    """A form as a pattern of literal texts and bounded character classes, which is matched in linear time."""
    parts = _SLOT.split(form)
    return re.compile(
        "".join(
            f"(?P<{part}>{SLOTS[part].pattern})" if index % 2 else re.escape(part) for index, part in enumerate(parts)
        ),
        re.ASCII,
    )
