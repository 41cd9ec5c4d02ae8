"""Compiles a suite: every run is resolved, every expression is typed against the receipts that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from msgspec import Struct

from specledger.compile.actor import footing_of
from specledger.compile.plan_cache import PlanCache
from specledger.compile.roles import roles
from specledger.compile.suite_names import names_of, report_models
from specledger.core.diagnostics import Diagnostics, Rejected, code, suggest
from specledger.core.identity import ByIdentity
from specledger.core.verdict import Verdict
from specledger.expr import INT, RecordType, Type
from specledger.expr.check.types import FIXED, FixedType
from specledger.gates.governor import check_governor
from specledger.load import Bundle, Resolved
from specledger.load.changed import read_path
from specledger.spec.suite import Allowed, Arm, Figure, Mutant, Overlay, Suite
from specledger.suites.checks import PlannedCheck, check_checks
from specledger.suites.episode_types import Grammar
from specledger.suites.figures import PlannedFigure
from specledger.suites.literals import report_unknown
from specledger.suites.measures import Sampler, check_measures
from specledger.suites.overlay import E_SUITE_SET, Change, Made, overlay
from specledger.suites.plan import Case, PlannedMutant, SuitePlan, Trial
from specledger.suites.stated import stated_by
from specledger.suites.truth import Truth, check_truth
from specledger.worlds.check import check_world
from specledger.worlds.model import World

E_SUITE_ARM = code("E_SUITE_ARM", "there is no such arm or scenario in the suite")
E_SUITE_TWICE = code("E_SUITE_TWICE", "two of a suite have one name")
E_SUITE_TUNED = code("E_SUITE_TUNED", "a run uses a seed that was tuned on")
E_SUITE_BY = code("E_SUITE_BY", "a mutant that a check is meant to notice which there is not")
E_SUITE_NESTED = code("E_SUITE_NESTED", "a mutant of a suite without runs")


def seeds_of_suite(bundle: Bundle) -> list[int]:
    """Every seed that a suite uses, ascending: those of its runs, mutants and controls."""
    return sorted({case.seed for _, case in compile_suite(bundle).cases})


def compile_suite(bundle: Bundle) -> SuitePlan:
    """Compile the suite that a bundle was loaded for; the last one is kept, which is checked and then run."""
    return _compile(ByIdentity(bundle))


@lru_cache(maxsize=1)
def _compile(key: ByIdentity[Bundle]) -> SuitePlan:
    diagnostics = Diagnostics()
    plan = _Compiler(key.value, diagnostics).plan()
    diagnostics.raise_if_errors()
    return plan


class DeferredPlan:
    """A suite that is sent to worker processes and compiled once in each of them, because a plan cannot be pickled."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle

    @cached_property
    def plan(self) -> SuitePlan:
        """The compiled suite."""
        return compile_suite(self.bundle)

    @cached_property
    def plans(self) -> PlanCache:
        """The plans of its runs."""
        return PlanCache()

    def __reduce__(self) -> tuple[type[DeferredPlan], tuple[Bundle]]:
        return DeferredPlan, (self.bundle,)


class _Places(Struct, frozen=True):
    """What comes into places of a scenario by their keys, and where the suite says so."""

    values: Mapping[str, Any]
    stated: Change | None = None


