"""`task("axion-hazard")` gives an Inspect AI task whose scorer is the verdict of a run; it needs the extra `inspect`.

Each sample is one run of the scenario, in which the model that Inspect evaluates is the agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from specledger.core.diagnostics import code, missing_package

if TYPE_CHECKING:
    from inspect_ai import Task

E_INSPECT_MISSING = code("E_INSPECT_MISSING", "Inspect AI is not installed")


def task(
    scenario: str,
    *,
    agent: str | None = None,
    set: Sequence[str] = (),  # noqa: A002 - the word of the command line
    seeds: Sequence[int] = (),
    trajectories: Sequence[str | Path] = (),
    out: Path = Path("out/inspect"),
) -> Task:
    """An Inspect AI task of a scenario.

    Where the agent of the scenario is a recording, the evaluated model is asked about its calls, and each trajectory is
    a sample, whose messages it keeps. Else the model is the agent, and a sample ends with the calls that it made.

    Args:
        scenario: A file or a name.
        agent: An agent that is a model, for its prompt and the forms of its reasons; by default the shipped one with
            the annotation `inspect: true`.
        set: Changes as `path=value`, as for `spec run --set`.
        seeds: One sample for each; by default one sample with the scenario's own seed.
        trajectories: Logs, in place of those that the recorded agent names.
        out: The folder of the evidence, one bundle for each sample and epoch.
    """
    try:
        from specledger.wings.bridges.inspect.evaluation import evaluation, examination
    except ModuleNotFoundError as error:
        if error.name not in ("anyio", "inspect_ai"):
            raise
        raise missing_package(E_INSPECT_MISSING, error.name.replace("_", "-"), "inspect") from None
    from specledger.wings.bridges.inspect.asking import load_asked, load_recorded

    chosen = [f"agent={agent}"] if agent is not None else []
    changes = [[*set, f"seed={seed}"] for seed in seeds] or [list(set)]
    recorded = [load_recorded(scenario, [*chosen, *change]) for change in changes]
    about = [bundle for bundle in recorded if bundle is not None]
    if about:
        return examination(about, list(map(Path, trajectories)), Path(out))
    return evaluation([load_asked(scenario, agent, change) for change in changes], Path(out))
