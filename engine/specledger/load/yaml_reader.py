"""YAML text -> a tree of nodes in which every key and value keeps its place.

A document is read in one pass over PyYAML's parser events, with bounded depth and size, before anything is built. There
are no directives, anchors, aliases or tags; keys are distinct strings on one line; no value is missing; every scalar is
compared with a second reading of its source (`scalars.scan`), so both parsers of PyYAML give the same tree or none.
"""

import re
from typing import Any, Final

import yaml
from msgspec import Struct, field

from specledger.core.diagnostics import Diagnostics, code
from specledger.load.document import Document, Node, Range, Source, Style, Value
from specledger.load.input_filter import find_forbidden
from specledger.load.scalars import E_YAML_EMPTY, E_YAML_KEY, Flaw, resolve, resolve_key, scan
from specledger.load.yaml_errors import (
    E_YAML_ALIAS,
    E_YAML_ANCHOR,
    E_YAML_DIRECTIVE,
    E_YAML_ESCAPE,
    E_YAML_EXPRESSION,
    E_YAML_TAG,
    QUOTE,
    find_trap,
    report_error,
)

MAX_DEPTH: Final = 48
"""Collections inside one another; the canonical form of a bundle adds a few to a document's."""
MAX_NODES: Final = 100_000
"""Values and keys of a document."""

E_YAML_DEPTH = code("E_YAML_DEPTH", "Nested too deeply")
E_YAML_NODES = code("E_YAML_NODES", "Too many values")
E_YAML_DOCUMENTS = code("E_YAML_DOCUMENTS", "Not exactly one document")
E_YAML_DUPLICATE_KEY = code("E_YAML_DUPLICATE_KEY", "A key is given twice")
E_YAML_BLOCK = code("E_YAML_BLOCK", "A text whose reading YAML leaves open")

_LIBYAML_DEPTH: Final = "exceeded maximum nesting depth"
"""The problem that libyaml 0.2.6 and newer report."""

_DIRECTIVE: Final = re.compile(r"^%", re.MULTILINE)


_STYLES: Final[dict[str | None, Style]] = {"'": "single", '"': "double", "|": "literal", ">": "folded"}
_AFTER_KEY: Final = re.compile(r" *:")
_MEMBER_END: Final = re.compile(r"\s*[,}]")
_AFTER_FLOW_KEY: Final = re.compile(r" *[:,}#\n]")
_BLOCK_HEADER: Final = re.compile(r"[|>][-+]?(?: *| +#.*)$", re.MULTILINE)


class _Stopped(Exception):  # noqa: N818 - a finding was reported, and reading on makes no sense
    """Ends the reading of a file after its finding was reported."""


class _TooNested(Exception):  # noqa: N818 - another parser reads the file
    """The parser in C stopped at a limit of its own, which is beyond `MAX_DEPTH`, before the event of that depth."""


class _Open(Struct):
    """A collection that is being read; `key` waits for its value, and has no name if it was reported."""

    start: int
    end: int
    flow: bool
    members: dict[str, Node] | None
    elements: list[Node] = field(default_factory=list)
    key: tuple[str | None, Range] | None = None
    trapped: bool = False
    flawed: bool = False


def parse(text: str, file: str, diagnostics: Diagnostics, *, pure: bool = False) -> Document | None:
    """Parse the text of a file.

    After a wrong scalar reading goes on; its node is `flawed`. `pure` is for the parser in Python even where the one in
    C is installed.

    Returns:
        The document, or None if there is no tree.
    """
    source, reported = Source(file, text), Diagnostics()
    builder = _Builder(source, reported)
    try:
        builder.read(pure=pure)
    except _TooNested:  # what it reported will be reported again
        return parse(text, file, diagnostics, pure=True)
    except _Stopped:
        diagnostics.extend(reported.sorted())
        return None
    diagnostics.extend(reported.sorted())
    if builder.root is None:
        diagnostics.error(E_YAML_DOCUMENTS, "the file holds no document", source.span(0, 0), expected="spec: <kind>/v1")
        return None
    return Document(file, text, builder.root)


