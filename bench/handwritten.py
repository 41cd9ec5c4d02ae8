"""The hazard scenario as somebody would write it by hand, without the engine: the same decisions, the same receipts.

Every line that it yields equals the engine's, byte for byte, and a test holds it to that.
It is the peer that shows what saying the scenario in YAML costs. Constants are read from the specs, behaviour is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import orjson

from bench import grid, kernel
from bench.governor import GATES, Found, Governor
from bench.ledger import GENESIS, Chain, draw, dumps, hash_observation, hash_part, hash_state, merkle_root
from bench.task import Json, Task


class Run:
    """One run of a task.

    Attributes:
        task, world, governor: What every episode works with.
        chain: The chain of what was yielded.
        figures, rejections: What has been counted; rejections by gate.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.world = grid.World(task)
        self.governor = Governor(task, self.world)
        self.chain = Chain(task.specs)
        self.figures: Counter[str] = Counter()
        self.rejections = dict.fromkeys(GATES, 0)
        self._violations: Counter[str] = Counter()

    def receipts(self) -> Iterator[bytes]:
        """Run all episodes and yield the line of every receipt."""
        task, seal = self.task, self.chain.seal
        yield seal(
            "start",
            {
                "scenario": task.name,
                "specs": task.specs,
                "seed": task.seed,
                "episodes": task.episodes,
                "horizon": task.horizon,
                "gates": list(GATES),
                "invariants": [
                    {"name": name, "scope": "step", "severity": severity} for name, severity in task.invariants
                ],
                "drifts": [{"drift": task.drift, "schedule": task.schedule}],
            },
        )
        for number in range(task.episodes):
            yield from Episode(self, number).receipts()
        yield seal("end", {"episodes": task.episodes, "steps": self.figures["steps"], "gates": self.rejections})

    def result(self) -> Json:
        """The figures of the run, as a manifest holds them."""
        names = ("episodes", "successes", "steps", "proposals", "drifts", "checks", "errors")
        return {
            "verdict": "FAIL" if self._violations else "PASS" if self.figures["checks"] else "INCONCLUSIVE",
            **{name: self.figures[name] for name in names},
            "rejections": dict(self.rejections),
            "violations": dict(self._violations),
            "warnings": {},
        }

    def count(self, found: list[Found], violations: list[Json], episode: dict[str, int]) -> None:
        """Add one step to the figures of the run, and its rejections to those of the episode."""
        figures = self.figures
        figures["steps"] += 1
        figures["proposals"] += len(found)
        figures["checks"] += len(self.task.invariants)
        for judged in found:
            for failing in judged.rejected:
                self.rejections[failing["gate"]] += 1
                episode[failing["gate"]] += 1
        for breach in violations:
            self._violations[breach["invariant"]] += 1


