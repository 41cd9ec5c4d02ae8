"""Pages of reference that are generated: keys of specs, fields of receipts, what each code means, the laws that ship.

`tools.docs_site` puts them beside the pages of `docs`. Descriptions are those of the models, as in `spec explain`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from specledger.core.diagnostics import codes, title_of
from specledger.kinds import KINDS
from specledger.load.doc_pages import CodePage, read_pages
from specledger.pipeline.authoring import RECEIPTS, Described, about_kinds, describe, load_codes

ROOT: Final = Path(__file__).resolve().parents[1]

PAGE_OF_CODES: Final = "codes.md"
PAGE_OF_KINDS: Final = "keys.md"
PAGE_OF_LAWS: Final = "laws-shipped.md"

_REFERENCE: Final = re.compile(r"a reference to a spec of the kind (\w+(?:, \w+)*)")
_FORM: Final = re.compile(r"of the form (\S+)(?=,| or |$)")
_MAPPINGS: Final = re.compile(r"a mapping of the keys (?:\w+, )*\w+(?: or a mapping of the keys (?:\w+, )*\w+)*")


def page_of_kind(kind: str) -> str:
    """The name of the page of a kind, or of receipts such as `receipts/run`."""
    return f"{kind.replace('/', '-')}.md" if kind.startswith(RECEIPTS) else f"keys-{kind}.md"


def is_of_receipts(page: str) -> bool:
    """Whether a generated page is about receipts."""
    return page.startswith(RECEIPTS.replace("/", "-"))


def reference_pages() -> Mapping[str, str]:
    """The texts of all generated pages, by their names: the two lists first."""
    load_codes()
    kinds = {page_of_kind(kind): _kind_text(kind) for kind in KINDS}
    receipts = {page_of_kind(name): _receipts_text(name) for name in map(RECEIPTS.__add__, KINDS.receipts())}
    alone = {PAGE_OF_CODES: _codes_text(), PAGE_OF_LAWS: _laws_text()}
    return {PAGE_OF_KINDS: _kinds_text(), **alone, **receipts, **kinds}


def _kinds_text() -> str:
    """The list of the kinds."""
    rows = [f"| [`{kind}`]({page_of_kind(kind)}) | {_cell(about)} |" for kind, about in about_kinds().items()]
    intro = (
        "A spec begins with `spec: <kind>/v1`. The page of a kind has an example and every key. A reference to a "
        "spec is its name, its path, or `{use: NAME, with: {PARAM: VALUE}}` for a spec with `params`."
    )
    return "\n".join(["# Keys of each kind", "", intro, "", "| kind | is |", "| --- | --- |", *rows, ""])


def _kind_text(kind: str) -> str:
    """The page of a kind: an example, then a table of the keys at each level."""
    keys = describe(kind)
    parts = [f"# Keys of `{kind}`", f"A spec of the kind `{kind}` is {about_kinds()[kind]}", keys.doc]
    parts += [
        f"```yaml\n{file.read_text(encoding='utf-8').rstrip()}\n```"
        for file in sorted((ROOT / "specs" / "new" / kind).glob("*.yaml"))[:1]
    ]
    levels = _levels(keys)
    parts += [_section(level, levels) for level in levels.values()]
    return "\n\n".join(part for part in parts if part) + "\n"


def _receipts_text(name: str) -> str:
    """The page of the receipts of a kind of evidence: a table of the fields of each type, and of what they hold."""
    fields = describe(name)
    levels = _levels(fields)
    intro = (
        "Each line of `receipts.jsonl` has a `body`, which its `type` describes. [Evidence](evidence.md) says the rest."
    )
    sections = [_section(level, levels, "field") for level in levels.values()]
    return "\n\n".join([f"# Fields of `{name}`", intro, *sections]) + "\n"


def _levels(key: Described) -> Mapping[tuple[str, ...], Described]:
    """A key and those below it that have keys themselves: the first with each set, for effects lie in effects."""
    levels = {key.keys: key}
    waiting = [key]
    while waiting:
        below = [describe(f"{key.path}.{name}") for key in waiting for name in key.keys]
        waiting = [key for key in below if key.keys and key.keys not in levels and not _REFERENCE.search(key.type)]
        waiting = list({key.keys: key for key in reversed(waiting)}.values())[::-1]
        levels |= {key.keys: key for key in waiting}
    return levels


def _section(key: Described, levels: Mapping[tuple[str, ...], Described], head: str = "key") -> str:
    """The table of the keys below a key."""
    rows = [
        f"| `{name}` | {_value(below)} | {_cell(below.doc)}{_more(below, levels)} |"
        for name in key.keys
        for below in [describe(f"{key.path}.{name}")]
    ]
    return "\n".join([f"## `{key.path}`", "", f"| {head} | value | is |", "| --- | --- | --- |", *rows])


def _value(key: Described) -> str:
    """What a key may hold, and whether it is needed."""
    needed = "required" if key.required else "" if key.default is None else f"default `{key.default}`"
    type_ = _FORM.sub(r"of the form `\1`", _MAPPINGS.sub("a mapping", key.type))
    allowed = ", ".join(f"`{value}`" for value in key.allowed)
    return "; ".join(_REFERENCE.sub(_linked, _cell(part)) for part in (allowed or type_, needed) if part)


def _linked(reference: re.Match[str]) -> str:
    """A reference with links to the pages of its kinds."""
    kinds = reference[1].split(", ")
    return "a reference to a spec of the kind " + ", ".join(f"[{kind}]({page_of_kind(kind)})" for kind in kinds)


def _more(key: Described, levels: Mapping[tuple[str, ...], Described]) -> str:
    """Where the keys below a key are listed."""
    level = levels.get(key.keys)
    return "" if level is None or not key.keys else f" See [`{level.path}`](#{anchor(level.path)})."


def anchor(title: str) -> str:
    """The anchor of a heading: its letters, digits and hyphens in lower case."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def _codes_text() -> str:
    """What each code means, and what causes it."""
    pages = read_pages(ROOT / "docs" / "codes.yaml")
    intro = (
        "Every finding has a code. `spec explain CODE` prints what stands here; "
        "a code that begins with `W_` is a warning, which does not fail a check unless `--strict` is given."
    )
    return "\n\n".join(["# Diagnostic codes", intro, *(_code_text(code, pages.get(code)) for code in codes())]) + "\n"


