"""Runs whose model somebody else asks: the verdict, the evidence, and a replay that asks nobody."""

import pytest

from specledger import inspect
from specledger.core.diagnostics import Rejected
from specledger.core.verdict import Verdict
from specledger.evidence.layout import TAPE
from specledger.inspect.asking import load_asked, run_asked
from specledger.oracles.model import Call, answered, failed
from specledger.pipeline.verifying import verify
from tests.loopback_model import BEHAVIOURS

SCENARIO = ("axion-hazard", None, ["episodes=1", "horizon=3", "probes=[layer-b]"])
