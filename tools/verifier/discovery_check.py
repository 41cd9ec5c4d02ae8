"""The verdicts of a discovery: each is about its law, rests on what it says, and is what trying the law again gives.

Laws are tried as the discovery says, however hard their proposers wanted them tried; accepted ones again, harder, and
under rules that are held out (docs/discovery.md).
"""

from tools.verifier.basis import BIG, Open, Refuted, demand, guarded, write
from tools.verifier.discovery_form import NoLaw, members_of
from tools.verifier.discovery_law import LawBook
from tools.verifier.law_cases import law_cases
from tools.verifier.law_check import (
    check_counterexample,
    check_verdict,
    counterexample_of_text,
    remade_verdict,
    replay_verdict,
)

VERDICT_FIELDS = {"law", "key", "universe", "template", "claim", "forbidden", "contract", "status", "method", "reason"}
VERDICT_FIELDS |= {"detail", "proved_for", "up_to", "certificate", "counterexample", "power", "violation_bound"}
VERDICT_FIELDS |= {"content", "work"}
COUNTEREXAMPLE_FIELDS = {"start", "t", "excerpt", "observables", "minimised"}
HELD_FIELDS = {"universe", "mutant", "status", "method", "reason", "up_to", "counterexample"}
UNSAID_INTEGER = ("UNKNOWN", "none", "evaluation_error", "an integer of the verdict is beyond 2^53 - 1")
NOTE_CERTIFICATE = "that a certificate is the one that the prover made, and not another that proves the same"
NOTE_DETAIL = "the words of why a proof reaches no further"
NOTE_ERROR = "that a trial ended in a contradiction of the engine, where a law has an error and no verdict"
NOTE_UNSAID = "that a verdict was too large to be told, where one says so"
NOTE_HELD_PROOF = "proofs and the reach of proofs under rules that are held out, whose certificates are not kept"
NOTE_HELD_FOUND = "how the rings were found that refute laws under rules that are held out"
NOTE_HELD_REASON = "why a law cannot be said in another universe"
NOTE_WORK = "verdicts of laws whose trial takes more work than --work N allows"


