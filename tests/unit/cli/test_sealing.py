"""What is signed is replayed first if that is asked for; else it is said, before it is signed, that it was not."""

import json
from pathlib import Path

import pytest

from specledger.cli.output import print_error
from specledger.cli.run import _print_resumed
from specledger.core.verdict import Exit
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from tests.toys import CLIMB
from tests.unit.verify.test_forgery import choose_another
from tools.tampering.forger import HELP, Forger

FILE = str(CLIMB / "climb.yaml")
SAID = "sealed without replay: what receipts say was not made again (`--replay` does that before)\n"
AGAIN = "replay gives the same bytes: 20 receipts\n"


@pytest.fixture(autouse=True)
def _key(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert spec("keys", "new", "key").status == Exit.CONFORMS


def forge(place):
    """Change what was chosen, and make everything fit that can be computed without a run."""
    forger = Forger(Path(place))
    for name in HELP:
        forger.remove(name)
    choose_another(forger)
    forger.recount()
    forger.seal()


def signed(place):
    return (Path(place) / "checkpoint").exists()


def test_seal_says_that_it_did_not_replay_or_replays(spec):
    spec("run", FILE, "--out", "out")
    done = spec("seal", "out", "--sign", "key")
    assert (done.status, done.err) == (Exit.CONFORMS, f"out: {SAID}")
    done = spec("seal", "out", "--sign", "key", "--replay")
    assert (done.status, done.err) == (Exit.CONFORMS, "")
    assert done.out.endswith(", replay gives the same bytes\n")


def test_a_forged_bundle_is_signed_only_without_replay(spec):
    spec("run", FILE, "--out", "out")
    forge("out")
    done = spec("seal", "out", "--sign", "key", "--replay")
    assert (done.status, signed("out")) == (Exit.FINDINGS, False)
    assert "E_REPLAY" in done.err
    assert (spec("seal", "out", "--sign", "key").status, signed("out")) == (Exit.CONFORMS, True)


def test_what_replay_cannot_decide_is_not_signed_if_it_is_asked_for(spec):
    spec("run", FILE, "--out", "out")
    file = Path("out/manifest.json")
    manifest = json.loads(file.read_bytes())
    manifest["engine"]["version"] = "0.0.1"
    for name in HELP:
        Path("out", name).unlink()
    file.write_text(json.dumps(manifest, sort_keys=True, separators=(",", ":")) + "\n")
    done = spec("seal", "out", "--sign", "key", "--replay")
    assert (done.status, signed("out")) == (Exit.INCONCLUSIVE, False)
    assert "version 0.0.1 made it" in done.err


@pytest.mark.medium
@pytest.mark.parametrize("seal", [[], ["--sign", "key"]], ids=["", "signed"])
def test_what_a_resumed_run_finds_is_replayed_before_it_is_signed(spec, seal):
    words = ["run", FILE, "--out", "out", "--resume", "--replay", *seal]
    done = spec(*words)
    assert (done.status, signed("out"), done.err) == (
        Exit.CONFORMS,
        bool(seal),
        f"0 of 2 episodes were finished, 2 are run\nout: {AGAIN}",
    )
    done = spec(*words)
    assert (done.status, done.err.endswith(AGAIN)) == (Exit.CONFORMS, True)
    spec("run", FILE, "--out", "out")
    forge("out")
    done = spec(*words)
    assert (done.status, signed("out")) == (Exit.FINDINGS, False)
    assert "E_REPLAY" in done.err


def test_what_a_resumed_run_takes_over_is_said_to_be_unreplayed(capsys):
    _print_resumed(2, 5, "episode", unreplayed=True)
    _print_resumed(0, 5, "episode", unreplayed=True)
    _print_resumed(2, 5, "episode")
    first, *others = capsys.readouterr().err.splitlines()
    assert first == f"2 of 5 episodes were finished, 3 are run; the finished ones are {SAID.rstrip()}"
    assert others == ["0 of 5 episodes were finished, 5 are run", "2 of 5 episodes were finished, 3 are run"]


def interrupt_after(steps):
    """A run whose first episode is finished when it is interrupted; what is finished is kept beside `out`."""

    def interrupt(done, _most):
        if done > steps:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(load(FILE)[0], Path("out"), RunOptions(resume=True), interrupt)


FINISHED = "1 of 2 episodes were finished, 1 are run"
RESUMED = {
    "signed": (["--sign", "key"], f"{FINISHED}; the finished ones are {SAID}"),
    "replayed and signed": (["--sign", "key", "--replay"], f"{FINISHED}\nout: {AGAIN}"),
    "not signed": ([], f"{FINISHED}\n"),
}


@pytest.mark.parametrize(("seal", "said"), RESUMED.values(), ids=RESUMED)
def test_a_run_that_was_half_finished_says_what_is_not_replayed_before_it_is_signed(spec, monkeypatch, seal, said):
    interrupt_after(4)
    signed_then: list[list[Path]] = []

    def noted(text):
        signed_then.append([*Path().rglob("checkpoint")])
        print_error(text)

    monkeypatch.setattr("specledger.cli.run.print_error", noted)
    done = spec("run", FILE, "--out", "out", "--resume", *seal)
    assert (done.status, done.err, signed("out")) == (Exit.CONFORMS, said, bool(seal))
    assert signed_then == [[]]


@pytest.mark.medium
def test_merged_shards_are_replayed_before_they_are_signed(spec):
    for part in ("1", "2"):
        assert spec("run", FILE, "--shard", f"{part}/2", "--out", part).status == Exit.CONFORMS
    done = spec("merge", "1", "2", "--out", "out", "--sign", "key")
    assert (done.status, signed("out")) == (Exit.CONFORMS, True)
    assert done.err == f"2 shards: merged and {SAID}"
    done = spec("merge", "1", "2", "--out", "again", "--sign", "key", "--replay")
    assert (done.status, signed("again"), done.err) == (Exit.CONFORMS, True, f"again: {AGAIN}")


def test_a_shard_is_not_replayed(spec):
    done = spec("run", FILE, "--shard", "1/2", "--out", "part", "--replay")
    assert (done.status, "a shard is no evidence yet" in done.err) == (Exit.INVALID, True)
