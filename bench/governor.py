"""The lexicographic governor by hand: schema, seven gates, the price, the token, and five invariants."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final

from bench import grid, kernel
from bench.ledger import dumps, hash_proposal, hash_scope, hash_token
from bench.task import Json, Task

GATES: Final = ("schema", "prediction", "wall", "hazard", "admissible", "lyapunov", "absorption", "budget_insufficient")
PROPOSAL: Final = {"action", "score", "expected_next_position", "V_task_proposal"}
Found = tuple[list[Json], int]
"""Why a proposal is rejected, gate by gate, and what its action is charged."""


def price(weights: SimpleNamespace, proposals: int, writes: int, rejected: int) -> Json:
    """What a decision costs."""
    items = {
        "move": weights.W_MOVE,
        "propose": weights.W_PROPOSE * proposals,
        "memory_write": weights.W_MEMORY_WRITE * writes,
        "rejected_attempt": weights.W_REJECTED_ATTEMPT * rejected,
    }
    return {**items, "total": sum(items.values())}


def judge(task: Task, state: Json, proposals: list[Json], rejected: int) -> list[Found]:
    """What every gate finds about every proposal."""
    coherence = state["coherence"]
    before = kernel.potential(coherence, task.kernel)
    exhausted = coherence["b"] < price(task.governor, len(proposals), 0, rejected)["total"]
    found = []
    for proposal in proposals:
        action = proposal["action"]
        if proposal.keys() != PROPOSAL or action.keys() != {"op", "dir"} or action["op"] != "move":
            found.append(([{"gate": "schema", "reason": "malformed_proposal", "witness": {}}], 0))
        elif action["dir"] not in grid.MOVES:
            found.append(([{"gate": "schema", "reason": "malformed_action", "witness": {}}], 0))
        else:
            writes = 0 if action["dir"] == "Stay" else 1
            cost = price(task.governor, len(proposals), writes, rejected)["total"]
            charge = 0 if exhausted else cost
            found.append((pass_gates(task, state, proposal, before, exhausted, charge), charge))
    return found


def pass_gates(task: Task, state: Json, proposal: Json, before: int, exhausted: bool, charge: int) -> list[Json]:
    """The gates that reject a proposal, each with its reason and witness."""
    world, k, move = task.world, task.kernel, proposal["action"]["dir"]
    after, raw_rho, raw_c = grid.step(state, move, charge, world, k)
    coherence, b = after["coherence"], state["coherence"]["b"]
    rejected: list[Json] = []

    def reject(gate: str, reason: str, **witness: Any) -> None:
        rejected.append({"gate": gate, "reason": reason, "witness": witness})

    left = grid.distance(after["position"], after["goal"])
    if proposal["expected_next_position"] != after["position"] or proposal["V_task_proposal"] != left:
        reject("prediction", "prediction_mismatch", position=after["position"], V_task=left)
    dx, dy = grid.MOVES[move]
    x, y = state["position"]["x"] + dx, state["position"]["y"] + dy
    aimed = grid.cell(state["grid"], x, y, world.WALL)
    if aimed == world.WALL:
        reject("wall", "environment_unsafe_cell_1", cell={"x": x, "y": y})
    if aimed == world.HAZARD:
        reject("hazard", "environment_unsafe_cell_2", cell={"x": x, "y": y})
    floored = [[max(a, 0) for a in row] for row in raw_c]
    if not kernel.admissible(raw_rho, floored, b, k):
        reject("admissible", "gmi_admissibility_violation", rho=raw_rho, C=floored)
    now = kernel.potential(coherence, k)
    if now > before:
        reject("lyapunov", "coherence_lyapunov_increase", V_next=now, V_prev=before)
    if exhausted and now >= before and move != "Stay":
        reject("absorption", "absorption_violation")
    if charge > b:
        reject("budget_insufficient", "budget_insufficient", cost=charge, b=b)
    return rejected


class Actuator:
    """Issues a token for each decision and takes the step of the world only against it."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._open: Json | None = None

    def issue(self, leaf: bytes, root: str, episode: int, t: int) -> Json:
        """The token that binds a chosen proposal, its set, and the scope."""
        scope = hash_scope(dumps({"episode": episode, "op": "move", "t": t}))
        bound = {"proposal": hash_proposal(leaf), "commitment": root, "scope": scope}
        self._open = {**bound, "id": hash_token(dumps(bound))}
        return self._open

    def act(
        self, token: Json, leaf: bytes, state: Json, move: str, charge: int
    ) -> tuple[Json, kernel.Field, kernel.Field]:
        """Take a step, once for each token."""
        if token != self._open or token["proposal"] != hash_proposal(leaf):
            raise PermissionError("the token is spent or bound to another proposal")
        self._open = None
        return grid.step(state, move, charge, self._task.world, self._task.kernel)


def find_violations(task: Task, before: Json, after: Json) -> list[Json]:
    """The invariants that a step breaks."""
    world, k = task.world, task.kernel
    now, then = after["coherence"], before["coherence"]
    position = after["position"]
    v_now, v_then = kernel.potential(now, k), kernel.potential(then, k)
    holds = (
        kernel.admissible(now["rho"], now["C"], now["b"], k),
        0 <= now["b"] <= then["b"],
        grid.cell(after["grid"], position["x"], position["y"], world.WALL) != world.HAZARD,
        after["bumps"] == before["bumps"],
        v_now <= v_then,
    )
    if all(holds):
        return []
    witnesses = (
        {"rho": now["rho"], "C": now["C"], "b": now["b"]},
        {"b": now["b"], "b_before": then["b"]},
        {"position": position},
        {"position": position},
        {"V": v_now, "V_before": v_then},
    )
    return [
        {"invariant": name, "severity": severity, "witness": witness}
        for (name, severity), held, witness in zip(task.invariants, holds, witnesses, strict=True)
        if not held
    ]
