"""The exact evaluator: walks the checked tree, in bounded work. Generated code must agree with it.

It does not rely on static types, except that a record has the fields of its type. Source: CEL language definition,
"Evaluation".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from specledger.core.clock import READERS
from specledger.core.spans import Text
from specledger.core.unknown import Unknown, unknown_within
from specledger.expr.check import tree
from specledger.expr.check.analysis import charged, made_text, size
from specledger.expr.check.checker import Checked
from specledger.expr.check.relations import conforms
from specledger.expr.check.tree import Slot, Typed, Value
from specledger.expr.check.types import ListType
from specledger.expr.errors import E_EVAL_ARGUMENT, E_EVAL_LIMIT, E_EVAL_NO_SUCH_KEY, EvaluationError
from specledger.expr.eval.values import OPERATORS, Reached, item, present, select, wrong_type
from specledger.expr.limits import CHARACTERS_OF_WORK, MAX_WORK


def evaluate(checked: Checked, bindings: Mapping[str, Any]) -> Any:
    """The value of an expression.

    Args:
        checked: The expression.
        bindings: A value that fits its type for each of `checked.variables`; values are not changed.

    Raises:
        EvaluationError: The expression has no value, or takes too much work.
        KeyError: A variable has no binding.
    """
    missing = checked.variables - bindings.keys()
    if missing:
        raise KeyError(f"variables without a value: {', '.join(sorted(missing))}")
    return _Evaluation(bindings, checked.text).run(checked.root)


def evaluate_within(checked: Checked, bindings: Mapping[str, Any], budget: int) -> tuple[Any, int]:
    """The value of one of many evaluations that share what work they may do, and what is left of that.

    Raises:
        EvaluationError: As `evaluate`; E_EVAL_LIMIT also if the budget does not suffice.
    """
    evaluation = _Evaluation(bindings, checked.text)
    evaluation.work = allowed = min(MAX_WORK, budget - size(checked.root).weight)
    if allowed < 0:
        raise EvaluationError(E_EVAL_LIMIT, "the evaluations take too much work", 0, checked.text)
    value = evaluation.run(checked.root)
    return value, budget - size(checked.root).weight - (allowed - evaluation.work)


def evaluate_known(checked: Checked, bindings: Mapping[str, Any]) -> Any:
    """The value of an expression, or Unknown with the first reason.

    Raises:
        EvaluationError: It has no value, whatever the unknown ones are.
    """
    try:
        return _Kleene(bindings, checked.text).run(checked.root)
    except _UnknownRead as read:
        return read.unknown


def touched(checked: Checked, bindings: Mapping[str, Any]) -> Unknown | None:
    """The first unknown among all that an expression may read, whether or not its value depends on it."""
    for path in sorted(checked.reads):
        value: Any = bindings.get(path[0])
        for name in path[1:]:
            value = value.get(name) if type(value) is dict else value
        unknown = unknown_within(value)
        if unknown is not None:
            return unknown
    return None


class _Evaluation:
    """One evaluation: the values of variables and slots, the text being read, the work left."""

    def __init__(self, variables: Mapping[str, Any], text: Text) -> None:
        self.variables = variables
        self.text = text
        self.slots: dict[Slot, Any] = {}
        self.work = MAX_WORK

    def run(self, node: Typed) -> Any:
        return _FORMS[type(node)](self, node)

    def apply(self, node: Typed, function: Callable[..., Any], *args: Any) -> Any:
        """Calls a function; an error that it raises is placed at the node."""
        try:
            return function(*args)
        except EvaluationError as error:
            if error.offset is None:
                error.offset, error.text = node.start, self.text
            raise

    def charge(self, node: Typed, count: int, cost: int) -> None:
        self.work -= count * cost
        if self.work < 0:
            raise EvaluationError(E_EVAL_LIMIT, "the evaluation takes too much work", node.start, self.text)

    def charge_args(self, node: tree.Operation | tree.NativeCall, args: list[Any]) -> None:
        for collection, cost in charged(node):
            value = args[node.args.index(collection)]
            self.charge(node, len(value) if isinstance(value, list | dict) else 1, cost)

    def charge_text(self, node: tree.Operation | tree.NativeCall, result: Any) -> None:
        if type(result) is str and made_text(node):
            self.charge(node, len(result) // CHARACTERS_OF_WORK, 1)

    def variable(self, node: tree.Variable) -> Any:
        if node.name in self.variables:
            return self.variables[node.name]
        raise EvaluationError(E_EVAL_NO_SUCH_KEY, f"there is no `{node.name}`", node.start, self.text)

    def operation(self, node: tree.Operation) -> Any:
        args = [self.run(arg) for arg in node.args]
        self.charge_args(node, args)
        result = self.apply(node, OPERATORS[node.operator], *args)
        self.charge_text(node, result)
        return result

    def absorbing(self, arg: Typed) -> bool | EvaluationError:
        """A bool, or the error in its place; exhausted work is never absorbed."""
        text, variables = self.text, self.variables
        try:
            value = self.run(arg)
            return value if type(value) is bool else bool(self.apply(arg, wrong_type, "&& or ||", value))
        except EvaluationError as error:
            if error.code == E_EVAL_LIMIT:
                raise
            self.text, self.variables = text, variables
            return error.bare()

    def decide(self, deciding: bool, args: Iterable[Typed]) -> bool:
        """The first operand that decides wins, whatever errors stand before it; else the first error."""
        first: EvaluationError | None = None
        for arg in args:
            result = self.absorbing(arg)
            if isinstance(result, EvaluationError):
                first = first or result
            elif result == deciding:
                return deciding
        if first is not None:
            try:
                raise first
            finally:
                del first  # else the frame and the traceback would hold each other, with all values
        return not deciding

    def test(self, node: Typed) -> bool:
        """A condition that must be a bool."""
        value = self.run(node)
        return bool(value) if type(value) is bool else bool(self.apply(node, wrong_type, "? or a predicate", value))

    def choice(self, node: tree.Choice) -> Any:
        return self.run(node.then if self.test(node.condition) else node.otherwise)

    def make_map(self, node: tree.MakeMap) -> Any:
        result: dict[Any, Any] = {}
        for key_node, value_node in node.entries:
            key = self.run(key_node)
            if key in result:
                raise EvaluationError(E_EVAL_ARGUMENT, "a key is given twice", key_node.start, self.text)
            result[key] = self.run(value_node)
        return result

    def loop(self, node: tree.Loop) -> Any:
        items = self.run(node.target)
        if type(items) is not list and (type(items) is not dict or node.kind in ("map", "filter")):
            self.apply(node, wrong_type, node.kind, items)
        self.charge(node, len(items), node.weight)
        return _MACROS[node.kind](self, node, items)

    def each(self, node: tree.Loop, items: Any) -> Iterator[Any]:
        for value in items:
            self.slots[node.slot] = value
            yield value

    def all(self, node: tree.Loop, items: Any) -> bool:
        return self.decide(False, (node.body for _ in self.each(node, items)))

    def exists(self, node: tree.Loop, items: Any) -> bool:
        return self.decide(True, (node.body for _ in self.each(node, items)))

    def exists_one(self, node: tree.Loop, items: Any) -> bool:
        return [self.test(node.body) for _ in self.each(node, items)].count(True) == 1

    def filter(self, node: tree.Loop, items: Any) -> list[Any]:
        return [value for value in self.each(node, items) if self.test(node.body)]

    def map(self, node: tree.Loop, items: Any) -> list[Any]:
        wanted = node.condition
        return [self.run(node.body) for _ in self.each(node, items) if wanted is None or self.test(wanted)]

    def listed(self, node: Typed, name: str) -> list[Any]:
        """The items of a list that a macro goes over."""
        items = self.run(node)
        return items if type(items) is list else self.apply(node, wrong_type, name, items)

    def fold(self, node: tree.Fold) -> Any:
        items, value = self.listed(node.target, "reduce"), self.run(node.initial)
        self.charge(node, len(items), node.weight)
        for element in items:
            self.slots[node.accumulator], self.slots[node.slot] = value, element
            value = self.run(node.body)
        return value

    def search(self, node: tree.Search) -> Any:
        origins = self.listed(node.origins, "closure")
        self.charge(node, len(origins), 1)
        reached = self.apply(node, Reached, origins, node.limit)
        for origin in reached:
            self.charge(node, 1, node.weight)
            self.slots[node.slot] = origin
            successors = self.listed(node.body, "closure")
            self.charge(node, len(successors), 1)
            self.apply(node, reached.extend, successors)
        return reached.values()

    def native(self, node: tree.NativeCall) -> Any:
        args = [self.run(arg) for arg in node.args]
        rows = node.accepts
        if rows and not any(all(map(conforms, args, row)) for row in rows):
            self.apply(node, wrong_type, node.native.name, *args)
        self.charge_args(node, args)
        result = self.apply(node, node.native.call, *args)
        if isinstance(node.type, ListType):
            self.charge(node, len(result), 1)
        self.charge_text(node, result)
        return result

    def defined(self, node: tree.DefinedCall) -> Any:
        """A body runs with its parameters in its slots; they cannot be in use, since there is no recursion."""
        values = [self.run(arg) for arg in node.args]
        text, variables = self.text, self.variables
        if node.record is not None:
            self.variables = self.run(node.record)
        self.text = node.instance.text
        self.slots.update(zip(node.instance.params, values, strict=True))
        result = self.run(node.instance.body)
        self.text, self.variables = text, variables
        return result


class _UnknownRead(EvaluationError):  # noqa: N818 - an outcome
    """An evaluation read a value that is unknown; whoever asks is given that instead."""

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(E_EVAL_NO_SUCH_KEY, unknown.reason)
        self.unknown = unknown


class _Kleene(_Evaluation):
    """An evaluation in which values may be unknown.

    Whatever reads an unknown value is unknown, but for `&&`, `||`, `all` and `exists`, which another operand may
    decide, and `?:`, which reads one branch. Generated code knows no unknown and runs wherever nothing is.
    """

    def run(self, node: Typed) -> Any:
        value = _FORMS[type(node)](self, node)
        if type(value) is Unknown:
            raise _UnknownRead(value)
        return value

    def apply(self, node: Typed, function: Callable[..., Any], *args: Any) -> Any:
        """Calls a function, which is strict: an unknown anywhere in an argument makes its value unknown.

        Fields and items are read of what has unknown members.
        """
        for arg in () if isinstance(node, tree.Field | tree.Present | tree.Item) else args:
            unknown = unknown_within(arg)
            if unknown is not None:
                raise _UnknownRead(unknown)
        return super().apply(node, function, *args)

    def decide(self, deciding: bool, args: Iterable[Typed]) -> bool:
        """The first operand that decides wins; else what is unknown, since it might decide; else the first error."""
        unknown: EvaluationError | None = None
        error: EvaluationError | None = None
        for arg in args:
            result = self.absorbing(arg)
            if isinstance(result, _UnknownRead):
                unknown = unknown or result
            elif isinstance(result, EvaluationError):
                error = error or result
            elif result == deciding:
                return deciding
        if unknown is not None or error is not None:
            raise unknown or error or AssertionError
        return not deciding


_FORMS: Mapping[type, Callable[[_Evaluation, Any], Any]] = {
    Value: lambda run, node: node.value,
    tree.Variable: _Evaluation.variable,
    tree.ClockRead: lambda run, node: READERS[node.name](),
    tree.Local: lambda run, node: run.slots[node.slot],
    tree.Field: lambda run, node: run.apply(node, select, run.run(node.operand), node.key),
    tree.Present: lambda run, node: run.apply(node, present, run.run(node.operand), node.key),
    tree.Item: lambda run, node: run.apply(node, item, run.run(node.operand), run.run(node.index)),
    tree.Operation: _Evaluation.operation,
    tree.Junction: lambda run, node: run.decide(node.operator == "||", node.args),
    tree.Choice: _Evaluation.choice,
    tree.MakeList: lambda run, node: [run.run(part) for part in node.items],
    tree.MakeMap: _Evaluation.make_map,
    tree.Loop: _Evaluation.loop,
    tree.Fold: _Evaluation.fold,
    tree.Search: _Evaluation.search,
    tree.NativeCall: _Evaluation.native,
    tree.DefinedCall: _Evaluation.defined,
}

_MACROS: Mapping[str, Callable[[_Evaluation, tree.Loop, Any], Any]] = {
    "all": _Evaluation.all,
    "exists": _Evaluation.exists,
    "exists_one": _Evaluation.exists_one,
    "filter": _Evaluation.filter,
    "map": _Evaluation.map,
}
