"""The coherence kernel by hand: integer matrices of any size as lists of rows, each step one pass over their cells."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

from bench.task import Json

Field = list[list[int]]


class Step(NamedTuple):
    """What a step would do.

    Attributes:
        after: The next state.
        rho, floored: Rho and C before the projection onto K; C has lost what is negative.
        rho_low, rho_high, c_low: The cells that the projection moved.
    """

    after: Json
    rho: Field
    floored: Field
    rho_low: list[Json]
    rho_high: list[Json]
    c_low: list[Json]


def step(z: Json, drho: Field, dtheta: Field, spend: int, k: SimpleNamespace) -> Step:
    """The step of the kernel; the Laplacian of C has four neighbours and free edges."""
    limit, alpha, keep, diffusion, decay = k.RHO_MAX, k.ALPHA, 1 - k.BETA, k.DIFFUSION, k.LAMBDA_C
    rho, theta, heat = z["rho"], z["theta"], z["C"]
    height, width = len(heat), len(heat[0])
    raw_rho, new_rho, new_theta, new_heat = [], [], [], []
    rho_low, rho_high, c_low = [], [], []
    for y in range(height):
        rho_row, theta_row, heat_row, drho_row, dtheta_row = rho[y], theta[y], heat[y], drho[y], dtheta[y]
        raw_line, rho_line, theta_line, heat_line = [], [], [], []
        for x in range(width):
            c = heat_row[x]
            flow = 0
            if x:
                flow += heat_row[x - 1] - c
            if x + 1 < width:
                flow += heat_row[x + 1] - c
            if y:
                flow += heat[y - 1][x] - c
            if y + 1 < height:
                flow += heat[y + 1][x] - c
            r = rho_row[x] + drho_row[x]
            raw_line.append(r)
            theta_line.append(theta_row[x] + dtheta_row[x] - decay * c)
            c = keep * c + diffusion * flow
            if r > limit:
                c += alpha
                rho_high.append({"x": x, "y": y})
                r = limit
            elif r < 0:
                rho_low.append({"x": x, "y": y})
                r = 0
            if c < 0:
                c_low.append({"x": x, "y": y})
                c = 0
            rho_line.append(r)
            heat_line.append(c)
        raw_rho.append(raw_line)
        new_rho.append(rho_line)
        new_theta.append(theta_line)
        new_heat.append(heat_line)
    after = {"rho": new_rho, "theta": new_theta, "C": new_heat, "b": z["b"] - spend, "t": z["t"] + 1}
    return Step(after, raw_rho, new_heat, rho_low, rho_high, c_low)


def potential(z: Json, k: SimpleNamespace) -> int:
    """V, the Lyapunov function: squared forward differences of theta along both axes, squares of C, and debt."""
    energy = squares = 0
    above = None
    for row in z["theta"]:
        last = None
        for a in row:
            if last is not None:
                energy += (a - last) * (a - last)
            last = a
        if above is not None:
            for a, b in zip(row, above, strict=True):
                energy += (a - b) * (a - b)
        above = row
    for row in z["C"]:
        for a in row:
            squares += a * a
    debt = -z["b"] if z["b"] < 0 else 0
    v: int = k.W_THETA * energy + k.W_C * squares + k.W_B * debt
    return v


def admissible(z: Json, k: SimpleNamespace) -> bool:
    """Whether a state lies in K."""
    limit = k.RHO_MAX
    if z["b"] < 0:
        return False
    for row in z["rho"]:
        for a in row:
            if not 0 <= a <= limit:
                return False
    return all(a >= 0 for row in z["C"] for a in row)


def receipt(z: Json, step: Step, before: int, now: int) -> Json:
    """What the kernel says of a step from a state with V = `before` to one with V = `now`."""
    refusal = "REJECT_ABSORB_B0_DV_POS" if z["b"] == 0 else "REJECT_VIOLATION_INCREASE"
    b = step.after["b"]
    low, high, c_low = step.rho_low, step.rho_high, step.c_low
    return {
        "code": "ACCEPT" if now <= before else refusal,
        "V_before": before,
        "V_after": now,
        "dV": now - before,
        "b_before": z["b"],
        "b_after": b,
        "db": b - z["b"],
        "projected": bool(low or high or c_low),
        "witness": {"rho_low": low, "rho_high": high, "C_low": c_low, "b_short": b < 0},
    }
