"""What a discovery remembers of the laws that were tried (docs/ranking.md, Memory)."""

from tools.verifier.basis import Refuted, tagged, write

REMEMBERED = ("claim_ast", "observables", "preconditions", "quantifiers", "transform", "direction", "bound_op")
REMEMBERED += ("bound_value", "trigger_symbol", "result_op", "result_symbol", "starts")
ROUTES = {
    **dict.fromkeys(("PROVED", "PASS"), "accepted_laws"),
    "FAIL": "falsified_laws",
    "UNKNOWN": "unknown_laws",
    "ERROR": "errors",
}
TOLD = {
    "accepted_laws": ("method", "proved_for", "up_to", "power", "violation_bound", "content"),
    "falsified_laws": ("method", "counterexample"),
    "unknown_laws": ("reason", "detail", "power"),
    "errors": ("detail",),
}
ACCEPTED = ("PROVED", "PASS")


class DiscoveryMemory:
    """The laws that were tried lately, by what became of them, the oldest first."""

    def __init__(self, limits, capabilities):
        given = {"accepted_laws": "max_accepted", "falsified_laws": "max_falsified", "unknown_laws": "max_unknown"}
        given["counterexamples"] = "max_counterexamples"
        usual = {"max_accepted": 30}
        self.most = {name: limits.get(key, usual.get(key, 20)) for name, key in given.items()}
        self.most["errors"] = 20
        self.lists = {name: [] for name in self.most}
        self.capabilities, self.evaluations = capabilities, 0

    def record(self, law, verdict):
        """Remember what became of a law; there is no verdict where the engine failed."""
        said = {"status": "ERROR"} if verdict is None else verdict
        route = ROUTES.get(said["status"])
        if route is None:
            raise Refuted("E_VERDICT", f"no verdict is {said['status']!r}")
        self.evaluations += 1
        facts = law.facts
        head = {name: facts[name] for name in ("template", "claim", "forbidden")}
        head.update(key=law.key, law_id=facts["id"], status=said["status"], evaluation=self.evaluations, facts=facts)
        written = {name: law.document[name] for name in REMEMBERED if law.document.get(name) is not None}
        told = {name: said[name] for name in TOLD[route] if said.get(name) is not None}
        entry = {**written, **head, **told}
        for name, entries in self.lists.items():
            self.lists[name] = [one for one in entries if one["key"] != law.key]
        self.add(route, entry)
        if entry.get("counterexample") is not None:
            about = {name: entry[name] for name in ("key", "law_id", "template", "claim", "evaluation")}
            self.add("counterexamples", {**about, **entry["counterexample"]})

    def add(self, name, entry):
        """Append to a list, which forgets its oldest entries."""
        entries = [*self.lists[name], entry]
        self.lists[name] = entries[max(0, len(entries) - self.most[name]) :]

    def snapshot(self):
        """What is known now; later evaluations make new lists and leave it as it is."""
        told = {name: entries for name, entries in self.lists.items() if name != "errors"}
        return {**told, "capabilities": self.capabilities}


def memory_digest(snapshot):
    """The digest of what is known."""
    return tagged("memory", write(snapshot))


def view_digest(snapshot, known):
    """The digest of what an iteration could look at: the memory, and the keys of the known laws."""
    return tagged("known-laws", write({"memory": memory_digest(snapshot), "known": known}))