class _Compiler:
    def __init__(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        assert isinstance(bundle.main.model, Suite)  # noqa: S101 - the pipeline compiles what it dispatched by kind
        self.bundle = bundle
        self.diagnostics = diagnostics
        self._worlds: dict[str, World | None] = {}
        self._samplers: dict[tuple[str, ...], Sampler | None] = {}
        self._truths: dict[str, Truth] = {}
        self._refused: set[str] = set()
        self._made = Made()
        self._asked: dict[str, tuple[tuple[PlannedFigure, ...], tuple[PlannedCheck, ...]]] = {}

    def plan(self) -> SuitePlan:
        spec, model = self.bundle.main, _model(self.bundle.main)
        trial = self._trial(spec, "runs", None, [])
        recorded = any(role.decider.trajectories is not None for case in trial.cases for role in roles(case.bundle))
        check_truth(spec, model.truth, self.diagnostics, recorded=recorded or self.diagnostics.has_errors)
        mutants = []
        controls: dict[Any, Trial] = {}
        for index, mutant in enumerate(model.mutants):
            if mutant.id in {other.id for other in model.mutants[:index]}:
                self._wrong(E_SUITE_TWICE, f"two mutants have the id {mutant.id!r}", "mutants", index, "id")
                continue
            mutants.append(self._mutant(index, mutant, trial, controls))
        self._compare_names(spec, trial, mutants)
        allowed = {
            Verdict.INCONCLUSIVE.value: _most(model, lambda counted: counted.inconclusive),
            Verdict.FAIL.value: _most(model, lambda counted: counted.failing),
        }
        return SuitePlan(spec.name, self.bundle.digest, trial, tuple(mutants), allowed, self.diagnostics.sorted())

    def _compare_names(self, spec: Resolved, own: Trial, mutants: Sequence[PlannedMutant]) -> None:
        """Warn of texts of the suite that are none of the names that its runs, its mutants' included, can give."""
        if not own.cases or self.diagnostics.has_errors:
            return
        cases = [*own.cases, *(case for mutant in mutants for case in mutant.mutated.cases)]
        measured = [comparison for case in own.cases for comparison in case.sampler.compared]
        asked = [comparison for check in own.checks for comparison in check.compared]
        report_unknown(dict.fromkeys([*measured, *asked]), names_of(cases), self.diagnostics)
        report_models(own.cases, spec, self.diagnostics)

    def _mutant(self, index: int, mutant: Mutant, own: Trial, controls: dict[Any, Trial]) -> PlannedMutant:
        main = self.bundle.main
        spec = main if mutant.suite is None else self.bundle.specs[main.refs["mutants", index, "suite"]]
        model, at = _model(spec), ("mutants", index)
        if not model.runs:
            self._wrong(E_SUITE_NESTED, f"{spec.name} has no runs", *at, "id" if mutant.suite is None else "suite")
        self._known(mutant.arms or (), model.runs, *at, "arms")
        names = {self.bundle.specs[key].name for arm in model.runs.values() for key in _scenarios(arm)}
        self._known(mutant.scenarios or (), names, *at, "scenarios")
        checks = {check.id for check in model.checks}
        for number, name in enumerate(mutant.by):
            if name not in checks:
                near = suggest(name, checks)
                hint = f"did you mean `{near}`?" if near else f"there is {', '.join(sorted(checks))}"
                message = f"mutant `{mutant.id}` of `{main.name}`: {spec.name} has no check {name!r}"
                self.diagnostics.error(E_SUITE_BY, message, main.span(*at, "by", number), hint=hint)
        under = self._changes(mutant.under, *at, "under")
        reduced = repr((spec.key, mutant.arms, mutant.scenarios, sorted(mutant.under.items(), key=repr)))
        if spec is main and not (mutant.arms or mutant.scenarios or mutant.under):
            controls.setdefault(reduced, own)
        if reduced not in controls:
            controls[reduced] = self._trial(spec, f"controls/{mutant.id}", mutant, under)
        replay = None if mutant.replay is None else mutant.replay == "bytes"
        changes = [*under, *self._changes(mutant.changes, *at, "set")]
        mutated = self._trial(spec, f"mutants/{mutant.id}", mutant, changes, self._places(mutant, *at), replay)
        return PlannedMutant(mutant.id, controls[reduced], mutated)

    def _trial(
        self,
        spec: Resolved,
        folder: str,
        mutant: Mutant | None,
        changes: list[Change],
        places: _Places | None = None,
        replay: bool | None = None,
    ) -> Trial:
        """The runs of a suite, all or those that a mutant chooses, with changes, in one folder."""
        model = _model(spec)
        cases = []
        for name in sorted(model.runs):
            if mutant is None or mutant.arms is None or any(is_arm(name, pattern) for pattern in mutant.arms):
                cases += self._arm(spec, name, folder, mutant, (changes, places or _Places({})))
        figures, checks = self._asks(spec)
        compared = model.replay == "bytes" if replay is None else replay
        return Trial(spec.name, tuple(cases), figures, checks, compared)

    def _arm(
        self,
        spec: Resolved,
        name: str,
        folder: str,
        mutant: Mutant | None,
        laid: tuple[list[Change], _Places],
    ) -> list[Case]:
        arm, at = _model(spec).runs[name], ("runs", name)
        changes = [*self._changes(arm.changes, *at, "set", of=spec), *laid[0]]
        expected = {} if arm.expect is None else {"expect": arm.expect.model_dump(exclude_none=True)}
        own = self._places(arm, *at, of=spec)
        places = {**own.values, **expected, **laid[1].values}
        cases: dict[str, Case] = {}
        self._made.renew()
        for index, key in enumerate(_scenarios(arm)):
            scenario = self.bundle.specs[key].name
            if mutant is not None and mutant.scenarios is not None and scenario not in mutant.scenarios:
                continue
            for seed in [*arm.seeds] or (None,):
                try:
                    seeded = places if seed is None else {**places, "seed": seed}
                    bundle = overlay(self.bundle, key, seeded, changes, self._made, laid[1].stated or own.stated)
                except Rejected as rejected:
                    self._refuse(name, mutant, rejected)
                    return []
                parts = (name, scenario if arm.cases is None else None, seed)
                run = ".".join(str(part) for part in parts if part is not None)
                if run.casefold() in cases:
                    self._wrong(E_SUITE_TWICE, f"two runs are called {run!r}", *at, "scenarios", index, of=spec)
                case = self._case(spec, (name, scenario, run, f"{folder}/{run}"), bundle)
                if case is not None:
                    cases[run.casefold()] = case
        return list(cases.values())

    def _refuse(self, arm: str, mutant: Mutant | None, rejected: Rejected) -> None:
        """Report changes that cannot be made; those of an arm once, and not again for each mutant of it."""
        if mutant is None:
            self._refused.add(arm)
        if mutant is None or arm not in self._refused:
            self.diagnostics.extend(rejected.diagnostics)

    def _case(self, spec: Resolved, names: tuple[str, str, str, str], bundle: Bundle) -> Case | None:
        arm, scenario, run, path = names
        seed: int = bundle.main.model.seed  # type: ignore[attr-defined]
        if seed in _model(spec).tuned_on:
            self._wrong(E_SUITE_TUNED, f"{run} uses the seed {seed}", "tuned_on", of=spec)
        sampler = self._sampler(spec, bundle)
        return None if sampler is None else Case(path, run, arm, scenario, seed, bundle, sampler, self._truth(spec))

    def _truth(self, spec: Resolved) -> Truth:
        """The labels that a suite gives trajectories, read once."""
        if spec.key not in self._truths:
            self._truths[spec.key] = Truth(_model(spec).truth)
        return self._truths[spec.key]

    def _sampler(self, spec: Resolved, bundle: Bundle) -> Sampler | None:
        """What is measured over the receipts of a scenario; the same for all that share a world and its prices."""
        known = (spec.key, bundle.main.refs["world",], *(_priced(role.governor) for role in roles(bundle)))
        if known not in self._samplers:
            self._samplers[known] = self._measured(spec, bundle)
        return self._samplers[known]

    def _measured(self, spec: Resolved, bundle: Bundle) -> Sampler | None:
        world = self._world(bundle)
        if world is None:
            return None
        grammar = Grammar(
            state=world.state,
            action=world.action,
            record=world.record.types,
            cost=_price(bundle, world),
            parts={name: part.world.receipt.types for name, part in world.parts.items() if part.world.receipt.items},
            changed=world.state.fields,
        )
        findings = Diagnostics()
        sampler = check_measures(spec, grammar, world.environment, findings)
        self.diagnostics.extend(findings.sorted())
        return sampler

    def _world(self, bundle: Bundle) -> World | None:
        """The world of a scenario, checked once; None if there are findings."""
        key = bundle.main.refs["world",]
        if key not in self._worlds:
            findings = Diagnostics()
            world = check_world(bundle.specs[key], bundle, findings)
            self._worlds[key] = None if findings.has_errors else world
            self.diagnostics.extend(findings.sorted())
        return self._worlds[key]

    def _asks(self, spec: Resolved) -> tuple[tuple[PlannedFigure, ...], tuple[PlannedCheck, ...]]:
        if spec.key not in self._asked:
            model = _model(spec)
            figures = []
            for name in sorted(model.figures):
                figure = model.figures[name]
                figures.append(self._figure(spec, name, figure))
            self._asked[spec.key] = tuple(figures), check_checks(spec, figures, self.diagnostics)
        return self._asked[spec.key]

    def _figure(self, spec: Resolved, name: str, figure: Figure) -> PlannedFigure:
        """A figure with its arms: the name of an arm with `cases` means all of them."""
        runs = _model(spec).runs
        named = [figure.over] if isinstance(figure.over, str) else figure.over or sorted(runs)
        self._known(named, runs, "figures", name, "over", of=spec)
        over = tuple(arm for pattern in named for arm in sorted(runs) if is_arm(arm, pattern))
        if figure.difference is not None and len(over) > 2:
            self._wrong(E_SUITE_ARM, "a difference is of two arms, not of all cases", "figures", name, "over", of=spec)
        labels = {arm: dict(runs[arm].case) for arm in over} if figure.by == "arm" else {}
        kinds = {(label, type(value)) for case in labels.values() for label, value in case.items()}
        if len(dict(kinds)) < len(kinds):
            self._wrong(E_SUITE_ARM, "the values of one axis are of different types", "figures", name, of=spec)
        decided = figure.decided is not None
        return PlannedFigure(name, figure.statistic, over, figure.by, figure.at, labels, figure.clusters, decided)

    def _changes(self, changes: Mapping[str, Any], *at: str | int, of: Resolved | None = None) -> list[Change]:
        spec = of or self.bundle.main
        read = []
        for path, value in changes.items():
            steps = read_path(path)
            if not steps:
                self._wrong(E_SUITE_SET, f"{path!r} is no path", *at, path, of=spec)
                continue
            whose = f"{stated_by(spec, at)}, `{path}`: "
            read.append(Change(steps, value, spec.origins.get((*at, path)), whose))
        return read

    def _places(self, overlaid: Overlay, *at: str | int, of: Resolved | None = None) -> _Places:
        """The keys of the specs that come into the places of others."""
        spec = of or self.bundle.main
        single = {name: spec.refs[*at, name] for name in ("world", "governor", "agent") if (*at, name) in spec.refs}
        lists: dict[str, Sequence[Any] | None] = {"drift": overlaid.drift, "invariants": overlaid.invariants}
        many = {
            name: [spec.refs[*at, name, index] for index in range(len(listed))]
            for name, listed in lists.items()
            if listed is not None
        }
        values = {**single, **many}
        node = next((spec.origins.get((*at, name)) for name in values), None)
        return _Places(values, Change((), None, node, f"{stated_by(spec, at)}: ") if values else None)

    def _known(
        self, named: Sequence[str], known: Mapping[str, Arm] | set[str], *at: str | int, of: Resolved | None = None
    ) -> None:
        for name in named:
            if not any(is_arm(pattern, name) for pattern in known):
                self._wrong(E_SUITE_ARM, f"there is no {name!r}; there is {', '.join(sorted(known))}", *at, of=of)

    def _wrong(self, code_: str, message: str, *at: str | int, of: Resolved | None = None) -> None:
        self.diagnostics.error(code_, message, (of or self.bundle.main).span(*at))


def _most(model: Suite, allowed: Callable[[Suite | Arm], Allowed | None]) -> dict[str, int]:
    """How many runs are allowed, by arm; those of all arms that do not say it under the empty name."""
    limits = {"": allowed(model), **{name: allowed(arm) for name, arm in sorted(model.runs.items())}}
    return {name: limit.most for name, limit in limits.items() if limit is not None}


def is_arm(arm: str, named: str) -> bool:
    """Whether an arm is the one that is named, or one of its cases."""
    return arm == named or arm.startswith(f"{named}.")


def _scenarios(arm: Arm) -> list[str]:
    return [*map(str, arm.scenarios), *([] if arm.cases is None else [str(arm.cases)])]


def _price(bundle: Bundle, world: World) -> RecordType:
    """The type of a price; an item that some governor of several does not charge is optional."""
    costs: list[Mapping[str, Type]] = []
    for role in roles(bundle):
        met = footing_of(world.seen_by(role.name) if role.name else world)
        governor = check_governor(role.governor, met, Diagnostics())
        costs.append({} if governor is None else governor.cost.types)
    items = sorted({name for cost in costs for name in cost})
    price = FIXED if any(isinstance(type_, FixedType) for cost in costs for type_ in cost.values()) else INT
    absent = frozenset(name for name in items if not all(name in cost for cost in costs))
    return RecordType("cost", {**dict.fromkeys(items, price), "total": price}, optional=absent)


def _priced(governor: Resolved) -> str:
    """All of a governor on which the type of its price can depend."""
    judging = ("name", "doc", "gates", "mode", "choose", "invariants")
    data = [(name, value) for name, value in governor.data.items() if name not in judging]
    return repr((data, sorted((path, key) for path, key in governor.refs.items() if path[0] not in judging)))


def _model(spec: Resolved) -> Suite:
    assert isinstance(spec.model, Suite)  # noqa: S101 - a reference of kind suite holds nothing else
    return spec.model
