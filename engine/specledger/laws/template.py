"""Templates: the forms of laws, as data.

A pattern is a claim in JSON with two more nodes: `{part: P}`, which a law fills in (`at: t + 1` if it is read one step
later), and `{field: name}`, the value of a field of the law. Source: law proposer, section 6, Allowed Templates.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.laws.claim import Node, SortError, Time, is_image, move, reads, sort_of, to_json, walk
from specledger.laws.claim_parser import ClaimError, read_claim
from specledger.load import Resolved
from specledger.spec.template import Template as TemplateSpec

E_TEMPLATE = code(
    "E_TEMPLATE",
    "a template means nothing",
    "`claim`, `antecedent` and `holds` are claims in JSON in which {part: P} stands for a declared part and {field: "
    "name} for a field of the law that `needs` lists. `antecedent` and `holds` go together, and the claim is then that "
    "one implies the other. A template that reads a transformed state needs a `transform`.",
)

SAMPLES: Final[Mapping[str, Any]] = {
    "direction": "<=",
    "bound_op": "<=",
    "bound_value": 0,
    "transform": "m",
    "trigger_symbol": "a",
    "result_op": "==",
    "result_symbol": "a",
    "H": 0,
}
"""The fields of a law that a template may need, each with a value that it could have."""


class Mismatch(ValueError):  # noqa: N818 - says what was found
    """A claim that is not of its template's form."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a law fills in: `int` or `bool`, reading `t`, `t + 1` or a `fixed` step."""

    sort: str
    reads: tuple[str, ...]


@dataclass(frozen=True)
class Template:
    """A checked template.

    Attributes:
        name: Its spec's name.
        needs: Fields that a law of this form must have.
        first: The first step that is judged.
        short: How many steps before T the last one is.
        cells: Whether every cell is judged by itself.
        within: Whether what must hold has H more steps to come true.
        parts: What a law fills in.
        claim: The pattern of the claim.
        antecedent: The pattern of what makes a step count; None if every step does.
        holds: The pattern of what must hold there; the claim itself if there is no antecedent.
    """

    name: str
    needs: tuple[str, ...]
    first: int
    short: int
    cells: bool
    within: bool
    parts: Mapping[str, Part]
    claim: Any
    antecedent: Any
    holds: Any

    def fit(self, claim: Node, fields: Mapping[str, Any]) -> dict[str, Node]:
        """What a claim puts in the place of each part.

        Raises:
            Mismatch: The claim has another form, or disagrees with a field.
        """
        found: dict[str, Node] = {}
        _match(self.claim, to_json(claim), fields, found)
        for name, node in found.items():
            self._check_part(name, node)
        return found

    def _check_part(self, name: str, node: Node) -> None:
        part = self.parts[name]
        if sort_of(node) != part.sort:
            raise Mismatch(f"`{name}` is {part.sort}, not {sort_of(node)}")
        for observed, time in reads(node):
            if moment_of(time) not in part.reads:
                allowed = " or ".join(part.reads)
                raise Mismatch(f"`{name}` may read {allowed}, but {observed} is read at {time}")

    def derive(self, fields: Mapping[str, Any]) -> Node | None:
        """The claim, if the fields of a law say all of it."""
        return None if self.parts else read_claim(_filled(self.claim, {}, fields))

    def judged(self, parts: Mapping[str, Node], fields: Mapping[str, Any]) -> tuple[Node | None, Node]:
        """The antecedent, and what must hold where it does."""
        antecedent = None if self.antecedent is None else read_claim(_filled(self.antecedent, parts, fields))
        return antecedent, read_claim(_filled(self.holds, parts, fields))


def moment_of(time: Time) -> str:
    """What a template calls a time."""
    return "fixed" if time.fixed else "t" if time.offset == 0 else f"t + {time.offset}"


def check_template(spec: Resolved, diagnostics: Diagnostics) -> Template | None:
    """Check a template; None, with a finding, if it is wrong."""
    model = spec.model
    assert isinstance(model, TemplateSpec)  # noqa: S101 - a reference of kind template holds nothing else
    parts = {name: Part(part.sort, tuple(part.reads)) for name, part in sorted(model.parts.items())}
    template = Template(
        name=spec.name,
        needs=tuple(model.needs),
        first=model.for_all.t.first,
        short=0 if model.for_all.t.last == "T" else 1,
        cells=model.for_all.i is not None,
        within=model.within is not None,
        parts=parts,
        claim=model.claim,
        antecedent=model.antecedent,
        holds=model.claim if model.holds is None else model.holds,
    )
    problem = _problem(template, model)
    if problem is None:
        return template
    path, message, hint = problem
    diagnostics.error(E_TEMPLATE, message, spec.span(*path), hint=hint)
    return None


_Problem = tuple[tuple[str | int, ...], str, str | None]
"""The path of what is wrong, why, and what to try."""


