"""The event pass: YAML text -> PyYAML's parser events, as far as they are allowed.

Decides which of YAML's structure is used: one document, no directives, anchors, aliases or tags, bounded depth and
size. It runs before anything is built, one event at a time, so that no text exhausts the stack or the memory of a
composer. Refuses to know nodes and what scalars mean.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from specledger.core.diagnostics import Diagnostics, code
from specledger.load.document import Range, Source
from specledger.load.syntax import (
    E_YAML_ALIAS,
    E_YAML_ANCHOR,
    E_YAML_DIRECTIVE,
    E_YAML_ESCAPE,
    E_YAML_TAG,
    QUOTE,
    report_error,
)

MAX_DEPTH: Final = 48
"""Collections inside one another; the canonical form of a bundle adds a few to a document's."""
MAX_NODES: Final = 100_000
"""Values and keys of a document."""

E_YAML_DEPTH = code(
    "E_YAML_DEPTH",
    "Nested too deeply",
    "A document holds at most 48 collections inside one another. A deeper one is a mistake, such as brackets that are "
    "not closed, or an attack on the reader.",
)
E_YAML_NODES = code(
    "E_YAML_NODES",
    "Too many values",
    "A document holds at most 100,000 values and keys. Split it, or say what repeats by an expression or by params.",
)
E_YAML_DOCUMENTS = code(
    "E_YAML_DOCUMENTS",
    "Not exactly one document",
    "A file holds one spec: one YAML document, with at most a `---` before it. Put a second document in a file of its "
    "own, and delete `...`.",
)

_DIRECTIVE: Final = re.compile(r"^%", re.MULTILINE)


class Stopped(Exception):  # noqa: N818 - a finding was reported, and reading on makes no sense
    """Ends the reading of a file after its finding was reported."""


def read_events(source: Source, diagnostics: Diagnostics, *, pure: bool = False) -> Iterator[Any]:
    """The events of scalars, aliases and collections.

    Aliases, anchors and tags are reported and reading goes on, so that all of a file's mistakes are found at once.

    Args:
        source: The text that the gate has admitted.
        diagnostics: Takes the findings.
        pure: Use the pure parser although the one in C is there.

    Raises:
        Stopped: The text is not YAML, or not as it is used here; a finding was reported.
    """
    events = _Events(source, diagnostics)
    loader: Any = yaml.SafeLoader if pure or not yaml.__with_libyaml__ else yaml.CSafeLoader
    parser = loader(source.text)
    try:
        while parser.check_event():
            event = parser.get_event()
            events.examine(event)
            if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
                yield event
    except yaml.MarkedYAMLError as error:
        report_error(error, events.last, diagnostics)
        raise Stopped from None
    except (ValueError, OverflowError):  # the pure parser, of an escape beyond U+10FFFF
        at = source.text.rfind("\\", 0, parser.index + 1)
        events.stop(E_YAML_ESCAPE, "an escape that names no character", at, "double the backslash")
    finally:
        parser.dispose()


class _Events:
    """What has been seen of a document, and the refusals that depend on it."""

    def __init__(self, source: Source, diagnostics: Diagnostics) -> None:
        self.last = Range(source, 0, 0)
        self._source = source
        self._diagnostics = diagnostics
        self._documents = self._nodes = self._depth = 0

    def examine(self, event: Any) -> None:
        """Count an event and report what is not used.

        Raises:
            Stopped: Reading on makes no sense.
        """
        start, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, yaml.NodeEvent):
            self._examine_node(event, start, end)
            if isinstance(event, yaml.CollectionStartEvent):
                self._depth += 1
                if self._depth > MAX_DEPTH:
                    self.stop(E_YAML_DEPTH, f"more than {MAX_DEPTH} collections inside one another", start)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._depth -= 1
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                hint = "put it in a file of its own"
                self.stop(E_YAML_DOCUMENTS, "a second document", start, hint)
            directive = _DIRECTIVE.search(self._source.text, 0, end)
            if directive or event.version or event.tags:
                at = directive.start() if directive else start
                self.stop(E_YAML_DIRECTIVE, "a directive (`%...`)", at, "delete the line")
        elif isinstance(event, yaml.DocumentEndEvent) and event.explicit:
            self.stop(E_YAML_DOCUMENTS, "the end marker `...`", start, "delete it")

    def stop(self, code: str, message: str, at: int, hint: str | None = None) -> None:
        """Report a finding and end the reading.

        Raises:
            Stopped: Always.
        """
        self._diagnostics.error(code, message, self._source.span(at, at + 1), hint=hint)
        raise Stopped

    def _examine_node(self, event: Any, start: int, end: int) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self.stop(E_YAML_NODES, f"more than {MAX_NODES} values and keys", start)
        if start < end and not isinstance(event, yaml.CollectionStartEvent):
            self.last = Range(self._source, start, end)
        if isinstance(event, yaml.AliasEvent):
            self._refuse(E_YAML_ALIAS, "an alias (`*name`)", start, end)
            return
        if event.anchor is not None:
            self._refuse(E_YAML_ANCHOR, "an anchor (`&name`)", start, end)
        if event.tag is not None:
            self._refuse(E_YAML_TAG, "a tag (`!name`)", start, end)

    def _refuse(self, code: str, message: str, start: int, end: int) -> None:
        stop = self._source.text.find("\n", start, end)
        self._diagnostics.error(code, message, self._source.span(start, end if stop < 0 else stop), hint=QUOTE)
