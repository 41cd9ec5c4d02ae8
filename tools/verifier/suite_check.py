"""Suites: that the runs are those that the suite leads to, and that figures, checks and mutants follow from them."""

import json

from tools.verifier.basis import CRASHES, Open, Refuted, demand, tagged, write
from tools.verifier.cel import evaluate
from tools.verifier.declared import Names, constants_of, expression, functions_of, names_read
from tools.verifier.progress import PROGRESS
from tools.verifier.suite_episodes import EpisodeReader
from tools.verifier.suite_figures import FigureFailed, SuiteFigure
from tools.verifier.suite_measures import SERIES, sampler_of
from tools.verifier.suite_plan import SPEC_DEFAULTS, SUITE_STATISTICS, SuitePlan, check_overlay
from tools.verifier.values import BUDGET, Failed

RUN_NUMBERS = ("episodes", "successes", "steps", "proposals", "drifts", "checks", "errors")
UNCOMPARED = {"intact": True, "exact": True, "noticed": False, "compared": 0}
NO_SUCH_KEY = "E_EVAL_NO_SUCH_KEY"


class Assessment:
    """A suite, held against the runs inside it.

    `look(place)` gives the bundle of a run: its `specs`, `manifest` and `lines()`.
    """

    def __init__(self, document, look):
        self.document, self.look = document, look
        self.plan = SuitePlan(document["specs"], document["root"])
        self.outcomes, self.asked, self.left = {}, {}, []

    def figures(self, suite):
        """The figures of a suite, by name."""
        if suite not in self.asked:
            data, made = self.plan.specs[suite], []
            for name, one in sorted((data.get("figures") or {}).items()):
                statistic = next(each for each in SUITE_STATISTICS if one.get(each) is not None)
                made.append(SuiteFigure(name, one, data.get("runs") or {}, statistic))
            self.asked[suite] = made
        return self.asked[suite]

    def check_places(self, held):
        """See that there are the runs that the suite leads to, and no others."""
        places = sorted(case.place for trial in self.plan.trials() for case in trial.cases)
        differing = sorted({*places} ^ {*held})
        demand(not differing, "E_RUNS", f"the suite leads to other runs than it holds: {differing[:1]}")

    def check_runs(self):
        """See that every run is made from the specs that the suite leads to, and read off what figures are made of."""
        samplers = {}
        for trial in self.plan.trials():
            figures = self.figures(trial.suite)
            for case in trial.cases:
                self.check_run(trial, case, figures, samplers)

    def check_run(self, trial, case, figures, samplers):
        """See to one run."""
        BUDGET.part()
        run = self.look(case.place)
        specs, manifest = run.specs, run.manifest
        self.look_at(case, lambda: check_overlay(case.known, case.root, specs))
        scenario = specs["specs"][specs["root"]]
        case.seed = scenario.get("seed", SPEC_DEFAULTS["seed"])
        tuned = self.plan.specs[trial.suite].get("tuned_on") or []
        demand(case.seed not in tuned, "E_SPECS", f"{case.run} uses a seed that was tuned on")
        key = (trial.suite, scenario["world"], scenario["governor"])
        if key not in samplers:
            samplers[key] = sampler_of(specs, self.plan.specs[trial.suite], figures)
        wanted = [one.name for one in figures if case.arm in one.over]
        reader, samples, steps, count = EpisodeReader(case.heading), {}, 0, 0
        for receipt in map(json.loads, run.lines()):
            count, steps = count + 1, steps + (receipt["type"] == "step")
            episode = reader.add(receipt["type"], receipt["body"])
            if episode is not None:
                samplers[key].sample(episode, samples, wanted)
        compared = {"intact": True, "exact": True, "noticed": steps > 0, "compared": count}
        outcome = {name: manifest[name] for name in ("specs", "receipts", "result")}
        outcome.update(replay=compared if trial.compared else UNCOMPARED, samples=samples)
        self.outcomes[case.place] = outcome

    def look_at(self, case, check):
        """Make a check of one run; what it leaves open is kept."""
        try:
            check()
        except Refuted as refuted:
            raise Refuted("E_RUNS", f"{case.place}: {refuted.message} [{refuted.code}]") from None
        except Open as left:
            self.left.append((left.code, f"{case.place}: {left.message}"))

    def make_again(self, again):
        """See that every run is what its specs lead to."""
        cases = [case for trial in self.plan.trials() for case in trial.cases]
        for number, case in enumerate(cases, 1):
            PROGRESS.tell("run", number, len(cases))
            BUDGET.part()
            self.look_at(case, lambda place=case.place: again(self.look(place)))

    # What follows from the runs

    def receipts(self):
        """The receipts of the suite: (type, body)."""
        plan, own = self.plan, self.plan.own
        checks = plan.data.get("checks") or []
        start = {
            "suite": plan.data["name"],
            "specs": tagged("specs", write(self.document)),
            "runs": len(own.cases),
            "figures": [one.name for one in self.figures(own.suite)],
            "checks": [one["id"] for one in checks],
            "mutants": [name for name, _, _ in plan.mutants],
        }
        told, verdicts = self.assessed(own)
        made = [("start", start), *told]
        done = [(own, verdicts)]
        for name, control, mutated in plan.mutants:
            for one in (control, mutated):
                if not any(trial is one for trial, _ in done):
                    told, verdicts = self.assessed(one)
                    done.append((one, verdicts))
                    made += [receipt for receipt in told if receipt[0] == "run"]
            passed, failed = (next(held for trial, held in done if trial is one) for one in (control, mutated))
            made.append(("mutant", self.mutant(name, mutated, passed, failed)))
        count = sum(len(trial.cases) for trial in plan.trials())
        return [*made, ("end", {"runs": count, "checks": len(checks), "mutants": len(plan.mutants)})]

    def mutant(self, name, mutated, control, changed):
        """What caught a mutant: what passes in the control and fails in the mutated trial."""
        caught = sorted(one for one in changed if (control[one], changed[one]) == ("PASS", "FAIL"))
        errors = "ERROR" in (*control.values(), *changed.values())
        return {
            "mutant": name,
            "suite": self.plan.specs[mutated.suite]["name"],
            "caught": caught,
            "verdict": "PASS" if caught else "ERROR" if errors else "FAIL",
            "control": control,
            "mutated": changed,
        }

    def assessed(self, trial):
        """The receipts of one trial, and the verdict of each of its checks."""
        data, made = self.plan.specs[trial.suite], []
        runs = [{**case.heading, **self.outcomes[case.place]} for case in trial.cases]
        for case, run in zip(trial.cases, runs):
            known = {name: run[name] for name in ("specs", "receipts", "result", "replay")}
            made.append(("run", {"place": case.place, **case.heading, **known}))
        resampling = data.get("resamples", 999), data.get("seed", 0)
        values = {"runs": [read_run(run) for run in runs]}
        for figure in self.figures(trial.suite):
            groups, error = [], None
            try:
                groups = figure.groups(runs, resampling)
                bare = [{name: value for name, value in one.items() if name != "name"} for one in groups]
                values[figure.name] = groups if figure.by is not None else bare[0]
            except FigureFailed as failed:
                values[figure.name], error = failed, failed.cause
            told = {"figure": figure.name, "statistic": figure.statistic, "groups": groups, "error": error}
            made.append(("figure", told))
        judged = [self.judged(data, check, values) for check in data.get("checks") or []]
        made += [("check", one) for one in judged]
        return made, {one["check"]: one["verdict"] for one in judged}

    @staticmethod
    def judged(data, check, values):
        """What a check amounts to."""
        functions, constants = {**SERIES, **functions_of(data)}, constants_of(data)

        def read(text):
            tree = expression(text)
            for name in sorted(names_read(tree, functions) & values.keys()):
                if isinstance(values[name], FigureFailed):
                    raise values[name]
            return evaluate(tree, Names(values, constants), functions)

        opportunities, holds, cause, witness = 0, False, None, {}
        try:
            opportunities = read(check["opportunities"])
            holds = read(check["require"])
        except Failed as failed:
            cause = failed.told()
        except FigureFailed as failed:
            cause = failed.cause
        for name, text in (check.get("witness") or {}).items():
            try:
                witness[name] = read(text)
            except (Failed, FigureFailed):
                pass
        verdict = "PASS" if holds else "FAIL"
        if cause is not None:
            verdict = "ERROR" if opportunities or cause["code"] != NO_SUCH_KEY else "INCONCLUSIVE"
        elif holds and opportunities <= 0:
            verdict = "INCONCLUSIVE"
        told = {"check": check["id"], "verdict": verdict, "opportunities": opportunities, "witness": witness}
        return {**told, "error": cause if verdict == "ERROR" else None}

    def compare(self, recorded):
        """See that the receipts of the suite are what its runs lead to."""
        made = self.receipts()
        for place, ((kind, body), (was, held)) in enumerate(zip(made, recorded)):
            name = f"{kind} {body.get(kind, body.get('run', ''))}".strip()
            same = kind == was and write(body) == write(held)
            demand(same, "E_ASSESSMENT", f"receipt {place} ({name}) is not what the runs lead to")
        demand(len(made) == len(recorded), "E_ASSESSMENT", "there are other receipts than the runs lead to")