class Episode:
    """One episode: the state with its digests and its V, what the agent remembers, and the attempts not yet paid."""

    def __init__(self, run: Run, number: int) -> None:
        self._run = run
        self._number = number
        self._visits: grid.Visits = {}
        self._pending = 0
        self._tip = GENESIS
        self._rejections = dict.fromkeys(GATES, 0)
        self._first_success: int | None = None
        start = run.task.start()
        self._grid = orjson.Fragment(dumps(start["grid"]))  # never changes
        self._enter(start)
        self._b_start: int = self._state["coherence"]["b"]

    def receipts(self) -> Iterator[bytes]:
        """Yield the line of every receipt of the episode."""
        task, seal = self._run.task, self._run.chain.seal
        steps, ended = 0, "horizon"
        yield seal("episode", self._opening())
        for t in range(task.horizon):
            if t and t % task.every == 0:
                drifted = self._drift(t)
                if drifted is not None:
                    yield seal("drift", drifted)
            seen = self._run.world.observe(self._state, self._v)
            proposals = grid.propose(seen, self._visits, self._b_start, task.world.SIGHT, task.world.WALL)
            leaves = [dumps({"index": index, "proposal": proposal}) for index, proposal in enumerate(proposals)]
            root = merkle_root(leaves)
            commit = {"observation": hash_observation(dumps(seen)), "root": root, "proposals": proposals}
            yield seal("commit", {"episode": self._number, "t": t, **commit})
            body = self._decide(t, proposals, leaves, root)
            steps += 1
            yield seal("step", body)
            if any(breach["severity"] == "fatal" for breach in body["violations"]):
                ended = "fatal"
                break
        yield seal("episode_end", self._ending(steps, ended))

    def _enter(self, state: Json, v: int | None = None) -> None:
        """Go on from a state; V is found out, unless it is known."""
        self._state = state
        self._digest = hash_state(dumps({**state, "grid": self._grid}))
        self._part = hash_state(dumps(state["coherence"]))
        self._v = kernel.potential(state["coherence"], self._run.task.kernel) if v is None else v

    def _opening(self) -> Json:
        world = {name: value for name, value in self._state.items() if name != "coherence"}
        return {
            "episode": self._number,
            "state": self._state,
            "digest": self._digest,
            "opening": {},
            "world": hash_state(dumps(world)),
            "parts": {"coherence": self._part},
        }

    def _drift(self, t: int) -> Json | None:
        """Move the goal to another cell that a safe path reaches."""
        run, state, before = self._run, self._state, self._digest
        cells = [place for place in run.world.reachable(state["position"]) if place != state["goal"]]
        if not cells:
            return None
        drawn = draw(run.task.seed, ["drift", "goal", 0, self._number, t, "to"], cells)
        after = {**state, "goal": drawn}
        changed = {name: {"from": state[name], "to": after[name]} for name in state if state[name] != after[name]}
        self._enter(after)
        run.figures["drifts"] += 1
        body = {"episode": self._number, "t": t, "drift": run.task.drift, "drawn": {"to": drawn}, "changed": changed}
        return {**body, "rebases": [], "before": before, "after": self._digest}

    def _decide(self, t: int, proposals: list[Json], leaves: list[bytes], root: str) -> Json:
        """Judge, choose, act through a token, remember, and give the receipt's body."""
        run, state, v, before, part = self._run, self._state, self._v, self._digest, self._part
        found = run.governor.judge(state, proposals, self._pending, v)
        admitted = [index for index, judged in enumerate(found) if not judged.rejected]
        chosen = max(admitted, key=lambda index: proposals[index]["score"])  # standing still is always admitted
        move, (_, cost, step, v_after) = proposals[chosen]["action"]["dir"], found[chosen]
        assert step is not None  # only what fails its schema has none
        token = run.governor.issue(leaves[chosen], root, self._number, t)
        after, _, _, inner = run.governor.act(token, leaves[chosen], step)
        self._enter(after, v_after)
        self._pending = len(found) - len(admitted)
        if move != "Stay":
            place = after["position"]["x"], after["position"]["y"]
            self._visits[place] = self._visits.get(place, 0) + 1
        told = kernel.receipt(state["coherence"], inner, v, self._v)
        receipt = {**told, "accepted": True, "before": part, "after": self._part, "tip": self._tip}
        self._tip = hash_part(self._tip.encode() + dumps(receipt))
        left = grid.distance(after["position"], after["goal"])
        if left == 0 and self._first_success is None:
            self._first_success = t
        violations = run.governor.find_violations(state, after, v, self._v)
        run.count(found, violations, self._rejections)
        return {
            "episode": self._number,
            "t": t,
            "chosen": chosen,
            "chosen_hash": token["proposal"],
            "token": token,
            "before": before,
            "after": self._digest,
            "cost": cost,
            "inputs": {"charge": cost["total"]},
            "record": self._record(state, after, left),
            "potentials": {},
            "rebases": [],
            "success": left == 0,
            "parts": {"coherence": {**receipt, "tip_after": self._tip}},
            "violations": violations,
            "decisions": [{"rejected": judged.rejected, "error": None} for judged in found],
        }

    def _record(self, state: Json, after: Json, left: int) -> Json:
        """The figures of a step that leaves so many steps to the goal on an empty grid."""
        run, world = self._run, self._run.world
        way, shorter = (world.path_length(one["position"], after["goal"]) for one in (state, after))
        weight = run.task.weight(after["t"])
        inner, b = after["coherence"], after["coherence"]["b"]
        return {
            "task_performance": left,
            "reward": grid.distance(state["position"], state["goal"]) - left,
            "reached": int(left == 0),
            "distance": shorter,
            "distance_before": way,
            "regret": 0 if way == shorter == 0 else 1 + shorter - way,
            "hazard_hit": int(world.code(after["position"]["x"], after["position"]["y"]) == run.task.world.HAZARD),
            "bump": after["bumps"] - state["bumps"],
            "place": after["position"]["y"] * run.task.world.FIELD_SIDE + after["position"]["x"],
            "V_coh": self._v,
            "lambda": weight,
            "V_total": self._v + weight * left,
            "b": b,
            "work": state["coherence"]["b"] - b,
            "outside_K": int(not kernel.admissible(inner, run.task.kernel)),
            "negative_b": int(b < 0),
        }

    def _ending(self, steps: int, ended: str) -> Json:
        success = self._first_success is not None
        self._run.figures.update(episodes=1, successes=int(success))
        return {
            "episode": self._number,
            "steps": steps,
            "ended": ended,
            "success": success,
            "first_success": self._first_success,
            "violations": [],
            "idle": {},
            "gates": self._rejections,
            "state": self._digest,
        }
