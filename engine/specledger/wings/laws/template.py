"""Templates: the forms of laws, as data.

A pattern is a claim in JSON with two more nodes: `{part: P}`, which a law fills in (`at: t + 3` if it is read three
steps later), and `{field: name}`, the value of a field of the law. Source: law proposer, section 6, Allowed Templates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.expr.check.environment import is_name
from specledger.load import Resolved
from specledger.wings.laws.claim import (
    AHEAD,
    CELLWISE,
    Node,
    Observe,
    SortError,
    Time,
    is_image,
    move,
    reads,
    sort_of,
    time_json,
    to_json,
    walk,
)
from specledger.wings.laws.claim_parser import ClaimError, read_claim, read_time
from specledger.wings.laws.spec.template import Template as TemplateSpec

E_TEMPLATE = code("E_TEMPLATE", "a template means nothing")

SAMPLES: Final[Mapping[str, Any]] = {
    "direction": "<=",
    "bound_op": "<=",
    "bound_value": 0,
    "transform": "shift_k(1)",
    "trigger_symbol": "a",
    "result_op": "==",
    "result_symbol": "a",
    "H": 0,
}
"""The fields of a law that a template may need, each with a value that it could have."""


MOMENTS: Final[Mapping[str, int]] = {"t": 0, **{f"t + {steps}": steps for steps in range(1, AHEAD + 1)}}
"""How many steps after the one that is judged each step is, as a template calls it."""


class Mismatch(ValueError):  # noqa: N818 - says what was found
    """A claim that is not of its template's form."""


class Part(Struct, frozen=True):
    """What a law fills in: its sort, and the steps that it may read."""

    sort: str
    reads: tuple[str, ...]


