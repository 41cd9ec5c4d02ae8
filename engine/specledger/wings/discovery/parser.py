"""The response parser: reads laws from the answer of a model, and gives a reason for each rejected object.

The answer is untrusted: any text gives a result, in time that grows with its length. Strict parsing rejects what
lenient parsing repairs. Whether an object is a law is decided by the compiler of laws.
Source: law proposer, section 7.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.canonical import MAX_DEPTH, NotCanonical, canonical_bytes, is_plain
from specledger.core.diagnostics import Rejected, code, coded, printable
from specledger.load import Bundle
from specledger.wings.discovery.contract import Scramble
from specledger.wings.discovery.fingerprint import Fingerprint, fingerprint
from specledger.wings.discovery.json_recovery import Broken, Found, read_values
from specledger.wings.laws.candidate import bundle_of
from specledger.wings.laws.claim import OPERATORS
from specledger.wings.laws.compile import Checked, compile_law
from specledger.wings.laws.law import LawPlan
from specledger.wings.laws.law_check import strays_of
from specledger.wings.laws.spec.law import PER_LENGTH, Law

E_ANSWER_SIZE = code("E_ANSWER_SIZE", "an answer is too large")
E_ANSWER_JSON = code("E_ANSWER_JSON", "a piece of an answer is no JSON")
E_ANSWER_MENDED = code("E_ANSWER_MENDED", "strict parsing mends nothing")
E_ANSWER_FIELD = code("E_ANSWER_FIELD", "a proposed law lacks a field")
E_ANSWER_KEY = code("E_ANSWER_KEY", "a proposed law has a key that is not a proposer's to give")

MOST_CHARACTERS: Final = 1_048_576
"""Characters of an answer that is read."""

MOST_OBJECTS: Final = 500
"""Objects of an answer that are looked at."""

MOST_SHOWN: Final = 4_000
"""Bytes of an object that a rejection keeps whole."""

MOST_NESTED: Final = MAX_DEPTH - 8
"""Brackets inside one another in what is kept of an answer: a row or a receipt puts a few more around it."""

REQUIRED: Final = ("template", "forbidden")
CLAIMS: Final = ("claim_ast", "claim")
WRAPPER: Final = "laws"

WITHHELD: Final = (
    *("spec", "name", "doc", "metadata", "extends", "use", "params", "matrix"),
    *("universe", "strict", "seed", "cases", "mutations", "trial", "expect", "says"),
)
"""Keys of a law that are no proposer's to give: what files have, which universe it is, and how a law is tried."""

_EXCERPT: Final = 1_000  # characters of a piece that is not kept whole
_PRINTED: Final = 2_000  # characters of an excerpt or a reason; an escape is longer than its character
_FINDINGS: Final = 5  # findings in one reason


class ParsedLaw(Struct, frozen=True, dict=True):
    """A law that was proposed; what is compared of it is found when it is first asked for.

    Attributes:
        document: The law in the JSON of law proposers, in the universe's own symbols, without what they may not give.
    """

    document: Mapping[str, Any]
    bundle: Bundle
    plan: LawPlan

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """What it says, independent of how it is written."""
        return fingerprint(self.plan.law, self.document)

    @property
    def id(self) -> str:
        """What it is called: the id that its proposer gave, else the name of its spec."""
        given = self.document.get("law_id")
        return given if isinstance(given, str) and given else self.plan.law.name


class ParseResult(Struct, frozen=True):
    """What an answer was found to hold (law proposer, section 7).

    Attributes:
        laws: The laws, in the answer's order.
        rejections: What is not a law, each with the reason: the object itself, or `{excerpt, size}` if it is too large
            or no JSON.
        warnings: What was mended, read from a string, or left out.
    """

    laws: tuple[ParsedLaw, ...]
    rejections: tuple[tuple[Mapping[str, Any], str], ...]
    warnings: tuple[str, ...]


