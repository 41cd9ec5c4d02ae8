"""Items of reports in full: of each outcome of a check, of controls, of the checks and levels of a verification."""

import pytest
from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostic, Severity
from specledger.core.spans import Position, Span
from specledger.report.control import Control, Judgement, Match, Waiver
from specledger.report.items import Item, Place, groups_of
from specledger.report.model import Check, Observation, Replay, Report
from specledger.report.outcome import Outcome
from specledger.verify.checks import Check as Verified
from specledger.verify.checks import Level, Status, Verification
from tests.unit.report.rendering import made_up

KEY, DIGEST = "invariant/kept@0123456789abcdef", "ab" * 32
SPEC, OF = (KEY, "specification"), ["scenario", "walk", "invariant/kept", "invariant/kept"]


def check(outcome=Outcome.PASSED, why="", seen=(), more=0, spec=KEY, failures=None, **more_of_it):
    failures = int(outcome is Outcome.FAILED) if failures is None else failures
    return Check(
        "invariant/kept",
        "it is kept",
        spec,
        outcome,
        9,
        failures,
        why,
        observations=tuple(seen),
        more=more,
        **more_of_it,
    )


def seen(what="broken", detail="x is 1", run=None, episode=0, t=3, seq=7):
    return Observation(what, detail, run, episode, t, seq, DIGEST)


# a check, the text of its item, the results (text, identity, places), and its lines
CHECKS = {
    "passed": (
        check(),
        "passed: it is kept",
        [],
        [],
    ),
    "passed with an observation": (
        check(seen=[seen()]),
        "passed: it is kept (first: receipt 7, broken x is 1)",
        [],
        [],
    ),
    "failed": (
        check(Outcome.FAILED),
        "failed 1 of 9 times: it is kept",
        [('failed: it is kept', OF, [SPEC])],
        ['it is kept'],
    ),
    "failed with a reason": (
        check(Outcome.FAILED, why="it broke", seen=[seen()]),
        "failed 1 of 9 times: it broke (first: receipt 7, broken x is 1)",
        [('failed: broken x is 1', [*OF, None, 0, 3, 'broken'], [SPEC, ('episode 0/step 3/receipt 7', 'receipt')])],
        ['it is kept', 'receipt 7, episode 0, step 3: broken  x is 1'],
    ),
    "the reason says what was seen": (
        check(Outcome.FAILED, why="broken as x is 1", seen=[seen()]),
        "failed 1 of 9 times: broken as x is 1 (first: receipt 7)",
        [('failed: broken x is 1', [*OF, None, 0, 3, 'broken'], [SPEC, ('episode 0/step 3/receipt 7', 'receipt')])],
        ['it is kept', 'receipt 7, episode 0, step 3: broken  x is 1'],
    ),
    "the reason says what happened alone": (
        check(Outcome.FAILED, why="broken", seen=[seen()]),
        "failed 1 of 9 times: broken (first: receipt 7, x is 1)",
        [('failed: broken x is 1', [*OF, None, 0, 3, 'broken'], [SPEC, ('episode 0/step 3/receipt 7', 'receipt')])],
        ['it is kept', 'receipt 7, episode 0, step 3: broken  x is 1'],
    ),
    "observations that say the same": (
        check(Outcome.FAILED, failures=3, seen=[seen(), seen(episode=1, seq=8), seen(t=4, seq=9, detail="x is 2")], more=2),
        "failed 3 of 9 times: it is kept (first: receipt 7, broken x is 1)",
        [('failed: broken x is 1', [*OF, None, 0, 3, 'broken'], [SPEC, ('episode 0/step 3/receipt 7', 'receipt')]), ('failed: broken x is 1', [*OF, None, 1, 3, 'broken'], [SPEC, ('episode 1/step 3/receipt 8', 'receipt')]), ('failed: broken x is 2', [*OF, None, 0, 4, 'broken'], [SPEC, ('episode 0/step 4/receipt 9', 'receipt')])],
        ['it is kept', 'receipt 7, episode 0, step 3: broken  x is 1  (and 1 more, the last in receipt 8)', 'receipt 9, episode 0, step 4: broken  x is 2', 'and 2 more'],
    ),
    "an observation of a run": (
        check(Outcome.FAILED, seen=[seen(run="a")]),
        "failed 1 of 9 times: it is kept (first: receipt 7, broken x is 1)",
        [('failed: broken x is 1', [*OF, 'a', 0, 3, 'broken'], [SPEC, ('run a/episode 0/step 3/receipt 7', 'receipt')])],
        ['it is kept', 'receipt 7, run a, episode 0, step 3: broken  x is 1'],
    ),
    "an observation of no step": (
        check(Outcome.FAILED, seen=[seen(episode=None, t=None)]),
        "failed 1 of 9 times: it is kept (first: receipt 7, broken x is 1)",
        [('failed: broken x is 1', [*OF, None, None, None, 'broken'], [SPEC, ('receipt 7', 'receipt')])],
        ['it is kept', 'receipt 7: broken  x is 1'],
    ),
    "a warning": (
        check(Outcome.FAILED, warning=True),
        "failed 1 of 9 times: it is kept",
        [('failed: it is kept', OF, [SPEC])],
        ['it is kept'],
    ),
    "judged once": (
        check(Outcome.FAILED, once=True),
        "failed over 9 opportunities: it is kept",
        [('failed: it is kept', OF, [SPEC])],
        ['it is kept'],
    ),
    "cannot tell": (
        check(Outcome.CANNOT_TELL, why="no sum", failures=2),
        "cannot tell over 9 opportunities: no sum",
        [('cannot tell: no sum', OF, [SPEC])],
        ['it is kept'],
    ),
    "untested": (
        check(Outcome.UNTESTED, why="there was no step"),
        "untested: there was no step",
        [('untested: there was no step', OF, [SPEC])],
        [],
    ),
    "differs": (
        check(Outcome.DIFFERS, seen=[seen()]),
        "differs: it is kept (first: receipt 7, broken x is 1)",
        [('differs: broken x is 1', [*OF, None, 0, 3, 'broken'], [SPEC, ('episode 0/step 3/receipt 7', 'receipt')])],
        [],
    ),
    "does not apply": (
        check(Outcome.NOT_APPLICABLE, why="its condition never held"),
        "not applicable: its condition never held",
        [],
        [],
    ),
    "of no spec": (
        check(Outcome.FAILED, spec=None, seen=[seen()]),
        "failed 1 of 9 times: it is kept (first: receipt 7, broken x is 1)",
        [('failed: broken x is 1', ['scenario', 'walk', 'invariant/kept', 'scenario/walk', None, 0, 3, 'broken'], [('scenario/walk@0123456789abcdef', 'specification'), ('episode 0/step 3/receipt 7', 'receipt')])],
        ['it is kept', 'receipt 7, episode 0, step 3: broken  x is 1'],
    ),
}  # fmt: skip