class Template(Struct, frozen=True):
    """A checked template.

    Attributes:
        needs: Fields that a law of this form must have.
        short: How many steps before T the last one is.
        cells: Whether every cell is judged by itself.
        within: Whether what must hold has H more steps to come true.
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
        fitted: dict[str, Node] = {}
        _match(self.claim, to_json(claim), fields, fitted)
        for name, node in fitted.items():
            part = self.parts[name]
            if sort_of(node) != part.sort:
                raise Mismatch(f"`{name}` is {part.sort}, not {sort_of(node)}")
            for observed, time in reads(node):
                if moment_of(time) not in part.reads:
                    allowed = " or ".join(part.reads)
                    raise Mismatch(f"`{name}` may read {allowed}, but {observed} is read at {time}")
        return fitted

    def derive(self, fields: Mapping[str, Any]) -> Node | None:
        """The claim, if the fields of a law say all of it."""
        return None if self.parts else read_claim(_filled(self.claim, {}, fields))

    def says(self, field: str) -> bool:
        """Whether the claim has the value of a field in it."""
        patterns = (self.claim, self.antecedent, self.holds)
        return any(node.get("field") == field for pattern in patterns for _, node in _mappings(pattern))

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
        short=int(model.for_all.t.last.removeprefix("T").removeprefix(" - ") or 0),
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
        location = ("needs", template.needs.index(unknown[0]))
        return location, f"no law has the field {unknown[0]!r}", _meant(unknown[0], SAMPLES, "fields")
    if template.within and "H" not in template.needs:
        return ("within",), "a template with `within` needs H", "add `H` to `needs`"
    if (model.antecedent is None) != (model.holds is None):
        given = "holds" if model.antecedent is None else "antecedent"
        return (given,), "`antecedent` and `holds` go together", "add the other one, or take this one away"
    for key, pattern in (("claim", model.claim), ("antecedent", model.antecedent), ("holds", model.holds)):
        if pattern is not None and (problem := _unsayable(template, pattern)) is not None:
            path, message, hint = problem
            return (key, *path), message, hint
    unread = sorted(set(template.parts) - {node["part"] for _, node in _mappings(model.claim) if "part" in node})
    if unread:
        return ("parts", unread[0]), f"the claim does not read the part {unread[0]!r}", "take the part away"
    if model.antecedent is not None and model.claim != {"op": "=>", "lhs": model.antecedent, "rhs": model.holds}:
        message = "what is judged is not what it says: it must be that `antecedent` implies `holds`"
        return ("claim",), message, "write `{op: =>, lhs: <antecedent>, rhs: <holds>}`"
    return None


def _meant(word: str, known: Collection[str], what: str) -> str:
    near = suggest(word, known)
    return f"did you mean {near!r}?" if near else f"{what}: {', '.join(sorted(known))}"


def _unsayable(template: Template, pattern: Any) -> _Problem | None:
    """Why no law could put a claim in the place of a pattern, if so."""
    for path, node in _mappings(pattern):
        if (problem := _misplaced(template, node)) is not None:
            key, message, hint = problem
            return (*path, key), message, hint
    sample = {name: {"const": 0 if part.sort == "int" else True} for name, part in template.parts.items()}
    try:
        read = read_claim(_substitute(pattern, sample, {name: SAMPLES[name] for name in template.needs}))
        if sort_of(read) != "bool":
            return (), "its value is no truth value", "compare it, as in `{op: ==, lhs: …, rhs: …}`"
    except SortError as error:
        return (), str(error), None
    except ClaimError as error:
        return error.path, str(error), error.hint
    names = [node.name for node in walk(read) if isinstance(node, Observe)]
    if "transform" not in template.needs and any(is_image(node) for node in walk(read)):
        message = "it reads a transformed state, but `needs` does not list `transform`"
        return (), message, "add `transform` to `needs`"
    if not template.cells and any(name in CELLWISE for name in names):
        return (), "it reads single cells, but `for_all` does not list `i`", "add `i: cells` to `for_all`"
    strange = [name for name in names if name not in CELLWISE and not is_name(name)]
    return ((), f"no law can define an observable {strange[0]!r}", None) if strange else None


def _misplaced(template: Template, node: Mapping[str, Any]) -> tuple[str, str, str | None] | None:
    """The key at which a part or field of a pattern means nothing, why, and what to try."""
    key = "part" if "part" in node else "field"
    known: Collection[str] = template.parts if key == "part" else template.needs
    if (key == "part" or set(node) == {"field"}) and not (isinstance(node[key], str) and node[key] in known):
        message = f"{node[key]!r} is neither a part nor a field that `needs` lists"
        return key, message, _meant(str(node[key]), [*template.parts, *template.needs], "parts and fields")
    if key == "field":
        return None
    part = template.parts[node["part"]]
    if set(node) - {"part", "at"}:
        return sorted(set(node) - {"part", "at"})[0], "a part has no other keys than `part` and `at`", None
    at = node.get("at", "t")
    if not isinstance(at, str) or at not in MOMENTS:
        return "at", f"{at!r} is no step at which a part can be read", f"write `t` or `t + 1` to `t + {AHEAD}`"
    ahead = MOMENTS[at] + max(MOMENTS.get(moment, 0) for moment in part.reads)
    if ahead > AHEAD:
        message = f"`{node['part']}` then reads t + {ahead}, more than {AHEAD} steps ahead"
        return "at", message, "take a smaller step, here or in the `reads` of the part"
    return None


def _mappings(pattern: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """The mappings of a pattern with their paths, from the root down."""
    if isinstance(pattern, Mapping):
        yield path, pattern
        for key, value in pattern.items():
            yield from _mappings(value, (*path, key))


def _filled(pattern: Any, parts: Mapping[str, Node], fields: Mapping[str, Any]) -> Any:
    return _substitute(pattern, {name: to_json(node) for name, node in parts.items()}, fields)


def _substitute(pattern: Any, parts: Mapping[str, Any], fields: Mapping[str, Any]) -> Any:
    if not isinstance(pattern, Mapping):
        return pattern
    if set(pattern) == {"field"}:
        return fields[pattern["field"]]
    if "part" in pattern:
        return to_json(move(read_claim(parts[pattern["part"]]), MOMENTS[pattern.get("at", "t")]))
    return {key: _substitute(value, parts, fields) for key, value in pattern.items()}


def _match(pattern: Any, claim: Any, fields: Mapping[str, Any], fitted: dict[str, Node]) -> None:
    """Find what stands for each part."""
    if not isinstance(pattern, Mapping):
        if type(pattern) is not type(claim) or pattern != claim:
            raise Mismatch(f"expected {_shown(pattern)}, found {_shown(claim)}")
    elif set(pattern) == {"field"}:
        wanted = fields[pattern["field"]]
        if type(wanted) is not type(claim) or wanted != claim:
            raise Mismatch(f"`{pattern['field']}` is {_shown(wanted)}, but the claim has {_shown(claim)}")
    elif "part" in pattern:
        name, at = pattern["part"], pattern.get("at", "t")
        node = move(read_claim(claim), -MOMENTS[at])
        if any(time.offset < 0 for _, time in reads(node)):
            raise Mismatch(f"here `{name}` is read at {at}")
        if fitted.setdefault(name, node) != node:
            raise Mismatch(f"`{name}` is not the same at both steps")
    elif isinstance(claim, Mapping) and set(pattern) == {"t_plus"}:
        _match(time_json(read_time(pattern)), claim, fields, fitted)
    elif not isinstance(claim, Mapping) or set(claim) != set(pattern):
        raise Mismatch(f"expected {_shown(pattern)}, found {_shown(claim)}")
    else:
        for key in pattern:
            _match(pattern[key], claim[key], fields, fitted)


def _shown(value: Any) -> str:
    """A piece of a claim, short."""
    if isinstance(value, Mapping):
        if "op" in value:
            return f"a claim with `{value['op']}`" if isinstance(value["op"], str) else "a comparison"
        return "an observable" if "obs" in value else "a constant" if "const" in value else "a time"
    return repr(value)
