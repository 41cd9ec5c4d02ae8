"""Episodes of a run, folded from its receipts, as the measures of a suite read them.

Whether a choice was bound to its committed set is recomputed. Malformed receipts raise KeyError, TypeError or the like.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from specledger.core.binding import leaf, proposal_digest, scope_digest, set_root, token_document
from specledger.core.calibration import VAGUE, held_claims, outcomes
from specledger.expr import BOOL, INT, STRING, ListType, MapType, RecordType, Type
from specledger.oracles.spending import SPENT

Body = Mapping[str, Any]

NOT_YET: Final = -1
"""`first_success` of an episode without success, and `chosen` of a step without a choice."""


class Grammar(Struct, frozen=True):
    """The types of what the receipts of one world and governor hold.

    Attributes:
        action: Of an action: `op` and the arguments of all actions.
        record: The world's figures of a step.
        cost: The type of a price: its items, and their sum; of several agents each has items of its own.
        parts: The receipts of the parts that keep any.
        changed: The fields of the state, as a drift may change them.
    """

    state: RecordType
    action: RecordType
    record: Mapping[str, Type]
    cost: RecordType
    parts: Mapping[str, Mapping[str, Type]]
    changed: Mapping[str, Type]


def types_of(grammar: Grammar) -> dict[str, Type]:
    """The variables of a measure and their types."""
    drift = RecordType(
        "drift", {"drift": STRING, "t": INT, "end": INT, "changed": _changes(grammar.changed), "rebases": _REBASES}
    )
    return {
        "run": STRING,
        "arm": STRING,
        "scenario": STRING,
        "seed": INT,
        "horizon": INT,
        "episode": INT,
        "ended": STRING,
        "success": BOOL,
        "first_success": INT,
        "breaches": ListType(_BREACH),
        "start": grammar.state,
        "steps": ListType(_step(grammar)),
        "drifts": ListType(drift),
        "stretches": ListType(RecordType("stretch", {"drift": STRING, "t": INT, "end": INT})),
        "probes": ListType(_PROBE),
        "entries": ListType(_ENTRY),
        "spent": _SPENT,
    }


_SPENT: Final = RecordType("spent", dict.fromkeys(SPENT, INT))
_BREACH: Final = RecordType("breach", {"invariant": STRING, "severity": STRING})
_REBASES: Final = ListType(
    RecordType(
        "rebase",
        {"potential": STRING, "cause": STRING, "from": INT, "to": INT, "agent": STRING},
        optional=frozenset({"agent"}),
    )
)
_PROBE: Final = RecordType(
    "probe",
    {
        "probe": STRING,
        "agent": STRING,
        "t": INT,
        "verdict": STRING,
        "cause": STRING,
        "answers": STRING,
        "nodes": INT,
        "equal": INT,
        "questions": INT,
        "unmoved": INT,
        "vague": INT,
        "held": INT,
        "tested": INT,
        "claims": ListType(RecordType("claim", {"confidence": INT, "held": BOOL})),
    },
)
_WITNESS: Final = RecordType("witness", {"invariant": STRING, "severity": STRING})
_ENTRY: Final = RecordType(
    "entry", {"event": STRING, "verdict": STRING, "codes": ListType(STRING), "witnesses": ListType(_WITNESS)}
)
_REJECTION: Final = RecordType("rejection", {"proposal": INT, "gate": STRING, "reason": STRING})


def _changes(fields: Mapping[str, Type]) -> RecordType:
    inner = {name: RecordType("change", {"from": type_, "to": type_}) for name, type_ in fields.items()}
    return RecordType("changed", inner, optional=frozenset(inner))


def _step(grammar: Grammar) -> RecordType:
    parts = {name: RecordType(name, {**types, "accepted": BOOL}) for name, types in grammar.parts.items()}
    fields: dict[str, Type] = {
        "t": INT,
        "agent": STRING,
        "chosen": INT,
        "proposals": INT,
        "admitted": INT,
        "errors": INT,
        "rejections": ListType(_REJECTION),
        "bound": BOOL,
        "success": BOOL,
        "violations": ListType(_BREACH),
        "action": grammar.action,
        "cost": grammar.cost,
        "record": RecordType("record", grammar.record),
        "parts": RecordType("parts", parts, optional=frozenset(parts)),
        "potentials": MapType(RecordType("potential", {"from": INT, "to": INT})),
        "rebases": _REBASES,
    }
    return RecordType("step", fields, optional=frozenset({"action", "cost", "record"}))


class Episodes:
    """Folds the receipts of one run into its episodes."""

    def __init__(self, heading: Mapping[str, Any]) -> None:
        """Begin a run whose episodes all have a heading: `run`, `arm`, `scenario`, `seed`."""
        self._heading = heading
        self._horizon = 0
        self._start: Any = None
        self._steps: list[dict[str, Any]] = []
        self._drifts: list[dict[str, Any]] = []
        self._probes: list[dict[str, Any]] = []
        self._entries: list[dict[str, Any]] = []
        self._commits: dict[str, Body] = {}

    def read(self, receipts: Iterable[tuple[str, Body]]) -> Iterator[dict[str, Any]]:
        """The episodes of receipts (type and body), each as soon as it has ended."""
        for type_, body in receipts:
            episode = self.add(type_, body)
            if episode is not None:
                yield episode

    def add(self, type_: str, body: Body) -> dict[str, Any] | None:
        """Take one receipt; an episode if it ends one that had a start."""
        if type_ == "start":
            self._horizon = body["horizon"]
        elif type_ == "episode":
            self._start, self._commits = body["state"], {}
            self._steps, self._drifts, self._probes, self._entries = [], [], [], []
        elif type_ == "drift":
            known = {name: body[name] for name in ("drift", "t", "changed")}
            self._drifts.append({**known, "rebases": body.get("rebases", [])})
        elif type_ == "probe":
            self._probes.append(read_probe(body))
        elif type_ == "audit":
            self._entries.append(read_entry(body))
        elif type_ == "commit":
            self._commits[body.get("agent", "")] = body
        elif type_ == "step":
            self._steps.append(_read_step(body, self._commits.pop(body.get("agent", ""), None)))
        elif type_ == "episode_end" and self._start is not None:
            episode, self._start = self._close(body), None
            return episode
        return None

    def _close(self, body: Body) -> dict[str, Any]:
        ends = [drift["t"] for drift in self._drifts] + [self._steps[-1]["t"] + 1 if self._steps else 0]
        drifts = [{**drift, "end": end} for drift, end in zip(self._drifts, ends[1:], strict=True)]
        opening = {"drift": "", "t": 0, "end": ends[0]}
        stretches = [{"drift": drift["drift"], "t": drift["t"], "end": drift["end"]} for drift in drifts]
        return {
            **self._heading,
            "horizon": self._horizon,
            "episode": body["episode"],
            "ended": body["ended"],
            "success": body["success"],
            "first_success": NOT_YET if body["first_success"] is None else body["first_success"],
            "breaches": _breaches(body),
            "start": self._start,
            "steps": self._steps,
            "drifts": drifts,
            "stretches": [opening, *stretches],
            "probes": self._probes,
            "entries": self._entries,
            "spent": dict.fromkeys(SPENT, 0) | body.get("spent", {}),
        }


def read_probe(body: Body) -> dict[str, Any]:
    """What a probe says: its verdict; what the answers alone amount to, and how much of a trace came out equal.

    What was not asked for is an empty text and 0 nodes. `questions` counts what the agent was asked, `claims` are those
    that were put to the test, once for each answer; of `tested` claims `held` held; `vague` counts those that say
    nothing, `unmoved` the predicted changes that did not come.
    """
    evidence = {"answers": "", "trace": {"nodes": 0, "equal": 0}, **body["evidence"]}
    held, tested = held_claims(evidence)
    trace, trials = evidence["trace"], evidence.get("trials", ())
    known = {name: body[name] for name in ("probe", "t", "verdict", "cause")}
    return {
        **known,
        "agent": body.get("agent", ""),
        "answers": evidence["answers"],
        "nodes": trace["nodes"],
        "equal": trace["equal"],
        "questions": _questions(evidence),
        "unmoved": sum(one["after"] == evidence["before"] != one["predicted"] != "" for one in trials),
        "vague": sum(one.get("reason") == VAGUE for one in trials),
        "held": held,
        "tested": tested,
        "claims": [{"confidence": confidence, "held": held} for confidence, held in outcomes(evidence)],
    }


def _questions(evidence: Body) -> int:
    """How often the agent was asked for a choice: the one before, the null arm, trials, placebo arm, explanation.

    Where the declared procedure is run on the same state, the first trial is about the choice before.
    """
    if "trials" not in evidence:
        return int("taken" in evidence)
    asked: int = evidence["null"]["asked"] + evidence["placebo"]["asked"]
    asked += evidence.get("explanation", {"asked": 0})["asked"] - (evidence["of"] == "declared")
    return 1 + asked + sum(trial["after"] is not None for trial in evidence["trials"])


def read_entry(body: Body) -> dict[str, Any]:
    """What an entry of a kernel's log says: its event, its ruling, the codes of its notes, and what was broken."""
    decision = body["kernel_decision"]
    return {
        "event": body["event"],
        "verdict": decision["verdict"],
        "codes": str.split(decision["notes"], " ")[1:],
        "witnesses": [{name: each[name] for name in ("invariant", "severity")} for each in body["witnesses"]],
    }