def results_of(item):
    return [(result.text, list(result.identity), list(result.logical)) for result in item.results]


@pytest.mark.parametrize("case", CHECKS)
def test_the_item_of_a_check(case):
    made, text, results, lines = CHECKS[case]
    (group,) = groups_of(Report((made_up("walk", made),)))
    item = group.items[0]
    assert (item.id, item.title, item.outcome, item.type) == (
        made.id, f"walk: {made.id}", made.outcome, made.outcome.value,
    )  # fmt: skip
    assert (item.text, results_of(item), list(item.lines)) == (text, results, lines)
    assert (item.warning, item.error, item.annotated, item.derived) == (made.warning, False, True, False)
    assert item.place == Place(spec=made.spec or "scenario/walk@0123456789abcdef")
    assert item.rule.help == f"it is kept (was: {made.outcome}). The receipts that show it are named in the results."


def test_a_result_names_its_run_and_its_receipt():
    (group,) = groups_of(Report((made_up("walk", check(Outcome.FAILED, seen=[seen()]), check(Outcome.FAILED)),)))
    assert [dict(item.results[0].properties) for item in group.items[:2]] == [
        {"outcome": "failed", "run": "cd" * 16, "seq": 7, "receipt": DIGEST},
        {"outcome": "failed", "run": "cd" * 16},
    ]


REPLAYS = {
    Replay.DONE: (Outcome.PASSED, "replayed", 0),
    Replay.OWN: (Outcome.NOT_APPLICABLE, "made by this command, not replayed", 0),
    Replay.NONE: (
        Outcome.CANNOT_TELL,
        "not replayed: no run can be made again; the other checks rest on what the receipts say (`spec report --replay`)",
        1,
    ),
}


