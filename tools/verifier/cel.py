"""Evaluates expressions of specs (CEL profile v1): what each operator and macro does to values.

`evaluate(parse(text), names, functions)`. Values are ints of 64 bits, floats, texts, bools, None, lists and dicts. An
expression without a value raises `Failed` with the code and the place that a receipt holds. Trees become functions
of a context and of local names once, so that a loop does not look at tree nodes. All work counts against `BUDGET`.
"""

from tools.verifier.basis import CRASHES, Open
from tools.verifier.functions import FUNCTIONS, METHODS, takes
from tools.verifier.operators import OPERATIONS
from tools.verifier.syntax import NoExpression, node_count, parse  # noqa: F401 - who evaluates parses, too
from tools.verifier.values import BUDGET, Failed, Limited, checked_int, member_of

MOST_WORK, MOST_CALLS = 2_000_000, 100


class View(dict):
    """A record with values that follow from its fields, read like fields: `derived` is `{name: tree}`."""

    __slots__ = ("derived", "functions", "known", "outer")

    def __init__(self, fields, derived, outer, functions):
        super().__init__(fields)
        self.derived, self.outer, self.functions, self.known = derived, outer, functions, {}

    def __missing__(self, name):
        """A derived value, computed once; else what is visible beside the record, such as constants."""
        if name not in self.derived:
            return self.outer[name]
        if name not in self.known:
            self.known[name] = Context(self, self.functions).call(self.derived[name], (), ())
        return self.known[name]


class Context:
    """One evaluation: the names and functions that are visible, and the work that it has done."""

    __slots__ = ("calls", "functions", "names", "work")

    def __init__(self, names, functions):
        self.names, self.functions, self.calls, self.work = names, functions, 0, 0

    def spend(self, nodes):
        """Do so much work. An evaluation is bounded too, and the engine counts a little otherwise: near that, stop."""
        BUDGET.spend(nodes)
        self.work += nodes
        if self.work > MOST_WORK:
            raise Open("E_WORK", "an expression takes about as much work as one may")

    def call(self, tree, params, args):
        """The value of the body of a function, in which nothing but its parameters is local."""
        self.calls += 1
        if self.calls > MOST_CALLS:
            raise Open("E_SPECS", "functions call one another too deep")
        self.spend(tree.weight)
        try:
            return runner(tree, params)(self, dict(zip(params, args)))
        except Failed as failed:
            if failed.text is None:
                failed.text = tree.text
            raise
        finally:
            self.calls -= 1


def evaluate(tree, names, functions=None):
    """The value of a parsed expression.

    Args:
        tree: What `parse` made.
        names: A mapping of everything visible: variables, constants.
        functions: Functions of specs, `{name: (params, tree)}`, and further native ones, `{name: callable}`.
    """
    return Context(names, functions or {}).call(tree, (), ())


def runner(tree, params):
    """The function of a tree: of a context and local names; made once for each list of parameters."""
    made = tree.runs.get(params)
    if made is None:
        made = tree.runs[params] = compiled(tree.root, frozenset(params))
    return made


def compiled(node, local):
    """The function of a node; `local` are the names that macros and parameters give."""
    return FORMS[node[0]](node, local)


def placed_at(failed, start):
    """Say where an evaluation failed, unless that is known."""
    if failed.offset is None:
        failed.offset = start
    return failed


def compile_literal(node, local):
    value = node[2]
    return lambda context, names: value


def compile_name(node, local):
    name, start = node[2], node[1]
    if name in local:
        return lambda context, names: names[name]

    def read_name(context, names):
        try:
            return context.names[name]
        except KeyError:
            raise Open("E_SPECS", f"the name {name} means nothing to this file (at {start})") from None

    return read_name


def selected(value, key, start):
    """`value.key`, of a map, a record, or a record with derived values."""
    if isinstance(value, dict):
        if key in value:
            return value[key]
        if isinstance(value, View) and key in value.derived:
            return value[key]
        raise Failed("E_EVAL_NO_SUCH_KEY", start)
    raise Failed("E_EVAL_TYPE", start)


def compile_select(node, local):
    start, key = node[1], node[3]
    operand = compiled(node[2], local)
    return lambda context, names: selected(operand(context, names), key, start)


def compile_has(node, local):
    start, key = node[1], node[3]
    operand = compiled(node[2], local)

    def has(context, names):
        value = operand(context, names)
        if not isinstance(value, dict):
            raise Failed("E_EVAL_TYPE", start)
        return key in value or (isinstance(value, View) and key in value.derived)

    return has


def compile_index(node, local):
    start = node[1]
    operand, index = compiled(node[2], local), compiled(node[3], local)

    def item(context, names):
        value, at = operand(context, names), index(context, names)
        if isinstance(value, list):
            at = int(at) if type(at) is float and at.is_integer() else at
            if type(at) is not int:
                raise Failed("E_EVAL_TYPE", start)
            if 0 <= at < len(value):
                return value[at]
            raise Failed("E_EVAL_INDEX", start)
        if isinstance(value, dict):
            found = member_of(at, value)
            if found is not None:
                return value[found[0]]
            if isinstance(value, View) and type(at) is str and at in value.derived:
                return value[at]
            raise Failed("E_EVAL_NO_SUCH_KEY", start)
        raise Failed("E_EVAL_TYPE", start)

    return item


