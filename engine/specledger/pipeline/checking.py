"""Load and check specs, without running them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.diagnostics import MOST_FINDINGS, Diagnostic, Diagnostics, Rejected, Severity, code
from specledger.expr.check.checker import check_syntax
from specledger.kinds import KINDS, case_name, load
from specledger.load import Bundle, Search
from specledger.load.from_files import with_context
from specledger.load.library import E_REF_MISSING, E_SPEC_WRONG_KIND, SUFFIXES, is_file
from specledger.load.shipped import find_specs
from specledger.pipeline.targets import expand_runs
from specledger.pipeline.whole import UsedSpec, Whole

E_CASE_TWICE = code("E_CASE_TWICE", "two cases of one name in one call")


_COMPILED: Final = "compiled"


class CheckedSpec(Struct, frozen=True):
    """A spec without errors.

    Attributes:
        digest: The digest of its resolved form, with everything that it refers to.
        depth: `compiled` if its expressions were typed, alone or in another spec of the same check, else `shape`.
    """

    kind: str
    name: str
    case: str
    digest: str
    depth: str
    file: str
    key: str

    @property
    def typed(self) -> bool:
        """Whether its expressions were typed."""
        return self.depth == "compiled"


def load_cases(
    target: str,
    overrides: Sequence[str] = (),
    *,
    kind: str | None = None,
    allow_outside: bool = False,
    case: str | None = None,
    search: Search | None = None,
) -> tuple[Bundle, ...]:
    """Load a file or a name with the specs it refers to: a bundle for each case of its matrix, or those of `case`."""
    return load(
        target, kind=kind, set=overrides, see=check_syntax, allow_outside=allow_outside, case=case, search=search
    )


def load_runs(
    targets: Sequence[str],
    overrides: Sequence[str] = (),
    *,
    allow_outside: bool = False,
    case: str | None = None,
) -> tuple[Bundle, ...]:
    """Load runnable specs, a bundle for each case, and check that all of them compile before any is run.

    Folders and patterns stand for the specs in them whose kinds can be run.
    """
    diagnostics = Diagnostics()
    cases: dict[str, Bundle] = {}
    checked: dict[str, Any] = {}
    read = partial(load_cases, overrides=overrides, allow_outside=allow_outside, case=case)
    for target in expand_runs(targets, KINDS.may_run):
        try:
            for bundle in _load_run(target, read):
                _compile(bundle, overrides, checked)
                name = case_name(bundle).casefold()  # some file systems do not distinguish `a` from `A`
                if name in cases:
                    message, first = f"there are two cases {case_name(bundle)}", cases[name].main.span("name")
                    diagnostics.error(
                        E_CASE_TWICE, message, bundle.main.span("name"), related=(("the other one", first),)
                    )
                cases[name] = bundle
        except Rejected as rejected:
            diagnostics.extend(rejected.diagnostics)
    diagnostics.raise_if_errors()
    return tuple(cases.values())


def _compile(bundle: Bundle, overrides: Sequence[str], checked: dict[str, Any]) -> None:
    try:
        KINDS[bundle.main.kind].run.compile(bundle, checked)
    except Rejected as rejected:
        raise Rejected(with_context(rejected.diagnostics, bundle.uses, overrides)) from rejected


def _load_run(target: str, read: Callable[..., tuple[Bundle, ...]]) -> tuple[Bundle, ...]:
    """Load a file, or a name of any runnable kind; the first kind of the table that has the name wins."""
    if "/" in target or target.endswith(SUFFIXES) or is_file(Path(target)):
        bundles = read(target)
        wrong = [bundle.main for bundle in bundles if not KINDS[bundle.main.kind].runs]
        if wrong:
            expected = " or ".join(f"{kind}/v1" for kind in KINDS.runnable())
            message = f"specs of the kind {wrong[0].kind} cannot be run"
            raise Rejected([Diagnostic(E_SPEC_WRONG_KIND, message, wrong[0].span("spec"), expected=expected)])
        return bundles
    missing: Rejected | None = None
    for kind in (name for name, row in KINDS.items() if row.runs):  # the wings are loaded after the kinds of the core
        try:
            return read(target, kind=kind)
        except Rejected as rejected:
            if [diagnostic.code for diagnostic in rejected.diagnostics if diagnostic.span is None] != [E_REF_MISSING]:
                raise
            missing = missing or rejected
    assert missing is not None  # noqa: S101 - there are runnable kinds
    raise missing


def check(
    targets: Sequence[str],
    overrides: Sequence[str] = (),
    crashed: Callable[[str, Exception], Diagnostic] | None = None,
    *,
    allow_outside: bool = False,
    whole: Whole | None = None,
    search: Search | None = None,
) -> tuple[list[CheckedSpec], tuple[Diagnostic, ...]]:
    """Check specs as far as that is possible without running them.

    Kinds with a check of their own are compiled. The others are typed in the specs that refer to them, so alone only
    their shape, their references and the syntax of their expressions are checked. `crashed` turns an exception
    that one target causes into a finding, so that the others are still checked. A spec whose parameters have no values
    is valid if another one of the targets gives them. `whole` is told of every case, for findings about all of them.
    `search` says where names are looked for.

    Returns:
        The specs without errors in any of their cases, and every finding.
    """
    from specledger.pipeline.guesses import settle, used_in, without_missing, without_repeated  # not to run a spec

    checked: list[CheckedSpec] = []
    diagnostics = Diagnostics()
    typed: set[str] = set()
    whole = whole or Whole()
    without_arguments: dict[str, Rejected] = {}
    for target in targets:
        cases: list[CheckedSpec | None] = []
        try:
            for bundle in load_cases(target, overrides, allow_outside=allow_outside, search=search):
                findings = Diagnostics(MOST_FINDINGS)
                depth = _check_case(bundle, findings)
                _add_new(with_context(findings.sorted(), bundle.uses, overrides), diagnostics)
                cases.append(None if depth is None else _checked(UsedSpec.of(bundle), depth, target))
                typed |= bundle.specs.keys() if depth == _COMPILED else set()
                whole.add(target, bundle, typed=depth == _COMPILED)
            checked += [spec for spec in cases if spec is not None] if None not in cases else []
        except Rejected as rejected:
            without_arguments[target] = rejected
            _add_new(without_missing(rejected), diagnostics)
        except Exception as error:
            if crashed is None:
                raise
            diagnostics.add(crashed(target, error))
    again = partial(check, overrides=overrides, crashed=crashed, allow_outside=allow_outside, search=search)
    wrong = set(targets) - {spec.file for spec in checked}
    for target, refused in without_arguments.items():
        if not without_missing(refused):
            used, found = used_in(target, targets, wrong, refused, whole, again)
            checked += [] if used is None else [_checked(used, _COMPILED, target)]
            _add_new(found, diagnostics)
    checked.sort(key=lambda spec: targets.index(spec.file))
    reported = without_repeated(diagnostics.sorted())
    if any(finding.severity is Severity.WARNING for finding in reported):
        reported, wrong = settle(reported, targets, whole, lambda files: again(files)[1])
        checked = [spec for spec in checked if spec.file not in wrong]
    return [replace(spec, depth=_COMPILED) if spec.key in typed else spec for spec in checked], reported


def _checked(spec: UsedSpec, depth: str, target: str) -> CheckedSpec:
    return CheckedSpec(spec.kind, spec.name, spec.case, spec.digest, depth, target, spec.key)


def _add_new(findings: Iterable[Diagnostic], diagnostics: Diagnostics) -> None:
    """Add the findings that were not reported before, as those of a file that several targets refer to."""
    for finding in findings:
        if not diagnostics.contains(finding.code, finding.message, finding.span):
            diagnostics.add(finding)


def _check_case(bundle: Bundle, diagnostics: Diagnostics) -> str | None:
    """Check one case; return the depth of the check, or None if there are errors.

    Every expression is parsed even if types cannot be checked, so that syntax errors are reported with everything else.
    """
    for spec in bundle.specs.values():
        for path, _ in spec.expressions():
            check_syntax(spec.text(*path), diagnostics)
    kind = KINDS[bundle.main.kind]
    if kind.compiles_alone or not diagnostics.has_errors:
        try:
            kind.check(bundle, diagnostics)
        except Rejected as rejected:
            diagnostics.extend(
                diagnostic
                for diagnostic in rejected.diagnostics
                if not diagnostics.contains(diagnostic.code, diagnostic.message, diagnostic.span)
            )
    if diagnostics.has_errors:
        return None
    return _COMPILED if kind.compiles_alone else "shape"


def annotated(kind: str, annotation: str) -> Bundle:
    """The first shipped spec of a kind that writes `annotation: true`; LookupError if there is none."""
    folder, written = find_specs(), f"{annotation}: true"
    for file in sorted(folder.glob(f"{kind}/*.yaml")) if folder is not None else ():
        if written not in file.read_text(encoding="utf-8"):  # most specs are not loaded, which takes a second for all
            continue
        bundle = load_cases(str(file))[0]
        metadata = bundle.main.model.metadata
        if metadata is not None and metadata.annotations.get(annotation) is True:
            return bundle
    raise LookupError(f"no shipped {kind} has the annotation `{annotation}: true`")
