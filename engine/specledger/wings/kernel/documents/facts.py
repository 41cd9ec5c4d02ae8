"""The kernel's findings about a valid document, which invariants judge, and the vocabulary of its claims.

A claim states its effect in one of the forms of a vocabulary. A form is literal text with slots: `<counterfactual>`
takes an identifier, `<choice>` a label, which is the text up to the next literal one; `<variable>` and `<direction>`
say how a variable changes. Free text matches no form; a text that matches two forms counts as none.

Source: toy-pseudo-axion, Directional check requirement, Canonical hashing rules, ForkSnapshot Commit-Reveal, Kernel
invariants.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import canonical_bytes, canonical_ints
from specledger.core.diagnostics import Diagnostics, code
from specledger.core.digest import hash_json, sha256_hex
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.load import Resolved
from specledger.wings.kernel.documents.digests import Submission, mass_units
from specledger.wings.kernel.spec.vocabulary import Directions, TraceWords
from specledger.wings.kernel.spec.vocabulary import Vocabulary as VocabularySpec

E_VOCABULARY = code("E_VOCABULARY", "a form of a vocabulary has slots that mean nothing")

SLOTS: Final[Mapping[str, re.Pattern[str]]] = {
    "counterfactual": re.compile(r"[A-Za-z0-9_.-]{1,80}"),
    "choice": re.compile(r"[!-~]{1,80}"),  # a label holds no white space
    "variable": re.compile(r"[!-~]{1,80}"),
}
"""The pattern of each slot but `<direction>`."""

STATED: Final = "[!-~]{1,400}"
"""What a variable becomes: a value in canonical JSON."""

PLAIN: Final[Mapping[str, str]] = {name: words[0] for name, words in Directions().words().items()}
"""The default words of the directions, which are those of the engine."""

_BECOMES: Final = f"{PLAIN['becomes']} "
_FORMS: Final = (
    ["choice", "counterfactual"],
    ["choice", "direction", "variable"],
    ["choice", "counterfactual", "direction", "variable"],
)
SLOT: Final = re.compile(r"<([a-z]+)>")


class Vocabulary:
    """The forms of one spec.

    Attributes:
        directions: The words of directions. Elsewhere in the engine a direction has the default ones.
    """

    def __init__(
        self,
        forms: list[str],
        trace: TraceWords | None = None,
        directions: Directions | None = None,
    ) -> None:
        """Take checked forms, of which the first is written."""
        self.forms = forms
        self.trace = trace or TraceWords()
        self.directions = directions or Directions()
        known = {name: words[0] for name, words in self.directions.words().items()}
        self._written = {PLAIN[name]: word for name, word in known.items()}
        self._plain = {word: PLAIN[name] for name, word in known.items()}
        direction = "|".join(
            map(re.escape, (*[known[name] for name in known if name != "becomes"], f"{known['becomes']} "))
        )
        slots = {**SLOTS, "direction": re.compile(direction + STATED)}
        self._patterns = [_pattern(form, slots) for form in forms]

    @property
    def directional(self) -> bool:
        """Whether the first form, the one that is written, has a direction."""
        return "<direction>" in self.forms[0]

    def read(self, claim: Mapping[str, Any], counterfactuals: Iterable[Mapping[str, Any]]) -> dict[str, str] | None:
        """What a claim says: `counterfactual` (an identifier), `choice`, and `direction`, empty if it gives none.

        None if its text is of no form, or speaks of another variable than the claim. A claim without an identifier
        speaks of the first counterfactual of its variable that predicts its choice; `becomes` also says which value.
        """
        parsed = self.parse(claim["expected_effect_on_choice"])
        if parsed is None or parsed.get("variable", claim["var"]) != claim["var"]:
            return None
        said = {"counterfactual": "", "direction": "", **parsed}
        fitting = [counterfactual for counterfactual in counterfactuals if _fits(counterfactual, claim["var"], said)]
        if not fitting and ("counterfactual" not in parsed or said["direction"].startswith(_BECOMES)):
            return None
        if "counterfactual" not in parsed:
            said["counterfactual"] = fitting[0]["cf_id"]
        return {name: said[name] for name in ("counterfactual", "choice", "direction")}

    def say(self, values: Mapping[str, str]) -> str:
        """The first form with its slots filled.

        Raises:
            KeyError: A slot has no value.
        """
        said = {**values, "direction": _translated(values.get("direction", ""), self._written)}
        return SLOT.sub(lambda slot: said[slot[1]], self.forms[0])

    def parse(self, text: str) -> dict[str, str] | None:
        """The slots of the one form that a text matches; None if it matches none, or several."""
        matches = [match.groupdict() for pattern in self._patterns if (match := pattern.fullmatch(text))]
        if len(matches) != 1:
            return None
        return {
            name: _translated(text, self._plain) if name == "direction" else text for name, text in matches[0].items()
        }


def check_vocabulary(spec: Resolved, diagnostics: Diagnostics) -> Vocabulary | None:
    """The vocabulary of a spec; None, with findings, if a form is wrong."""
    model = spec.model
    assert isinstance(model, VocabularySpec)  # noqa: S101 - a reference of kind vocabulary holds nothing else
    wrong = [index for index, form in enumerate(model.forms) if sorted(SLOT.findall(form)) not in _FORMS]
    for index in wrong:
        wanted = "<choice>, and <counterfactual> or both <variable> and <direction>"
        hint = "write for instance `IF <counterfactual> THEN CHOICE <choice>`"
        diagnostics.error(E_VOCABULARY, f"expected the slots {wanted}, each once", spec.span("forms", index), hint=hint)
    return None if wrong else Vocabulary(model.forms, model.trace, model.directions)


def _translated(direction: str, words: Mapping[str, str]) -> str:
    """A direction in other words; the value that it may end with stays."""
    said = direction.lower()
    word = next((word for word in words if said == word.lower() or said.startswith(f"{word.lower()} ")), None)
    return direction if word is None else words[word] + direction[len(word) :]


def _fits(counterfactual: Mapping[str, Any], variable: str, said: Mapping[str, str]) -> bool:
    """Whether a counterfactual is the one that a claim speaks of."""
    if said["counterfactual"] not in ("", counterfactual["cf_id"]) or counterfactual["mutation"]["var"] != variable:
        return False
    if not said["counterfactual"] and counterfactual["predicted_outcome"]["choice"] != said["choice"]:
        return False
    _, becomes, text = said["direction"].partition(_BECOMES)
    return not becomes or canonical_bytes(counterfactual["mutation"]["new_value"], FLOATS_ANYWHERE) == text.encode()


def _pattern(form: str, slots: Mapping[str, re.Pattern[str]]) -> re.Pattern[str]:
    """A form as a pattern of literal texts and bounded character classes, which is matched in linear time."""
    parts = SLOT.split(form)
    return re.compile(
        "".join(
            f"(?P<{part}>{slots[part].pattern})" if index % 2 else re.escape(part) for index, part in enumerate(parts)
        ),
        re.ASCII,
    )


class Facts(Struct, frozen=True):
    """Finds the facts about documents.

    Attributes:
        env: `state -> the environment that a document must show`.
        names: `state -> the variables that there are`.
        normalize: `(state, variables) -> normal form`.
        label: The world's label of an action; `LookupError` where the world has no such action.
        vocabulary: How claims are worded.
        least: The counterfactuals that the governor demands.
    """

    env: Callable[[Any], dict[str, Any]]
    names: Callable[[Any], list[str]]
    normalize: Callable[[Any, list[str]], dict[str, Any]]
    label: Callable[[Mapping[str, Any]], str]
    vocabulary: Vocabulary
    least: int

    def find(self, state: Any, document: Any, submission: Submission) -> dict[str, Any]:
        """What is found about a document that its schema accepted.

        Raises:
            EvaluationError: The state has no environment or normal form.
            NotCanonical: Something that must be hashed has no canonical form.
        """
        trace = document["trace"]
        digest = sha256_hex(canonical_ints(self.env(state)))  # its type holds no floats; nor does that of a normal form
        known = self.names(state)
        masses = [entry["prob_mass"] for entry in trace["counterfactuals"]]
        return {
            "trace_hash": submission.trace_hash,
            "env_digest": hash_json(document["env"]),  # in Python `true` equals 1, in a digest it does not
            "state_digest": digest,
            "least": self.least,
            "mass": mass_units(masses),
            "mass_in_range": all(0 <= mass <= 1 for mass in masses),
            "snapshots": [self._snapshot(state, known, entry) for entry in trace["fork_snapshots"]],
            "nodes": sorted({node["id"] for node in trace["nodes"]}),
            "leading": leading(trace["nodes"], trace["edges"]),
            "claims": [self._claim(entry, trace["counterfactuals"]) for entry in trace["causal_claims"]],
            "known": known,
            "step": self._step(document["payload"]["plan"]["steps"][0]),
        }

    def _snapshot(self, state: Any, known: list[str], snapshot: Mapping[str, Any]) -> dict[str, str]:
        focus = snapshot["focus_vars"]
        expected = sha256_hex(canonical_ints(self.normalize(state, focus))) if set(focus) <= set(known) else ""
        return {"fork_id": snapshot["fork_id"], "given": snapshot["state_digest"], "expected": expected}

    def _claim(self, claim: Mapping[str, Any], counterfactuals: list[Mapping[str, Any]]) -> dict[str, str]:
        said = self.vocabulary.read(claim, counterfactuals) or {"counterfactual": "", "choice": ""}
        return {"var": claim["var"], "counterfactual": said["counterfactual"], "choice": said["choice"]}

    def _step(self, step: Mapping[str, Any]) -> str:
        if "op" in step["args"]:
            return ""
        try:
            return self.label({**step["args"], "op": step["op"]})
        except LookupError:
            return ""


def leading(nodes: list[Mapping[str, Any]], edges: list[Mapping[str, Any]]) -> list[int]:
    """The identifiers of the nodes from which the last one can be reached, itself among them, ascending."""
    known = {node["id"] for node in nodes}
    before: dict[int, list[int]] = {}
    for edge in edges:
        before.setdefault(edge["to"], []).append(edge["from"])
    reached: set[int] = set()
    waiting = [nodes[-1]["id"]]
    while waiting:
        node = waiting.pop()
        if node in known and node not in reached:
            reached.add(node)
            waiting += before.get(node, ())
    return sorted(reached)
