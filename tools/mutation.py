"""Put a seeded sample of faults into the engine, one at a time, and count those that its tests notice.

Cosmic Ray makes the faults and runs the tests. This program chooses which faults (by digest, so that a sample stays the
same where a module does), which tests, and where: in copies of a commit, never in the checkout. An interrupted run goes
on where it stopped; `--again` puts the unnoticed faults into the modules of the commit, and runs its tests.
"""

import argparse
import ast
import hashlib
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cosmic_ray.commands import init
from cosmic_ray.config import serialize_config
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkItem, WorkResult

from tools.copies import unpack

# What covers each package, without goldens: its own tests, and the nearest ones where those are few.
TESTS = {
    "core": "unit/core unit/suites/test_statistics.py properties/test_canonical*.py properties/test_[mr]*.py",
    "expr": "unit/expr properties/test_expr_*.py",
    "worlds": "unit/worlds properties/test_variables.py unit/agents",
    "gates": "unit/gates wings/kernel/verify/test_judge_kernel.py wings/kernel/axion/test_token_binding_enforced.py"
    " wings/kernel/axion/test_signed_tokens.py unit/run/test_steps_of_monitors.py properties/test_unknown.py",
    "wings/kernel": "wings/kernel unit/suites/test_probing.py wings/kernel/axion/test_m4_small.py"
    " unit/run/test_chance.py",
    "run": "unit/run wings/kernel/axion/test_plans.py wings/kernel/axion/test_outside_agents.py",
    "wings/laws": "wings/laws properties/test_law*.py unit/verify/test_law.py unit/cli/test_laws.py"
    " unit/report/test_ring.py",
    "suites": "unit/suites",
    "evidence": "unit/evidence unit/suites/test_resume.py conformance/evidence unit/verify/test_signed.py"
    " unit/verify/test_law.py unit/verify/test_system_errors.py",
    "verify": "unit/verify wings/laws/test_proof_*.py unit/evidence/test_[ac]*.py conformance/tampered"
    " unit/suites/test_run.py unit/suites/test_verify.py",
    "wings/discovery": "wings/discovery unit/verify/test_*discovery.py conformance/proposer/test_[fp]*.py"
    " unit/cli/test_discover.py",
    "load": "unit/load properties/test_load_*.py unit/spec",
    "lang": "unit/lang unit/worlds unit/gates unit/agents unit/run/test_chance.py unit/oracles/test_answer.py"
    " unit/expr/test_diagnostics.py unit/load/test_hints.py wings/discovery/test_prompt.py",
    "agents": "unit/agents unit/run/test_several_agents.py unit/oracles/test_model_agent.py",
    "compile": "unit/run unit/worlds unit/agents unit/gates unit/load/test_findings.py unit/pipeline/test_checking.py"
    " unit/suites/test_[cf]*.py wings/kernel/axion/test_offers.py",
    "oracles": "unit/oracles conformance/outside/test_[bp]*.py unit/cli/test_agent.py unit/cli/test_outside.py"
    " wings/kernel/axion/test_outside_agents.py",
    "kinds": "unit/kinds unit/cli/test_plan.py unit/cli/test_[jlnr]*.py unit/cli/test_terminal.py unit/pipeline",
    "spec": "unit/spec unit/load unit/oracles/test_model_spec.py",
    "pipeline": "unit/pipeline unit/cli",
    "report": "unit/report wings/kernel/report wings/discovery/test_report.py conformance/evidence"
    " unit/cli/test_formats.py",
    "cli": "unit/cli unit/report/test_command.py unit/suites/test_cli.py conformance/test_ci.py",
    "wings/bridges": "wings/bridges/*.py",
    "wings/trajectories": "wings/trajectories conformance/test_recorded_agents.py conformance/test_company_policy.py",
    "wings/challenges": "wings/challenges",
    "wings/guard": "wings/guard",
    "wings/editor": "wings/editor",
}
PYTEST = '-m pytest -q -x -n0 -p no:cacheprovider -m "not slow"'
CPU_S, TIMEOUT_S = 200, 3600  # an endless loop ends by the first, a deadlock by the second
# Faults that are not realistic or change nothing: a decorator less (an import fails, a cache is lost), identity for
# equality, shifts and powers for sums, another operator for the stars of an argument list (a syntax error).
EXCLUDED = re.compile(
    r"RemoveDecorator|Comparison\w*_(Eq|NotEq|Lt|LtE|Gt|GtE)_Is|Comparison\w*_(Is|IsNot)_(Eq|NotEq|Lt|Gt)"
    r"|Binary\w*_(RShift|LShift|Pow|BitXor|Div)$|Binary\w*_Pow_"
)