@pytest.mark.parametrize("replay", Replay)
def test_the_item_of_a_replay(replay):
    (group,) = groups_of(Report((replace(made_up("walk"), replay=replay),)))
    (item,) = group.items
    outcome, text, results = REPLAYS[replay]
    assert (item.id, item.outcome, item.text, len(item.results)) == ("replay", outcome, text, results)
    assert list(item.lines) == (["replay of the runs gives the same bytes"] if results else [])


@pytest.mark.parametrize(
    ("verdict", "outcomes", "shown"),
    [
        ("PASS", [], None),
        ("FAIL", [], Outcome.FAILED),
        ("FAIL", [Outcome.FAILED], None),
        ("FAIL", [Outcome.CANNOT_TELL], Outcome.FAILED),
        ("INCONCLUSIVE", [Outcome.CANNOT_TELL], None),
        ("INCONCLUSIVE", [Outcome.PASSED], Outcome.CANNOT_TELL),
    ],
)
def test_a_verdict_that_no_check_says_is_an_item(verdict, outcomes, shown):
    (group,) = groups_of(Report((made_up("walk", *map(check, outcomes), verdict=verdict),)))
    told = [item.outcome for item in group.items if item.id == "verdict"]
    assert told == ([] if shown is None else [shown])


def control(outcome=Outcome.PASSED, why="", rows=(), waiver=None):
    given = None if waiver is None else Waiver("Ann", "later", "2026-12-31", waiver)
    return Control("c-1", "Care", "it must", "shown", outcome, why, tuple(rows), (), given, ())


ROWS = [
    Match("a", 0, Outcome.FAILED),
    Match("b", 1, Outcome.PASSED),
    Match("c", None, Outcome.UNTESTED),
    Match("d", 0, Outcome.PASSED, joint=True),
]