class ResponseParser:
    """Reads answers about one universe."""

    def __init__(
        self,
        universe: Bundle,
        templates: Mapping[str, Bundle],
        strict: bool = False,
        scramble: Scramble | None = None,
    ) -> None:
        """Prepare to read; `strict` rejects what needs mending, and what has a claim in words alone."""
        self._universe, self._templates = universe, dict(templates)
        self._strict, self._scramble = strict, scramble
        self._forms: Checked = {}

    def parse(self, text: str | bytes) -> ParseResult:
        """Read an answer; whatever it is, there is a result."""
        text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        if len(text) > MOST_CHARACTERS:
            reason = coded(E_ANSWER_SIZE, f"{len(text)} characters, more than {MOST_CHARACTERS}; none of them is read")
            return ParseResult((), ((_excerpt(text, len(text)), reason),), ())
        pieces = read_values(text, WRAPPER, REQUIRED[0], _EXCERPT)
        laws: list[ParsedLaw] = []
        rejections: list[tuple[Mapping[str, Any], str]] = []
        warnings: list[str] = [] if pieces else ["the answer holds no object"]
        for number, piece in enumerate(pieces[:MOST_OBJECTS]):
            read = self._read(piece, number, warnings)
            if isinstance(read, ParsedLaw):
                laws.append(read)
            else:
                shown = _excerpt(piece.text) if isinstance(piece, Broken) else kept(piece.value)
                rejections.append((shown, read[:_PRINTED]))
        if len(pieces) > MOST_OBJECTS:
            left = pieces[MOST_OBJECTS]
            shown = _excerpt(left.text) if isinstance(left, Broken) else kept(left.value)
            more = len(pieces) - MOST_OBJECTS
            rejections.append(
                (shown, coded(E_ANSWER_SIZE, f"this object and {more - 1} more after {MOST_OBJECTS} others"))
            )
        return ParseResult(tuple(laws), tuple(rejections), tuple(warnings))

    def _read(self, piece: Found | Broken, number: int, warnings: list[str]) -> ParsedLaw | str:
        """The law that a piece is, or the reason for its rejection."""
        if isinstance(piece, Broken):
            return coded(E_ANSWER_JSON, printable(piece.reason))
        if piece.mends and self._strict:
            return coded(E_ANSWER_MENDED, ", ".join(piece.mends))
        if isinstance(piece.value, dict):
            missing = [key for key in REQUIRED if _is_blank(piece.value.get(key))]
            if missing and all(_is_blank(piece.value.get(key)) for key in CLAIMS):
                missing.append(" or ".join(f"`{key}`" for key in CLAIMS).strip("`"))
            if missing:
                return coded(E_ANSWER_FIELD, f"the object lacks {', '.join(f'`{key}`' for key in missing)}")
            withheld = [key for key in WITHHELD if key in piece.value]
            if withheld and self._strict:
                return coded(E_ANSWER_KEY, ", ".join(f"`{key}`" for key in withheld))
        else:
            withheld = []
        read = self._compiled(piece.value)
        if isinstance(read, ParsedLaw):
            name = read.plan.law.name
            if piece.mends:
                warnings.append(f"object {number} ({name}) was mended: {', '.join(piece.mends)}")
            if withheld:
                warnings.append(f"object {number} ({name}): left out {', '.join(f'`{key}`' for key in withheld)}")
            warnings += [
                f"object {number} ({name}): {warning.code}: {printable(warning.message)}"
                for warning in read.plan.warnings
            ]
        return read

    def _compiled(self, value: Any) -> ParsedLaw | str:
        if isinstance(value, dict):
            value = {key: member for key, member in value.items() if key not in WITHHELD and member is not None}
            if self._scramble is not None:
                value = self._scramble.law(value)
        try:
            bundle = bundle_of(value, self._universe, self._templates)
            plan = compile_law(bundle, strict=self._strict, proposed=True, checked=self._forms)
            strays = strays_of(bundle.main.model, plan.law.template)
            if strays:
                value = {key: member for key, member in value.items() if key not in strays}
                bundle = bundle_of(value, self._universe, self._templates)
                plan = replace(compile_law(bundle, proposed=True, checked=self._forms), warnings=plan.warnings)
            if not is_plain(value, MOST_NESTED):
                return coded(E_ANSWER_SIZE, f"more than {MOST_NESTED} brackets inside one another")
            return ParsedLaw(value, bundle, plan)
        except Rejected as rejected:
            messages = [f"{diagnostic.code}: {printable(diagnostic.message)}" for diagnostic in rejected.diagnostics]
            more = [f"and {len(messages) - _FINDINGS} more"] if len(messages) > _FINDINGS else []
            return "; ".join([*messages[:_FINDINGS], *more])


