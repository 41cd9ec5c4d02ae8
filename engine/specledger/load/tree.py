"""Events -> a tree of nodes, in which every key and value keeps its place.

Decides that keys are distinct strings on one line, that no value is missing, and that every scalar is what a second
reading of its source (`load.marks`) says; so both parsers of PyYAML give the same tree or none. Refuses to know kinds.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Any, Final

import yaml

from specledger.core.diagnostics import Diagnostics, code
from specledger.load.document import Document, Node, Range, Source, Style, Value
from specledger.load.events import E_YAML_DOCUMENTS, Stopped, read_events
from specledger.load.input_filter import find_forbidden
from specledger.load.scalar_source_map import scan
from specledger.load.scalars import E_YAML_EMPTY, E_YAML_KEY, Flaw, resolve, resolve_key
from specledger.load.syntax import E_YAML_ESCAPE, E_YAML_EXPRESSION, QUOTE, find_trap

E_YAML_DUPLICATE_KEY = code(
    "E_YAML_DUPLICATE_KEY",
    "A key is given twice",
    "Most YAML readers silently keep the last of two equal keys. Delete or rename one of them.",
)
E_YAML_BLOCK = code(
    "E_YAML_BLOCK",
    "A text whose reading YAML leaves open",
    "After `|` or `>` only `-` or `+` and a comment may stand, and the first line that is not blank decides the "
    "indentation. Write a text whose first line begins with spaces in quotes.",
)

_STYLES: Final[dict[str | None, Style]] = {"'": "single", '"': "double", "|": "literal", ">": "folded"}
_AFTER_KEY: Final = re.compile(r" *:")
_MEMBER_END: Final = re.compile(r"\s*[,}]")
_AFTER_FLOW_KEY: Final = re.compile(r" *[:,}#\n]")
_BLOCK_HEADER: Final = re.compile(r"[|>][-+]?(?: *| +#.*)$", re.MULTILINE)


@dataclass(slots=True)
class _Open:
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
    """Read a text that the gate has admitted.

    Args:
        text: The text, with LF line breaks.
        file: Its path as shown to people.
        diagnostics: Takes the findings. After a wrong scalar reading goes on; its node is `flawed`.
        pure: Use the pure parser although the one in C is there.

    Returns:
        The document, or None if there is no tree.
    """
    source = Source(file, text)
    builder = _Builder(source, diagnostics)
    try:
        for event in read_events(source, diagnostics, pure=pure):
            builder.take(event)
    except Stopped:
        return None
    if builder.root is None:
        diagnostics.error(E_YAML_DOCUMENTS, "the file holds no document", source.span(0, 0), expected="spec: <kind>/v1")
        return None
    return Document(file, text, builder.root)


class _Builder:
    """Folds events into nodes, with a stack of its own."""

    def __init__(self, source: Source, diagnostics: Diagnostics) -> None:
        self.root: Node | None = None
        self._source = source
        self._text = source.text
        self._diagnostics = diagnostics
        self._stack: list[_Open] = []

    def take(self, event: Any) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        top = self._stack[-1] if self._stack else None
        if isinstance(event, yaml.CollectionEndEvent):
            self._close(end)
        elif top is not None and top.members is not None and top.key is None:
            self._take_key(event, start, end, top)
        elif isinstance(event, yaml.ScalarEvent):
            self._add(self._scalar(event, start, end, top))
        elif isinstance(event, yaml.AliasEvent):
            self._add(Node(self._range(start, end), "plain", None, flawed=True))
        else:
            self._open(event, start, end, top)

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
        place = self._range(done.start, end if done.flow else done.end)
        self._add(Node(place, "flow" if done.flow else "block", value, flawed=done.flawed or done.trapped))

    def _add(self, node: Node) -> None:
        """Give a finished value to the collection that waits for it."""
        if not self._stack:
            self.root = node
            return
        top = self._stack[-1]
        top.end = max(top.end, node.place.end)
        if top.members is None:
            top.elements.append(node)
            return
        (name, place), top.key = top.key or (None, node.place), None
        if name is not None:
            top.members[name] = replace(node, key=place)

    def _take_key(self, event: Any, start: int, end: int, top: _Open) -> None:
        if not isinstance(event, yaml.ScalarEvent):
            if not isinstance(event, yaml.AliasEvent):
                self._error(E_YAML_KEY, "a key that is no text", start, self._line_end(start), QUOTE)
            raise Stopped
        end = self._trim(event, start, end)
        place = self._range(start, end)
        name = self._key_name(event, start, end, top)
        if isinstance(name, Flaw):
            self._error(name.code, name.message, start, max(end, start + 1), name.hint)
        elif name is not None and name in (top.members or {}):
            first = (top.members or {})[name].key_span
            message = f"the key `{name}` was given in line {first.start.line} already"
            related = (("first given here", first),)
            self._diagnostics.error(
                E_YAML_DUPLICATE_KEY, message, place.span, related=related, hint="delete one of them"
            )
            name = None
        top.key = (name if isinstance(name, str) else None, place)

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
        if "\n" in self._text[start:end] or not (_AFTER_KEY.match(self._text, end) or self._ends_member(end, top)):
            return Flaw(E_YAML_KEY, "a key that is not on one line with its colon", "write `key: value`")
        if style == "plain":
            return resolve_key(event.value)
        return None if self._misread(event, start, end, style) else str(event.value)

    def _scalar(self, event: Any, start: int, end: int, top: _Open | None) -> Node:
        end = self._trim(event, start, end)
        style = _STYLES.get(event.style, "plain")
        place = self._range(start, end)
        if event.anchor is not None or event.tag is not None:
            return Node(place, "plain", event.value, flawed=True)
        if style != "plain":
            return Node(place, style, event.value, flawed=self._misread(event, start, end, style))
        if start == end:
            self._report_missing(start, top)
            return Node(place, style, None, flawed=True)
        flow = top is not None and top.flow
        trap = find_trap(self._text, start, end, flow=flow)
        if trap is not None:
            self._trap(top, start, end, trap)
            return Node(place, style, event.value, flawed=True)
        value = resolve(event.value)
        if isinstance(value, Flaw):
            self._error(value.code, value.message, start, end, value.hint)
            return Node(place, style, event.value, flawed=True)
        return Node(place, style, value, flawed=self._misread(event, start, end, style))

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
        at = next(place + forbidden - offset for offset, place in reversed(marks) if offset <= forbidden)
        name = f"U+{ord(value[forbidden]):04X}"
        self._error(E_YAML_ESCAPE, f"an escape for {name}, which no value may hold", at, at + 2, "delete it")
        return True

    def _trap(self, top: _Open | None, start: int, end: int, message: str) -> None:
        """Report a cut expression, once in a collection in brackets."""
        if top is None or not top.flow or not top.trapped:
            self._error(E_YAML_EXPRESSION, message, start, end, QUOTE)
        if top is not None and top.flow:
            top.trapped = True

    def _ends_member(self, end: int, top: _Open) -> bool:
        """Whether a key in braces ends without a colon; the missing value is reported then."""
        return top.flow and _MEMBER_END.match(self._text, end) is not None

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
        return Range(self._source, start, end)

    def _error(self, code: str, message: str, start: int, end: int, hint: str) -> None:
        self._diagnostics.error(code, message, self._source.span(start, end), hint=hint)