# a control over so many bundles: the text of its item, that of its result, its lines, and its text where it is waived
CONTROLS = {
    "passed": (
        control(), 1,
        "passed: it must", None, [], None,
    ),
    "failed": (
        control(Outcome.FAILED, rows=ROWS[:1]), 1,
        "failed: it must; a: failed", "failed: a: failed", ['a: failed'], None,
    ),
    "failed over several bundles": (
        control(Outcome.FAILED, rows=ROWS), 2,
        "failed: it must; a in walk: failed; b in run: passed; c: untested; d of all bundles: passed", "failed: a in walk: failed; b in run: passed; c: untested; d of all bundles: passed", ['a in walk: failed; b in run: passed; c: untested; d of all bundles: passed'], None,
    ),
    "failed over one bundle": (
        control(Outcome.FAILED, rows=ROWS), 1,
        "failed: it must; a: failed; b: passed; c: untested; d of all bundles: passed", "failed: a: failed; b: passed; c: untested; d of all bundles: passed", ['a: failed; b: passed; c: untested; d of all bundles: passed'], None,
    ),
    "passed with rows": (
        control(rows=ROWS[1:]), 2,
        "passed: it must; b in run: passed; c: untested; d of all bundles: passed", None, [], None,
    ),
    "cannot tell with a reason": (
        control(Outcome.CANNOT_TELL, "no evidence", ROWS[:1]), 1,
        "cannot tell: it must; no evidence; a: failed", "cannot tell: no evidence", ['a: failed'], None,
    ),
    "without a reason": (
        control(Outcome.UNTESTED), 1,
        "untested: it must", "untested: it must", [], None,
    ),
    "waived": (
        control(Outcome.FAILED, rows=ROWS[:1], waiver="active"), 1,
        "failed: it must; a: failed", "failed: a: failed", ['a: failed'], "WAIVED (failed) by Ann until 2026-12-31: later (control c-1); failed: it must; a: failed",
    ),
    "a waiver that is not needed": (
        control(waiver="active"), 1,
        "passed: it must; a waiver that is not needed, by Ann until 2026-12-31: later", None, [], None,
    ),
    "an expired waiver": (
        control(Outcome.FAILED, waiver="expired"), 1,
        "failed: it must; the waiver of Ann expired on 2026-12-31: later", "failed: it must", [], None,
    ),
    "a waiver without a date": (
        control(Outcome.UNTESTED, waiver="no date"), 1,
        "untested: it must; the waiver of Ann until 2026-12-31 counts only with --date: later", "untested: it must", [], None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CONTROLS)
def test_the_item_of_a_control(case):
    made, bundles, text, result, lines, waived = CONTROLS[case]
    judgement = Judgement("care", "A source", "", DIGEST, None, (made,))
    group = groups_of(Report(tuple(map(made_up, ["walk", "run"][:bundles])), judgement=judgement))[-1]
    (item,) = group.items
    assert (item.text, [one.text for one in item.results], list(item.lines)) == (
        text,
        [result] if result else [],
        lines,
    )
    assert (item.waiver, item.covered_text) == ((made, waived) if waived else (None, text))
    assert (group.name, group.properties["date"], item.rule.says) == ("profile.care", "none", "Care: it must")


VERIFICATION = Verification(
    [
        Verified(1, "files", Status.PASSED),
        Verified(2, "chain", Status.PASSED, None, "9 receipts"),
        Verified(3, "signature", Status.FAILED, "E_SIGNATURE", "receipt 3 differs", Level.SIGNED),
        Verified(4, "log", Status.NOT_MADE, None, None, Level.UNFORKED),
        Verified(5, "claims", Status.NOTHING, None, "no claim", Level.JUDGED),
    ],
    unchecked=["who made it"],
)


def facts(item: Item):
    outcome, results = item.outcome.value, [result.text for result in item.results]
    marks = [name for name in ("annotated", "derived") if getattr(item, name)]
    return item.id, item.title, outcome, item.text, item.type, results, list(item.lines), dict(item.properties), marks


# what was asked for, and all that is said
VERIFIED = {
    "nothing": (None, [
        ('1. files', 'passed', 'passed', 'ev: 1. files: no reason is known', 'passed', [], [], {'level': 'L0'}, ['annotated']),
        ('2. chain', 'passed', 'passed', 'ev: 2. chain: 9 receipts', 'passed', [], ['9 receipts'], {'level': 'L0'}, ['annotated']),
        ('3. signature', 'E_SIGNATURE', 'failed', 'ev: 3. signature: receipt 3 differs', 'E_SIGNATURE', ['failed: signature: receipt 3 differs'], ['receipt 3 differs'], {'level': 'L1', 'code': 'E_SIGNATURE'}, ['annotated']),
        ('4. log', 'not made', 'untested', 'ev: 4. log: no reason is known', 'not made', ['not made: log: no reason is known'], [], {'level': 'L3'}, ['annotated']),
        ('5. claims', 'nothing to check', 'not applicable', 'ev: 5. claims: no claim', 'nothing to check', [], ['no claim'], {'level': 'L5'}, ['annotated']),
        ('L0 intact: files, receipts and result are consistent', 'L0 reached', 'passed', 'ev: intact: files, receipts and result are consistent: 9 receipts', 'reached', [], ['9 receipts'], {'level': 'L0'}, ['derived']),
        ('L1 signed by trusted keys', 'L1 refuted', 'failed', 'ev: signed by trusted keys: receipt 3 differs', 'E_SIGNATURE', [], ['receipt 3 differs'], {'level': 'L1', 'code': 'E_SIGNATURE'}, ['derived']),
        ('L2 existed at a time that a trusted authority stamped', 'L2 not checked', 'cannot tell', 'ev: existed at a time that a trusted authority stamped: an earlier check failed', 'not checked', [], ['an earlier check failed'], {'level': 'L2'}, ['annotated', 'derived']),
        ('L3 extends a previously seen checkpoint', 'L3 not checked', 'cannot tell', 'ev: extends a previously seen checkpoint: ', 'not checked', [], [], {'level': 'L3'}, ['annotated', 'derived']),
        ('L4 replay gives the same bytes', 'L4 not checked', 'cannot tell', 'ev: replay gives the same bytes: replay does not apply to it', 'not checked', [], ['replay does not apply to it'], {'level': 'L4'}, ['annotated', 'derived']),
        ('L5 a second evaluator agrees with every verdict of an expression', 'L5 not checked', 'cannot tell', 'ev: a second evaluator agrees with every verdict of an expression: not requested (--judge)', 'not checked', [], ['not requested (--judge)'], {'level': 'L5'}, ['annotated', 'derived']),
        ('who made it', 'not checked', 'untested', 'ev: who made it', 'not checked', [], [], {}, ['annotated', 'derived']),
    ]),
    "the first level": (frozenset({Level.INTACT}), [
        ('1. files', 'passed', 'passed', 'ev: 1. files: no reason is known', 'passed', [], [], {'level': 'L0'}, ['annotated']),
        ('2. chain', 'passed', 'passed', 'ev: 2. chain: 9 receipts', 'passed', [], ['9 receipts'], {'level': 'L0'}, ['annotated']),
        ('3. signature', 'E_SIGNATURE', 'failed', 'ev: 3. signature: receipt 3 differs', 'E_SIGNATURE', ['failed: signature: receipt 3 differs'], ['receipt 3 differs'], {'level': 'L1', 'code': 'E_SIGNATURE'}, ['annotated']),
        ('4. log', 'not made', 'untested', 'ev: 4. log: no reason is known', 'not made', ['not made: log: no reason is known'], [], {'level': 'L3'}, ['annotated']),
        ('5. claims', 'nothing to check', 'not applicable', 'ev: 5. claims: no claim', 'nothing to check', [], ['no claim'], {'level': 'L5'}, ['annotated']),
        ('L0 intact: files, receipts and result are consistent', 'L0 reached', 'passed', 'ev: intact: files, receipts and result are consistent: 9 receipts', 'reached', [], ['9 receipts'], {'level': 'L0'}, ['derived']),
        ('L1 signed by trusted keys', 'L1 refuted', 'failed', 'ev: signed by trusted keys: receipt 3 differs', 'E_SIGNATURE', [], ['receipt 3 differs'], {'level': 'L1', 'code': 'E_SIGNATURE'}, ['derived']),
        ('L2 existed at a time that a trusted authority stamped', 'L2 not checked', 'untested', 'ev: existed at a time that a trusted authority stamped: an earlier check failed', 'not checked', [], ['an earlier check failed'], {'level': 'L2'}, ['derived']),
        ('L3 extends a previously seen checkpoint', 'L3 not checked', 'untested', 'ev: extends a previously seen checkpoint: ', 'not checked', [], [], {'level': 'L3'}, ['derived']),
        ('L4 replay gives the same bytes', 'L4 not checked', 'untested', 'ev: replay gives the same bytes: replay does not apply to it', 'not checked', [], ['replay does not apply to it'], {'level': 'L4'}, ['derived']),
        ('L5 a second evaluator agrees with every verdict of an expression', 'L5 not checked', 'untested', 'ev: a second evaluator agrees with every verdict of an expression: not requested (--judge)', 'not checked', [], ['not requested (--judge)'], {'level': 'L5'}, ['derived']),
        ('who made it', 'not checked', 'untested', 'ev: who made it', 'not checked', [], [], {}, ['annotated', 'derived']),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("asked", VERIFIED)
def test_the_items_of_a_verification(asked):
    levels, items = VERIFIED[asked]
    (group,) = groups_of(Report.from_verifications([("ev", replace(VERIFICATION, asked=levels))]))
    assert [facts(item) for item in group.items] == items


def test_the_result_of_a_failed_verification_names_its_check():
    (group,) = groups_of(Report.from_verifications([("ev", VERIFICATION)]))
    (result,) = group.items[2].results
    assert list(result.identity) == ["verify", "ev", "E_SIGNATURE", "signature"]
    assert list(result.logical) == [("check 3: signature", "check")]
    assert result.properties == {"number": 3, "name": "signature", "level": "L1", "status": "failed"}
    assert [item.rule.id for item in group.items[:5]] == ["L0", "L0", "E_SIGNATURE", "L3", "L5"]


@pytest.mark.parametrize("not_run", [False, True])
def test_the_items_of_findings(not_run):
    placed = Diagnostic("E_REF_MISSING", "no such world", Span("a.yaml", Position(3, 8), Position(3, 12)), hint="look")
    warned = Diagnostic("E_REF_MISSING", "no place", severity=Severity.WARNING)
    (group,) = groups_of(Report.from_findings([placed, warned], ["world a"], not_run=not_run))
    assert (group.name, group.about) == ("spec check", "specledger/check")
    assert [facts(item)[:7] for item in group.items] == [
        ("world a", "world a", "passed", "world a", "passed", [], []),
        ("a.yaml:3:8", "E_REF_MISSING", "failed", "no such world (look)", "E_REF_MISSING", ["no such world (look)"], ["no such world (look)"]),
        ("E_REF_MISSING", "E_REF_MISSING", "failed", "no place", "E_REF_MISSING", ["no place"], ["no place"]),
    ]  # fmt: skip
    assert [(item.warning, item.error) for item in group.items] == [(False, False), (False, not_run), (True, not_run)]
    assert [list(item.results[0].identity) for item in group.items[1:]] == [
        ["E_REF_MISSING", "a.yaml", "no such world"],
        ["E_REF_MISSING", None, "no place"],
    ]
