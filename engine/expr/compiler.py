"""Checked expressions to Python callables that are fast and exact.

Decides who has the last word: the fast function runs first, and whenever it raises anything, the exact one gives the
value or the error. So functions that a caller composes must change nothing outside before they return. Refuses to know
what is composed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from engine.expr.checker import Checked
from engine.expr.emitter import Emitter
from engine.expr.evaluator import evaluate


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
    lines = ["try:", f"    return {emitter.expression(checked, names)}", "except Exception:"]
    lines.append(f"    return {emitter.bind(exactly, 'exactly')}({', '.join(params)})")
    name = emitter.function("expression", params, lines)
    return emitter.build()[name]


def compile_function(compose: Callable[[Emitter], str]) -> Callable[..., Any]:
    """One composed function.

    Args:
        compose: Adds functions to an emitter and returns the name of one; it is called twice, with a fast and with an
            exact emitter, and must do the same both times.
    """
    return compile_functions(lambda emitter: {"": compose(emitter)})[""]


def compile_functions(compose: Callable[[Emitter], Mapping[str, str]]) -> dict[str, Callable[..., Any]]:
    """Several composed functions of one module.

    Args:
        compose: As for `compile_function`, but returns key -> name.

    Returns:
        key -> function.
    """
    fast, exact = Emitter(), Emitter(exact=True)
    fast_names, exact_names = compose(fast), compose(exact)
    fast_functions, exact_functions = fast.build(), exact.build()
    return {key: decided(fast_functions[name], exact_functions[exact_names[key]]) for key, name in fast_names.items()}


def decided(fast: FunctionType, exact: FunctionType) -> Callable[..., Any]:
    """The fast function of a module, with the exact one deciding whenever it raises."""
    emitter = Emitter()
    params = [emitter.local() for _ in range(fast.__code__.co_argcount)]
    given = ", ".join(params)
    lines = ["try:", f"    return {emitter.bind(fast)}({given})", "except Exception:"]
    name = emitter.function("decided", params, [*lines, f"    return {emitter.bind(exact)}({given})"])
    return emitter.build()[name]