def _is_blank(value: Any) -> bool:
    """Whether a field says nothing: it is missing, empty, or white space alone."""
    return not (value.strip() if isinstance(value, str) else value)


def kept(value: Any) -> Mapping[str, Any]:
    """A rejected value as a document that can be hashed, and stored inside others: itself, or `{excerpt, size}`."""
    try:
        form = canonical_bytes(value)
    except NotCanonical:
        return _excerpt(repr(value))
    whole = isinstance(value, dict) and len(form) <= MOST_SHOWN and is_plain(value, MOST_NESTED)
    return value if whole else _excerpt(form.decode(), len(form))


def _excerpt(text: str, size: int | None = None) -> dict[str, Any]:
    return {"excerpt": printable(text[:_EXCERPT])[:_PRINTED], "size": len(text) if size is None else size}


_KEPT: Final = ("type", "enum", "anyOf", "items", "properties", "required", "minimum", "maximum")
_NODE: Final = {"$ref": "#/$defs/node"}
_TIME: Final = {
    "type": "object",
    "properties": {
        "var": {"type": "string", "enum": ["t"]},
        "t_plus_1": {"type": "boolean"},
        "const": {"type": "integer"},
    },
}


def answer_schema(templates: Iterable[str]) -> dict[str, Any]:
    """The JSON Schema of an answer that is a list of laws, for models that can be held to one.

    It uses only the keywords that services understand. The parser does not rely on it.
    Source: law proposer, sections 4 and 6.
    """
    shape = Law.model_json_schema(by_alias=True)
    fields = {
        name: _plain(field_schema, shape["$defs"])
        for name, field_schema in shape["properties"].items()
        if name not in WITHHELD
    }
    fields["template"] = {"type": "string", "enum": list(templates)}
    fields["claim_ast"] = _NODE
    law = {"type": "object", "properties": fields, "required": list(REQUIRED)}
    return {"type": "array", "items": law, "$defs": {"node": _node(), "time": _TIME}}


def _node() -> dict[str, Any]:
    """A node of a claim: any of its forms, by the keys that it may have."""
    keys: dict[str, Any] = {
        "const": {"anyOf": [{"type": "integer"}, {"type": "boolean"}, {"type": "string"}]},
        "obs": {"type": "string"},
        "t": {"$ref": "#/$defs/time"},
        "op": {"type": "string", "enum": [*OPERATORS, "not"]},
        **dict.fromkeys(("lhs", "rhs", "arg"), _NODE),
    }
    return {"type": "object", "properties": keys}


def _plain(value: Any, definitions: Mapping[str, Any]) -> Any:
    """A schema without references, in the keywords that are kept; a constant is a choice of one."""
    if "$ref" in value:
        return _plain(definitions[value["$ref"].rpartition("/")[2]], definitions)
    kept = {key: value[key] for key in _KEPT if key in value}
    if "const" in value:
        kept["enum"] = [value["const"]]
    if isinstance(kept.get("type"), list):
        kept["type"] = [kind for kind in kept["type"] if kind != "object"]  # values by cases are for authors
    if "items" in kept:
        kept["items"] = _plain(kept["items"], definitions)
    if "anyOf" in kept:
        said = [
            schema for schema in kept.pop("anyOf") if schema.get("pattern") != PER_LENGTH.pattern
        ]  # a proposer counts
        forms = [_plain(schema, definitions) for schema in said]
        kept |= forms[0] if len(forms) == 1 else {"anyOf": forms}
    if "properties" in kept:
        kept["properties"] = {name: _plain(schema, definitions) for name, schema in kept["properties"].items()}
    return kept
