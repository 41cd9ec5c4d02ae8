"""A checked agent written as Python functions: its proposals, its score of an offer, and the lists that it draws from.

What is observed and remembered is read first, then each candidate is computed for every combination of its arguments,
with the state that it leads to where the agent predicts. An offer to break a rule is scored by the same expressions,
with `breach` true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from threading import Lock
from typing import Any, Final

from specledger.agents.agent import BREACH, MOST_COMBINATIONS, MOST_PROPOSALS, Agent, PlannedCandidate
from specledger.core.canonical import plain_form
from specledger.core.weight import Allowance, footprint
from specledger.expr import Emitter, EvaluationError, RecordType, Type, compile_function
from specledger.expr.check.analysis import work
from specledger.expr.check.tree import Path
from specledger.expr.errors import E_EVAL_LIMIT
from specledger.lang.bind import bind, charge_fields, emit_let, fields_of
from specledger.lang.declare import sealable
from specledger.lang.draws import drawn_sources, emit_list
from specledger.lang.effects import emit_fitting
from specledger.lang.scope import Let

MOST_KNOWN: Final = 8
"""Values that are kept of each expression under `let`."""
WORK_WORTH_KEEPING: Final = 64
"""Work from which the value of an expression is kept: less is done again as fast as it is found."""
MOST_KNOWN_MEMORY: Final = 4_000_000
"""Bytes, about, of one value of each of these expressions."""


def compile_propose(agent: Agent) -> Callable[[dict[str, Any], dict[str, Any]], list[dict[str, Any]]]:
    """`(observation, memory) -> proposals`, each `{action: {op, ...args}, score, ...claims}`, in the spec's order.

    An agent that draws is given the drawn values as a third argument.
    """

    def compose(emitter: Emitter) -> str:
        seen, memory, proposals = (emitter.local(hint) for hint in ("observation", "memory", "made"))
        drawn = [emitter.local("drawn")] if agent.draws else []
        sources = {**agent.memory.sources(emitter, seen, memory), **drawn_sources(agent.draws, *drawn)}
        lines, names = bind(emitter, _reads(agent), sources)
        allowance = Allowance()
        lines = [f"{emitter.bind(allowance.renew, 'renew')}()", *lines, *_emit_now(emitter, agent, seen, names)]
        if agent.state is not None:
            names[BREACH] = emitter.local(BREACH)
            lines.append(f"{names[BREACH]} = False")
        keep = emitter.bind(allowance.keep, "keep")
        lines += [*_emit_known(emitter, agent, names), f"{proposals} = []"]
        for candidate in agent.candidates:
            lines += _candidate_lines(emitter, agent, candidate, proposals, dict(names), keep)
        bound = emitter.bind(_bounded)
        return emitter.function("propose", [seen, memory, *drawn], [*lines, f"return {bound}({proposals})"])

    return compile_function(compose)


def compile_weigh(agent: Agent) -> Callable[..., int]:
    """`(observation, memory, action, predicted state, drawn values) -> score` of an action that breaks a rule.

    Raises:
        ValueError: The agent does not predict.
    """
    if agent.state is None:
        raise ValueError("an agent that does not predict cannot weigh what an offer leads to")

    def compose(emitter: Emitter) -> str:
        hints = ("observation", "memory", "action", "next", "drawn")
        seen, memory, action, after, drawn = (emitter.local(hint) for hint in hints)
        sources = {**agent.memory.sources(emitter, seen, memory), **drawn_sources(agent.draws, drawn)}
        lines, names = bind(emitter, _reads(agent), sources)
        lines += _emit_now(emitter, agent, seen, names)
        names |= {"action": action, "next": after, BREACH: emitter.local(BREACH)}
        lines += [f"{names[BREACH]} = True", *emit_let(emitter, agent.let, names)]
        lines += emit_let(emitter, agent.each, names)
        more, claimed = emit_fitting(emitter, agent.claims, agent.asked, names)
        names["claims"] = emitter.local("claims")
        lines += [*more, f"{names['claims']} = {claimed}", f"return {emitter.expression(agent.score, names)}"]
        return emitter.function("weigh", [seen, memory, action, after, drawn], lines)

    return compile_function(compose)


def compile_sources(agent: Agent) -> Callable[[Any, Any], list[list[Any]]]:
    """`(observation, memory) -> the lists that values are drawn from`, in the order of the draws."""

    def compose(emitter: Emitter) -> str:
        seen, memory = emitter.local("observation"), emitter.local("memory")
        read = frozenset[str]().union(*(draw.variables for draw in agent.draws))
        lines, names = bind(emitter, read, agent.memory.sources(emitter, seen, memory))
        lists = ", ".join(emit_list(emitter, draw, names) for draw in agent.draws)
        return emitter.function("sources", [seen, memory], [*lines, f"return [{lists}]"])

    return compile_function(compose)


def _emit_now(emitter: Emitter, agent: Agent, seen: str, names: dict[str, str]) -> list[str]:
    """The line that puts the state together from what is observed, for an agent that predicts."""
    if agent.state is None:
        return []
    names["now"] = emitter.local("now")
    fields = fields_of(emitter, seen, agent.state.fields).items()
    return [f"{names['now']} = {{{', '.join(f'{emitter.constant(name)}: {source}' for name, source in fields)}}}"]


def _emit_known(emitter: Emitter, agent: Agent, names: dict[str, str]) -> list[str]:
    """Lines as of `emit_let` for the agent's `let`, whose values are kept while what they read is the same object."""
    types = {**agent.memory.observation.fields, **agent.memory.type.fields, **agent.let.types}
    lines = []
    for name, checked in agent.let:
        if checked.clock or work(checked.root) < WORK_WORTH_KEEPING:  # the clock is nothing that it reads
            lines += emit_let(emitter, Let(((name, checked),)), names)
            continue
        read, result, local = (emitter.local(hint) for hint in ("read", "found", name))
        plain = all(path[0] in types and sealable(types[path[0]]) for path in checked.reads)  # draws have no type here
        known = KnownValues(MOST_KNOWN_MEMORY // len(agent.let.items), by_value=plain)
        find, keep = emitter.bind(known.find, "find"), emitter.bind(known.keep, "keep")
        sources = (_path_source(emitter, names, types, path) for path in sorted(checked.reads))
        lines += [
            f"{read} = ({''.join(f'{source}, ' for source in dict.fromkeys(sources))})",
            f"{result} = {find}({read})",
            f"if {result} is None:",
            f"    {result} = {keep}({read}, {emitter.expression(checked, names)})",
            f"{local} = {emitter.hold(checked, f'{result}[1]')}",
        ]
        names[name] = local
    return lines


def _path_source(emitter: Emitter, names: Mapping[str, str], types: Mapping[str, Type], path: Path) -> str:
    """Python source of the value at a path, or of the last value before a field that may be absent."""
    source, type_ = names[path[0]], types.get(path[0])
    for key in path[1:]:
        if not isinstance(type_, RecordType) or key not in type_.fields.keys() - type_.optional:
            break
        source, type_ = f"{source}[{emitter.constant(key)}]", type_.fields[key]
    return source


class KnownValues:
    """The last values of one expression, found by the identity of what it read, or by its value.

    An agent that is asked about many changes of one state reads mostly the same objects, which nobody changes in place,
    or others that are equal to them, as an observation makes them.

    Threads may share it: what is known is read in one operation, and kept under a lock.
    """

    def __init__(self, most: int = MOST_KNOWN_MEMORY, *, by_value: bool = False) -> None:
        """Know no values yet; those that take more memory than `most` bytes are never kept.

        What is read must hold no floats to be found by its value.
        """
        self._most = most
        self._by_value = by_value
        self._known: dict[tuple[int, ...], tuple[tuple[Any, ...], Any]] = {}
        self._equal: dict[bytes, Any] = {}
        self._size = 0
        self._sought: tuple[Any, bytes | None] = (), None  # what was looked for last, and its form
        self._lock = Lock()

    def find(self, read: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any] | None:
        """What was read, and the value; None if it is not known."""
        kept = self._known.get(tuple(map(id, read)))
        if kept is not None or not self._by_value:
            return kept
        form = plain_form(read)
        self._sought = read, form
        with self._lock:
            return None if form is None or form not in self._equal else self._remember(read, self._equal[form])

    def keep(self, read: tuple[Any, ...], value: Any) -> tuple[tuple[Any, ...], Any]:
        """Keep a value that was looked for and is not known."""
        size = footprint(value, self._most)
        if size > self._most:
            return read, value
        sought, form = self._sought
        with self._lock:
            # Unless another thread has looked for something since, or has kept the same.
            if sought is read and form is not None and form not in self._equal:
                size += len(form)
                if self._size + size > self._most:
                    self._equal.clear()
                    self._size = 0
                self._equal[form] = value
                self._size += size
            return self._remember(read, value)

    def _remember(self, read: tuple[Any, ...], value: Any) -> tuple[tuple[Any, ...], Any]:
        """Keep a value in place of the oldest; what was read is kept with it, so that its identities stay its own."""
        if len(self._known) >= MOST_KNOWN:
            del self._known[next(iter(self._known))]
        kept = self._known[tuple(map(id, read))] = read, value
        return kept


def _candidate_lines(
    emitter: Emitter, agent: Agent, candidate: PlannedCandidate, proposals: str, names: dict[str, str], keep: str
) -> list[str]:
    lists = [emitter.local("values") for _ in candidate.for_each]
    lines = []
    for listed, (_, values) in zip(lists, candidate.for_each, strict=True):
        lines += emitter.assign(listed, values, names)
    lines.append(f"{emitter.bind(_countable)}([{', '.join(lists)}])")
    args = []
    for depth, (listed, (name, _)) in enumerate(zip(lists, candidate.for_each, strict=True)):
        value = emitter.local(name)
        args.append(f"{emitter.constant(name)}: {value}")
        lines.append(f"{'    ' * depth}for {value} in {listed}:")
    action, claims = emitter.local("action"), emitter.local("claims")
    display = ", ".join([f"'op': {emitter.constant(candidate.op)}", *args])
    names["action"] = action
    inner = [f"{action} = {{{display}}}"]
    if candidate.when.text.value != "true":
        inner += [f"if not {emitter.expression(candidate.when, names)}:", "    continue"]
    if agent.state is not None:
        names["next"] = emitter.local("next")
        step, op = emitter.bind(agent.step, "step"), emitter.constant(candidate.op)
        inner.append(f"{names['next']} = {step}({names['now']}, {op}, {action}, {{}})[0]")
    inner += emit_let(emitter, agent.each, names)
    more, claimed = emit_fitting(emitter, agent.claims, agent.asked, names)
    inner += [*more, f"{claims} = {claimed}"]
    inner += charge_fields(emitter, keep, claims, agent.claims)
    names["claims"] = claims
    score = emitter.expression(agent.score, names)
    inner.append(f"{proposals}.append({{'action': {action}, 'score': {score}, **{claims}}})")
    if not candidate.for_each.items:
        lines, depth = [f"for {emitter.local('once')} in (None,):"], 1
    else:
        depth = len(candidate.for_each.items)
    return [*lines, *(f"{'    ' * depth}{line}" for line in inner)]


def _reads(agent: Agent) -> frozenset[str]:
    """Every variable that making proposals reads."""
    return frozenset[str]().union(*(checked.variables for checked in agent.expressions))


def _countable(lists: list[list[Any]]) -> None:
    if prod(map(len, lists)) > MOST_COMBINATIONS:
        raise EvaluationError(E_EVAL_LIMIT, f"a candidate combines its arguments in more than {MOST_COMBINATIONS} ways")


def _bounded(proposals: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(proposals) > MOST_PROPOSALS:
        raise EvaluationError(E_EVAL_LIMIT, f"a decision has more than {MOST_PROPOSALS} proposals")
    return proposals