def declared(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Ranges that decide nothing at run time: annotations, which are never evaluated, and decorators (`frozen`)."""
    nodes = list(ast.walk(ast.parse(source)))
    found = [getattr(node, name, None) for node in nodes for name in ("annotation", "returns")]
    found += [member for node in nodes for member in getattr(node, "decorator_list", ())]
    return [
        ((member.lineno, member.col_offset), (member.end_lineno or 0, member.end_col_offset or 0))
        for member in found
        if isinstance(member, ast.expr)
    ]


def sample(session: Path, folder: Path, package: str, size: int, seed: int) -> None:
    """Fill a session with `size` faults of a package: one at each of the places whose digests are smallest."""
    modules = sorted((folder / "engine/specledger" / package).rglob("*.py"))
    ignored = {path: declared(path.read_text(encoding="utf-8")) for path in modules}
    drawn: dict[tuple[Path, tuple[int, int]], tuple[str, WorkItem]] = {}
    with use_db(session, WorkDB.Mode.create) as db:
        init(modules, db, {})
        for item in db.work_items:
            fault = item.mutations[0]
            path = fault.module_path.relative_to(folder)
            hint = any(start <= fault.start_pos < end for start, end in ignored[fault.module_path])
            if hint or EXCLUDED.search(fault.operator_name):
                continue
            text = f"{seed} {path} {fault.operator_name} {fault.occurrence}"
            one = (hashlib.sha256(text.encode()).hexdigest(), item)
            place = (path, fault.start_pos)
            drawn[place] = min(drawn.get(place, one), one, key=lambda member: member[0])
        db.clear()
        places = sorted(drawn, key=lambda place: hashlib.sha256(f"{seed} {place}".encode()).digest())
        db.add_work_items(drawn[place][1] for place in places[:size])


def prepare(package: str, arguments: argparse.Namespace) -> Path:
    """Make the copy, the configuration and the session of a package, if they are not there."""
    folder: Path = arguments.out / package
    session, origin = folder.with_suffix(".sqlite"), folder / "COMMIT"
    new = not session.exists()
    if new or arguments.again:
        folder.mkdir(parents=True, exist_ok=True)
        origin.write_text(arguments.commit, encoding="utf-8")
    unpack(origin.read_text(encoding="utf-8"), folder)  # what was interrupted may have left a fault behind
    if new:
        sample(session, folder, package, arguments.faults, arguments.seed)
    elif arguments.again:
        with use_db(session) as db:
            items, done = db.work_items, db.completed_work_items
            db.clear()
            db.add_work_items(items)
            for item, result in done:
                if result.is_killed:
                    db.set_result(item.job_id, result)
    found = [sorted((folder / "tests").glob(pattern)) for pattern in TESTS[package].split()]
    tests = " ".join(str(path.relative_to(folder)) for paths in found for path in paths)
    config = {"module-path": str(folder), "timeout": TIMEOUT_S, "distributor": {"name": "local"}}
    config["test-command"] = f"sh -c 'ulimit -t {CPU_S}; exec nice -n 10 {sys.executable} {PYTEST} {tests}'"
    folder.with_suffix(".toml").write_text(serialize_config(config), encoding="utf-8")
    return folder


def execute(folder: Path) -> bool:
    """Let Cosmic Ray run the tests once without a fault, then, if they pass, on each fault that has no result yet."""
    environment = os.environ | {"PYTHONPATH": str(folder / "engine")}
    config, session = str(folder.with_suffix(".toml")), str(folder.with_suffix(".sqlite"))
    tool = [sys.executable, "-m", "cosmic_ray.cli"]
    return all(
        subprocess.run([*tool, *words], cwd=folder, env=environment, check=False).returncode == 0
        for words in (["baseline", config], ["exec", config, session])
    )


def row(package: str, results: list[WorkResult]) -> str:
    """One row of the table: what ended by a limit of time is noticed, too."""
    noticed = [one for one in results if one.is_killed]
    late = sum(not re.search(r"\d (failed|error)", one.output or "") for one in noticed)
    return f"| {package} | {len(results)} | {len(noticed)} | {late} | {len(results) - len(noticed)} |"


def main() -> int:
    """Run the packages; print the table and every fault that went unnoticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=list(TESTS), metavar="PACKAGE")
    parser.add_argument("--faults", type=int, default=17, help="of each package")
    parser.add_argument("--workers", type=int, default=2, help="packages at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--out", type=lambda text: Path(text).resolve(), default=Path("out/mutation").resolve())
    arguments = parser.parse_args()
    commit = ["git", "rev-parse", arguments.commit]
    arguments.commit = subprocess.run(commit, check=True, capture_output=True, text=True).stdout.strip()
    folders = [prepare(package, arguments) for package in arguments.packages]
    with ThreadPoolExecutor(arguments.workers) as pool:
        whole = all(list(pool.map(execute, folders)))
    every: list[WorkResult] = []
    print("| package | faults | noticed | of these by a limit of time | unnoticed |\n| --- | --- | --- | --- | --- |")
    for folder in folders:
        with use_db(folder.with_suffix(".sqlite")) as db:
            results = [one for _, one in db.results]
        print(row(str(folder.relative_to(arguments.out)), results))
        every += results
    print(row("all", every))
    unnoticed = [one for one in every if one.test_outcome == TestOutcome.SURVIVED]
    print(*(f"\n{one.diff}" for one in unnoticed), sep="\n")
    return int(not whole or len(unnoticed) * 10 > len(every))


if __name__ == "__main__":
    sys.exit(main())