class DiscoveryTrials:
    """Looks at the verdicts of one discovery."""

    def __init__(self, spec, specs, notes):
        self.spec, self.specs, self.notes = spec, specs, notes
        self.book = LawBook(specs, spec["universe"], spec["templates"])
        self.held = {"cases": 100, "mutations": 0, **spec.get("held_out", {})}

    def effort(self, kind, document):
        """How hard a law is tried."""
        usual = {"cases": 300, "mutations": 1500, "T": 50}
        given = self.spec.get("trial", {})
        if kind != "law":
            usual = {"cases": 2000, "mutations": 5000, "T": 200}
            given = self.spec.get("escalation", {})
        hard, quantifiers = {**usual, **given}, dict(document.get("quantifiers") or {})
        asked = quantifiers.get("T", hard["T"])
        quantifiers["T"] = asked if kind == "law" else max(asked, hard["T"])
        return {"cases": hard["cases"], "mutations": hard["mutations"], "quantifiers": quantifiers}

    def law(self, kind, body):
        """The law of a receipt, as it was tried."""
        document = body["document"]
        try:
            own = self.book.law(document)
            demand(own.key == body["law"], "E_VERDICT", f"{body['law']} is not the law whose document is recorded")
            return self.book.law(document, self.effort(kind, document), own.name)
        except NoLaw as no:
            raise Refuted("E_VERDICT", f"a recorded law is none: {no.reason}") from None

    def check(self, kind, body):
        """What follows from a receipt and the specs alone: a verdict, a certificate, counterexamples."""
        guarded(lambda: self.checked(kind, body), "E_VERDICT")

    def checked(self, kind, body):
        """The same, of a receipt that may have any form."""
        verdict = body["verdict"]
        shaped = verdict is None or (isinstance(verdict, dict) and verdict.keys() == VERDICT_FIELDS)
        demand(shaped, "E_VERDICT", "a verdict has other fields")
        found = verdict["counterexample"] if verdict else None
        shaped = found is None or (isinstance(found, dict) and found.keys() == COUNTEREXAMPLE_FIELDS)
        demand(shaped, "E_COUNTEREXAMPLE", "a counterexample has other fields")
        law = self.law(kind, body)
        demand(law.universe.key == self.spec["universe"], "E_VERDICT", "a law is about another universe")
        if body["verdict"] is None:
            demand(isinstance(body["error"], str), "E_VERDICT", f"{body['law']} has neither a verdict nor an error")
            self.notes.add(NOTE_ERROR)
        else:
            demand(body["error"] is None, "E_VERDICT", f"{body['law']} has a verdict and an error")
            check_verdict(law, verdict)
            self.believed(verdict)
        for held, other in self.held_out(body) if kind == "escalation" else ():
            if held["counterexample"] is not None:
                check_counterexample(other, held["counterexample"])

    def believed(self, verdict):
        """Note what of a verdict is not made again, beside what trying its law says so of."""
        if verdict["certificate"] is not None:
            self.notes.add(NOTE_CERTIFICATE)
            if verdict["method"] != "proof":
                self.notes.add(NOTE_DETAIL)

    def held_out(self, body):
        """What was found under each rule that is held out, each with the law there, or with None if it is none."""
        document, held, code = body["document"], body["held_out"], "E_VERDICT"
        name = self.book.law(document).name
        rules = [(self.spec["universe"], number) for number in self.mutants()]
        rules += [(key, None) for key in self.held.get("universes", [])]
        shaped = isinstance(held, list) and all(isinstance(one, dict) and one.keys() == HELD_FIELDS for one in held)
        told = [(one["universe"], one["mutant"]) for one in held] if shaped else None
        demand(
            write(told) == write(rules), "E_REPLAY", "a law was tried under other rules than those that are held out"
        )
        changes = {one: self.held[one] for one in ("cases", "mutations")}
        changes["quantifiers"] = document.get("quantifiers") or {}
        for one in held:
            refuted = one["counterexample"] is not None
            demand((one["status"] == "FAIL") == refuted, code, "a status and its counterexample do not go together")
            yield one, self.there(document, changes, name, one)

    def there(self, document, changes, name, held):
        """The law under a rule that is held out; None where it cannot be said."""
        book = self.book.elsewhere(held["universe"])
        try:
            law = book.law(document, changes, name)
        except NoLaw:
            said = {"status": "INAPPLICABLE", "reason": held["reason"], "method": None, "up_to": None}
            same = isinstance(held["reason"], str) and all(held[key] == value for key, value in said.items())
            demand(same, "E_REPLAY", f"{name} is no law of {held['universe']}, and was tried there")
            self.notes.add(NOTE_HELD_REASON)
            return None
        demand(held["status"] != "INAPPLICABLE", "E_REPLAY", f"{name} is a law of {held['universe']}")
        if held["mutant"] is not None:
            law.universe.rule = law.universe.rule.changed(held["mutant"])  # the universe is this book's alone
        return law

    def mutants(self):
        """The numbers of the mutants of the universe's rule that are held out."""
        symbols = len(self.specs[self.spec["universe"]]["alphabet"])
        every = symbols**3 * (symbols - 1)
        wanted = min(self.held.get("mutants", 0), every)
        return [number * every // wanted for number in range(wanted)]

    # Trying again

    def again(self, kind, body):
        """Try the law of a receipt again; where that takes too much work, say so."""
        if body["verdict"] is not None:
            self.within_work(lambda: self.verdict(self.law(kind, body), body["verdict"]))
        for held, other in self.held_out(body) if kind == "escalation" else ():
            if other is not None:
                self.within_work(lambda: self.there_again(other, held))

    def within_work(self, check):
        """Make a check, or say that it is too much."""
        try:
            check()
        except Open as lacking:
            if lacking.code != "E_WORK":
                raise
            self.notes.add(NOTE_WORK)

    def verdict(self, law, verdict):
        """A verdict is what trying the law again gives."""
        if (verdict["status"], verdict["method"], verdict["reason"], verdict["detail"]) == UNSAID_INTEGER:
            made, _ = remade_verdict(law, {**verdict, "method": "sample"}, law_cases(law))
            large = any(type(one) is int and abs(one) > BIG for one in members_of(made))
            demand(large, "E_REPLAY", "no integer of the verdict is too large")
            return
        if verdict["reason"] == "resource_limit" and str(verdict["detail"]).startswith("the verdict has "):
            self.notes.add(NOTE_UNSAID)
            return
        self.notes.update(replay_verdict(law, verdict, [] if law.unknown is not None else law_cases(law)))

    def there_again(self, law, held):
        """What is told of a law under a rule that is held out is what trying it gives, as far as that is kept."""
        demand(held["up_to"] is None or type(held["up_to"]) is int, "E_REPLAY", "the reach of a proof is no number")
        if held["status"] == "ERROR":
            self.notes.add(NOTE_ERROR)
            return
        if held["method"] == "refutation":
            self.notes.add(NOTE_HELD_FOUND)
            plain = held["status"] == "FAIL" and held["reason"] is None and held["up_to"] is None
            demand(plain, "E_REPLAY", "a refutation refutes nothing")
            law.fitting = law.fits(law.claim) is not None and law.fits(law.where) is not None
            made, found = counterexample_of_text(law, held["counterexample"]), held["counterexample"]
            demand(write(made) == write(found), "E_REPLAY", "a counterexample under a rule that is held out differs")
            return
        blank = dict.fromkeys(("certificate", "proved_for", "detail", "counterexample"))
        made, _ = remade_verdict(law, {**blank, **held}, [] if law.unknown is not None else law_cases(law), False)
        for name in ("status", "method", "reason", "counterexample"):
            same = write(made.get(name)) == write(held[name])
            demand(same, "E_REPLAY", f"{name} under a rule that is held out: recorded {held[name]!r}")
        if held["method"] != "none":
            self.notes.add(NOTE_HELD_PROOF)
