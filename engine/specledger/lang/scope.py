"""Scopes: the names that the expressions of one place in a spec may read, and the findings about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.diagnostics import MOST_FINDINGS, Diagnostic, Diagnostics, code, suggest
from specledger.core.spans import Span, Text
from specledger.expr.check.checker import Checked, check, check_body
from specledger.expr.check.environment import ENGINE_NAMES, RESERVED, Environment
from specledger.expr.check.excluded_names import NOT_DEFINED
from specledger.expr.check.types import BOOL, DOUBLE, FIXED, INT, MISTAKEN, Defined, FixedType, Type
from specledger.expr.parse.parser import parse
from specledger.lang.declare import DeclarationError, bound_type, read_constant, read_type, sealable
from specledger.lang.words import mentioned_in, named_in
from specledger.load import Resolved
from specledger.spec.types import BUILT_IN, TypeSpec
from specledger.spec.world import Function

E_NAME_TAKEN = code("E_NAME_TAKEN", "name already in use")
E_DECLARATION = code("E_DECLARATION", "invalid type or constant")
E_NOT_SEALABLE = code("E_NOT_SEALABLE", "value not allowed in a receipt")
E_LET_CYCLE = code("E_LET_CYCLE", "circular definition")

_TYPES: Final = {
    **dict.fromkeys(("float", "number", "real", "decimal"), "qfixed"),
    **dict.fromkeys(("str", "text"), "string"),
    **dict.fromkeys(("list", "array"), "{type: array, items: int, maxItems: 8}"),
    **dict.fromkeys(("dict", "map", "object"), "{type: object, properties: {n: int}}"),
}
"""Types of other languages, and what a spec has instead."""

Path = tuple[str | int, ...]


class Let(Struct, frozen=True):
    """Named expressions in an order in which each reads only those before it.

    Attributes:
        items: The names and their expressions.
        mistaken: The names whose expressions are wrong, which was reported.
        labels: Names that are only labels, because they mean something else to every expression.
    """

    items: tuple[tuple[str, Checked], ...] = ()
    mistaken: tuple[str, ...] = ()
    labels: frozenset[str] = frozenset()

    def __iter__(self) -> Iterator[tuple[str, Checked]]:
        """The names and their expressions, in order."""
        return iter(self.items)

    @property
    def variables(self) -> frozenset[str]:
        """The names that must be bound before: those read, without the ones defined here."""
        read = frozenset[str]().union(*(checked.variables for _, checked in self.items))
        return read - ({name for name, _ in self.items} - self.labels)

    @property
    def types(self) -> dict[str, Type]:
        """The static type of each name, those included whose expressions are wrong."""
        return {**{name: checked.type for name, checked in self.items}, **dict.fromkeys(self.mistaken, MISTAKEN)}


class Fields(Let, frozen=True):
    """Expressions under labels: none reads another, and a label may be the name of what its expression reads."""

    @property
    def variables(self) -> frozenset[str]:
        """The names that must be bound."""
        return frozenset[str]().union(*(checked.variables for _, checked in self.items))


class Scope(Struct, frozen=True):
    """An environment together with the spec whose expressions are read in it.

    Attributes:
        source: Where the expressions stand.
        diagnostics: Where findings go.
    """

    environment: Environment
    source: Resolved
    diagnostics: Diagnostics

    def within(self, /, **variables: Type) -> Scope:
        """The same scope with more variables, whose names the engine chose and no spec can take."""
        return replace(self, environment=self.environment.extend(variables=variables))

    def timed(self, clock: Mapping[str, Type]) -> Scope:
        """The same scope with names of the clock of the run, for expressions that are evaluated in a step."""
        return replace(self, environment=self.environment.timed(clock))

    def at(self, source: Resolved) -> Scope:
        """The same names, for the expressions of another spec."""
        return replace(self, source=source)

    def free(self, name: str, *path: str | int, called: bool = False) -> bool:
        """Whether a spec may give this name to something here; if not, that is a finding at `path`."""
        given = name in ENGINE_NAMES
        problem = "is a name that the engine gives" if given else self.environment.conflict(name, called=called)
        if problem is not None:
            self.diagnostics.refused.add(f"{name}()" if called else name)
            first = self.source.span("constants", name) if name in self.environment.constants else None
            related = (
                () if first is None or path[0] == "constants" else ((f"the constant {name!r} is defined here", first),)
            )
            hint = f"choose another, such as `own_{name}`: `spec explain {name}` says where it means something"
            message, span = f"{name!r} {problem}", self.source.span(*path)
            self.diagnostics.error(E_NAME_TAKEN, message, span, hint=hint if given else None, related=related)
        return problem is None

    def declare(self, types: Mapping[str, Type], *path: str | int) -> Scope:
        """The scope with more variables that the spec itself names; names already taken are findings and left out."""
        free = {name: type_ for name, type_ in types.items() if self.free(name, *path, name)}
        return self._mistaken(types.keys() - free).within(**free)

    def _mistaken(self, refused: Iterable[str]) -> Scope:
        """The scope in which variables have no type whose names were refused to something else."""
        return self.within(**{name: MISTAKEN for name in refused if name in self.environment.variables})

    def expression(self, *path: str | int, expect: Type | None = None) -> Checked | None:
        """Check the expression at a path; None, with findings, if it is wrong."""
        return check(self.source.text(*path), self.environment, self.diagnostics, expect)

    def numbers(self, *paths: Path) -> Type:
        """The sort of numbers that the expressions at some paths give alike: qfixed if one of them does, else int."""
        quiet = replace(self, diagnostics=Diagnostics())
        types = [quiet.expression(*path) for path in paths]
        return FIXED if any(checked is not None and isinstance(checked.type, FixedType) for checked in types) else INT

    def name(self, sort: str, items: Mapping[str, Any], *path: str | int) -> Scope:
        """The scope with the functions, constants or derived values of a spec; names already taken are left out."""
        called = sort == "functions"
        free = {name: items[name] for name in sorted(items) if self.free(name, *path, name, called=called)}
        return replace(self, environment=self.environment.extend(**{sort: free}))

    def types(
        self,
        specs: Mapping[str, TypeSpec],
        *path: str | int,
        named: Mapping[str, TypeSpec] | None = None,
        choices: bool = False,
        carried: bool = False,
    ) -> dict[str, Type]:
        """The types that a spec declares; one that means nothing is a finding, and what has it is mistaken."""
        types: dict[str, Type] = {}
        for name, spec in specs.items():
            types[name] = MISTAKEN
            try:
                bound_type(spec, named)
                types[name] = read_type(spec, named, choices=choices, carried=carried)
            except DeclarationError as error:
                known = (*BUILT_IN, *(named or {}))
                near = _TYPES.get(error.unknown) or suggest(error.unknown, known)
                expected = f"one of {', '.join(known)}" if error.unknown and near is None else None
                hint = None if near is None else f"did you mean {near!r}?"
                span = self.source.span(*path, name, *error.path)
                self.diagnostics.error(E_DECLARATION, str(error), span, hint=hint, expected=expected)
        return types

    def constants(self, values: Mapping[str, Any], *path: str | int) -> Scope:
        """The scope with a spec's constants. One that is known already with the same value is no conflict."""
        read: dict[str, tuple[Type, Any]] = {}
        for name, value in values.items():
            constant: tuple[Type, Any] = (MISTAKEN, None)
            try:
                constant = read_constant(value)
            except DeclarationError as error:
                self.wrong(E_DECLARATION, str(error), *path, name)
            known = self.environment.constants.get(name)
            if known is None or known[1] != constant[1]:
                read[name] = constant
        return self.name("constants", read, *path)

    def functions(self, specs: Mapping[str, Function], *path: str | int) -> Scope:
        """The scope with a spec's functions. Their syntax is checked here, their types at each call or by `unused`."""
        defined = {}
        for name, spec in specs.items():
            body = self.source.text(*path, name, "is")
            parse(body, self.diagnostics)
            if name in NOT_DEFINED:
                self.wrong(E_NAME_TAKEN, f"{name!r} is a function of CEL that the profile leaves out", *path, name)
            if self._parameters(spec.args, *path, name, "args"):
                defined[name] = Defined(tuple(spec.args), body)
            else:
                self.diagnostics.refused.add(f"{name}()")
        return self.name("functions", defined, *path)

    def _parameters(self, names: Sequence[str], *path: str | int) -> bool:
        """Whether a function can have parameters of these names; each that it cannot have is a finding."""
        problems = {
            index: "is a reserved word of CEL" if name in RESERVED else "names two arguments"
            for index, name in enumerate(names)
            if name in RESERVED or name in names[:index]
        }
        for index, problem in problems.items():
            self.wrong(E_NAME_TAKEN, f"{names[index]!r} {problem}", *path, index)
        return not problems

    def unused(self, functions: Iterable[str], derived: Iterable[str] = (), elsewhere: Iterable[str] = ()) -> None:
        """Add findings for those functions and derived values of a spec that no other expression of it reaches.

        Other specs may call them, so only what is wrong for every argument is found.

        Args:
            functions: The functions that the spec defines.
            derived: Its derived values.
            elsewhere: Names that they may read beside those of this scope and those that the engine gives somewhere.
        """
        homes: dict[str, Path] = {name: ("functions", name, "is") for name in functions}
        homes |= {name: ("derived", name) for name in derived}
        if not homes:
            return
        written = dict(self.source.expressions())
        unused_paths = set(homes.values())
        waiting = [text for path, text in written.items() if path not in unused_paths]
        left = set(homes)
        while waiting:
            reached = left & mentioned_in(waiting.pop())
            left -= reached
            waiting += [written.get(homes[name], "") for name in reached]
        others = [name for name in sorted({*ENGINE_NAMES, *elsewhere}) if self.environment.conflict(name) is None]
        environment = self.environment.extend(variables=dict.fromkeys(others, MISTAKEN))
        diagnostics = Diagnostics(MOST_FINDINGS)
        diagnostics.refused = self.diagnostics.refused
        for name in sorted(left):
            definition = environment.functions.get(name) or environment.derived.get(name)
            if isinstance(definition, Defined):
                check_body(definition, environment, diagnostics)
        self.diagnostics.extend(_causes(diagnostics.sorted()))

    def wrong(
        self, code_: str, message: str, *path: str | int, near: str | None = None, word: str | None = None
    ) -> None:
        """Add a finding at a path, or at a word or quoted text in it, with a did-you-mean if there is a near name."""
        hint = None if near is None else f"did you mean {near!r}?"
        span = self.source.span(*path) if word is None else self.span_of(word, *path)
        self.diagnostics.error(code_, message, span, hint=hint)

    def span_of(self, word: str, *path: str | int) -> Span | None:
        """The first place of a word or quoted text in the scalar at a path, or the place of the whole."""
        try:
            text = self.source.text(*path)
        except (KeyError, TypeError):
            return self.source.span(*path)
        plain = re.escape(word)
        match = re.search(rf"(['\"]){plain}\1", text.value) or re.search(rf"(?<!\w){plain}(?!\w)", text.value)
        return self.source.span(*path) if match is None else text.span(match.start(), match.end())

    def condition(self, value: str, *path: str | int) -> Checked | None:
        """Check a condition whose default is `true`: the expression at a path, or the literal where it was left out."""
        return self.always() if value == "true" else self.expression(*path, expect=BOOL)

    def always(self) -> Checked:
        """The condition that always holds."""
        checked = check(Text.inline("true"), self.environment, self.diagnostics, BOOL)
        assert checked is not None  # noqa: S101 - nothing is wrong with it
        return checked

    def figures(self, names: Mapping[str, Any], *path: str | int) -> Let:
        """Check the figures of a receipt: `let`, but a name that is in scope already is only a label."""
        known = {name for name in names if name not in ENGINE_NAMES and self.environment.conflict(name) is not None}
        let, scope = self.let({name: figure for name, figure in names.items() if name not in known}, *path)
        labelled = scope.each(dict.fromkeys(known), *path)
        return Let(let.items + labelled.items, let.mistaken + labelled.mistaken, frozenset(known))

    def let(
        self, names: Mapping[str, Any], *path: str | int, expect: Mapping[str, Type] | None = None
    ) -> tuple[Let, Scope]:
        """Check a mapping of named expressions that may read each other.

        Args:
            names: The mapping, for its keys.
            path: Where it stands.
            expect: The types that some names must have.

        Returns:
            The expressions in order, without those that are wrong, and the scope in which all are visible.
        """
        free = [name for name in sorted(names) if self.free(name, *path, name)]
        levels = self._levels(free, path)
        circular = sorted(set(free).difference(*levels))
        scope, items, mistaken = self._mistaken(names.keys() - {*free}), [], [*circular]
        scope = scope.within(**dict.fromkeys(circular, MISTAKEN))
        for level in levels:
            results = {name: scope.expression(*path, name, expect=(expect or {}).get(name)) for name in level}
            scope = scope.within(
                **{name: MISTAKEN if result is None else result.type for name, result in results.items()}
            )
            mistaken += [name for name, checked in results.items() if checked is None]
            items += [(name, checked) for name, checked in results.items() if checked is not None]
        for name in sorted(names.keys() - set().union(*levels)):
            scope.expression(*path, name, expect=(expect or {}).get(name))
        return Let(tuple(items), tuple(mistaken)), scope

    def each(self, names: Mapping[str, Any], *path: str | int, expect: Mapping[str, Type] | None = None) -> Fields:
        """Check a mapping of expressions that do not read each other; its keys are only labels."""
        items, mistaken = [], []
        for name in sorted(names):
            checked = self.expression(*path, name, expect=(expect or {}).get(name))
            if checked is None:
                mistaken.append(name)
            else:
                items.append((name, checked))
        return Fields(tuple(items), tuple(mistaken))

    def sealed(self, types: Mapping[str, Type], *path: str | int) -> None:
        """Add a finding for each value that cannot stand in a receipt."""
        for name, type_ in types.items():
            if not sealable(type_):
                hint = "write `qfixed`, a number with six decimals that is held exactly" if type_ == DOUBLE else None
                self.diagnostics.error(E_NOT_SEALABLE, f"{name!r} is {type_}", self.source.span(*path, name), hint=hint)

    def _levels(self, names: Sequence[str], path: Path) -> list[list[str]]:
        """The names in groups, each of which reads only groups before it; a circle is one finding and left out."""
        known = set(names)
        missing = {name: self._names_read(*path, name) & known for name in names}
        readers: dict[str, list[str]] = {name: [] for name in names}
        for name, read in missing.items():
            for dependency in read:
                readers[dependency].append(name)
        levels = []
        ready = [name for name in names if not missing[name]]
        while ready:
            levels.append(ready)
            for name in ready:
                del missing[name]
                for reader in readers[name]:
                    missing[reader].discard(name)
            ready = sorted({reader for name in ready for reader in readers[name] if not missing[reader]})
        while beside := missing.keys() - set().union(*missing.values()):  # they read the circle, and are not in it
            missing = {name: read - beside for name, read in missing.items() if name not in beside}
        if missing:
            circle = [*missing]
            message = f"these read each other: {', '.join(circle)}"
            self.diagnostics.error(E_LET_CYCLE, message, self.source.span(*path, circle[0]))
        return levels

    def _names_read(self, *path: str | int) -> set[str]:
        """The names that an expression reads, itself or through the functions that it calls."""
        read: set[str] = set()
        followed: set[str] = set()
        waiting: list[tuple[Text, tuple[str, ...]]] = [(self.source.text(*path), ())]
        while waiting:
            text, params = waiting.pop()
            names, calls = named_in(text.value)
            read |= names - set(params)
            for name in calls - followed:
                followed.add(name)
                function = self.environment.functions.get(name)
                if isinstance(function, Defined):
                    waiting.append((function.body, function.params))
        return read


def _causes(diagnostics: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """The findings that others lead to: what is wrong because of another is left out, and of a ring all but one."""
    spans = {diagnostic.span for diagnostic in diagnostics}
    leads = {
        diagnostic.span: {span for _, span in diagnostic.related if span in spans and span != diagnostic.span}
        for diagnostic in diagnostics
    }
    explained: set[Span | None] = set()
    for diagnostic in sorted(
        diagnostics, key=lambda diagnostic: len(leads[diagnostic.span]) > 0
    ):  # those that nothing leads to come first
        if diagnostic.span in explained and leads[diagnostic.span]:
            continue
        yield diagnostic
        explained.add(diagnostic.span)
        grown = True
        while grown:
            more = {span for span, because in leads.items() if because & explained} - explained
            explained |= more
            grown = bool(more)
