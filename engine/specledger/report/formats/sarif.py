"""Writes a report as SARIF 2.1.0: a run for each automated check, a rule for each requirement, a result for each place.

Groups of items about the same are one run, since services take one run for each automated check. An item that passed or
does not apply is a rule without a result, since readers show every result. A result has a physical location only if the
file is known. Fingerprints contain no digest, so a result keeps its identity over time.

Source: SARIF 2.1.0 (OASIS Standard), 3.14 run, 3.17 automationDetails, 3.27 result, 3.27.17 partialFingerprints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

from specledger.core.canonical import canonical_bytes, pretty
from specledger.core.diagnostics import printable
from specledger.core.digest import tagged
from specledger.report.formats.output import DEFAULTS, Options, Output
from specledger.report.items import Group, Item, Place, Result, Rule, groups_of
from specledger.report.model import Report
from specledger.report.outcome import Outcome

VERSION: Final = "2.1.0"
SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

FINGERPRINT: Final = "specledger/finding/v1"
"""The tag of the digest that identifies a result over time."""

_KINDS: Final = {Outcome.FAILED: "fail", Outcome.DIFFERS: "review"}


def write(report: Report, options: Options = DEFAULTS) -> Output:
    """The report as a SARIF log."""
    runs: dict[tuple[str, ...], list[Group]] = {}
    for group in groups_of(report):
        runs.setdefault((group.about, *group.engine.values()), []).append(group)
    sarif_runs = [_run(groups, options) for groups in runs.values()]
    return Output(pretty({"$schema": SCHEMA, "version": VERSION, "runs": sarif_runs}))


def _run(groups: Sequence[Group], options: Options) -> dict[str, Any]:
    rules: dict[str, tuple[int, Rule]] = {}
    items = [item for group in groups for item in group.items if not item.derived]
    for item in items:
        if item.results or item.rule.properties:
            rules.setdefault(item.rule.id, (len(rules), item.rule))
    results = [_result(item, result, rules[item.rule.id][0], options) for item in items for result in item.results]
    known = [dict(group.properties) for group in groups if group.properties]
    return {
        "tool": {"driver": {**groups[0].engine, "rules": [_rule(rule) for _, rule in rules.values()]}},
        "automationDetails": {"id": f"{groups[0].about}/"},
        "columnKind": "unicodeCodePoints",
        "results": results,
        **({"properties": known[0] if len(known) == 1 else {"bundles": known}} if known else {}),
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": printable(rule.id),
        "shortDescription": {"text": printable(rule.says)},
        "help": {"text": printable(rule.help)},
        **({"properties": dict(rule.properties)} if rule.properties else {}),
    }


def _result(item: Item, result: Result, index: int, options: Options) -> dict[str, Any]:
    failed = item.outcome is Outcome.FAILED
    level = "none" if not failed else "warning" if item.warning else "error"
    location = _location(item.place, result, options)
    return {
        "ruleId": printable(item.rule.id),
        "ruleIndex": index,
        "kind": _KINDS.get(item.outcome, "open"),
        "level": level,
        "message": {"text": printable(_text(item, result))},
        **({"locations": [location]} if location else {}),
        "partialFingerprints": {"specledger/v1": tagged(FINGERPRINT, canonical_bytes(list(result.identity)))},
        **({"properties": dict(result.properties)} if result.properties else {}),
        **_suppressions(item),
    }


def _text(item: Item, result: Result) -> str:
    return result.text if item.waiver is None else f"{item.waiver.waiver_text}; {result.text}"


def _artifact(path: str) -> dict[str, str]:
    """A path with slashes as a URI reference (RFC 3986, 4.1), in which no character has another meaning."""
    return {"uri": quote(path, safe="/", errors="replace")}


def _location(source: Place, result: Result, options: Options) -> dict[str, Any]:
    logical = [{"fullyQualifiedName": printable(name), "kind": kind} for name, kind in result.logical]
    location: dict[str, Any] = {"logicalLocations": logical} if logical else {}
    physical: dict[str, Any] | None = None
    file = options.file_of(source.spec) or (source.file if source.spec is not None else None)
    if source.span is not None:
        start, end = source.span.start, source.span.end
        region = {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}
        physical = {"artifactLocation": _artifact(source.span.file), "region": region}
    elif file is not None:
        physical = {"artifactLocation": _artifact(file), "region": {"startLine": 1}}
    elif source.file is not None:
        physical = {"artifactLocation": _artifact(source.file)}
    return location if physical is None else {**location, "physicalLocation": physical}


def _suppressions(item: Item) -> dict[str, Any]:
    waiver = None if item.waiver is None else item.waiver.waiver
    if waiver is None:
        return {}
    text = printable(f"{waiver.owner}, until {waiver.until}: {waiver.reason}")
    return {"suppressions": [{"kind": "external", "status": "accepted", "justification": text}]}
