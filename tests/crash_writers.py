"""What writes evidence, as work that can be ended anywhere and done again."""

from typing import ClassVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from specledger.core.binding import GENESIS
from specledger.core.diagnostics import Rejected
from specledger.core.entries import Entries, Mode
from specledger.core.events import Event
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.keys import SigningKey
from specledger.evidence.runlog import announce, attempt_of, enter, read_runlog, result_of
from specledger.evidence.seal import UNSIGNED, Seal, seal_bundle
from specledger.oracles.cassette import CassetteModel
from specledger.oracles.model import ModelRequest, answered
from specledger.wings.guard.log import ConversationLog
from specledger.wings.kernel.audit.log import AuditLog
from specledger.wings.kernel.documents.schemas import axion
from specledger.wings.trajectories.recording.guard_log import BEGIN, DECISION, END, ENTRY

ACCEPTS = axion().check("audit_entry")


class Writer:
    """Work in a folder, and what it has acknowledged."""

    survives_lies = False

    def __init__(self, root):
        self.root = root
        self.acknowledged = 0

    def forget(self):
        """Expect nothing that was acknowledged: the disk lies."""
        self.acknowledged = 0

    def check(self, expected):
        """Recover, and see that nothing acknowledged is lost and nothing half-written counts."""
        raise NotImplementedError

    def content(self):
        """The bytes of all files."""
        return {str(path.relative_to(self.root)): path.read_bytes() for path in self.root.rglob("*") if path.is_file()}


class PlaceWriter(Writer):
    """Writes a bundle, beside which a working folder may stay."""

    def content(self):
        return {path: data for path, data in super().content().items() if path.startswith("out/")}


class LogWriter(Writer):
    """Appends lines to a log."""

    survives_lies = True

    @property
    def path(self):
        return self.root / "log"

    @property
    def lines(self):
        return self.path.read_bytes().count(b"\n") if self.path.exists() else 0

    def reopen(self):
        """Open the log, which removes what is torn."""
        raise NotImplementedError

    def check(self, expected):
        self.reopen()
        (whole,) = expected.values()
        content = self.path.read_bytes()
        assert whole.startswith(content), "something else counts"
        assert content[-1:] in (b"", b"\n"), "something half-written counts"
        assert self.lines >= self.acknowledged, "something acknowledged is lost"


class LiveAudit(LogWriter):
    """The audit log of an agent that is not simulated: each entry is on the disk before anything acts."""

    mode, every = Mode.LIVE, 1

    def __init__(self, root):
        super().__init__(root)
        sealing = Entries(self.mode, GENESIS)
        self.entries = [
            sealing.seal("POLICY_DECISION", at_ms=100 * tick, verdict="allow", codes=["c" * 200] * (9 * (tick % 3)))
            for tick in range(6)
        ]

    def open(self):
        return AuditLog(self.path, self.mode, ACCEPTS)

    def reopen(self):
        self.open().close()

    def work(self):
        with self.open() as log:
            self.acknowledged = max(self.acknowledged, self.lines)
            for number in range(self.lines, len(self.entries)):
                log.append(self.entries[number])
                if (number + 1) % self.every == 0:
                    if self.every > 1:
                        log.sync()
                    self.acknowledged = number + 1


class SimulatedAudit(LiveAudit):
    """The audit log of a run: on the disk once an episode."""

    mode, every = Mode.SIMULATED, 3


class Guard(LogWriter):
    """The log of a guarded conversation: a decision is on the disk before it is answered."""

    RUN = "ab" * 16
    SAID: ClassVar = [
        ([Event(BEGIN, {"conversation": "c"})], True),
        ([Event(ENTRY, {"message": "m" * 6000})], False),
        ([Event(ENTRY, {"call": "a"}), Event(DECISION, {"call": "a", "made": True})], True),
        ([Event(ENTRY, {"result": "r" * 600})], False),
        ([Event(ENTRY, {"call": "b" * 5000}), Event(DECISION, {"made": False}), Event(ENTRY, {"result": "no"})], True),
        ([Event(END, {"entries": 5})], True),
    ]

    def open(self):
        return ConversationLog(self.path, self.RUN)

    def reopen(self):
        self.open().close()

    def work(self):
        with self.open() as log:
            there = len(log.records)
            self.acknowledged = max(self.acknowledged, there)
            end = 0
            for events, sync in self.SAID:
                end += len(events)
                rest = events[there - end :] if there > end - len(events) else events
                if there < end:
                    log.append(rest, sync=sync)
                    if sync:
                        self.acknowledged = end


class RunLog(LogWriter):
    """The run log: an attempt is on the disk before anything runs for it."""

    MANIFEST: ClassVar = {"receipts": {"count": 2, "head": "a" * 64, "root": "b" * 64}, "result": {"verdict": "PASS"}}
    ATTEMPT = attempt_of("suite", "heights", "c" * 64, "d" * 32, [2, 1], "to see " * 500)

    def reopen(self):
        try:
            enter(self.path, result_of(999, self.MANIFEST))
        except Rejected as error:  # after what is torn was removed
            if "no attempt 999" not in str(error):
                raise

    def work(self):
        for number in range(1, 7):
            if self.path.exists() and self.lines > number and self._whole() > number:
                continue
            if number % 2:
                announce(self.path, self.ATTEMPT)
            else:
                enter(self.path, result_of(number - 1, self.MANIFEST))
            self.acknowledged = number + 1

    def _whole(self):
        self.reopen()
        return len(read_runlog(self.path.read_bytes()).heads)


