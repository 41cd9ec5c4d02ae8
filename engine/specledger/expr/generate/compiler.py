"""Checked expressions to Python callables that are fast and exact.

The fast function runs first; whenever it raises anything, a slower one computes the value or the error, in the end the
exact evaluator. So composed functions must have no effects before they return.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from specledger.expr.check.checker import Checked
from specledger.expr.eval.evaluator import evaluate
from specledger.expr.generate.emitter import Emitter


def compile_expression(checked: Checked, parameters: Sequence[str]) -> Callable[..., Any]:
    """A Python function of variables.

    Args:
        checked: The expression.
        parameters: Names of variables, in the order of the function's parameters; at least `checked.variables`.

    Returns:
        The function; it raises `EvaluationError` where the expression has no value.

    Raises:
        ValueError: A variable of the expression is not among the parameters.
    """
    order = tuple(parameters)

    def exactly(*values: Any) -> Any:
        return evaluate(checked, dict(zip(order, values, strict=True)))

    emitter = Emitter()
    names = {name: emitter.local(name) for name in order}
    params = [names[name] for name in order]
    lines = ["try:", f"    return {emitter.expression(checked, names)}", "except Exception:", "    pass"]
    lines.append(f"return {emitter.bind(exactly, 'exactly')}({', '.join(params)})")
    name = emitter.function("expression", params, lines)
    return emitter.build()[name]


def compile_function(compose: Callable[[Emitter], str]) -> Callable[..., Any]:
    """One composed function.

    Args:
        compose: Adds functions to an emitter and returns the name of one; it is called with a sized
            emitter, later perhaps with an exact and a fast one, and must do the same each time.
    """
    return compile_functions(lambda emitter: {"": compose(emitter)})[""]


def compile_functions(compose: Callable[[Emitter], Mapping[str, str]]) -> Mapping[str, Callable[..., Any]]:
    """Several composed functions of one module.

    Args:
        compose: As for `compile_function`, but returns key -> name; no two keys have one name.

    Returns:
        key -> function.
    """
    sized = Emitter(sized=True)
    names = compose(sized)
    slower = _later(compose, lambda: Emitter(exact=True), names, {})
    if sized.expects:
        slower = _later(compose, lambda: Emitter(shared=False), names, slower)
    built = sized.build({name: slower[key] for key, name in names.items()})
    return {key: built[name] for key, name in names.items()}


def _later(
    compose: Callable[[Emitter], Mapping[str, str]],
    begin: Callable[[], Emitter],
    keys: Iterable[str],
    slower: Mapping[str, Callable[..., Any]],
) -> dict[str, Callable[..., Any]]:
    """Functions that decide where faster ones raise: most never do, so these are made when the first one is called."""

    @cache
    def made() -> Mapping[str, Callable[..., Any]]:
        emitter = begin()
        names = compose(emitter)
        built = emitter.build({names[key]: function for key, function in slower.items()})
        return {key: built[name] for key, name in names.items()}

    def call(key: str, *given: Any) -> Any:
        return made()[key](*given)

    return {key: partial(call, key) for key in keys}
