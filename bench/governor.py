"""The lexicographic governor by hand: schema, seven gates, the price, the token, and five invariants."""

from __future__ import annotations

from typing import Final, NamedTuple

from bench import grid, kernel
from bench.ledger import dumps, hash_proposal, hash_scope, hash_token
from bench.task import Json, Task

GATES: Final = ("schema", "prediction", "wall", "hazard", "admissible", "lyapunov", "absorption", "budget_insufficient")
ACTION: Final = {"op", "dir"}
PROPOSAL: Final = {"action", "score", "expected_next_position", "V_task_proposal"}


class Found(NamedTuple):
    """What the gates found about a proposal: why it is rejected, what it costs, the step that it is, and V after it."""

    rejected: list[Json]
    cost: Json
    step: grid.Step | None
    potential: int


class Governor:
    """Judges proposals and issues the tokens without which the world does not move."""

    def __init__(self, task: Task, world: grid.World) -> None:
        self._task = task
        self._world = world
        self._open: Json | None = None

    def judge(self, state: Json, proposals: list[Json], rejected: int, before: int) -> list[Found]:
        """What every gate finds about every proposal in a state with V = `before`."""
        weights, number, b = self._task.governor, len(proposals), state["coherence"]["b"]
        making, attempts = weights.W_PROPOSE * number, weights.W_REJECTED_ATTEMPT * rejected
        move, memory = weights.W_MOVE, weights.W_MEMORY_WRITE
        exhausted = b < move + making + attempts
        if exhausted:  # nothing is charged to an exhausted budget
            making = attempts = move = memory = 0
        found = []
        for proposal in proposals:
            action = proposal["action"]
            misfit = self._misfit(proposal, action)
            if misfit:
                found.append(Found([{"gate": "schema", "reason": misfit, "witness": {}}], {}, None, 0))
                continue
            writing = 0 if action["dir"] == "Stay" else memory
            cost = {
                "move": move,
                "propose": making,
                "memory_write": writing,
                "rejected_attempt": attempts,
                "total": move + making + writing + attempts,
            }
            step = self._world.step(state, action["dir"], cost["total"])
            now = kernel.potential(step.inner.after, self._task.kernel)
            against = self._pass_gates(state, proposal, step, (before, now), exhausted, cost["total"])
            found.append(Found(against, cost, step, now))
        return found

    @staticmethod
    def _misfit(proposal: Json, action: Json) -> str | None:
        if action["op"] != "move":
            return "unknown_action"
        if action.keys() != ACTION or proposal.keys() != PROPOSAL:
            return "malformed_proposal"
        return None if action["dir"] in grid.MOVES else "malformed_action"

    def _pass_gates(
        self, state: Json, proposal: Json, step: grid.Step, v: tuple[int, int], exhausted: bool, charge: int
    ) -> list[Json]:
        """Why a proposal is rejected that leads from V to V: `v` is both."""
        world, move = self._task.world, proposal["action"]["dir"]
        after, aimed, code, inner = step
        position, b, (before, now) = after["position"], state["coherence"]["b"], v
        rejected: list[Json] = []
        left = grid.distance(position, after["goal"])
        if proposal["expected_next_position"] != position or proposal["V_task_proposal"] != left:
            rejected.append(_rejection("prediction", "prediction_mismatch", {"position": position, "V_task": left}))
        if code == world.WALL:
            rejected.append(_rejection("wall", "environment_unsafe_cell_1", {"cell": aimed}))
        elif code == world.HAZARD:
            rejected.append(_rejection("hazard", "environment_unsafe_cell_2", {"cell": aimed}))
        if b < 0 or inner.rho_low or inner.rho_high:
            rejected.append(
                _rejection("admissible", "gmi_admissibility_violation", {"rho": inner.rho, "C": inner.floored})
            )
        if now > before:
            rejected.append(_rejection("lyapunov", "coherence_lyapunov_increase", {"V_next": now, "V_prev": before}))
        if exhausted and now >= before and move != "Stay":
            rejected.append(_rejection("absorption", "absorption_violation", {}))
        if charge > b:
            rejected.append(_rejection("budget_insufficient", "budget_insufficient", {"cost": charge, "b": b}))
        return rejected

    def issue(self, leaf: bytes, root: str, episode: int, t: int) -> Json:
        """The token that binds a chosen proposal, its set, and the scope."""
        scope = hash_scope(dumps({"episode": episode, "op": "move", "t": t}))
        bound = {"proposal": hash_proposal(leaf), "commitment": root, "scope": scope}
        self._open = {**bound, "id": hash_token(dumps(bound))}
        return self._open

    def act(self, token: Json, leaf: bytes, step: grid.Step) -> grid.Step:
        """Take the step that was judged, once for each token: nothing has changed since."""
        if token != self._open or token["proposal"] != hash_proposal(leaf):
            raise PermissionError("the token is spent or bound to another proposal")
        self._open = None
        return step

    def find_violations(self, before: Json, after: Json, v_before: int, v_after: int) -> list[Json]:
        """The invariants that a step from V = `v_before` to V = `v_after` breaks."""
        now, then, position = after["coherence"], before["coherence"], after["position"]
        holds = (
            kernel.admissible(now, self._task.kernel),
            0 <= now["b"] <= then["b"],
            self._world.code(position["x"], position["y"]) != self._task.world.HAZARD,
            after["bumps"] == before["bumps"],
            v_after <= v_before,
        )
        if all(holds):
            return []
        witnesses = (
            {"rho": now["rho"], "C": now["C"], "b": now["b"]},
            {"b": now["b"], "b_before": then["b"]},
            {"position": position},
            {"position": position},
            {"V": v_after, "V_before": v_before},
        )
        return [
            {"invariant": name, "severity": severity, "witness": witness}
            for (name, severity), held, witness in zip(self._task.invariants, holds, witnesses, strict=True)
            if not held
        ]


def _rejection(gate: str, reason: str, witness: Json) -> Json:
    return {"gate": gate, "reason": reason, "witness": witness}
