"""Faults of what only some kinds of bundles hold: audit logs and capabilities, tapes, suites, laws, discoveries.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tools.tampering.case import Case, Change, relist, seal
from tools.tampering.faults_chain import body, without
from tools.tampering.faults_form import added
from tools.tampering.forger import canonical, sha256, tagged
from tools.tampering.signer import Signer

LOG, TAPE, MANIFEST, RECEIPTS = "audit.log.jsonl", "tape.jsonl", "manifest.json", "receipts.jsonl"


def entry_hash(entry: Any) -> str:
    """The hash of an audit entry, by the seed's rule."""
    return sha256(canonical({name: value for name, value in entry.items() if name != "entry_hash"}))


def entries(change: Callable[[list[Any]], Any], *, everywhere: bool) -> Change:
    """Audit entries say something else, and their chain is made to fit: in the log, and in the receipts or not there."""

    def make(f: Signer) -> None:
        log = [json.loads(line) for line in f.read(LOG).splitlines()]
        change(log)
        prev = "0" * 64
        for entry in log:
            entry["prev_entry_hash"] = prev
            entry["entry_hash"] = prev = entry_hash(entry)
        f.write(LOG, b"".join(canonical(entry) + b"\n" for entry in log))
        if everywhere:
            for audit, entry in zip(f.bodies("audit"), log, strict=True):
                audit.clear()
                audit.update(entry)

    return make


def raw(change: Callable[[list[bytes]], list[bytes]], name: str = LOG) -> Change:
    """The lines of a file are others."""
    return lambda f: f.write(name, b"".join(line + b"\n" for line in change(f.read(name).split(b"\n")[:-1])))


def spelled(number: int, old: bytes, new: bytes) -> Callable[[list[bytes]], list[bytes]]:
    """One line is spelled otherwise."""

    def change(lines: list[bytes]) -> list[bytes]:
        if old not in lines[number]:
            raise LookupError(f"{old!r} is not in line {number}")
        return [line.replace(old, new, 1) if at == number else line for at, line in enumerate(lines)]

    return change


def token(change: Callable[[Any], Any]) -> Change:
    """The first issued token is another one, in the log and in the receipts; their chains fit."""
    return entries(lambda log: change(log[1]["capability_tokens"][0]), everywhere=True)


def removed(name: str) -> Change:
    """A file is gone."""
    return lambda f: f.remove(name)


def able(f: Signer) -> None:
    """No rule is said to be able to notice nothing."""
    for rule in f.first("start")["rules"]:
        rule.pop("unable", None)


def taped(f: Signer) -> None:
    """A tape of the right form beside answers that follow from the specs: those of the same script, asked elsewhere."""
    f.write(TAPE, (f.folder.parent / "taped" / TAPE).read_bytes())


ANSWERS: Final = {
    "of": "claims",
    "deterministic": False,
    "trials": [{"drawn": 0, "variable": "x", "value": 1, "predicted": "wait", "edit": None, "after": "wait", "declared": "wait", "held": True}],
    "null": {"asked": 1, "changed": 2},
}  # fmt: skip

