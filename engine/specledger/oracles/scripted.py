"""A model that follows a script.

An answer depends on the request alone, so that the same request gets the same answer everywhere. Source: law proposer,
section 13, MockGeminiClient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.diagnostics import Diagnostic, Diagnostics, Rejected
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.expr import BOOL, INT, STRING, Environment, EvaluationError, ListType, Type, compile_expression
from specledger.lang.scope import Scope
from specledger.load import Resolved
from specledger.oracles.failures import EXHAUSTED, MOST_TEXT, TOO_LARGE
from specledger.oracles.model import ModelAnswer, ModelRequest, answered, estimated_usage, failed
from specledger.spec.model import Script, ScriptedFailure, ScriptedLaws, ScriptedText

Condition = Callable[[ModelRequest], bool]
"""Whether a rule answers a request."""

NAMES: Final[Mapping[str, Type]] = {
    "turn": INT,
    "count": INT,
    "prompt": STRING,
    "accepted": ListType(STRING),
    "falsified": ListType(STRING),
    "unknown": ListType(STRING),
}
"""What the condition of a rule may read: of the request, and of what the asker knew."""


class ScriptedModel:
    """Answers from a script."""

    def __init__(self, script: Script, conditions: Sequence[Condition] = ()) -> None:
        """Follow a script; it has a condition for every rule."""
        self._script = script
        self._conditions = tuple(conditions)

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """What the script says."""
        script = self._script
        for rule, holds in zip(script.rules, self._conditions, strict=True):
            if holds(request):
                return _rendered(rule.answer, request)
        number, turn = len(script.answers), request.turn
        if turn < number:
            return _rendered(script.answers[turn], request)
        if script.then == "exhausted":
            return failed(EXHAUSTED, f"the script has {number} answers")
        return _rendered(script.answers[-1 if script.then == "repeat" else turn % number], request)


def check_script(script: Script, source: Resolved, diagnostics: Diagnostics) -> tuple[Condition, ...] | None:
    """The conditions of a script's rules, or None, with findings, if one of them, or a law, is wrong."""
    scope = Scope(Environment(variables=NAMES), source, diagnostics)
    places: list[tuple[Any, tuple[str | int, ...]]] = [
        (answer, ("scripted", "answers", index)) for index, answer in enumerate(script.answers)
    ]
    places += [(rule.answer, ("scripted", "rules", index, "answer")) for index, rule in enumerate(script.rules)]
    wrong = [_check_laws(answer, path, source, diagnostics) for answer, path in places]
    conditions = [_condition(scope, index) for index in range(len(script.rules))]
    checked = tuple(condition for condition in conditions if condition is not None)
    return None if any(wrong) or len(checked) < len(conditions) else checked


def _check_laws(answer: Any, path: tuple[str | int, ...], source: Resolved, diagnostics: Diagnostics) -> bool:
    """Whether laws of a script cannot be written as JSON; that is a finding."""
    if not isinstance(answer, ScriptedLaws):
        return False
    try:
        _written(answer)
    except NotCanonical as error:
        diagnostics.error(error.code, error.message, source.span(*path, "laws"))
        return True
    return False


def _condition(scope: Scope, index: int) -> Condition | None:
    checked = scope.expression("scripted", "rules", index, "when", expect=BOOL)
    if checked is None:
        return None
    run = compile_expression(checked, list(NAMES))

    def holds(request: ModelRequest) -> bool:
        known = request.known
        lists = [list(names) for names in (known.accepted, known.falsified, known.unknown)]
        try:
            return bool(run(request.turn, known.count, request.prompt, *lists))
        except EvaluationError as error:
            raise Rejected([Diagnostic(error.code, error.message, error.span)]) from None

    return holds


def _rendered(answer: ScriptedText | ScriptedLaws | ScriptedFailure, request: ModelRequest) -> ModelAnswer:
    if isinstance(answer, ScriptedFailure):
        usage = estimated_usage(request, answer.text or "")
        return failed(answer.failure, answer.detail, usage, None, answer.text)
    once = _written(answer) if isinstance(answer, ScriptedLaws) else answer.text
    if len(once) * answer.times > MOST_TEXT:
        return failed(TOO_LARGE, f"about {len(once) * answer.times} bytes", estimated_usage(request, ""))
    text = once * answer.times
    if isinstance(answer, ScriptedLaws):
        text = f"[{','.join([once] * answer.times)}]" if once else "[]"
    return answered(text, estimated_usage(request, text))


def _written(answer: ScriptedLaws) -> str:
    """The laws as members of a JSON array.

    Raises:
        NotCanonical: One of them has no JSON form.
    """
    return canonical_bytes([dict(law) for law in answer.laws], FLOATS_ANYWHERE).decode()[1:-1]