def read_run(run):
    """What checks read of a run."""
    result, replay = run["result"], run["replay"]
    made = {name: run[name] for name in ("run", "arm", "scenario", "seed")}
    made.update({name: result[name] for name in ("verdict", *RUN_NUMBERS)})
    for name in ("violations", "warnings", "rejections"):
        made[name] = [{"name": one, "count": count} for one, count in sorted(result[name].items())]
    made.update({name: replay[name] for name in ("intact", "exact", "noticed", "compared")})
    return {**made, "receipts": run["receipts"]["count"], "root": run["receipts"]["root"]}


def suite_again(bundle, again):
    """Assess the runs of a suite's bundle again, each of which is made again.

    Args:
        bundle: The bundle; its `inside` are those of its runs, by their places.
        again: What makes a run again: of its bundle; raises Refuted or Open.
    """
    try:
        assessment = Assessment(bundle.specs, bundle.inside.__getitem__)
        assessment.check_places(bundle.inside)
        assessment.check_runs()
        BUDGET.part()
        receipts = map(json.loads, bundle.lines())
        assessment.compare([(one["type"], one["body"]) for one in receipts])
        assessment.make_again(again)
    except CRASHES as error:
        raise Open("E_REPLAY", f"this file cannot assess the suite: {error!r}"[:200]) from None
    if assessment.left:
        (code, first), count = assessment.left[0], len(assessment.left)
        raise Open(code, f"{count} of {len(bundle.inside)} runs were not made again, the first of them {first}")