class _Builder:
    """Folds the events of a document into nodes, with a stack of its own.

    Aliases, anchors and tags are reported and reading goes on, so that all of a file's mistakes are found at once.
    """

    def __init__(self, source: Source, diagnostics: Diagnostics) -> None:
        self.root: Node | None = None
        self._source = source
        self._text = source.text
        self._diagnostics = diagnostics
        self._stack: list[_Open] = []
        self._last = Range.of(source, 0, 0)
        self._documents = self._nodes = 0

    def read(self, *, pure: bool) -> None:
        """Take every event of the parser."""
        loader: Any = yaml.SafeLoader if pure or not yaml.__with_libyaml__ else yaml.CSafeLoader
        parser = loader(self._text)
        try:
            while parser.check_event():
                event = parser.get_event()
                self._take(event, event.start_mark.index, event.end_mark.index)
        except yaml.MarkedYAMLError as error:
            if error.problem == _LIBYAML_DEPTH and not pure:
                raise _TooNested from None
            report_error(error, self._last, self._diagnostics)
            raise _Stopped from None
        except (ValueError, OverflowError):  # the pure parser, of an escape beyond U+10FFFF
            at = self._text.rfind("\\", 0, parser.index + 1)
            self._stop(E_YAML_ESCAPE, "an escape that names no character", at, "double the backslash")
        finally:
            parser.dispose()

    def _take(self, event: Any, start: int, end: int) -> None:
        top = self._stack[-1] if self._stack else None
        if isinstance(event, yaml.NodeEvent):
            self._examine(event, start, end)
            if top is not None and top.members is not None and top.key is None:
                self._take_key(event, start, end, top)
            elif isinstance(event, yaml.ScalarEvent):
                self._add(self._scalar(event, start, end, top))
            elif isinstance(event, yaml.AliasEvent):
                self._add(Node(self._range(start, end), "plain", None, flawed=True))
            else:
                self._open(event, start, end, top)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close(end)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._stop(E_YAML_DOCUMENTS, "a second document", start, "put it in a file of its own")
            directive = _DIRECTIVE.search(self._text, 0, end)
            if directive or event.version or event.tags:
                at = directive.start() if directive else start
                self._stop(E_YAML_DIRECTIVE, "a directive (`%...`)", at, "delete the line")
        elif isinstance(event, yaml.DocumentEndEvent) and event.explicit:
            self._stop(E_YAML_DOCUMENTS, "the end marker `...`", start, "delete it")

    def _examine(self, event: Any, start: int, end: int) -> None:
        """Count the beginning of a value or a key, and report what is not used."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._stop(E_YAML_NODES, f"more than {MAX_NODES} values and keys", start)
        collection = isinstance(event, yaml.CollectionStartEvent)
        if start < end and not collection:
            self._last = self._range(start, end)
        if isinstance(event, yaml.AliasEvent):
            self._refuse(E_YAML_ALIAS, "an alias (`*name`)", start, end, "write the value itself")
            return
        if event.anchor is not None:
            self._refuse(E_YAML_ANCHOR, "an anchor (`&name`)", start, end, "delete the anchor")
        if event.tag is not None:
            self._refuse(E_YAML_TAG, "a tag (`!name`)", start, end, "delete the tag")
        if collection and len(self._stack) >= MAX_DEPTH:
            self._stop(E_YAML_DEPTH, f"more than {MAX_DEPTH} collections inside one another", start)

    def _refuse(self, code: str, message: str, start: int, end: int, hint: str) -> None:
        stop = self._text.find("\n", start, end)
        self._error(code, message, start, end if stop < 0 else stop, f"{hint}, or {QUOTE} if it is one")

    def _stop(self, code: str, message: str, at: int, hint: str | None = None) -> None:
        """Report a finding and end the reading."""
        self._error(code, message, at, at + 1, hint)
        raise _Stopped

    def _open(self, event: Any, start: int, end: int, top: _Open | None) -> None:
        mapping = isinstance(event, yaml.MappingStartEvent)
        flawed = event.anchor is not None or event.tag is not None
        if top is not None and top.flow and mapping and self._text[start : start + 1] != "{" and not flawed:
            self._trap(top, start, self._line_end(start), "a `key: value` pair without braces inside `[...]`")
        trapped = top is not None and top.flow and top.trapped
        members: dict[str, Node] | None = {} if mapping else None
        self._stack.append(_Open(start, end, bool(event.flow_style), members, trapped=trapped, flawed=flawed))

    def _close(self, end: int) -> None:
        done = self._stack.pop()
        value: Value = tuple(done.elements) if done.members is None else done.members
        range_ = self._range(done.start, end if done.flow else done.end)
        self._add(Node(range_, "flow" if done.flow else "block", value, flawed=done.flawed or done.trapped))

    def _add(self, node: Node) -> None:
        """Give a finished value to the collection that waits for it."""
        if not self._stack:
            self.root = node
            return
        top = self._stack[-1]
        top.end = node.place.end if node.place.end > top.end else top.end
        if top.members is None:
            top.elements.append(node)
            return
        (name, key_range), top.key = top.key or (None, node.place), None
        if name is not None:
            top.members[name] = Node(node.place, node.style, node.value, key_range, node.flawed)

    def _take_key(self, event: Any, start: int, end: int, top: _Open) -> None:
        if not isinstance(event, yaml.ScalarEvent):
            if not isinstance(event, yaml.AliasEvent):
                self._error(E_YAML_KEY, "a key that is no text", start, self._line_end(start), QUOTE)
            raise _Stopped
        end = self._trim(event, start, end)
        range_ = self._range(start, end)
        name = self._key_name(event, start, end, top)
        if isinstance(name, Flaw):
            self._error(name.code, name.message, start, max(end, start + 1), name.hint)
        elif name is not None and name in (top.members or {}):
            first = (top.members or {})[name].key_span
            message = f"the key `{name}` was given in line {first.start.line} already"
            related = (("first given here", first),)
            self._diagnostics.error(
                E_YAML_DUPLICATE_KEY, message, range_.span, related=related, hint="delete one of them"
            )
            name = None
        top.key = (name if isinstance(name, str) else None, range_)

    def _key_name(self, event: Any, start: int, end: int, top: _Open) -> str | Flaw | None:
        """A key's text, or why it has none; None if that was reported."""
        style = _STYLES.get(event.style, "plain")
        if event.anchor is not None or event.tag is not None:
            return None
        if style == "plain":
            if start == end:
                return Flaw(
                    E_YAML_KEY, "a key is missing before the colon", "write `key: value`, or quote the expression"
                )
            if find_trap(self._text, start, end, flow=top.flow):
                self._trap(top, start, end, "a piece of an expression, which YAML takes for a key")
                return None
            if top.flow and self._text[end : end + 1] == ":" and self._text[end + 1 : end + 2] not in (" ", "\n"):
                self._trap(top, start, end, "a colon without a space after it")
                return None
        if top.flow and not _AFTER_FLOW_KEY.match(self._text, end):
            self._trap(top, start, end, "a piece of an expression, which YAML takes for a key")
            return None
        if "\n" in self._text[start:end] or not (
            _AFTER_KEY.match(self._text, end) or (top.flow and _MEMBER_END.match(self._text, end))
        ):
            return Flaw(E_YAML_KEY, "a key that is not on one line with its colon", "write `key: value`")
        if style == "plain":
            return resolve_key(event.value)
        return None if self._misread(event, start, end, style) else str(event.value)

    def _scalar(self, event: Any, start: int, end: int, top: _Open | None) -> Node:
        end = self._trim(event, start, end)
        style = _STYLES.get(event.style, "plain")
        range_ = self._range(start, end)
        if event.anchor is not None or event.tag is not None:
            return Node(range_, "plain", event.value, flawed=True)
        if style != "plain":
            return Node(range_, style, event.value, flawed=self._misread(event, start, end, style))
        if start == end:
            self._report_missing(start, top)
            return Node(range_, style, None, flawed=True)
        flow = top is not None and top.flow
        trap = find_trap(self._text, start, end, flow=flow)
        if trap is not None:
            self._trap(top, start, end, trap)
            return Node(range_, style, event.value, flawed=True)
        value = resolve(event.value)
        if isinstance(value, Flaw):
            self._error(value.code, value.message, start, end, value.hint)
            return Node(range_, style, event.value, flawed=True)
        return Node(range_, style, value, flawed=self._misread(event, start, end, style))

    def _report_missing(self, start: int, top: _Open | None) -> None:
        """Report an absent value at its key, or at its dash."""
        if top is None or top.key is None:
            begin = max(start - 1, 0) if top is None else self._text.rfind("-", 0, start)
            self._error(
                E_YAML_EMPTY, "a value is missing", begin, begin + 1, "write a value; null, {} and [] are values"
            )
            return
        known, key = top.key
        name = self._text[key.start : key.end]
        if known is None:
            return  # the key was reported
        if top.flow:
            self._trap(top, key.start, key.end, f"`{name}` has no value; is it a piece of an expression?")
        else:
            hint = "write a value; null, {} and [] are values"
            self._error(E_YAML_EMPTY, f"the key `{name}` has no value", key.start, key.end, hint)

    def _misread(self, event: Any, start: int, end: int, style: Style) -> bool:
        """Whether a scalar's source, read again, is something else; this is reported."""
        text, value = self._text, event.value
        if style in ("literal", "folded"):
            same = _BLOCK_HEADER.match(text, start) is not None and scan(text, start, end, style)[0] == value
        else:
            quotes = 0 if style == "plain" else 1
            same = text[start + quotes : end - quotes] == value or scan(text, start, end, style)[0] == value
        if not same:
            self._error(
                E_YAML_BLOCK, "a text that YAML readers read differently", start, self._line_end(start), "quote it"
            )
            return True
        forbidden = find_forbidden(value)
        if forbidden is None:
            return False
        marks = scan(text, start, end, style)[1]
        at = next(
            source_offset + forbidden - offset for offset, source_offset in reversed(marks) if offset <= forbidden
        )
        name = f"U+{ord(value[forbidden]):04X}"
        self._error(E_YAML_ESCAPE, f"an escape for {name}, which no value may hold", at, at + 2, "delete it")
        return True

    def _trap(self, top: _Open | None, start: int, end: int, message: str) -> None:
        """Report a cut expression, once in a collection in brackets."""
        if top is None or not top.flow or not top.trapped:
            self._error(E_YAML_EXPRESSION, message, start, end, QUOTE)
        if top is not None and top.flow:
            top.trapped = True

    def _trim(self, event: Any, start: int, end: int) -> int:
        """The end of a scalar: of a block one after its last whole line, of a plain one without trailing blanks."""
        if event.style in ("'", '"'):
            return end
        if event.style in ("|", ">"):
            return self._text.rfind("\n", start, end) + 1 or end
        return start + len(self._text[start:end].rstrip(" \n"))

    def _line_end(self, start: int) -> int:
        return self._text.find("\n", start)

    def _range(self, start: int, end: int) -> Range:
        return Range.of(self._source, start, end)

    def _error(self, code: str, message: str, start: int, end: int, hint: str | None) -> None:
        self._diagnostics.error(code, message, self._source.span(start, end), hint=hint)