def _read_step(body: Body, commit: Body | None) -> dict[str, Any]:
    decisions = body["decisions"]
    chosen = body["chosen"]
    step = {
        "t": body["t"],
        "agent": body.get("agent", ""),
        "chosen": NOT_YET if chosen is None else chosen,
        "proposals": len(decisions),
        "admitted": sum(1 for each in decisions if not each["rejected"] and each["error"] is None),
        "errors": sum(1 for each in decisions if each["error"] is not None),
        "rejections": [
            {"proposal": index, "gate": failing["gate"], "reason": failing["reason"]}
            for index, each in enumerate(decisions)
            for failing in each["rejected"]
        ],
        "bound": chosen is None or (commit is not None and is_bound(commit, body)),
        "success": body["success"] is True,
        "violations": _breaches(body),
        "parts": {name: {k: v for k, v in part.items() if k not in _CHAINED} for name, part in body["parts"].items()},
        "potentials": body.get("potentials", {}),
        "rebases": body.get("rebases", []),
    }
    if chosen is not None:
        step |= {"record": body["record"], "cost": body["cost"]}
        if commit is not None:
            step["action"] = commit["proposals"][chosen]["action"]
    return step


_CHAINED: Final = frozenset({"before", "after", "tip", "tip_after"})


def _breaches(body: Body) -> list[dict[str, str]]:
    return [{"invariant": each["invariant"], "severity": each["severity"]} for each in body["violations"]]


def is_bound(commit: Body, step: Body) -> bool:
    """Whether a choice is one of the proposals committed to before, by every digest of choice, set and token."""
    chosen, proposals = step["chosen"], commit["proposals"]
    if type(chosen) is not int or not 0 <= chosen < len(proposals) or commit["t"] != step["t"]:
        return False
    leaves = [leaf(index, proposal) for index, proposal in enumerate(proposals)]
    digest = proposal_digest(leaves[chosen])
    scope = scope_digest(step["episode"], step["t"], proposals[chosen]["action"]["op"], step.get("agent", ""))
    bound: bool = (
        set_root(leaves) == commit["root"]
        and step["chosen_hash"] == digest
        and step["token"] == token_document(digest, commit["root"], scope)
    )
    return bound
