"""What ends with evidence, from specs to the place, as work that can be ended anywhere and done again."""

import asyncio
import copy
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

from specledger.kinds import KINDS, load
from specledger.kinds.running import RunOptions
from specledger.kinds.shard_merging import read_shards
from specledger.kinds.suite import merge
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.verify.checks import Status
from specledger.wings.guard.protocol import Refusal, read_message
from specledger.wings.guard.service import LOGS, SEALED, GuardService
from tests.crash_writers import Writer
from tests.toys import CLIMB

OFFICE = Path(__file__).parent / "wings/guard/office/specs/scenario/office.yaml"
SUITE = """\
spec: suite/v1
name: heights
runs: {plain: {scenarios: [climb], seeds: [3, 4], set: {episodes: 1, horizon: 2}}}
measures: {top: "steps.map(s, s.record.reached)"}
figures: {high: {mean: top}}
checks: [{id: climbs, require: high.sum > 0, opportunities: high.of}]
"""


@cache
def suite():
    """A suite of two short runs."""
    with tempfile.TemporaryDirectory() as folder:
        project = shutil.copytree(CLIMB, Path(folder) / "project")
        (project / "heights.yaml").write_text(SUITE, encoding="utf-8")
        return load(project / "heights.yaml")[0]


class Pipeline(Writer):
    """Work whose evidence comes to `out`: it is complete there and can be verified, or there is none."""

    def work(self):
        """Do it, or go on with it."""
        raise NotImplementedError

    def content(self):
        return {path: data for path, data in super().content().items() if path.startswith("out/")}

    def check(self, expected):
        there = self.content()
        if there:
            assert there == expected, "something half-written is at the place"
            failed = [check.name for check in verify(self.root / "out").checks if check.status is Status.FAILED]
            assert failed == [], "what is at the place is not verified"
        else:
            assert not self.acknowledged, "finished evidence is lost"


class WholeSuite(Pipeline):
    """A suite that is run."""

    options = RunOptions()

    def work(self):
        execute(suite(), self.root / "out", self.options)
        self.acknowledged = 1


class ResumedSuite(WholeSuite):
    """A suite that goes on with the runs that an earlier process finished."""

    options = RunOptions(resume=True)


class Shard(WholeSuite):
    """One of two shards of a suite, which is no evidence yet: merged with the other one it is."""

    options = RunOptions(shard=(1, 2))

    def __init__(self, root):
        super().__init__(root)
        self.other = root / "other"
        execute(suite(), self.other, RunOptions(shard=(2, 2)))

    def check(self, expected):
        there = self.content()
        if there:
            assert there == expected, "something half-written is at the place"
            read_shards([self.root / "out", self.other], KINDS)
        else:
            assert not self.acknowledged, "a finished shard is lost"


class MergedShards(Pipeline):
    """Two shards that are merged; they stay what they are."""

    def __init__(self, root):
        super().__init__(root)
        self.shards = [root / f"shard{number}" for number in (1, 2)]
        for number, folder in enumerate(self.shards, 1):
            execute(suite(), folder, RunOptions(shard=(number, 2)))
        self.before = self._of_shards()

    def _of_shards(self):
        return {path: data for path, data in Writer.content(self).items() if path.startswith("shard")}

    def work(self):
        merge(self.shards, KINDS, self.root / "out", RunOptions())
        self.acknowledged = 1

    def check(self, expected):
        super().check(expected)
        assert self._of_shards() == self.before, "a shard was changed"


@cache
def conversation():
    """The scenario of an office, and the log of a conversation that a guard decided."""
    (bundle,) = load(OFFICE)
    said: list[dict] = [
        {"type": "begin", "protocol": "specledger/guard/v1"},
        {"type": "say", "speaker": "user", "text": "Send it to ann@example.com"},
        {"type": "ask", "tool": "send_email", "call": "1", "arguments": {"to": "ann@example.com", "body": "x"}},
    ]

    async def converse(folder):
        service = GuardService(bundle, folder)
        try:
            for message in said:
                line = json.dumps({"id": 1, "conversation": "c", **message}).encode() + b"\n"
                await service.answer(read_message(line))
        finally:
            service.close()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in (LOGS, SEALED):
            (folder / part).mkdir()
        asyncio.run(converse(folder))
        return bundle, (folder / LOGS / "c.jsonl").read_bytes()


class SealedConversation(Pipeline):
    """A conversation that ended: its log becomes evidence, and is removed once that is on the disk."""

    def __init__(self, root):
        super().__init__(root)
        for part in (LOGS, SEALED):
            (root / part).mkdir()
        self.log, self.place = root / LOGS / "c.jsonl", root / SEALED / "c"
        bundle, log = conversation()
        self.log.write_bytes(log)
        self.service = GuardService(bundle, root)

    def beside(self):
        """Another guard of the same folder."""
        other = copy.copy(self)
        other.service = GuardService(conversation()[0], self.root)
        return other

    def content(self):
        return {path: data for path, data in Writer.content(self).items() if path.startswith(f"{SEALED}/")}

    def work(self):
        if self.place.exists():
            return  # a guard refuses it as sealed, which acknowledges nothing; the log stays until it is on the disk
        try:
            self.service._seal(self.service._opened("c"))
        except Refusal as refusal:
            raise OSError(str(refusal)) from refusal
        self.acknowledged = 1

    def check(self, expected):
        there = self.content()
        if there:
            assert there == expected, "something half-written is at the place"
            failed = [check.name for check in verify(self.place).checks if check.status is Status.FAILED]
            assert failed == [], "what is at the place is not verified"
        else:
            assert not self.acknowledged, "finished evidence is lost"
            assert self.log.exists(), "the log is lost, and there is no evidence"


PIPELINES = {
    "suite": WholeSuite,
    "suite with resume": ResumedSuite,
    "shard": Shard,
    "merge of shards": MergedShards,
    "sealed conversation": SealedConversation,
}
