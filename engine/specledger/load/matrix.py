"""`matrix`: one document, several cases, each a combination of arguments with a name."""

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Final
from urllib.parse import quote

from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.load.cases import Case
from specledger.load.document import Node
from specledger.load.findings import describe, place_of
from specledger.load.params import Param
from specledger.spec.base import MAX_NAME, FixedConstant, format_qfixed

_RANGE: Final = ("from", "to", "step")
MAX_CASES: Final = 4096
"""Cases of one matrix, `exclude` left out; also entries of `exclude`, each of which takes a case away."""

E_MATRIX_TYPE = code("E_MATRIX_TYPE", "A matrix that is written wrongly")
E_MATRIX_AXIS = code("E_MATRIX_AXIS", "A matrix over something that is no parameter")
E_MATRIX_EMPTY = code("E_MATRIX_EMPTY", "A matrix without a case")
E_MATRIX_EXCLUDE = code("E_MATRIX_EXCLUDE", "An exclusion that excludes nothing")
E_MATRIX_DUPLICATE = code("E_MATRIX_DUPLICATE", "Two cases of a matrix are the same")
E_MATRIX_SIZE = code("E_MATRIX_SIZE", "A matrix of too many cases")
E_MATRIX_ID = code("E_MATRIX_ID", "A case of a matrix whose id is too long")
E_MATRIX_PLACE = code("E_MATRIX_PLACE", "A matrix in a spec that is referred to")
E_MATRIX_CASE = code("E_MATRIX_CASE", "No case of a matrix has the values")
_SHOWN: Final = 6


def choose_cases(cases: tuple[Case, ...], values: str, owner: Node, diagnostics: Diagnostics) -> tuple[Case, ...]:
    """The cases that have some values, written as in their ids: `seed=1`, `seed=1,map=a`."""
    wanted = set(values.split(","))
    chosen = tuple(case for case in cases if wanted <= set(case.id.split(",")))
    if cases and not chosen:
        near = suggest(values, [case.id for case in cases])
        known = ", ".join(case.id for case in cases[:_SHOWN]) + (" and others" if len(cases) > _SHOWN else "")
        hint = f"did you mean `{near}`?" if near else f"there is {known}" if cases[0].id else "it has no matrix"
        diagnostics.error(E_MATRIX_CASE, f"no case has `{values}`", place_of(owner), hint=hint)
    return chosen


def expand(node: Node, params: Mapping[str, Param], diagnostics: Diagnostics) -> tuple[Case, ...]:
    """The cases of a matrix in order, the last axis changing fastest, those of `include` last; none of a wrong one."""
    findings = Diagnostics()
    cases = tuple(_Matrix(params, findings).cases(node))
    if not cases and not findings.has_errors and not node.flawed:
        findings.error(E_MATRIX_EMPTY, "the matrix has no case", node.key_span)
    diagnostics.extend(findings.sorted())
    return () if findings.has_errors else cases