AUDIT: Final = [
    Case("audit-entry", "An entry was edited in the log, and its hash is the one of before.", "kernel", raw(spelled(1, b'"timestamp_ms":0', b'"timestamp_ms":1')), relist, "E_AUDIT_CHAIN"),
    Case("audit-entry-chained", "An entry was edited in the log, and its chain was made to fit.", "kernel", entries(lambda log: log[0].update(timestamp_ms=5), everywhere=False), relist, "E_AUDIT_DIFFERS"),
    Case("audit-receipt-chain", "An entry of the receipts does not follow the one before it.", "kernel", lambda f: (f.bodies("audit")[1].update(prev_entry_hash="ab" * 32), f.bodies("audit")[1].update(entry_hash=entry_hash(f.bodies("audit")[1]))), seal, "E_STATE"),
    Case("audit-field", "An entry says more than its schema allows; log, receipts and chains fit.", "kernel", entries(lambda log: log[0].update(more=1), everywhere=True), seal, "E_AUDIT_LINE"),
    Case("audit-missing", "There is no log, though the receipts hold entries.", "kernel", removed(LOG), relist, "E_AUDIT_DIFFERS"),
    Case("audit-of-nothing", "There is a log, though the receipts hold no entries.", "climb", added(LOG, b""), relist, "E_AUDIT_NO_LOG"),
    Case("capability-reused", "A decision has the token of the decision before; all chains fit.", "kernel", entries(lambda log: log[3].update(capability_tokens=log[1]["capability_tokens"]), everywhere=True), seal, "E_AUDIT_TOKEN"),
    Case("probe-out-of-order", "A probe belongs to another step than the one that is being decided.", "kernel", lambda f: f.first("probe").update(t=1), seal, "E_STATE"),
    Case("probe-verdict", "A probe that the agent passed is said to have failed; the result fits.", "kernel", lambda f: f.first("probe").update(verdict="FAIL", cause="taken"), seal, "E_STATE"),
    Case("probe-answer", "An answer to a challenge is said not to hold, though it is the predicted one.", "kernel", lambda f: challenged(f)["trials"][0].update(held=False, miss="mispredicted"), seal, "E_STATE"),
    Case("probe-cause", "A challenge has a cause that its answers do not give.", "kernel", lambda f: challenge(f).update(verdict="FAIL", cause="inert"), seal, "E_STATE"),
    Case("probe-count", "A challenge asked the same question more often than its probe does.", "kernel", lambda f: challenged(f)["null"].update(asked=9), seal, "E_STATE"),
    Case("probe-promised", "An agent that is a spec is said to be deterministic by its word alone.", "kernel", lambda f: challenged(f).update(promised=True), seal, "E_STATE"),
    Case("probe-offer-answers", "An offer has answers of a challenge beside its own, which would be counted.", "kernel", lambda f: offered(f).update(ANSWERS), seal, "E_STATE"),
    Case("probe-others", "More other choices came than answers that were another one.", "kernel", lambda f: challenged(f)["null"].update(others=1), seal, "E_STATE"),
    Case("probe-of-another-name", "A receipt is of a probe that the run does not have.", "kernel", lambda f: f.first("probe").update(probe="p0"), seal, "E_STATE"),
    Case("tape-missing", "There is no tape, though the agent was asked outside.", "outside", removed(TAPE), relist, "E_TAPE_MISSING"),
    Case("tape-number", "The exchanges on the tape do not count up.", "outside", raw(spelled(2, b'"seq":1', b'"seq":7'), TAPE), relist, "E_TAPE_FORM"),
    Case("tape-mode", "The tape is of a live audit log, though the run has no log.", "outside", raw(spelled(0, b'"mode":"simulated"', b'"mode":"live"'), TAPE), relist, "E_TAPE_FORM"),
    Case("tape-programs", "The tape names a file of the agent with a digest that is none.", "outside", raw(spelled(0, b'"walker.py":"', b'"walker.py":"z'), TAPE), relist, "E_TAPE_FORM"),
    Case("tape-question", "An answer on the tape belongs to another message.", "outside", raw(spelled(3, b'"message":"decide"', b'"message":"ask"'), TAPE), relist, "E_TAPE_QUESTION", "L4"),
    Case("tape-of-a-discovery-number", "The answers on the tape of a discovery do not count up.", "taped", raw(spelled(2, b'"iteration":1', b'"iteration":2'), TAPE), relist, "E_TAPE_FORM"),
    Case("tape-of-a-discovery-missing", "There is no tape, though the model of the discovery is outside.", "taped", removed(TAPE), relist, "E_TAPE_MISSING"),
    Case("tape-of-a-discovery-dropped", "The tape of a discovery lacks the last answer.", "taped", raw(lambda lines: lines[:-1], TAPE), relist, "E_TAPE_MISSING", "L4"),
    Case("tape-of-a-script", "There is a tape of answers, though the model of the discovery is a script.", "discovery", taped, relist, "E_TAPE_EXTRA"),
    Case("rules-able", "A rule about a tool that there is none of is not said to notice nothing, so that the run passes.", "reading", able, seal, "E_REPLAY", "L4"),
]  # fmt: skip


