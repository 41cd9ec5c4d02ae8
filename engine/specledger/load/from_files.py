"""Files -> bundles: loads a spec by its path, its name, or `<kind>/<name>`, and reports all findings at once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from specledger.core.diagnostics import MOST_FINDINGS, Diagnostic, Diagnostics, Rejected, code, suggest
from specledger.core.spans import Span, Text
from specledger.load.bundle import Bundle, gather
from specledger.load.library import E_REF_MISSING, E_SPEC_WRONG_KIND, SUFFIXES, Library, Search, is_file, kind_of, show
from specledger.load.overrides import name_of, read_changes
from specledger.load.resolve import ResolvedCase, Resolver
from specledger.load.sources import sources_of
from specledger.spec.base import SpecKinds

E_REF_AMBIGUOUS = code("E_REF_AMBIGUOUS", "A name that several specs have")


_USED = "used at"


def load(
    target: str | Path,
    kinds: SpecKinds,
    *,
    kind: str | None = None,
    set: Sequence[str] = (),  # noqa: A002 - the word of the command line
    search: Search | None = None,
    see: Callable[[Text, Diagnostics], object] | None = None,
    allow_outside: bool = False,
    case: str | None = None,
) -> tuple[Bundle, ...]:
    """Read a spec and all that it refers to.

    Args:
        target: A file, the name of a spec of the project or of a shipped one, or `<kind>/<name>`.
        kinds: The kinds that there are.
        kind: The kind that the spec must be of, if it matters.
        set: Changes as `path=value`, applied in order to the resolved spec before it is validated.
        search: Where names are looked for; by default the project of the file that refers, and the shipped specs.
        see: Reports what is wrong with an expression, where its types cannot be known: with it the findings are also
            about expressions if there are any.
        allow_outside: Whether references may lead to files outside the project.
        case: Values of the cases that are resolved, such as `seed=1`; None for all.

    Returns:
        One bundle for each case of the document's matrix, in order; one bundle where there is no matrix.

    Raises:
        Rejected: There are errors; it carries all findings of all files.
    """
    diagnostics = Diagnostics(MOST_FINDINGS)
    changes = read_changes(set, diagnostics)
    bundles: tuple[Bundle, ...] = ()
    uses: dict[str, Span] = {}
    cases: list[ResolvedCase] = []
    library = Library(search, kinds, diagnostics, allow_outside=allow_outside)
    file = _find(str(target), kind, library, kinds, diagnostics)
    if file is not None:
        resolver = Resolver(library, kinds, diagnostics, uses=uses)
        cases = resolver.cases(file, changes, having=case)
        document = library.read(file)
        if kind is not None and document is not None and kind_of(document) != kind:
            node = document.root.at(("spec",))
            message = f"{show(file)} is of the kind {kind_of(document)}"
            diagnostics.error(E_SPEC_WRONG_KIND, message, node.span, expected=f"{kind}/v1")
        bundles = tuple(gather(case.key, resolver.specs, case.id) for case in cases)
        if see is not None and diagnostics.has_errors:
            resolver.see_expressions(see)
    if file is None or diagnostics.has_errors:
        raise Rejected(with_context(diagnostics.sorted(), uses, set))
    kept = (sources_of(library, file, case.leads, case.id, tuple(set)) for case in cases)
    return tuple(replace(bundle, sources=sources) for bundle, sources in zip(bundles, kept, strict=True))


def with_context(
    diagnostics: Iterable[Diagnostic], uses: Mapping[str, Span], settings: Sequence[str]
) -> tuple[Diagnostic, ...]:
    """Findings with the first reference to their file, or with the text of the `--set` option that they are about."""
    texts = {name_of(setting): setting for setting in settings}
    return tuple(_with_context(diagnostic, uses, texts) for diagnostic in diagnostics)


def _with_context(diagnostic: Diagnostic, uses: Mapping[str, Span], texts: Mapping[str, str]) -> Diagnostic:
    file = "" if diagnostic.span is None else diagnostic.span.file
    use = uses.get(file)
    if file in texts:
        return replace(diagnostic, source=texts[file])
    if use is None or use.file == file or any(text.startswith(_USED) for text, _ in diagnostic.related):
        return diagnostic
    return replace(diagnostic, related=(*diagnostic.related, (f"{_USED} {use.file}:{use.start.line}", use)))


def _find(target: str, kind: str | None, library: Library, kinds: SpecKinds, diagnostics: Diagnostics) -> Path | None:
    head, slash, name = target.partition("/")
    if target.endswith(SUFFIXES):
        return Path(target)
    if slash and head in kinds:
        kind, target = head, name
    elif slash or is_file(Path(target)):
        return Path(target)
    files = library.find_target(target, kind)
    if len(files) == 1:
        return files[0]
    if files:
        places = ", ".join(show(file) for file in files)
        told_apart = len({library.peek(file) for file in files}) == len(files)
        hint = "write <kind>/<name>" if told_apart else "rename all but one of them: no reference tells them apart"
        diagnostics.error(E_REF_AMBIGUOUS, f"`{target}` is the name of several specs: {places}", hint=hint)
        return None
    beside = next((name for suffix in SUFFIXES if is_file(Path(name := target + suffix))), None)
    others = [] if beside else [other for file in library.find_target(target, None) if (other := library.peek(file))]
    near = f"the file {beside}" if beside else suggest(target, library.names(kind))
    quoted = near if beside else f"`{near}`"
    hint = f"did you mean {quoted}?" if near else "give the path of a file, ending in .yaml; `spec ls` lists names"
    if others:
        hint = f"`{target}` is of the kind {others[0]}{f'; name a {kind} that uses it' if kind else ''}"
    diagnostics.error(E_REF_MISSING, f"there is no {kind or 'spec'} `{target}`", hint=hint)
    return None