def _problem(template: Template, model: TemplateSpec) -> _Problem | None:
    unknown = sorted(set(template.needs) - set(SAMPLES))
    if unknown:
        place = ("needs", template.needs.index(unknown[0]))
        return place, f"no law has the field {unknown[0]!r}", _meant(unknown[0], SAMPLES, "fields")
    if template.within and "H" not in template.needs:
        return ("within",), "a template with `within` needs H", "add `H` to `needs`"
    if (model.antecedent is None) != (model.holds is None):
        given = "holds" if model.antecedent is None else "antecedent"
        return (given,), "`antecedent` and `holds` go together", "add the other one, or take this one away"
    sample = {name: {"const": 0 if part.sort == "int" else True} for name, part in template.parts.items()}
    fields = {name: SAMPLES[name] for name in template.needs}
    for key, pattern in (("claim", model.claim), ("antecedent", model.antecedent), ("holds", model.holds)):
        try:
            if pattern is None:
                continue
            read = read_claim(_substitute(pattern, sample, fields))
            if sort_of(read) != "bool":
                return (key,), "its value is no truth value", "compare it, as in `{op: ==, lhs: …, rhs: …}`"
            if "transform" not in template.needs and any(is_image(node) for node in walk(read)):
                message = "it reads a transformed state, but `needs` does not list `transform`"
                return (key,), message, "add `transform` to `needs`"
        except SortError as error:
            return (key,), str(error), None
        except ClaimError as error:
            return (key, *error.path), str(error), error.hint
        except KeyError as error:
            name = str(error.args[0])
            path = (key, *_path_of(name, pattern))
            message = f"{name!r} is neither a part nor a field that `needs` lists"
            return path, message, _meant(name, [*template.parts, *template.needs], "parts and fields")
    unread = sorted(set(template.parts) - set(_parts_of(model.claim)))
    if unread:
        return ("parts", unread[0]), f"the claim does not read the part {unread[0]!r}", "take the part away"
    if model.antecedent is not None and model.claim != {"op": "=>", "lhs": model.antecedent, "rhs": model.holds}:
        message = "what is judged is not what it says: it must be that `antecedent` implies `holds`"
        return ("claim",), message, "write `{op: =>, lhs: <antecedent>, rhs: <holds>}`"
    return None


def _meant(word: str, known: Collection[str], what: str) -> str:
    near = suggest(word, known)
    return f"did you mean {near!r}?" if near else f"{what}: {', '.join(sorted(known))}"


def _path_of(name: str, pattern: Any) -> tuple[str, ...]:
    """The path of the first place of a pattern that reads a part or field."""
    if isinstance(pattern, Mapping):
        for key, value in pattern.items():
            if key in ("part", "field") and value == name:
                return (key,)
            below = _path_of(name, value)
            if below:
                return (key, *below)
    return ()


def _parts_of(pattern: Any) -> list[str]:
    if not isinstance(pattern, Mapping):
        return []
    if "part" in pattern:
        return [str(pattern["part"])]
    return [name for value in pattern.values() for name in _parts_of(value)]


def _filled(pattern: Any, parts: Mapping[str, Node], fields: Mapping[str, Any]) -> Any:
    return _substitute(pattern, {name: to_json(node) for name, node in parts.items()}, fields)


def _substitute(pattern: Any, parts: Mapping[str, Any], fields: Mapping[str, Any]) -> Any:
    """The pattern with parts and fields in their places.

    Raises:
        KeyError: A part or field that there is not.
    """
    if not isinstance(pattern, Mapping):
        return pattern
    if set(pattern) == {"field"}:
        return fields[pattern["field"]]
    if "part" in pattern:
        document = parts[pattern["part"]]
        return to_json(move(read_claim(document), 1)) if _later(pattern) else document
    return {key: _substitute(value, parts, fields) for key, value in pattern.items()}


def _later(pattern: Mapping[str, Any]) -> bool:
    return pattern.get("at") == "t + 1"


def _match(pattern: Any, claim: Any, fields: Mapping[str, Any], found: dict[str, Node]) -> None:
    """Find what stands for each part.

    Raises:
        Mismatch: The claim has another form.
    """
    if not isinstance(pattern, Mapping):
        if type(pattern) is not type(claim) or pattern != claim:
            raise Mismatch(f"expected {_shown(pattern)}, found {_shown(claim)}")
    elif set(pattern) == {"field"}:
        wanted = fields[pattern["field"]]
        if type(wanted) is not type(claim) or wanted != claim:
            raise Mismatch(f"`{pattern['field']}` is {_shown(wanted)}, but the claim has {_shown(claim)}")
    elif "part" in pattern:
        name, node = pattern["part"], read_claim(claim)
        node = move(node, -1) if _later(pattern) else node
        if any(time.offset < 0 for _, time in reads(node)):
            raise Mismatch(f"here `{name}` is read at t + 1")
        if found.setdefault(name, node) != node:
            raise Mismatch(f"`{name}` is not the same at both steps")
    elif not isinstance(claim, Mapping) or set(claim) != set(pattern):
        raise Mismatch(f"expected {_shown(pattern)}, found {_shown(claim)}")
    else:
        for key in pattern:
            _match(pattern[key], claim[key], fields, found)


def _shown(value: Any) -> str:
    """A piece of a claim, short."""
    if isinstance(value, Mapping):
        if "op" in value:
            return f"a claim with `{value['op']}`" if isinstance(value["op"], str) else "a comparison"
        return "an observable" if "obs" in value else "a constant" if "const" in value else "a time"
    return repr(value)
