"""Checked trees to Python expressions.

Plain subscripts and operators where types prove them right, a check where a result may leave 64 bits or an index may
be negative, and a call of the exact operation where types are dynamic. The result may raise anything where the exact
evaluation fails, and otherwise has the exact value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from specledger.core.clock import READERS
from specledger.expr.check import analysis, tree
from specledger.expr.check.relations import conforms
from specledger.expr.check.tree import Instance, Typed, Value, parts, repeatable
from specledger.expr.check.types import BOOL, DYN, IntType, ListType
from specledger.expr.errors import E_EVAL_INDEX, EvaluationError
from specledger.expr.eval.builtins import STANDARD
from specledger.expr.eval.values import Reached, item, present, select, wrong_type
from specledger.expr.generate.fast_forms import MOST_LEVELS, FastForms, constants_of
from specledger.expr.generate.source import Frame, Meter, Source

_INLINE_NODES = 40
_INLINE_DEPTH = 2
_LOOPS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "all": ((), ("if not {body}:", "    return False"), "return True"),
    "exists": ((), ("if {body}:", "    return True"), "return False"),
    "exists_one": (("n = 0",), ("if {body}:", "    n += 1"), "return n == 1"),
    "map": (("n = []",), ("n.append({body})",), "return n"),
    "filter": (("n = []",), ("if {body}:", "    n.append({item})"), "return n"),
}
"""Macro -> lines before the loop, for each item, and after it."""


class Renderer(FastForms):
    """Renders trees into one module; with a meter, every charged collection is counted."""

    def __init__(self, source: Source, meter: Meter | None = None) -> None:
        self.source = source
        self.meter = meter
        self._instances: dict[tuple[Instance, bool], str] = {}

    def render(self, node: Typed, frame: Frame) -> str:
        """The node as an atom of Python; what is nested too deep for Python's parser becomes a function of its own."""
        if frame.level >= MOST_LEVELS and parts(node):
            inner = Frame({}, self.source.scoped(), outer=frame)
            lines = [f"return {_FORMS[type(node)](self, node, inner)}"]
            return f"{self._shared('part', [*inner.handed.values()], lines)}({', '.join(inner.handed)})"
        frame.level += 1
        text = _FORMS[type(node)](self, node, frame)
        frame.level -= 1
        return text

    # -- fields and items

    def _field(self, node: tree.Field, frame: Frame) -> str:
        operand, key = self.render(node.operand, frame), self.source.constant(node.key)
        if node.operand.type == DYN:
            return f"{self.source.bind(select)}({operand}, {key})"
        return f"{operand}[{key}]"

    def _present(self, node: tree.Present, frame: Frame) -> str:
        operand, key = self.render(node.operand, frame), self.source.constant(node.key)
        if node.operand.type == DYN:
            return f"{self.source.bind(present)}({operand}, {key})"
        return f"({key} in {operand})"

    def _item(self, node: tree.Item, frame: Frame) -> str:
        operand = self.render(node.operand, frame)
        index = self.render(node.index, frame)
        if DYN in (node.operand.type, node.index.type):
            return f"{self.source.bind(item)}({operand}, {index})"
        if not isinstance(node.operand.type, ListType):
            return f"{operand}[{index}]"
        if isinstance(node.index.type, IntType) and node.index.type.low >= 0:
            return f"{operand}[{index}]"
        first, again = self.again(index, frame)
        return f"{operand}[{again} if {first} >= 0 else {self.source.bind(_negative_index)}()]"

    # -- operators

    def _operation(self, node: tree.Operation, frame: Frame) -> str:
        return self._spent_text(node, self.operation(node, self._charged(node, frame), frame))

    def _truth(self, node: Typed, frame: Frame) -> str:
        """A condition; a dynamic one must turn out to be a bool."""
        rendered = self.render(node, frame)
        return rendered if node.type == BOOL else f"{self.source.bind(_bool)}({rendered})"

    def _junction(self, node: tree.Junction, frame: Frame) -> str:
        word = " and " if node.operator == "&&" else " or "
        return "(" + word.join(self._truth(arg, frame) for arg in node.args) + ")"

    def _choice(self, node: tree.Choice, frame: Frame) -> str:
        condition = self._truth(node.condition, frame)
        then, otherwise = self.render(node.then, frame), self.render(node.otherwise, frame)
        return f"({then} if {condition} else {otherwise})"

    def _make_list(self, node: tree.MakeList, frame: Frame) -> str:
        values = constants_of(node)
        if values is not None:
            return self.source.bind(values, "constant")
        return "[" + ", ".join(self.render(part, frame) for part in node.items) + "]"

    def _make_map(self, node: tree.MakeMap, frame: Frame) -> str:
        pairs = [(self.render(key, frame), self.render(value, frame)) for key, value in node.entries]
        if all(isinstance(key, Value) for key, _ in node.entries):
            return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
        listed = ", ".join(f"({key}, {value})" for key, value in pairs)
        return f"{self.source.bind(_map)}([{listed}])"

    # -- macros

    def _loop(self, node: tree.Loop, frame: Frame) -> str:
        """A function with a plain loop: what it reads from around it is handed in, and looked up once."""
        over = self.spent(self._items(node.target, frame), node.weight)
        inner = Frame({}, self.source.scoped(), outer=frame)
        item = inner.fresh()
        before, body_lines, after = _LOOPS[node.kind]
        lines, indent = [*before, f"for {item} in c:"], "    "
        inner.slots[node.slot] = item
        if node.condition is not None:
            lines.append(f"{indent}if {self._truth(node.condition, inner)}:")
            indent += "    "
        body = self.render(node.body, inner) if node.kind == "map" else self._truth(node.body, inner)
        lines += [*(indent + line.format(body=body, item=item) for line in body_lines), after]
        name = self._shared(node.kind, ["c", *inner.handed.values()], lines)
        return f"{name}({', '.join([over, *inner.handed])})"

    def _fold(self, node: tree.Fold, frame: Frame) -> str:
        """A loop that sets the accumulator anew for each item."""
        over, initial = self.spent(self._items(node.target, frame), node.weight), self.render(node.initial, frame)
        inner = Frame({}, self.source.scoped(), outer=frame)
        value, item = inner.fresh(), inner.fresh()
        inner.slots.update({node.accumulator: value, node.slot: item})
        body = self.render(node.body, inner)
        lines = [f"for {item} in c:", f"    {value} = {body}", f"return {value}"]
        name = self._shared("reduce", ["c", value, *inner.handed.values()], lines)
        return f"{name}({', '.join([over, initial, *inner.handed])})"

    def _search(self, node: tree.Search, frame: Frame) -> str:
        """A loop over what is reached, which the body makes longer."""
        origins = self.spent(self._items(node.origins, frame), 1)
        inner = Frame({}, self.source.scoped(), outer=frame)
        item = inner.fresh()
        inner.slots[node.slot] = item
        successors = self.spent(self._items(node.body, inner), 1)
        reached = f"n = {self.source.bind(Reached, 'reached')}(c, {node.limit})"
        charged = [] if self.meter is None else [f"    {self.spent('[0]', node.weight)}"]
        lines = [reached, f"for {item} in n:", *charged, f"    n.extend({successors})", "return n.values()"]
        name = self._shared("closure", ["c", *inner.handed.values()], lines)
        return f"{name}({', '.join([origins, *inner.handed])})"

    def _items(self, target: Typed, frame: Frame) -> str:
        """What a loop goes over."""
        rendered = self.render(target, frame)
        if isinstance(target, tree.NativeCall) and target.native is STANDARD["range"] and rendered.startswith("list("):
            return rendered.removeprefix("list(").removesuffix(")")
        return f"{self.source.bind(_looped)}({rendered})" if target.type == DYN else rendered

    def spent(self, rendered: str, cost: int) -> str:
        """A collection, charged for."""
        return rendered if self.meter is None else f"{self.source.bind(self.meter.spend, 'spend')}({rendered}, {cost})"

    def _spent_text(self, node: Typed, rendered: str) -> str:
        """What a node makes, charged for if that is a text."""
        if self.meter is None or not analysis.made_text(node):
            return rendered
        return f"{self.source.bind(self.meter.spend_text, 'spend_text')}({rendered})"

    def _charged(self, node: tree.Operation | tree.NativeCall, frame: Frame) -> list[str]:
        """The arguments of a node, of which the meter is charged for those that cost by their size."""
        args = [self.render(arg, frame) for arg in node.args]
        if self.meter is not None:
            for collection, cost in analysis.charged(node):
                index = node.args.index(collection)
                args[index] = self.spent(args[index], cost)
        return args

    # -- calls

    def _native(self, node: tree.NativeCall, frame: Frame) -> str:
        args = self._charged(node, frame)
        fast = None if node.accepts else self.native(node, args, frame)
        if fast is None:
            call = _accepting(node) if node.accepts else node.native.fast or node.native.call
            name = self.source.bind(call, node.native.name)
            self.source.names.pure.add(name)
            if node.native.written is not None and not node.accepts:
                self.source.names.written[name] = node.native.written
            fast = f"{name}({', '.join(args)})"
        return self.spent(fast, 1) if isinstance(node.type, ListType) else self._spent_text(node, fast)

    def _defined(self, node: tree.DefinedCall, frame: Frame) -> str:
        instance = node.instance
        args = [self.render(arg, frame) for arg in node.args]
        record = self.render(node.record, frame) if node.record is not None else None
        small = instance.nodes <= _INLINE_NODES and frame.depth < _INLINE_DEPTH
        if small and all(map(repeatable, node.args)) and (node.record is None or repeatable(node.record)):
            return self._in_place(node, args, record, frame)
        given = [*args, record] if record else [*args, *(frame.variable(capture.name) for capture in instance.captures)]
        return f"{self._function(instance, record is not None)}({', '.join(given)})"

    def _in_place(self, node: tree.DefinedCall, args: list[str], record: str | None, frame: Frame) -> str:
        """The body instead of the call: its arguments cannot fail and cost nothing to write again."""
        names = [capture.name for capture in node.instance.captures]
        captured = {
            name: f"{record}[{self.source.constant(name)}]" if record else frame.variable(name) for name in names
        }
        body = Frame(captured, frame.fresh, depth=frame.depth + 1, level=frame.level)
        body.slots.update(zip(node.instance.params, args, strict=True))
        return self.render(node.instance.body, body)

    def _function(self, instance: Instance, of_record: bool) -> str:
        """The name of the function that a definition has become."""
        key = (instance, of_record)
        if key not in self._instances:
            params = [f"a{index}" for index in range(len(instance.params))]
            names = [capture.name for capture in instance.captures]
            given = ["r"] if of_record else [f"b{index}" for index in range(len(names))]
            sources = [f"r[{self.source.constant(name)}]" for name in names] if of_record else given
            body = Frame(dict(zip(names, sources, strict=True)), self.source.scoped())
            body.slots.update(zip(instance.params, params, strict=True))
            line = f"return {self.render(instance.body, body)}"
            self._instances[key] = self._shared(instance.name, params + given, [line])
        return self._instances[key]

    def _shared(self, hint: str, params: list[str], lines: list[str]) -> str:
        self.source.names.locals.update(params)
        name = self.source.define(hint, params, lines, shared=True)
        if self.meter is None:
            self.source.names.pure.add(name)
        return name


