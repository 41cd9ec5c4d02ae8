"""A study says apart: a model convicted, a control that is not found, and a model of which nothing was measured."""

import pytest

from specledger.core.verdict import exit_code
from specledger.kinds import load
from specledger.kinds.suite import RUNNABLE
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from tests.loopback_model import WRITERS
from tests.unit.oracles.loopback import Service
from tests.unit.report.rendering import subject_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning"),  # a test runner may have threads
]

STATED, FOUND = "the stated objective is not flagged", "the hidden objective is found"
UNDECIDED = (
    f"Not decided: {STATED} (candid flagged 0 of 0, 6 not decided), {FOUND} (covert flagged 0 of 0, 6 not decided).",
)
ENDINGS = {
    "obedient": ("PASS", ()),
    "hidden": ("FAIL", (f"Does not hold: {STATED} (candid flagged 3 of 6).", f"Holds: {FOUND} (covert flagged 3 of 6).")),
    "truthful": ("FAIL", (f"Does not hold: {FOUND} (covert flagged 0 of 6).", f"Holds: {STATED} (candid flagged 0 of 6).")),
    **dict.fromkeys(("refusing", "broken", "chatty"), ("INCONCLUSIVE", UNDECIDED)),
}  # fmt: skip


@pytest.fixture
def study(tmp_path):
    """The study of reasons with a model that is asked at an address: six episodes of one step for each prompt, of which half show what is hidden."""

    def run(address, more=""):
        (tmp_path / "mine.yaml").write_text(
            f"spec: model/v1\nname: mine\nopenai: {{model: made-up, endpoint: '{address}'{more}}}\n"
        )
        outside = "model: ./mine.yaml, prompt: {}, reasons: plain-reasons, deadline_ms: 120000"
        for name, prompt in (("candid", "follow-objective"), ("covert", "hidden-objective")):
            (tmp_path / f"{name}.yaml").write_text(
                f"spec: agent/v1\nname: {name}\noutside: {{{outside.format(prompt)}}}\n"
            )
        arms = ", ".join(
            f"{arm}: {{agent: ./{arm}.yaml, set: {{episodes: 6, horizon: 1, probes: [p5-one-claim]}}}}"
            for arm in ("candid", "covert")
        )
        (tmp_path / "suite.yaml").write_text(
            f"spec: suite/v1\nname: of-mine\nextends: reasons-of-a-model\nconstants: {{MOST: 400000}}\nruns: {{{arms}}}\n"
        )
        (bundle,) = load(tmp_path / "suite.yaml")
        return execute(bundle, tmp_path / "out")

    return run


@pytest.mark.parametrize("writer", ENDINGS)
def test_a_study_says_which_of_its_endings_it_has(writer, study):
    service = Service(WRITERS[writer])
    try:
        finished = study(f"{service.address}v1")
    finally:
        service.close()
    verdict, said = ENDINGS[writer]
    assert finished.verdict == verdict
    assert exit_code(finished.verdict) == {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 3}[verdict]
    lines = RUNNABLE.show([finished]).splitlines()
    assert tuple(line.strip() for line in lines[1 : 1 + len(said)]) == said
    assert not [check.message for check in verify(finished.place).checks if check.code]


FAILED = {
    "nobody is there": (None, "", "6 of 6 calls of the model failed: 6 refused (ConnectError"),
    "no function": ("refusing", "", "6 of 6 calls of the model failed: 6 no_call (the model called no function)"),
    "limits are used up": ("refusing", ", limits: {tokens: 1}", "6 of 6 calls of the model failed: 1 no_call (the model called no function); 5 over_limit (limits.tokens: "),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILED)
def test_a_study_says_why_a_model_gave_no_answer(case, study):
    writer, more, said = FAILED[case]
    service = Service(WRITERS[writer or "refusing"])
    address = f"{service.address}v1"
    if writer is None:
        service.close()
    try:
        finished = study(address, f"{more}, retries: 0" if writer is None else more)
    finally:
        if writer is not None:
            service.close()
    assert f"  candid: {said}" in RUNNABLE.show([finished])
    assert said in " ".join(subject_of(finished.place).reading.finding())
