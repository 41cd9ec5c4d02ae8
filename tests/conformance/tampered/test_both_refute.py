"""Forgeries that were sealed again and that files alone show: both verifiers refute them, without replay."""

import re
import shutil

import pytest

from specledger.verify.checks import Level
from tests.conformance.tampered.verifiers import by_engine, by_tool
from tools.conformance import PLACE, Laid
from tools.tampering.forger import sha256
from tools.tampering.signer import ONE, Signer, trust

LOGS = "trajectories.jsonl"


def first(**fields):
    """The first receipt says something else."""
    return lambda f: f.first("start").update(fields)


def of_first(type_, **fields):
    """The first receipt of a type says something else."""
    return lambda f: f.first(type_).update(fields)


def twice(field):
    """The first receipt lists the first of something twice."""
    return lambda f: f.first("start")[field].append(f.first("start")[field][0])


def logs(change):
    """The trajectories are others, and the first receipt names them."""

    def make(f):
        f.write(LOGS, change(f.read(LOGS)))
        f.first("start")["recording"]["digest"] = sha256(f.read(LOGS))

    return make


def one_more(end):
    """An entry that is none, and the end that counts it."""
    return b'{"note":{}}\n{"end":%d}' % (int(end[1]) + 1)


FORGED = {
    "a field that no run states": ("climb", first(zzz=1)),
    "a drift that says more": ("climb", lambda f: f.first("start")["drifts"][0].update(zzz=1)),
    "a drift twice": ("climb", twice("drifts")),
    "drifts that are no list": ("reading", first(drifts={})),
    "a gate of a kernel twice": ("kernel", twice("gates")),
    "a recording with a further field": ("reading", lambda f: f.first("start")["recording"].update(zzz=1)),
    "longer trajectories than there are": ("reading", first(horizon=2)),
    "trajectories with other ends of lines": ("reading", logs(lambda data: data.replace(b"\n", b"\r\n"))),
    "trajectories of another format": ("reading", logs(lambda data: data.replace(b"/v1", b"/v2", 1))),
    "a line that is no entry": ("reading", logs(lambda data: data + b"{}\n")),
    "a line that is no JSON": ("reading", logs(lambda data: data + b"x\n")),
    "a trajectory without its end": ("reading", logs(lambda data: b"".join(data.splitlines(keepends=True)[:-1]))),
    "another line where a trajectory begins": (
        "reading",
        logs(lambda data: data.replace(b'{"trajectory":', b'{"note":')),
    ),
    "a trajectory that says more": (
        "reading",
        logs(lambda data: data.replace(b'{"trajectory":{', b'{"trajectory":{"a":"",', 1)),
    ),
    "a trajectory without a text": (
        "reading",
        logs(lambda data: data.replace(b'"file":"reader.json"', b'"file":7', 1)),
    ),
    "an entry of an unknown name": ("reading", logs(lambda data: re.sub(rb'{"end":(\d+)}', one_more, data))),
    "a wrong number of entries": ("reading", logs(lambda data: data.replace(b'{"end":', b'{"end":1'))),
    "a run of another arm": ("suite", of_first("run", arm="short")),
    "a run without its replay": ("suite", of_first("run", replay={})),
    "a figure with a further field": ("suite", of_first("figure", zzz=1)),
    "a figure of other clusters": ("suite", of_first("figure", clusters="other")),
    "groups that are no list": ("suite", of_first("figure", groups={})),
    "a witness that is no mapping": ("suite", of_first("check", witness=[])),
    "a mutant of another suite": ("suite", of_first("mutant", suite="other")),
    "a law of another seed": ("proved", first(seed=43)),
    "a law of another universe": ("refuted", first(universe="other")),
    "a law whose first receipt does not name it": ("proved", lambda f: f.first("start").pop("law")),
    "a discovery of another seed": ("discovery", first(seed=43)),
    "a discovery that states no name": ("discovery", lambda f: f.first("start").pop("discovery")),
    "an escalation of a law with another verdict": ("discovery", of_first("escalation", before="FAIL")),
    "a discovery of other iterations": ("discovery", first(iterations=5)),
    "a discovery of another prompt": ("discovery", first(prompt="other")),
    "an end that counts other tokens": ("discovery", of_first("end", tokens=1)),
    "an end that counts other laws": ("discovery", of_first("end", laws={})),
    "a suite with a further field": ("suite", first(zzz=1)),
}


@pytest.fixture
def forged(tmp_path):
    """A forger with a copy of a base."""
    return lambda base, **more: Signer(shutil.copytree(PLACE / "bases" / base, tmp_path / "bundle"), **more)


@pytest.mark.parametrize(("base", "change"), FORGED.values(), ids=FORGED)
def test_both_refute_what_was_sealed_again(forged, base, change):
    f = forged(base)
    assert by_tool(Laid(f.folder, {})).exit == 0
    change(f)
    f.seal()
    laid = Laid(f.folder, {})
    needs_replay = LOGS in f.names()  # the lines of logs are read where they are replayed
    said = by_engine(laid, replay=needs_replay, levels=frozenset() if needs_replay else frozenset({Level.INTACT}))
    assert (said.exit, by_tool(laid).exit) == (1, 1)


def test_a_checkpoint_that_was_seen_has_no_wrong_signature_of_a_trusted_key(forged, tmp_path):
    f = forged("climb-signed", signed=True)
    for name, raw, wanted in (("right", ONE.sign(f.note()), 0), ("wrong", b"1" * 64, 1)):
        options = {"against": tmp_path / name, "trust": tmp_path / "trust"}
        options["against"].write_bytes(f.note() + b"\n" + f.note_line(ONE, raw))
        options["trust"].write_bytes(trust(ONE))
        laid = Laid(f.folder, options)
        assert (by_engine(laid).exit, by_tool(laid).exit) == (wanted, wanted)