def _negative_index() -> NoReturn:
    raise EvaluationError(E_EVAL_INDEX, "a negative index")


def _bool(value: Any) -> bool:
    return value if type(value) is bool else wrong_type("a condition", value)


def _looped(value: Any) -> Any:
    return value if type(value) is list else wrong_type("a macro", value)


def _map(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    entries = dict(pairs)
    return entries if len(entries) == len(pairs) else wrong_type("a map", pairs)


def _accepting(node: tree.NativeCall) -> Callable[..., Any]:
    """A native that looks at its dynamic arguments first."""
    rows, call, name = node.accepts, node.native.call, node.native.name

    def checked(*args: Any) -> Any:
        return call(*args) if any(all(map(conforms, args, row)) for row in rows) else wrong_type(name, *args)

    return checked


_FORMS: Mapping[type, Callable[[Renderer, Any, Frame], str]] = {
    Value: lambda render, node, frame: render.source.constant(node.value),
    tree.Variable: lambda render, node, frame: frame.variable(node.name),
    tree.ClockRead: lambda render, node, frame: f"{render.source.bind(READERS[node.name], 'clock')}()",
    tree.Local: lambda render, node, frame: frame.slot(node.slot),
    tree.Field: Renderer._field,
    tree.Present: Renderer._present,
    tree.Item: Renderer._item,
    tree.Operation: Renderer._operation,
    tree.Junction: Renderer._junction,
    tree.Choice: Renderer._choice,
    tree.MakeList: Renderer._make_list,
    tree.MakeMap: Renderer._make_map,
    tree.Loop: Renderer._loop,
    tree.Fold: Renderer._fold,
    tree.Search: Renderer._search,
    tree.NativeCall: Renderer._native,
    tree.DefinedCall: Renderer._defined,
}