class Cassette(LogWriter):
    """The record of a model: an answer is on the disk before it is used."""

    TURNS: ClassVar = [ModelRequest(turn, "s", "p") for turn in range(4)]

    def ask(self, request):
        return answered(f"[{request.turn}]" * 700)

    def open(self):
        return CassetteModel(self.path, {"oracle": "somebody"}, lambda: self)

    def reopen(self):
        self.open()

    def work(self):
        model = self.open()
        self.acknowledged = max(self.acknowledged, self.lines)
        for number, request in enumerate(self.TURNS):
            model.ask(request)
            self.acknowledged = max(self.acknowledged, number + 2)


KEYS = [
    SigningKey(key.public_key().public_bytes_raw(), key)
    for key in (Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in (1, 2))
]
RUN, DIGEST = "ab" * 16, "cd" * 32
SPECS = {"root": "scenario/a@0", "specs": {"scenario/a@0": {"name": "a", "horizon": 3}}}
RULES = [{"name": "budget", "scope": "step", "severity": "fatal"}]
BREACH = {"invariant": "budget", "severity": "fatal"}
EVENTS = [
    Event("start", {"invariants": RULES, "gates": ["wall"], "specs": DIGEST}),
    Event("episode", {"episode": 0}),
    Event(
        "step", {"decisions": [{"rejected": [], "error": None}], "chosen": 0, "violations": [BREACH], "x": "x" * 9000}
    ),
    Event("episode_end", {"success": True, "violations": [], "idle": {}}),
    Event("end", {"episodes": 1, "steps": 1}),
]


class NewBundle(PlaceWriter):
    """A bundle at a place where nothing is."""

    resume, earlier = False, False

    def __init__(self, root):
        super().__init__(root)
        self.before = {}
        if self.earlier:
            self._write("00" * 16)
            self.before = self.content()
        self.acknowledged = 0

    def _write(self, run):
        sources = {"world/a.yaml": b"a", "origin.json": b"{}"}
        place = self.root / "out"
        with BundleWriter(place, run, SPECS, DIGEST, sources=sources, identity="i" * 100, resume=self.resume) as writer:
            for event in EVENTS:
                writer.add(event)
            writer.put("audit.log.jsonl", b"a" * 5000)
            writer.finish(attach=UNSIGNED.attach)
        self.acknowledged = 1

    def work(self):
        self._write(RUN)

    def check(self, expected):
        there = self.content()
        states = [expected] if self.acknowledged else [expected, self.before]
        if there:
            assert there in states, "something half-written is at the place"
            return
        kept = [
            {f"out/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            for folder in self.root.glob(".out.*/earlier")
        ]
        if self.acknowledged or self.before:
            assert len(kept) == 1, "a finished bundle is lost"
        assert all(files in states for files in kept), "what would be put back is half-written"


class ReplacingBundle(NewBundle):
    """A bundle at a place where an earlier one is."""

    earlier = True


class ResumedBundle(NewBundle):
    """A bundle whose writer goes on with what an unfinished one left."""

    resume = True


class ResumedReplacing(ReplacingBundle):
    """Both."""

    resume = True


class Sealing(PlaceWriter):
    """Signatures, digests and the guide of a bundle that was sealed by another key before."""

    def __init__(self, root):
        super().__init__(root)
        NewBundle(root).work()
        seal_bundle(root / "out", Seal(KEYS[0]))
        self.before = self.content()
        self.acknowledged = 0

    def work(self):
        seal_bundle(self.root / "out", Seal(KEYS[1]))
        self.acknowledged = 1

    def check(self, expected):
        there = self.content()
        for path in expected:
            name = path.removeprefix("out/")
            may_be_absent = name in ("sha256sums", "VERIFY.md")
            earlier = [] if self.acknowledged else [self.before.get(path)]
            states = [expected[path], *earlier, *([None] if may_be_absent else [])]
            assert there.get(path) in states, f"{name} is lost or half-written"
        sums = there.get("out/sha256sums")
        if sums is not None:
            assert sums in (expected["out/sha256sums"], self.before["out/sha256sums"])
            state = expected if sums == expected["out/sha256sums"] else self.before
            assert there == state, "digests of other files"


WRITERS = {
    "audit log": LiveAudit,
    "audit log of a simulated run": SimulatedAudit,
    "guard log": Guard,
    "run log": RunLog,
    "cassette": Cassette,
    "bundle": NewBundle,
    "bundle for an earlier one": ReplacingBundle,
    "bundle with resume": ResumedBundle,
    "bundle with resume for an earlier one": ResumedReplacing,
    "seal": Sealing,
}