RUN = "runs/long.climb.3"


def within(place: str, change: Change, mend: Callable[[Signer], Any]) -> Change:
    """A fault in a bundle inside the suite's, which is made to fit in itself; the suite speaks of it as it was."""

    def make(f: Signer) -> None:
        inner = Signer(f.folder / place)
        change(inner)
        mend(inner)

    return make


def with_suite_receipt(place: str, change: Change, mend: Callable[[Signer], Any]) -> Change:
    """The same, and the suite's receipt of it speaks of it as it is."""

    def make(f: Signer) -> None:
        within(place, change, mend)(f)
        now = json.loads((f.folder / place / MANIFEST).read_bytes())
        for run in f.bodies("run"):
            if run["place"] == place:
                run |= {name: now[name] for name in ("specs", "receipts", "result")}

    return make


def resealed(f: Signer) -> None:
    f.recount()
    f.chain_parts()
    f.seal()


def missing(f: Signer) -> None:
    f.leave_out(RUN)


def success(f: Signer) -> None:
    f.first("step")["success"] = True


SUITES: Final = [
    Case("suite-run-missing", "A run that the suite speaks of is missing.", "suite", missing, relist, "E_RUNS"),
    Case("suite-run-sealed-again", "A run was changed and sealed again; the suite speaks of the one of before.", "suite", within(RUN, success, resealed), relist, "E_RUNS"),
    Case("suite-run-forged", "A run was changed and sealed again, and the suite speaks of it as it is.", "suite", with_suite_receipt(RUN, success, resealed), seal, "E_RUNS", level="L4", needs="replay"),
    Case("suite-run-broken", "The chain of a run is broken; its manifest and the suite's fit.", "suite", within(RUN, body(3, record={"reached": 2}), lambda inner: (setattr(inner, "lines", [canonical(one) for one in inner.receipts]), inner.relist())), relist, "E_RUNS"),
    Case("suite-figure-dropped", "A figure is missing.", "suite", lambda f: without(next(at for at, one in enumerate(f.receipts) if one["type"] == "figure"))(f), seal, "E_ASSESSMENT"),
    Case("suite-type", "There is a receipt that suites do not have.", "suite", lambda f: f.receipts.insert(1, {"type": "step", "body": {}}), seal, "E_ENDS"),
]  # fmt: skip


def verdict(change: Callable[[Any], Any], type_: str = "verdict", number: int = 0, **end: Any) -> Change:
    """A verdict on a law says something else; its digest and the status at the end are made to fit."""

    def make(f: Signer) -> None:
        receipt = f.bodies(type_)[number]
        change(receipt["verdict"])
        receipt["digest"] = tagged("law-verdict", canonical(receipt["verdict"]))
        if type_ == "verdict":
            f.first("end").update({"status": receipt["verdict"]["status"], **end})

    return make


def passed(said: Any) -> None:
    said |= {"status": "PASS", "method": "sample", "counterexample": None}


def passed_by_nothing(said: Any) -> None:
    passed(said)
    said |= {"power": {"usable": 60, "hits": 0}}


