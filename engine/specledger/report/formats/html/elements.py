"""HTML elements as text of their own type, and whole documents.

Text is escaped, bounded, free of control characters and isolated; no part of a document comes from elsewhere.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from string import Template
from typing import Any, Final, NewType

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import sha256_raw
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.evidence.layout import ENGINE
from specledger.report.markup import escape, shorten, shorten_at_word

Markup = NewType("Markup", str)
"""Escaped text. Only this module creates it."""

NOTHING: Final = Markup("")

_VOID: Final = frozenset({"input"})
_LONGEST: Final = 400  # characters of a text in a line
_PROSE: Final = 900  # characters of a sentence or two
_DOC: Final = 4000  # characters of a `doc`
_TALLEST: Final = 120  # lines of a block
_WIDE: Final = 110  # characters of a value that is on one line of it
_DEEP: Final = 14  # characters of an indent from which on lists are on one line


def element(name: str, /, *inner: Markup, **attributes: int | str) -> Markup:
    """An element with its content and attributes, in whose names `_` is written as `-`; a trailing one is dropped."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items()
    )
    return Markup(f"<{name}{written}>" if name in _VOID else f"<{name}{written}>{''.join(inner)}</{name}>")


def join(*parts: Markup) -> Markup:
    """Markup, concatenated."""
    return Markup("".join(parts))


def joined(separator: str, parts: Iterable[Markup]) -> Markup:
    """Markup with text between its parts; empty parts are left out."""
    return Markup(escape(separator).join(part for part in parts if part))


def words(text: str) -> Markup:
    """Text, escaped."""
    return Markup(escape(text))


def quoted(value: Any, most: int = _LONGEST) -> Markup:
    """A value of the evidence on one line: a text as it is, anything else as JSON; nothing for an empty text."""
    text = value if isinstance(value, str) else _json(value)
    return element("bdi", words(shorten(text, most))) if text else NOTHING


def prose(text: str, most: int = _PROSE) -> Markup:
    """Text of the evidence on one line, in which what stands between backticks is code."""
    parts = shorten_at_word(" ".join(text.split()), most).split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = ["`".join(parts[-2:])]
    shown = (element("code", words(part)) if at % 2 else words(part) for at, part in enumerate(parts) if part)
    return element("bdi", *shown) if any(parts) else NOTHING


def document_text(text: str) -> Markup:
    """The `doc` of a spec: paragraphs, separated by empty lines, and lists of lines that begin with `- `."""
    blocks = [block.strip("\n").split("\n") for block in shorten(text, _DOC).split("\n\n") if block.strip()]
    return join(*(part for lines in blocks for part in _paragraphs(lines)))


def _paragraphs(lines: Sequence[str]) -> Iterator[Markup]:
    """A block as a paragraph, and a list where its lines begin with `- `."""
    at = next((at for at, line in enumerate(lines) if line.lstrip().startswith("- ")), len(lines))
    if lines[:at]:
        yield element("p", prose(" ".join(lines[:at]), _DOC), class_="doc")
    items: list[str] = []
    for line in lines[at:]:
        if line.lstrip().startswith("- "):
            items.append(line.lstrip()[2:])
        else:
            items[-1] += f" {line.strip()}"
    if items:
        yield element("ul", *(element("li", prose(item, _DOC)) for item in items), class_="doc")


def code(value: Any, most: int = _LONGEST) -> Markup:
    """A value of the evidence that is an expression, a digest or JSON."""
    return element("code", quoted(value, most))


def block(value: Any) -> Markup:
    """A JSON value, indented; short values stand on one line, and at most 120 lines are shown."""
    lines = [*_lay(value, "", "")]
    if len(lines) > _TALLEST:
        lines = [*lines[:_TALLEST], f"... and {len(lines) - _TALLEST} more lines"]
    inside = Markup("\n".join(words(shorten(line, _LONGEST)) for line in lines))
    return element("pre", inside, tabindex=0)


def _lay(value: Any, before: str, after: str) -> Iterator[str]:
    """The lines of a value, with `before` on the first and `after` on the last."""
    short = _json(value)
    margin = before[: len(before) - len(before.lstrip())]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    flat = len(short) <= _WIDE or len(margin) >= _DEEP or not any(isinstance(member, list | dict) for member in inner)
    if flat and (len(short) <= _WIDE or not isinstance(value, dict)):
        yield f"{before}{short}{after}"
        return
    named = [f"{_json(key)}: " for key in value] if isinstance(value, dict) else [""] * len(inner)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield f"{before}{opening}"
    for number, (name, member) in enumerate(zip(named, inner, strict=True), 1):
        yield from _lay(member, f"{margin}  {name}", "" if number == len(inner) else ",")
    yield f"{margin}{closing}{after}"


def _json(value: Any) -> str:
    return canonical_bytes(value, FLOATS_ANYWHERE).decode()


def bar(part: int, of: int) -> Markup:
    """A share as a bar; the number is beside it."""
    width = part * 1000 // of if of > 0 else 0
    inner = element("rect", width=max(width, 8 if part else 0), height=8)
    return element("svg", inner, class_="bar", viewBox="0 0 1000 8", preserveAspectRatio="none", aria_hidden="true")


def count(number: int) -> Markup:
    """A number with thousands separated."""
    return words(f"{number:,}".replace(",", "\u202f"))


def document(
    title: str, template: str, values: dict[str, Markup | str], scripts: tuple[str, ...], state: str = ""
) -> str:
    """A document from the template of a body and its values; no part of it comes from elsewhere.

    `scripts` are the files of its script, in order. `state` is the state of its check before it runs; empty if it
    checks nothing.
    """
    style, script = asset("plot.css") + asset("style.css"), "".join(map(asset, scripts))
    script = f'"use strict";\n(() => {{\n{script}}})();\n'
    generator = words(f"{ENGINE['name']} {ENGINE['version']}")
    frame = {
        "title": words(title),
        "state": f' data-state="{state}"' if state else "",
        "generator": generator,
        "style": style,
        "script": script,
        "style_digest": _policy(style),
        "script_digest": _policy(script),
        "body": Template(asset(template)).substitute(values, generator=generator, search=asset("search.html")),
    }
    return Template(asset("frame.html")).substitute(frame)


def asset(name: str) -> str:
    """The text of a file beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy(text: str) -> str:
    return b64encode(sha256_raw(text.encode())).decode("ascii")