def _code_text(code: str, page: CodePage | None) -> str:
    """The section of one code."""
    parts = [f"## {code}", f"*{(title_of(code) or '').strip()}*"]
    if page is not None:
        example = page.shown_example()
        lines = example.strip("\n")
        parts += [_plain(page.about.strip())]
        parts += [f"```text\n{lines}\n```" if page.commands() or isinstance(page.example, tuple) else _plain(lines)]
    return "\n\n".join(part for part in parts if part)


def _laws_text() -> str:
    """The laws that ship, with the verdict that each expects."""
    files = sorted((ROOT / "specs" / "law").glob("*.yaml"))
    laws = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]
    intro = "Each law under `specs/law` with its template, its universe, and the verdict that it expects."
    head = ["| law | template | universe | expected | in words |", "| --- | --- | --- | --- | --- |"]
    return "\n".join(["# All shipped laws", "", intro, "", *head, *map(_law_row, laws), ""])


def _law_row(law: Mapping[str, Any]) -> str:
    """The row of one law."""
    universe, expect = law["universe"], law["expect"]
    named = universe if isinstance(universe, str) else f"{universe['use']} {universe['with']['rule']}"
    verdict = " ".join([expect["status"], *([expect["reason"]] if "reason" in expect else [])])
    cells = [f"`{law['name']}`", law["template"], named, verdict, _cell(law["claim"])]
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """A text as the cell of a table."""
    return _plain(" ".join(text.split())).replace("|", "\\|")


def _plain(text: str) -> str:
    """A text in which Markdown and HTML mean nothing but in its code spans."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [
        re.sub(r"[<*\\]", lambda found: "&lt;" if found[0] == "<" else f"\\{found[0]}", part) for part in parts[::2]
    ]
    return "".join(parts)
