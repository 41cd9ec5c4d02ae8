"""The coherence kernel by hand: integer matrices of any size as lists of rows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

Field = list[list[int]]


def add(f: Field, g: Field) -> Field:
    """f + g."""
    return [[a + b for a, b in zip(p, q, strict=True)] for p, q in zip(f, g, strict=True)]


def scale(k: int, f: Field) -> Field:
    """k * f."""
    return [[k * a for a in row] for row in f]


def laplacian(f: Field) -> Field:
    """The 4-neighbour Laplacian with free edges."""
    height, width = len(f), len(f[0])
    return [
        [
            (row[x - 1] - a if x else 0)
            + (row[x + 1] - a if x + 1 < width else 0)
            + (f[y - 1][x] - a if y else 0)
            + (f[y + 1][x] - a if y + 1 < height else 0)
            for x, a in enumerate(row)
        ]
        for y, row in enumerate(f)
    ]


def gradient_energy(f: Field) -> int:
    """The sum of squared forward differences along both axes."""
    along = sum([(b - a) ** 2 for row in f for a, b in zip(row, row[1:], strict=False)])
    return along + sum([(b - a) ** 2 for p, q in zip(f, f[1:], strict=False) for a, b in zip(p, q, strict=True)])


def cells(f: Field, low: int, high: int) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
    """The cells below `low` and those above `high`."""
    below = [{"x": x, "y": y} for y, row in enumerate(f) for x, a in enumerate(row) if a < low]
    above = [{"x": x, "y": y} for y, row in enumerate(f) for x, a in enumerate(row) if a > high]
    return below, above


def potential(z: dict[str, Any], k: SimpleNamespace) -> int:
    """V, the Lyapunov function."""
    energy: int = k.W_THETA * gradient_energy(z["theta"]) + k.W_C * sum([a * a for row in z["C"] for a in row])
    return energy + k.W_B * max(0, -z["b"])


def admissible(rho: Field, c: Field, b: int, k: SimpleNamespace) -> bool:
    """Whether a state lies in K."""
    return b >= 0 and min(map(min, rho)) >= 0 and max(map(max, rho)) <= k.RHO_MAX and min(map(min, c)) >= 0


def step(
    z: dict[str, Any], drho: Field, dtheta: Field, spend: int, k: SimpleNamespace
) -> tuple[dict[str, Any], Field, Field]:
    """The next state, and its rho and C as they were before they were projected onto K."""
    rho, theta, c = z["rho"], z["theta"], z["C"]
    limit = k.RHO_MAX
    raw_rho = add(rho, drho)
    hot = [[1 if a > limit else 0 for a in row] for row in raw_rho]
    raw_c = add(scale(1 - k.BETA, c), add(scale(k.ALPHA, hot), scale(k.DIFFUSION, laplacian(c))))
    after = {
        "theta": add(add(theta, dtheta), scale(-k.LAMBDA_C, c)),
        "rho": [[min(max(a, 0), limit) for a in row] for row in raw_rho],
        "C": [[max(a, 0) for a in row] for row in raw_c],
        "b": z["b"] - spend,
        "t": z["t"] + 1,
    }
    return after, raw_rho, raw_c


def receipt(z: dict[str, Any], after: dict[str, Any], raw_rho: Field, raw_c: Field, k: SimpleNamespace) -> Any:
    """What the kernel says of its step."""
    rho_low, rho_high = cells(raw_rho, 0, k.RHO_MAX)
    c_low = [{"x": x, "y": y} for y, row in enumerate(raw_c) for x, a in enumerate(row) if a < 0]
    before, now = potential(z, k), potential(after, k)
    refusal = "REJECT_ABSORB_B0_DV_POS" if z["b"] == 0 else "REJECT_VIOLATION_INCREASE"
    return {
        "code": "ACCEPT" if now <= before else refusal,
        "V_before": before,
        "V_after": now,
        "dV": now - before,
        "b_before": z["b"],
        "b_after": after["b"],
        "db": after["b"] - z["b"],
        "projected": bool(rho_low or rho_high or c_low),
        "witness": {"rho_low": rho_low, "rho_high": rho_high, "C_low": c_low, "b_short": after["b"] < 0},
    }
