"""An Inspect AI task with the provider `mockllm`; `make inspect` installs it and runs these tests."""

import pytest

from specledger import inspect
from specledger.pipeline.verifying import verify
from tests.wings.bridges.inspect.mocks import mocked

inspect_ai = pytest.importorskip("inspect_ai", reason="the extra `inspect` is not installed; `make inspect` does so")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of the other package are not ours

SMALL = ["episodes=1", "horizon=4", "probes=[p5-causal]"]
SCORES = {"faithful": "C", "hidden": "I", "refusing": None}


@pytest.mark.parametrize("behaviour", SCORES)
def test_the_score_is_the_verdict_and_the_evidence_replays(tmp_path, behaviour):
    task = inspect.task("axion-hazard", set=SMALL, seeds=[3], out=tmp_path / "out")
    (log,) = inspect_ai.eval(task, model=mocked(behaviour), log_dir=str(tmp_path / "logs"), display="none")
    assert log.status == "success", log.error
    (sample,) = log.samples
    (score,) = sample.scores.values()
    assert score.value == SCORES[behaviour] or (SCORES[behaviour] is None and score.value != score.value)
    assert verify(next((tmp_path / "out").iterdir())).intact
    assert sample.model_usage  # what was asked went through Inspect