class _Matrix:
    def __init__(self, params: Mapping[str, Param], diagnostics: Diagnostics) -> None:
        self._params = params
        self._diagnostics = diagnostics

    def cases(self, node: Node) -> Iterator[Case]:
        if not node.is_mapping:
            self._refuse(node, "`matrix` is no mapping of params to lists")
            return
        members = dict(node.members)
        exclude, include = members.pop("exclude", None), members.pop("include", None)
        axes = {name: self._axis(name, axis) for name, axis in members.items()}
        count = prod(map(len, axes.values())) if axes else 0
        further, without = (0 if entries is None else len(entries.elements) for entries in (include, exclude))
        if count + further > MAX_CASES or without > MAX_CASES:
            message = f"the matrix has {count + further} cases"
            if without > MAX_CASES:
                message = f"the matrix excludes {without} times"
            self._diagnostics.error(E_MATRIX_SIZE, message, node.key_span, expected=f"at most {MAX_CASES}")
            return
        chosen = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())] if axes else []
        chosen = self._without(chosen, self._entries(exclude, tuple(axes)))
        chosen += self._entries(include, tuple(self._params))
        seen: dict[str, None] = {}
        for arguments in chosen:
            case = Case(self._id(arguments, tuple(axes)), arguments)
            if len(case.id) > MAX_NAME:
                message = f"the id of the case `{case.id[:40]}…` has {len(case.id)} characters"
                value = max(arguments.values(), key=lambda argument: len(str(argument.value)))
                self._diagnostics.error(E_MATRIX_ID, message, value.span, expected=f"at most {MAX_NAME} characters")
            if case.id in seen:
                self._diagnostics.error(E_MATRIX_DUPLICATE, f"the case `{case.id}` is there twice", node.key_span)
            seen[case.id] = None
            yield case

    def _without(self, cases: list[dict[str, Node]], excluded: list[dict[str, Node]]) -> list[dict[str, Node]]:
        """The cases that no entry excludes; one that excludes nothing more is reported."""
        having: dict[tuple[str, str], set[int]] = {}
        for number, case in enumerate(cases) if excluded else ():
            for name, value in case.items():
                having.setdefault((name, self._show(name, value)), set()).add(number)
        left = set(range(len(cases)))
        for entry in excluded:
            meant = [having.get((name, self._show(name, value)), set()) for name, value in entry.items()]
            gone = left.intersection(*sorted(meant, key=len))
            if not gone:
                self._diagnostics.error(E_MATRIX_EXCLUDE, "this excludes nothing", next(iter(entry.values())).span)
            left -= gone
        return [cases[number] for number in sorted(left)]

    def _axis(self, name: str, node: Node) -> list[Node]:
        if name not in self._params:
            self._report_unknown(name, node, tuple(self._params))
            return []
        if node.is_mapping:
            node = self._range(name, node)
        if not node.is_list:
            wrong = next((key for key in node.members if key not in _RANGE), None) if node.is_mapping else None
            near = None if wrong is None else suggest(wrong, _RANGE)
            hint = f"`{wrong}`: did you mean `{near}`?" if near else None
            self._refuse(node, f"the axis `{name}` is no list and no range `{{from, to, step}}`", hint)
            return []
        if not node.elements and not node.flawed:
            self._diagnostics.error(E_MATRIX_EMPTY, f"the axis `{name}` has no value", place_of(node))
        checked = [self._params[name].check(value, self._diagnostics) for value in node.elements]
        return [value for value in checked if value is not None]

    def _range(self, name: str, node: Node) -> Node:
        """The list that a range of integers stands for; another node, or too long a range, as it is."""
        members = node.members
        numbers = {key: bound.value for key, bound in members.items() if isinstance(bound.value, int)}
        if not {"from", "to"} <= set(numbers) == set(members) <= {*_RANGE}:
            return node
        if self._params[name].type != "int":
            return node
        low, high, step = numbers["from"], numbers["to"], numbers.get("step", 1)
        if step < 1 or high < low:
            wrong = "its step is less than 1" if step < 1 else "it ends before it begins"
            hint = f"write `{{from: {min(low, high)}, to: {max(low, high)}, step: {max(step, 1)}}}`"
            self._diagnostics.error(
                E_MATRIX_EMPTY, f"the range of `{name}` has no value: {wrong}", place_of(node), hint=hint
            )
            return replace(node, value=(), flawed=True)
        count = (high - low) // step + 1
        if count > MAX_CASES:
            message = f"the axis `{name}` has {count} values"
            self._diagnostics.error(E_MATRIX_SIZE, message, place_of(node), expected=f"at most {MAX_CASES}")
            count = 1
        first = members["from"]
        return replace(
            node, value=tuple(replace(first, value=low + step * number, key=None) for number in range(count))
        )

    def _entries(self, node: Node | None, names: tuple[str, ...]) -> list[dict[str, Node]]:
        """The mappings of `include` or `exclude`, as far as they are right."""
        if node is None:
            return []
        if not node.is_list:
            self._refuse(node, "`include` and `exclude` are lists")
            return []
        entries = []
        for element in node.elements:
            if not element.members:
                self._refuse(element, "an entry of `include` or `exclude` is a mapping of params to values")
                continue
            entry = {}
            for name, value in element.members.items():
                if name not in names:
                    self._report_unknown(name, value, names)
                elif (checked := self._params[name].check(value, self._diagnostics)) is not None:
                    entry[name] = checked
            if len(entry) == len(element.members):
                entries.append(entry)
        return entries

    def _id(self, arguments: Mapping[str, Node], axes: tuple[str, ...]) -> str:
        order = [name for name in (*axes, *self._params) if name in arguments]
        return ",".join(f"{name}={self._show(name, arguments[name])}" for name in dict.fromkeys(order))

    def _show(self, name: str, node: Node) -> str:
        """A value as ids show it: one spelling for each value, without what a file name or a shell would take ill."""
        value = node.value
        if self._params[name].type == "qfixed":
            value = format_qfixed(FixedConstant.model_validate({"qfixed": value}).qfixed)
        if isinstance(value, bool):
            return "true" if value else "false"
        return quote(str(value), safe="")

    def _report_unknown(self, name: str, node: Node, names: tuple[str, ...]) -> None:
        near = suggest(name, names)
        declare = f"declare `params: {{{name}: {{type: ...}}}}`, and write `${{{name}}}` where it is used"
        known = f"there is {', '.join(names)}" if names else declare
        hint = f"did you mean `{near}`?" if near else known
        self._diagnostics.error(E_MATRIX_AXIS, f"`{name}` cannot vary here", node.key_span, hint=hint)

    def _refuse(self, node: Node, message: str, hint: str | None = None) -> None:
        self._diagnostics.error(E_MATRIX_TYPE, message, place_of(node), found=describe(node), hint=hint)
