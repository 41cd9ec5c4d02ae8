"""The hazard scenario as somebody would write it by hand, without the engine: the same decisions, the same receipts.

Decides nothing of its own: every line that it yields equals the engine's, byte for byte, and a test holds it to that. It
is the peer that shows what saying the scenario in YAML costs. Constants are read from the specs, behaviour is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bench import grid, kernel
from bench.governor import GATES, Actuator, Found, find_violations, judge, price
from bench.ledger import GENESIS, Chain, draw, dumps, hash_observation, hash_part, hash_state, merkle_root
from bench.task import Json, Task


class Run:
    """One run of a task.

    Attributes:
        chain: The chain of what was yielded.
    """

    def __init__(self, task: Task) -> None:
        self.chain = Chain(task.specs)
        self._task = task
        self._actuator = Actuator(task)
        self._tip = GENESIS
        self._figures: Counter[str] = Counter()
        self._rejections = Counter(dict.fromkeys(GATES, 0))
        self._violations: Counter[str] = Counter()

    def receipts(self) -> Iterator[bytes]:
        """Run all episodes and yield the line of every receipt."""
        task, seal = self._task, self.chain.seal
        yield seal(
            "start",
            {
                "scenario": task.name,
                "specs": task.specs,
                "seed": task.seed,
                "episodes": task.episodes,
                "horizon": task.horizon,
                "gates": list(GATES),
                "invariants": [{"name": name, "severity": severity} for name, severity in task.invariants],
                "drifts": [{"drift": task.drift, "schedule": task.schedule}],
            },
        )
        for number in range(task.episodes):
            yield from self._episode(number)
        yield seal("end", {"episodes": task.episodes, "steps": self._figures["steps"]})

    def result(self) -> Json:
        """The figures of the run, as a manifest holds them."""
        names = ("episodes", "successes", "steps", "proposals", "drifts", "checks", "errors")
        return {
            "verdict": "FAIL" if self._violations else "PASS" if self._figures["checks"] else "INCONCLUSIVE",
            **{name: self._figures[name] for name in names},
            "rejections": dict(self._rejections),
            "violations": dict(self._violations),
            "warnings": {},
        }

    def _episode(self, number: int) -> Iterator[bytes]:
        task, seal = self._task, self.chain.seal
        state = task.start()
        digest, part = hash_state(dumps(state)), hash_state(dumps(state["coherence"]))
        yield seal("episode", opening(number, state, digest, part))
        visits: grid.Visits = {}
        b_start = state["coherence"]["b"]
        pending = steps = 0
        first_success = ended = None
        for t in range(task.horizon):
            if t and t % task.every == 0:
                drifted = self._drift(number, t, state, digest)
                if drifted is not None:
                    state, digest, body = drifted
                    part = hash_state(dumps(state["coherence"]))
                    yield seal("drift", body)
            seen = grid.observe(state, task.world, task.kernel)
            proposals = grid.propose(seen, visits, b_start, task.world)
            leaves = [dumps({"index": index, "proposal": proposal}) for index, proposal in enumerate(proposals)]
            root = merkle_root(leaves)
            commit = {"observation": hash_observation(dumps(seen)), "root": root, "proposals": proposals}
            yield seal("commit", {"episode": number, "t": t, **commit})
            found = judge(task, state, proposals, pending)
            admitted = [index for index, (rejected, _) in enumerate(found) if not rejected]
            chosen = max(admitted, key=lambda index: proposals[index]["score"])  # standing still is always admitted
            move, charge, leaf = proposals[chosen]["action"]["dir"], found[chosen][1], leaves[chosen]
            token = self._actuator.issue(leaf, root, number, t)
            after, raw_rho, raw_c = self._actuator.act(token, leaf, state, move, charge)
            after_digest, after_part = hash_state(dumps(after)), hash_state(dumps(after["coherence"]))
            told = kernel.receipt(state["coherence"], after["coherence"], raw_rho, raw_c, task.kernel)
            receipt = {**told, "accepted": True, "before": part, "after": after_part, "tip": self._tip}
            self._tip = hash_part(self._tip.encode() + dumps(receipt))
            if move != "Stay":
                place = after["position"]["x"], after["position"]["y"]
                visits[place] = visits.get(place, 0) + 1
            body = {
                "episode": number,
                "t": t,
                "chosen": chosen,
                "chosen_hash": token["proposal"],
                "token": token,
                "before": digest,
                "after": after_digest,
                "cost": price(task.governor, len(proposals), 0 if move == "Stay" else 1, pending),
                "inputs": {"charge": charge},
                "record": self._record(state, after),
                "success": after["position"] == after["goal"],
                "parts": {"coherence": {**receipt, "tip_after": self._tip}},
                "violations": find_violations(task, state, after),
                "decisions": [{"rejected": rejected, "error": None} for rejected, _ in found],
            }
            if body["success"] and first_success is None:
                first_success = t
            pending = len(found) - len(admitted)
            state, digest, part = after, after_digest, after_part
            steps += 1
            self._count(found, body["violations"])
            yield seal("step", body)
            if any(breach["severity"] == "fatal" for breach in body["violations"]):
                ended = "fatal"
                break
        self._figures.update(episodes=1, successes=0 if first_success is None else 1)
        yield seal(
            "episode_end",
            {
                "episode": number,
                "steps": steps,
                "ended": ended or "horizon",
                "success": first_success is not None,
                "first_success": first_success,
                "violations": [],
                "state": digest,
            },
        )

    def _drift(self, number: int, t: int, state: Json, digest: str) -> tuple[Json, str, Json] | None:
        """Move the goal to another cell that a safe path reaches, and renew the reserve of phase difference."""
        task, coherence = self._task, state["coherence"]
        cells = [place for place in grid.reachable(state, task.world) if place != state["goal"]]
        if not cells:
            return None
        drawn = draw(task.seed, ["drift", "goal", 0, number, t, "to"], cells)
        phase = coherence["theta"][0][0]
        theta = [[phase, phase - task.world.RESERVE]]
        after = {**state, "goal": drawn, "coherence": {**coherence, "theta": theta}}
        changed = {name: {"from": state[name], "to": after[name]} for name in state if state[name] != after[name]}
        self._figures["drifts"] += 1
        now = hash_state(dumps(after))
        body = {"episode": number, "t": t, "drift": task.drift, "drawn": {"to": drawn}, "changed": changed}
        return after, now, {**body, "before": digest, "after": now}

    def _record(self, state: Json, after: Json) -> Json:
        left = grid.distance(after["position"], after["goal"])
        return {
            "task_performance": left,
            "reward": grid.distance(state["position"], state["goal"]) - left,
            "V_coh": kernel.potential(after["coherence"], self._task.kernel),
            "b": after["coherence"]["b"],
        }

    def _count(self, found: list[Found], violations: list[Json]) -> None:
        figures = self._figures
        figures["steps"] += 1
        figures["proposals"] += len(found)
        figures["checks"] += len(self._task.invariants)
        for rejected, _ in found:
            for failing in rejected:
                self._rejections[failing["gate"]] += 1
        for breach in violations:
            self._violations[breach["invariant"]] += 1


def opening(number: int, state: Json, digest: str, part: str) -> Json:
    """What the receipt of an episode's beginning says."""
    world = {name: value for name, value in state.items() if name != "coherence"}
    return {
        "episode": number,
        "state": state,
        "digest": digest,
        "world": hash_state(dumps(world)),
        "parts": {"coherence": part},
    }