def compile_unary(node, local):
    start, operator = node[1], node[2]
    operand = compiled(node[3], local)

    def negated(context, names):
        value = operand(context, names)
        if operator == "!":
            if type(value) is bool:
                return not value
        elif type(value) is int:
            return checked_int(-value, start)
        elif type(value) is float:
            return -value
        raise Failed("E_EVAL_TYPE", start)

    return negated


def compile_binary(node, local):
    start, operator = node[1], node[2]
    first, second, apply = compiled(node[3], local), compiled(node[4], local), OPERATIONS[operator]

    def operation(context, names):
        a, b = first(context, names), second(context, names)
        if type(b) is list:
            context.spend(len(b))
        return apply(a, b, start)

    return operation


def decide(deciding, results, context, start):
    """The first operand that decides wins, whatever failed before it; else the first failure; else the other bool."""
    first = None
    for run, names, begin in results:
        try:
            value = run(context, names)
            if type(value) is not bool:
                raise Failed("E_EVAL_TYPE", begin)
        except Limited:
            raise
        except Failed as failed:
            first = first or failed
            continue
        if value is deciding:
            return deciding
    if first is not None:
        raise first
    return not deciding


def compile_logic(node, local):
    start, deciding = node[1], node[2] == "||"
    operands = [(compiled(one, local), one[1]) for one in node[3]]
    return lambda context, names: decide(deciding, ((run, names, at) for run, at in operands), context, start)


def test(run, context, names, start):
    """A condition, which must be a bool."""
    value = run(context, names)
    if type(value) is bool:
        return value
    raise Failed("E_EVAL_TYPE", start)


def compile_choice(node, local):
    start = node[2][1]
    condition, then, other = (compiled(one, local) for one in node[2:5])
    return lambda context, names: (then if test(condition, context, names, start) else other)(context, names)


def compile_list(node, local):
    items = [compiled(one, local) for one in node[2]]
    return lambda context, names: [run(context, names) for run in items]


def compile_map(node, local):
    entries = [(compiled(key, local), compiled(value, local), key[1]) for key, value in node[2]]

    def record(context, names):
        made = {}
        for key_of, value_of, start in entries:
            key = key_of(context, names)
            if key in made:
                raise Failed("E_EVAL_ARGUMENT", start)
            made[key] = value_of(context, names)
        return made

    return record


def compile_macro(node, local):
    _, start, kind, target_node, name, wanted_node, body_node = node
    target, inside = compiled(target_node, local), local | {name}
    body, at = compiled(body_node, inside), body_node[1]
    wanted = None if wanted_node is None else compiled(wanted_node, inside)
    weight = node_count(body_node) + (node_count(wanted_node) if wanted_node else 0)

    def loop(context, names):
        items = target(context, names)
        if type(items) is not list and (not isinstance(items, dict) or kind in ("map", "filter")):
            raise Failed("E_EVAL_TYPE", start)
        context.spend(len(items) * weight)
        scope = {**names}

        def each():
            for value in items:
                scope[name] = value
                yield value

        if kind in ("all", "exists"):
            return decide(kind == "exists", ((body, scope, at) for _ in each()), context, start)
        if kind == "exists_one":
            return [test(body, context, scope, at) for _ in each()].count(True) == 1
        if kind == "filter":
            return [value for value in each() if test(body, context, scope, at)]
        if wanted is None:
            return [body(context, scope) for _ in each()]
        return [body(context, scope) for _ in each() if test(wanted, context, scope, wanted_node[1])]

    return loop


def dotted_name(node):
    """`a.b` where a node is names and dots, else None."""
    if node[0] == "select":
        before = dotted_name(node[2])
        return None if before is None else f"{before}.{node[3]}"
    return node[2] if node[0] == "name" else None


def cells_in(value):
    """The elements of a list, and of the lists in it: what a function may look at."""
    return len(value) * (len(value[0]) if value and type(value[0]) is list else 1)


def compile_call(node, local):
    _, start, name, target, args = node
    native, known_as = None, name
    if target is not None:
        prefix = dotted_name(target)
        if prefix is not None and prefix.split(".")[0] not in local and f"{prefix}.{name}" in FUNCTIONS:
            known_as = f"{prefix}.{name}"
            native = FUNCTIONS[known_as]
        elif name in METHODS:
            native, args = METHODS[name], (target, *args)
        else:
            raise NoExpression(f"there is no method {name}", name)
    given, own = [compiled(one, local) for one in args], native or FUNCTIONS.get(name)

    def call(context, names):
        values = [one(context, names) for one in given]
        function = native or context.functions.get(name) or own
        if function is None:
            raise Open("E_SPECS", f"the function {name} means nothing to this file")
        if type(function) is tuple:
            params, tree = function
            if len(params) != len(values):
                raise Open("E_SPECS", f"the function {name} has another number of arguments")
            return context.call(tree, params, values)
        if function is own and not takes(known_as, values):
            raise Failed("E_EVAL_TYPE", start)
        work = 0
        for one in values:
            work += cells_in(one) if type(one) is list else 1
        context.spend(work)
        try:
            return function(*values)
        except Failed as failed:
            raise placed_at(failed, start) from None
        except CRASHES as error:
            raise Open("E_SPECS", f"the function {name} cannot take such values: {error!r}"[:200]) from None

    return call


FORMS = {
    "literal": compile_literal,
    "name": compile_name,
    "select": compile_select,
    "has": compile_has,
    "index": compile_index,
    "unary": compile_unary,
    "binary": compile_binary,
    "logic": compile_logic,
    "choice": compile_choice,
    "list": compile_list,
    "map": compile_map,
    "macro": compile_macro,
    "call": compile_call,
}
