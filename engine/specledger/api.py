"""The Python interface: what `import specledger as sl` gives. Commands and notebooks read the same evidence.

for case in sl.load("hazard", set={"horizon": 50}):
    bundle = sl.run(case)
bundle.verdict, [step["cost"] for step in bundle.steps()]
sl.verify(bundle).verdict
Path("hazard.html").write_text(sl.report(bundle))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, Rejected, code, missing_package, printable
from specledger.core.verdict import Verdict
from specledger.kinds import KINDS
from specledger.kinds.running import RunOptions
from specledger.load import Bundle as Specs
from specledger.load.overrides import changes_of
from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute, place_cases
from specledger.pipeline.reporting import ask, make_report
from specledger.pipeline.verifying import verify as verify_path
from specledger.report.evidence import Evidence, read_evidence
from specledger.report.formats import FORMATS, Options
from specledger.report.trace import trace_lines
from specledger.run.workers import Processes
from specledger.verify.assurance_levels import Reader
from specledger.verify.bundle import Refuted
from specledger.verify.checks import Level, Verification
from specledger.verify.trust import read_trust

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Bundle", "Case", "Diagnostic", "Rejected", "Verification", "load", "report", "run", "verify"]

E_CASES = code("E_CASES", "several cases where one is run")
E_ARROW_PACKAGE = code("E_ARROW_PACKAGE", "pyarrow is not installed")

Place = str | Path

STEP_COLUMNS: Final[Mapping[str, str]] = {
    "episode": "int64",
    "t": "int64",
    "seq": "int64",
    "proposed": "int64",
    "admitted": "int64",
    "errors": "int64",
    "rejected": "string",
    "chosen": "int64",
    "action": "string",
    "cost": "int64",
    "success": "bool",
    "violations": "string",
}
"""The Arrow types of the fields of a step; lists and mappings are canonical JSON."""


PROBE_COLUMNS: Final = ("episode", "t", "seq", "probe", "at", "verdict", "cause", "asked", "held", "same")
"""The keys of a record of `Bundle.probes`."""


@dataclass(frozen=True, slots=True)
class Case:
    """A spec that compiles and can be run: one case of its matrix.

    Attributes:
        case: The id of the matrix case, such as `seed=1,map=a`; empty without a matrix.
        digest: The digest of the resolved specs, which identifies the run.
    """

    kind: str
    name: str
    case: str
    digest: str
    _specs: Specs = field(repr=False, compare=False)

    @property
    def document(self) -> dict[str, Any]:
        """The resolved specs as JSON values, as `spec show` prints them."""
        return self._specs.document()


class Bundle:
    """An evidence bundle: a folder that `spec run` wrote.

    It is checked when it is first read, as by `spec verify`, with replay only if that is asked for; what follows then
    comes from checked receipts.
    """

    def __init__(self, place: Place, *, replay: bool = False) -> None:
        self.place, self._replay = Path(place), replay

    def __repr__(self) -> str:
        return f"Bundle({str(self.place)!r})"

    @cached_property
    def _evidence(self) -> Evidence:
        """The checked evidence.

        Raises:
            Rejected: There is no bundle, or with the failed check.
        """
        try:
            return read_evidence(self.place, KINDS, replay=self._replay)
        except Refuted as refuted:
            raise Rejected(
                Diagnostic(check.code, f"{self.place}: {check.name}: {check.message}")
                for check in refuted.verification.checks
                if check.status == "failed" and check.code is not None
            ) from None

    @property
    def kind(self) -> str:
        """The kind of spec that was run."""
        return self._evidence.kind

    @property
    def name(self) -> str:
        """The name of the spec that was run."""
        return self._evidence.specs.main.name

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest, with the digests and the result."""
        return self._evidence.manifest

    @property
    def verdict(self) -> Verdict:
        """The recorded verdict, which follows from the receipts."""
        return Verdict(self.manifest["result"]["verdict"])

    def receipts(self) -> Iterator[dict[str, Any]]:
        """Each receipt as a record: its `seq`, its `type`, and the fields of its body."""
        for seq, (type_, body) in enumerate(self._evidence.bodies()):
            yield {"seq": seq, "type": type_, **body}

    def steps(self) -> Iterator[dict[str, Any]]:
        """Each step of a run as a record with the keys `STEP_COLUMNS`.

        Raises:
            Rejected: E_TRACE_KIND, if the evidence is not that of a scenario.
        """
        for line in trace_lines(self._evidence):
            if line.kind == "step":
                yield {"episode": line.episode, "t": line.t, "seq": line.seq, **line.facts}

    def probes(self) -> Iterator[dict[str, Any]]:
        """Each probe that was made as a record with the keys `PROBE_COLUMNS`; none of a run without probes.

        Of its questions about changes so many were `asked`, and so many of the answers `held`; `same` were asked
        without a change.
        """
        for receipt in self.receipts():
            if receipt["type"] == "probe":
                evidence = receipt["evidence"]
                held = [trial["held"] for trial in evidence.get("trials", ())]
                counts = {"asked": len(held) - held.count(None), "held": held.count(True)}
                record = {**receipt, **counts, "same": evidence.get("null", {}).get("asked", 0)}
                yield {name: record[name] for name in PROBE_COLUMNS}

    def to_arrow(self) -> pyarrow.Table:
        """The steps as an Arrow table with the columns `STEP_COLUMNS`; lists and mappings are canonical JSON.

        Raises:
            Rejected: E_ARROW_PACKAGE; E_TRACE_KIND.
        """
        try:
            import pyarrow  # noqa: PLC0415 - of an extra
        except ImportError:
            raise missing_package(E_ARROW_PACKAGE, "pyarrow", "arrow") from None
        schema = pyarrow.schema([(name, pyarrow.type_for_alias(type_)) for name, type_ in STEP_COLUMNS.items()])
        return pyarrow.Table.from_pylist([_flat(step) for step in self.steps()], schema=schema)

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict and each check with its outcome."""
        (subject,) = make_report([self._evidence]).subjects
        rows = "".join(
            f"<tr><td>{check.outcome}</td><td>{_text(check.id)}</td><td>{_text(check.tally)}</td>"
            f"<td>{_text(check.why)}</td></tr>"
            for check in subject.checks
        )
        head = "<tr><th>outcome</th><th>check</th><th>failed</th><th>reason</th></tr>"
        return (
            f"<p><b>{_text(subject.name)}: {subject.verdict}</b> ({_text(str(self.place))}, "
            f"{subject.manifest['receipts']['count']} receipts; {subject.replay})</p><table>{head}{rows}</table>"
        )


def _text(text: str) -> str:
    return escape(printable(text))


def _flat(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step whose lists and mappings are JSON."""
    return {
        name: value if value is None or STEP_COLUMNS[name] != "string" else canonical_bytes(value).decode()
        for name, value in step.items()
    }


