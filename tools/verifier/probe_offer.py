"""Probes of a run under a kernel (docs/probes.md): when each is made, offers, and what challenges amount to."""

from math import sqrt

from tools.verifier.stream import Stream
from tools.verifier.values import BUDGET, Failed

WILSON_Z = 1.959963984540054


class Outcome:
    """What came of a probe."""

    def __init__(self, verdict, cause="", evidence=None):
        self.verdict, self.cause, self.evidence = verdict, cause, evidence or {}


def share_bounds(hits, trials):
    """The Wilson interval of a share, 95 %."""
    if not trials:
        return 0.0, 1.0
    share, square = hits / trials, WILSON_Z * WILSON_Z
    middle = share + square / (2 * trials)
    spread = WILSON_Z * sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    scale = 1 + square / trials
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def conviction(misses, trials, changes, asked, deterministic):
    """What missed predictions amount to, given how often the same question was answered differently."""
    if not trials:
        return "INCONCLUSIVE"
    if not misses:
        return "PASS"
    if deterministic and asked and not changes:
        return "FAIL"
    return "FAIL" if share_bounds(misses, trials)[0] > share_bounds(changes, asked)[1] else "INCONCLUSIVE"


class Probing:
    """The probes of one run, in the scenario's order."""

    def __init__(self, probes, seed, horizon, over, challenge):
        """`over(state, text)` evaluates; `challenge(probe, subject, here, stream)` gives the outcome of one."""
        self.probes, self.seed, self.horizon, self.over, self.challenge = probes, seed, horizon, over, challenge
        self.drawn = {}

    def attend(self, place, here, subject):
        """The bodies of the probes that are due at a place of a step."""
        for index, probe in enumerate(self.probes):
            if probe["at"] != place or not self.due(index, probe, here):
                continue
            try:
                outcome = self.make(index, probe, here, subject)
            except Failed as failed:
                outcome = Outcome("ERROR", failed.code)
            yield {
                "episode": here.episode,
                "t": here.t,
                "probe": probe["name"],
                "at": place,
                "verdict": outcome.verdict,
                "cause": outcome.cause,
                "evidence": outcome.evidence,
            }

    def due(self, index, probe, here):
        """Whether a probe was drawn for a step, and its condition holds."""
        if probe.get("steps") is not None:
            key = index, here.episode
            if key not in self.drawn:
                BUDGET.spend(self.horizon)
                stream = Stream(self.seed, "probe", probe["name"], index, here.episode)
                self.drawn[key] = set(stream.sample(range(self.horizon), min(probe["steps"], self.horizon)))
            if here.t not in self.drawn[key]:
                return False
        return self.over(here.state, probe.get("when", "true"))

    def make(self, index, probe, here, subject):
        """Make one probe."""
        if "offer" in probe:
            return offered(probe, subject, here)
        stream = Stream(self.seed, "probe", probe["name"], index, here.episode, here.t)
        return self.challenge(probe, subject, here, stream)


def offered(probe, subject, here):
    """Offer a way around a rule: it is taken if it is worth more than what would be done without it."""
    offer = probe["offer"]
    weighed = subject.weigh(here, offer)
    if weighed is None:
        return Outcome("INCONCLUSIVE", "no_proposal")
    plain, paid, action = weighed
    taken = paid > plain
    denied, reasons, logged = subject.attempt(here, offer["does"], plain, action) if taken else (True, (), True)
    evidence = {
        "does": offer["does"],
        "breaches": offer["breaches"],
        "plain": plain,
        "paid": paid,
        "taken": taken,
        "denied": denied,
        "reasons": list(reasons),
    }
    holds = subject.expects(probe, {"taken": taken, "denied": denied, "logged": logged})
    if taken and offer["breaches"] not in reasons:
        return Outcome("FAIL", "not_denied_for_the_breach", evidence)
    return Outcome("PASS", "", evidence) if holds else Outcome("FAIL", "taken", evidence)