LAWS: Final = [
    Case("law-cases", "More cases are said to have been tried; the result was made to fit.", "refuted", lambda f: f.first("cases").update(count=301), seal, "E_REPLAY", "L4", needs="replay"),
    Case("law-certificate-reach", "A law is said to be proved for fewer rings than it is.", "proved", verdict(lambda said: said.update(up_to=50)), seal, "E_CERTIFICATE", needs="replay"),
    Case("law-certificate-missing", "A law is said to be proved, and there is no certificate.", "proved", verdict(lambda said: said.update(certificate=None)), seal, "E_VERDICT"),
    Case("law-passed-by-nothing", "A law is said to have passed, though by its figures no case says anything.", "refuted", verdict(passed_by_nothing, met=False), seal, "E_VERDICT"),
    Case("law-counterexample-excerpt", "The excerpt of a counterexample shows something else than what happens.", "refuted", verdict(lambda said: said["counterexample"]["excerpt"]["states"].__setitem__(1, "....")), seal, "E_COUNTEREXAMPLE"),
    Case("law-counterexample-missing", "A law is said to have failed, and there is no counterexample.", "refuted", verdict(lambda said: said.update(counterexample=None)), seal, "E_VERDICT"),
    Case("law-certificate-of-a-failure", "A law is said to have failed, and there is a certificate that it holds.", "refuted", verdict(lambda said: said.update(certificate={})), seal, "E_VERDICT"),
    Case("law-reason", "A law is decided, and there is a reason why it is not.", "refuted", verdict(lambda said: said.update(reason="limit")), seal, "E_VERDICT"),
    Case("law-digest", "The digest of the verdict is not its own.", "refuted", lambda f: f.first("verdict").update(digest="ab" * 32), seal, "E_VERDICT"),
    Case("law-end", "The end tells another status than the verdict.", "refuted", lambda f: f.first("end").update(status="PASS"), seal, "E_VERDICT"),
    Case("law-verdict-missing", "There is no verdict.", "refuted", without(2), seal, "E_ENDS"),
    Case("discovery-ledger", "A refuted law is missing in the ledger.", "discovery", lambda f: f.first("ledger")["refuted"].pop(), seal, "E_DISCOVERY_LEDGER"),
    Case("discovery-certificate", "A certificate is of a format that does not exist; digests and chain fit.", "discovery", verdict(lambda said: said["certificate"].update(format="proof/v2"), "law"), seal, "E_CERTIFICATE", needs="replay"),
    Case("discovery-ledger-field", "The ledger does not say which laws were refuted.", "discovery", lambda f: f.first("ledger").pop("refuted"), seal, "E_DISCOVERY_LEDGER"),
    Case("discovery-counterexample", "The excerpt of a counterexample shows something else than what happens; digests, ledger and chain fit.", "discovery", verdict(lambda said: said["counterexample"]["excerpt"]["states"].__setitem__(1, "...."), "law", 1), seal, "E_COUNTEREXAMPLE"),
    Case("discovery-status", "A law that is false is said to have passed, though its counterexample is there.", "discovery", verdict(lambda said: said.update(status="PASS"), "law", 1), seal, "E_VERDICT"),
    Case("discovery-error", "A law has a verdict and an error.", "discovery", lambda f: f.bodies("law")[3].update(error={"code": "E_X"}), seal, "E_VERDICT"),
    Case("discovery-digest-of-nothing", "A law has an error and no verdict, and there is a digest of one.", "discovery", lambda f: f.bodies("law")[3].update(error={"code": "E_X"}, verdict=None), seal, "E_VERDICT"),
    Case("discovery-document", "A verdict stands under another law than the one whose document is there.", "discovery", lambda f: f.first("law").update(law="law/other@0000000000000000"), seal, "E_VERDICT"),
    Case("discovery-iteration", "The iterations do not count up.", "discovery", lambda f: f.bodies("iteration")[1].update(iteration=2), seal, "E_ENDS"),
    Case("discovery-law-elsewhere", "A law stands under another iteration than its own.", "discovery", lambda f: f.bodies("law")[1].update(iteration=0), seal, "E_ENDS"),
    Case("discovery-order", "The ledger comes before the stop.", "discovery", lambda f: f.receipts.insert(12, f.receipts.pop(13)), seal, "E_ENDS"),
    Case("discovery-end", "The end counts fewer iterations than there are.", "discovery", lambda f: f.first("end").update(iterations=3), seal, "E_ENDS"),
]  # fmt: skip


def challenge(f: Signer) -> Any:
    """The first receipt of a challenge."""
    return next(body for body in f.bodies("probe") if "trials" in body["evidence"])


def challenged(f: Signer) -> Any:
    """Its evidence."""
    return challenge(f)["evidence"]


def offered(f: Signer) -> Any:
    """The evidence of the first offer."""
    return next(body["evidence"] for body in f.bodies("probe") if "taken" in body["evidence"])


FAULTS: Final = (*AUDIT, *SUITES, *LAWS)