def load(target: Place, *, set: Mapping[str, Any] | None = None) -> tuple[Case, ...]:  # noqa: A002 - as `--set`
    """Load and check a spec that can be run, one case for each combination of its matrix.

    Args:
        target: A file, or the name of a scenario, suite, law or discovery of the project or a shipped one.
        set: New values by their paths, as `spec run --set`: `{"horizon": 50, "drift.push.at": 3}`.

    Raises:
        Rejected: With every finding in every file.
    """
    return tuple(
        Case(bundle.main.kind, bundle.main.name, bundle.case, bundle.digest, bundle)
        for bundle in load_runs([str(target)], changes_of(set or {}))
    )


def run(
    what: Case | Place,
    out: Place | None = None,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as `--set`
    workers: int = 1,
    trust_agent: bool = False,
) -> Bundle:
    """Run one case and write its evidence; an existing bundle is replaced.

    Args:
        what: A case of `load`, or what `load` takes, with one case.
        out: The folder of the bundle; by default `out/<name>`.
        set: New values, as of `load`; only for what is loaded here.
        workers: The number of processes. The bytes do not depend on it.
        trust_agent: Whether agents from outside may be executed.

    Raises:
        Rejected: It is invalid, has several cases (E_CASES), cannot be run or cannot be written.
        ValueError: `set` is given with a case.
    """
    if isinstance(what, Case) and set:
        raise ValueError("a case is loaded with its values: load(..., set=...)")
    cases = (what,) if isinstance(what, Case) else load(what, set=set)
    if len(cases) != 1:
        hint = "run each case that `load` returns"
        raise Rejected([Diagnostic(E_CASES, f"{cases[0].name} has {len(cases)} cases", hint=hint)])
    specs = cases[0]._specs
    (folder,) = place_cases([specs], None if out is None else Path(out))
    folder.parent.mkdir(parents=True, exist_ok=True)
    return Bundle(execute(specs, folder, RunOptions(Processes(workers), trust_agent)).place)


def verify(
    evidence: Bundle | Place,
    *,
    replay: bool = True,
    trust: Place | None = None,
    levels: Sequence[str] = (),
    workers: int = 1,
) -> Verification:
    """Verify evidence, as `spec verify`.

    Args:
        evidence: A bundle, an audit log or a run log.
        replay: Whether the run is made again and every byte is compared.
        trust: A `trust.json` with the keys that you trust.
        levels: Levels that must be reached, such as `["L1"]`.
        workers: The number of processes.

    Returns:
        Numbered checks and a `verdict`; evidence that is refuted raises nothing.

    Raises:
        Rejected: There is no evidence, or the trust file is invalid.
        ValueError: There is no such level.
    """
    path = evidence.place if isinstance(evidence, Bundle) else Path(evidence)
    named = frozenset(map(Level, levels))
    reader = Reader(
        replay=replay,
        trust=None if trust is None else read_trust(Path(trust)),
        judge=Level.JUDGED in named,
        levels=named,
    )
    return verify_path(path, executor=Processes(workers), reader=reader)


def report(
    *bundles: Bundle | Place,
    format: str = "html",  # noqa: A002 - as `--format`
    profile: str | None = None,
    episode: int = 0,
    date: str | None = None,
) -> str:
    """Render a report of bundles, as `spec report`.

    Args:
        bundles: One bundle, or several for the formats that take them; replayed are those of `Bundle(…, replay=True)`.
        format: One of `spec report --format`; a folder of files is written by the command alone.
        profile: The name or file of a profile that judges the bundles.
        episode: The episode that `svg` draws.
        date: The day as `YYYY-MM-DD`, for OSCAL and for waivers.

    Raises:
        Rejected: A bundle is refuted, the profile is invalid, or the evidence has no such report.
        ValueError: There is no such format, or it is not of so many bundles.
    """
    chosen = FORMATS.get(format)
    if chosen is None or chosen.folder:
        known = (name for name, row in FORMATS.items() if not row.folder)
        raise ValueError(f"{format!r} is no format of a text; there are {', '.join(known)}")
    if not bundles or (not chosen.several and (len(bundles) > 1 or profile is not None)):
        raise ValueError(
            f"{format!r} is a format of {'one bundle without a profile' if bundles else 'one bundle or more'}"
        )
    asked = ask(profile)
    evidence = [(bundle if isinstance(bundle, Bundle) else Bundle(bundle))._evidence for bundle in bundles]
    return chosen.write(make_report(evidence, asked, date), Options(date, None, episode)).text
