"""`tools/verify.py`: what it needs, honest evidence of every kind, logs, options, and what it does where the system fails."""

import ast
import builtins
import hashlib
import itertools
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from specledger.core.canonical import NotCanonical, parse_canonical
from specledger.core.diagnostics import codes
from specledger.pipeline.authoring import load_codes
from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify as verify_with_replay
from specledger.verify.check_names import all_names
from specledger.verify.checks import Level
from tests.conformance.tampered.verifiers import by_engine, by_tool
from tools import verify
from tools.conformance import PLACE, Laid
from tools.tampering.forger import Forger, canonical
from tools.tampering.signer import ONE

BASES = sorted(path.name for path in (PLACE / "bases").iterdir())
SOURCE = Path(verify.__file__)
TOY = SOURCE.parents[1] / "tests/toys/climb/climb.yaml"


@pytest.fixture
def bundle(tmp_path):
    """A copy of an honest bundle."""
    return lambda name: shutil.copytree(PLACE / "bases" / name, tmp_path / name)


def asked(*words):
    """The exit code and the JSON document of a call."""
    done = subprocess.run(
        [sys.executable, SOURCE, *map(str, words), "--json"], capture_output=True, check=False, timeout=60
    )
    assert done.stderr == b""
    return done.returncode, json.loads(done.stdout)


# The program


@pytest.mark.medium
def test_it_needs_python_3_9_and_its_library_alone():
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"), feature_version=(3, 9))
    roots = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    roots |= {str(node.module).partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert roots - sys.stdlib_module_names == {"cryptography"}


def test_every_code_that_it_gives_has_a_page():
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    given = {text for text in texts if text.startswith("E_")}
    assert len(given) > 30
    load_codes()
    assert given <= set(codes())


def test_the_numbers_of_its_checks_stand_at_their_code():
    """The list at its head, those at the functions, and the numbers that it prints are the same."""
    text = SOURCE.read_text(encoding="utf-8")
    listed = {int(number) for number in re.findall(r" {2,}(\d+) [a-z]", text.partition("What it does not do")[0])}
    at_code = [int(number) for number in re.findall(r"^@check\((\d+),", text, re.MULTILINE)]
    numbers = [rule.number for rule in verify.RULES]
    assert at_code == numbers
    assert listed == {*numbers} == {*range(1, 23)} - {9, 17, 20, 21}


NARROWER = {
    "Specs match their digest": "and whether they compile is not checked",
    "Every run passes these checks": "no spec of a case is resolved",
    "Figures, checks and mutants agree": "where an expression decides, they are only recorded",
    "Verdicts on laws are consistent": "whether they are true is not decided",
    "Counterexamples are evolved again": "whether they violate the law is not decided",
    "Answers from outside": "a part of 20, replay, in `spec verify`",
    "The log extends the checkpoint": "of whatever place",
}
"""Checks that say less than the one of `spec verify` with the same number, and why."""


@pytest.mark.wing("discovery")
@pytest.mark.wing("laws")
def test_a_check_has_the_number_and_the_name_that_it_has_in_spec_verify():
    names = {(name.number, str(name)) for name in all_names()}
    for rule in verify.RULES:
        begins = (rule.number, rule.name[0].lower() + rule.name[1:])
        same = any(number == begins[0] and begins[1].startswith(name) for number, name in names)
        assert same != any(rule.name.startswith(start) for start in NARROWER), rule.name


# Honest evidence


@pytest.mark.medium
@pytest.mark.parametrize("name", BASES)
def test_honest_evidence_conforms(name):
    """A suite, laws, discoveries, kernels, agents and models from outside; the recorded verdict does not matter."""
    assert by_tool(Laid(PLACE / "bases" / name, {})).exit == 0
    assert verify_with_replay(PLACE / "bases" / name).verdict == "PASS"


SIGNERS = {
    "nobody": ("climb", [], "nobody signed: anybody can have written it"),
    "a key that nobody trusts": ("climb-signed", [], "said to be by the key {key}, not checked: it is no key that you trust; in the name {origin}"),
    "a trusted key": ("climb-signed", ["--trust", PLACE / "trust-one.json"], "by your trusted key {key}; in the name {origin}"),
}  # fmt: skip


@pytest.mark.parametrize(("base", "trust", "said"), SIGNERS.values(), ids=SIGNERS)
def test_who_signed_is_said_as_spec_verify_says_it(spec, base, trust, said):
    found = asked(PLACE / "bases" / base, *trust)[1]
    run = json.loads((PLACE / "bases" / base / "manifest.json").read_bytes())["run"]
    assert found["signed"] == said.format(key=ONE.id, origin=f"conformance.example/{run}")
    told = spec("verify", PLACE / "bases" / base, "--no-replay", "--level", "L0", *trust)
    assert f"signed         {found['signed']}" in told.out.splitlines()
    named = [check["message"] for check in found["checks"] if check["number"] == 16]
    assert named == ([f"signed by {ONE.id} in the name conformance.example/{run}"] if trust else [])


def test_an_expectation_says_what_it_binds():
    _, found = asked(PLACE / "bases" / "climb-signed", "--trust", PLACE / "trust-one.json")
    (message,) = [check["message"] for check in found["checks"] if check["number"] == 15]
    named = json.loads((PLACE / "trust-one.json").read_bytes()).keys() & {"run", "specs"}
    assert message.startswith("".join(f"{name} " for name in sorted(named)[:1]) or "origin ")
    assert ("can be any, since the trust file names none" in message) == (len(named) < 2)


SIGNED_CLAIMS = {
    "receipts.jsonl": "signed manifest.json as it is here and the outcome 'PASSED'",
    "manifest.json": "signed another manifest.json, with the SHA-256 ",
}


@pytest.mark.medium
@pytest.mark.parametrize(("name", "said"), SIGNED_CLAIMS.items())
def test_a_refuted_bundle_still_says_what_it_claims_and_what_was_signed(bundle, name, said):
    place = bundle("climb-signed")
    manifest = json.loads((place / "manifest.json").read_bytes())
    data = (place / name).read_bytes().replace(b'"verdict":"PASS"', b'"verdict":"FAIL"').replace(b'"t":0', b'"t":1', 1)
    (place / name).write_bytes(data)
    code, found = asked(place, "--trust", PLACE / "trust-one.json")
    assert (code, found["verdict"]) == (1, "REFUTED")
    assert found["recorded"]["verdict"] == ("FAIL" if name == "manifest.json" else "PASS")
    assert found["recorded"]["specs"] == manifest["specs"]
    assert said in found["signed"]
    assert found["signed"].startswith("your trusted key ")
    _, untrusted = asked(place)
    assert untrusted["signed"].startswith("by no trusted key, as far as is checked here: ")
    assert asked(bundle("climb"))[1]["signed"].startswith("nobody signed")


@pytest.mark.medium
def test_a_verdict_on_a_law_is_not_decided():
    _, found = asked(PLACE / "bases" / "proved")
    assert "not decided here, only recorded: total-particles PROVED" in found["not_checked"]
    _, found = asked(PLACE / "bases" / "discovery")
    assert any(line.startswith("not decided here, only recorded: law/right@") for line in found["not_checked"])


@pytest.mark.parametrize("outcome", ["evolved", "an expression"])
def test_a_counterexample_that_was_evolved_again_is_not_said_to_be_unchecked(outcome, monkeypatch, capsys):
    monkeypatch.setattr(verify, "evolve", lambda *_: outcome)
    verify.main([str(PLACE / "bases" / "refuted")])
    passed, _, left = capsys.readouterr().out.partition("Not checked here:")
    assert "12 passed    Counterexamples are evolved again where a rule is data, and consistent where it is" in passed
    assert "of every counterexample: that it violates what its law claims" in left
    assert ("that they follow their universe's rule" in left) == (outcome != "evolved")


@pytest.mark.parametrize("level", ["L1", "L2", "L3", "L4", "L5"])
def test_a_level_that_is_demanded_and_not_reached_is_inconclusive(level):
    code, found = asked(PLACE / "bases" / "climb", "--level", level)
    assert (code, found["verdict"]) == (3, "INCONCLUSIVE")


@pytest.mark.medium
def test_levels_that_it_can_reach():
    signed, trust = PLACE / "bases" / "climb-signed", PLACE / "trust-one.json"
    assert asked(signed, "--trust", trust, "--level", "L1", "--level", "L0")[0] == 0
    assert asked(signed, "--against", signed / "checkpoint", "--level", "L3")[0] == 0


@pytest.mark.parametrize("trusted", [False, True], ids=["", "with a trust file"])
@pytest.mark.parametrize("level", ["L0", "L1", "L3"])
@pytest.mark.parametrize("base", ["climb", "climb-signed"])
def test_a_level_adds_to_what_the_trust_file_asks_in_both_verifiers(base, level, trusted):
    laid = Laid(PLACE / "bases" / base, {"trust": PLACE / "trust-one.json"} if trusted else {})
    wanted = 0 if level == "L0" or (level == "L1" and trusted) else 3
    wanted = 3 if trusted and base == "climb" else wanted
    assert by_tool(laid, "--level", level).exit == wanted
    assert by_engine(laid, levels=frozenset({Level(level)})).exit == wanted


@pytest.mark.parametrize("words", [["--level", "L1"], ["--trust", PLACE / "trust-one.json"]], ids=["level", "trust"])
def test_what_is_asked_of_a_log_that_it_cannot_give_is_told(words, bundle):
    code, found = asked(bundle("kernel") / "audit.log.jsonl", *words)
    assert (code, found["verdict"]) == (3, "INCONCLUSIVE")


def test_what_passed_is_called_no_more_than_not_refuted(capsys):
    _, found = asked(PLACE / "bases" / "climb")
    assert found["verdict"] == "nothing refuted; not replayed"
    assert any(line.startswith("whether the specs are valid") for line in found["not_checked"])
    assert verify.main([str(PLACE / "bases" / "climb")]) == 0
    first, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("nothing refuted; not replayed: ")
    assert "Exit code 0 says no more" in first


def test_the_help_says_what_each_exit_code_means(capsys):
    with pytest.raises(SystemExit):
        verify.main(["--help"])
    assert "Exit code 0 means: nothing is refuted, and nothing is replayed." in " ".join(
        capsys.readouterr().out.split()
    )


def test_the_recorded_verdict_and_the_digests_to_compare_are_said(tmp_path):
    place = tmp_path / "out"
    (bundle,) = load_runs([str(TOY)], [])
    manifest = execute(bundle, place).manifest
    recorded = asked(place)[1]["recorded"]
    assert recorded["verdict"] == manifest["result"]["verdict"]
    assert (recorded["specs"], recorded["root"]) == (manifest["specs"], manifest["receipts"]["root"])
    assert recorded["manifest"] in (place / "VERIFY.md").read_text()


def test_a_guide_that_names_another_digest_is_refuted(tmp_path):
    place = tmp_path / "out"
    (bundle,) = load_runs([str(TOY)], [])
    manifest = execute(bundle, place).manifest
    guide = place / "VERIFY.md"
    guide.write_text(guide.read_text().replace(manifest["receipts"]["root"], "0" * 64))
    (place / "sha256sums").unlink()
    code, found = asked(place)
    assert (code, [check["code"] for check in found["checks"] if check["status"] == "failed"]) == (1, ["E_DIGESTS"])


@pytest.mark.medium
@pytest.mark.parametrize("names", [["sha256sums"], ["sha256sums", "VERIFY.md"]], ids=" and ".join)
def test_files_for_readers_that_are_not_there_are_told_by_both_verifiers(names, tmp_path):
    place = tmp_path / "out"
    (bundle,) = load_runs([str(TOY)], [])
    execute(bundle, place)
    assert not [text for text in asked(place)[1]["not_checked"] if "it is not there" in text]
    assert verify_with_replay(place).unchecked == []
    for name in names:
        (place / name).unlink()
    said = [f"{name}: every bundle is written with it, and it is not there" for name in names]
    code, found = asked(place)
    assert (code, found["not_checked"][-len(said) :]) == (0, said)
    told = verify_with_replay(place)
    assert (told.verdict, told.unchecked) == ("PASS", said)


def test_very_many_files_that_are_not_listed_are_refused_before_any_is_read(bundle, monkeypatch):
    place = bundle("climb")
    monkeypatch.setattr(verify, "file_sha256", lambda path: pytest.fail(f"{path} was read"))
    for number in range(verify.MAX_UNLISTED + 1):
        (place / f"more-{number}").touch()
    found = by_tool(Laid(place, {}))
    assert (found.exit, found.code) == (1, "E_FILES")
    assert found.message == "there are more than 256 files that are not listed"


def test_the_digest_of_a_file_is_told_from_the_listed_one(bundle):
    place = bundle("climb")
    data = (place / "specs.json").read_bytes()
    (place / "specs.json").write_bytes(data.replace(b"climb", b"clomb", 1))
    told, listed = (hashlib.sha256(one).hexdigest() for one in ((place / "specs.json").read_bytes(), data))
    assert by_tool(Laid(place, {})).message == f"`sha256` of specs.json is {told}, and the manifest lists '{listed}'"


def test_without_cryptography_signatures_are_not_checked(monkeypatch):
    monkeypatch.setattr(verify, "CAN_CHECK_SIGNATURES", False)
    laid = Laid(PLACE / "bases" / "climb-signed", {"trust": PLACE / "trust-one.json"})
    found = by_tool(laid)
    assert (found.exit, found.code) == (3, None)
    assert "signatures were not checked" in found.message
    assert by_tool(Laid(laid.bundle, {})).exit == 0


# Logs


@pytest.mark.medium
def test_an_audit_log_alone(bundle):
    log = bundle("kernel") / "audit.log.jsonl"
    assert asked(log)[0] == 0
    log.write_bytes(log.read_bytes().replace(b'"timestamp_ms":0', b'"timestamp_ms":1', 1))
    code, found = asked(log)
    assert (code, found["checks"][-1]["code"]) == (1, "E_AUDIT_CHAIN")


def run_log(path, manifest, **changes):
    """A run log that announces a bundle and enters it."""
    receipts, verdict = manifest["receipts"], manifest["result"]["verdict"]
    attempt = {"kind": "scenario", "name": "climb", "purpose": None, "seeds": [3]}
    attempt.update({name: manifest[name] for name in ("run", "specs")})
    digest = hashlib.sha256(verify.canonical(manifest) + b"\n").hexdigest()
    result = {"attempt": 1, "manifest": digest, "receipts": receipts, "verdict": verdict}
    lines, prev = [], verify.ZEROS
    bodies = (("log", {"format": "specledger/runlog/v1"}), ("attempt", attempt), ("result", {**result, **changes}))
    for seq, (type_, body) in enumerate(bodies):
        lines.append(verify.canonical({"body": body, "prev": prev, "seq": seq, "type": type_}))
        prev = verify.tagged("runlog", lines[-1])
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


@pytest.mark.medium
def test_a_run_log_alone_and_of_a_bundle(tmp_path, bundle):
    place = bundle("climb")
    manifest = json.loads((place / "manifest.json").read_bytes())
    log = run_log(tmp_path / "runs.log.jsonl", manifest)
    assert asked(log)[0] == 0
    assert asked(place, "--log", log)[0] == 0
    code, found = asked(place, "--log", run_log(tmp_path / "other.jsonl", manifest, verdict="FAIL"))
    assert (code, found["checks"][-1]["code"]) == (1, "E_RUNLOG_UNLISTED")
    log.write_bytes(log.read_bytes().replace(b'"seeds":[3]', b'"seeds":[4]'))
    code, found = asked(log)
    assert (code, found["checks"][-1]["code"]) == (1, "E_RUNLOG")


# Wrong usage, and systems that fail: never a refutation


@pytest.mark.parametrize("data", [None, b"", b"x", b"PK\5\6" + bytes(18), b"\0" * 100])
def test_what_is_no_evidence_is_invalid(tmp_path, data):
    if data is not None:
        (tmp_path / "file").write_bytes(data)
    code, found = asked(tmp_path / "file")
    assert (code, found["code"]) == (2, "E_NO_EVIDENCE")


@pytest.mark.parametrize("option", ["--trust", "--against"])
def test_what_the_reader_brings_is_invalid(option, tmp_path):
    (tmp_path / "file").write_bytes(b"{}")
    assert asked(PLACE / "bases" / "climb", option, tmp_path / "file")[0] == 2


@pytest.mark.parametrize(
    ("error", "wanted"),
    [(MemoryError(), 3), (OSError("disk"), 3), (RuntimeError("a defect"), 3), (KeyboardInterrupt(), 130)],
)
def test_a_system_that_fails_refutes_nothing(monkeypatch, error, wanted):
    def fail(*_):
        raise error

    monkeypatch.setattr(verify, "read_lines", fail)
    assert verify.main([str(PLACE / "bases" / "climb")]) == wanted


@pytest.mark.medium
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("base", ["climb", "refuted"])
def test_an_output_that_is_full_or_closed_refutes_nothing(base):
    words = [sys.executable, SOURCE, PLACE / "bases" / base]
    with Path("/dev/full").open("wb") as full:
        assert subprocess.run(words, stdout=full, check=False, timeout=60).returncode == 3
    piped = subprocess.Popen(words, stdout=subprocess.PIPE)
    assert piped.stdout is not None
    piped.stdout.close()
    assert piped.wait(timeout=60) in (0, 3)
    without = ["sh", "-c", '"$@" >&-', "sh", *words]
    assert subprocess.run(without, check=False, timeout=60).returncode == 3


# Hostile input

TEXTS = [b'"a"', b"1", b"-0", b"1.0", b"1e1", b"null", b"true", b"[", b"]", b"{", b"}", b":", b",", b" ", b'"\\u00e9"', b'"\xc3\xa9"', b'"\\/"', b"\xef\xbb\xbf", b"9007199254740991", b"9007199254740992", b"\x00", b'"\\ud83d\\ude00"', b'"\xf0\x9f\x98\x80"', b'"b"', b"NaN", b'"\x7f"', b'"\\u001f"', b'"\\b"', b'"\\u0008"']  # fmt: skip


def test_what_is_canonical_is_as_for_the_engine():
    draw, agreed = random.Random(1), 0
    whole = [b'{"a":[1,{"b":null}],"b":"\xc3\xa9"}', b"[" * 64 + b"]" * 64, b"[" * 65 + b"]" * 65, b'{"b":1,"a":2}']
    whole.append(b"[" * 100_000)
    for number in range(2000):
        text = whole[number] if number < len(whole) else b"".join(draw.choices(TEXTS, k=draw.randrange(1, 7)))
        try:
            wanted = parse_canonical(text)
        except NotCanonical:
            with pytest.raises(verify.Finding):
                verify.parse(text, "x")
        else:
            assert verify.parse(text, "x") == wanted
            agreed += 1
    assert agreed > 50


@pytest.mark.medium
@pytest.mark.parametrize("base", ["short", "kernel", "refuted", "suite", "taped"])
def test_no_value_in_the_evidence_crashes_it(bundle, base):
    """Values are replaced at random and the manifest is made to fit: whatever it finds has a code."""
    draw, place = random.Random(base), bundle(base)
    files = sorted(path for path in place.rglob("*.json*") if path.parent.name != "specs")
    for _ in range(40):
        path = draw.choice(files)
        data = path.read_bytes()
        lines = data.split(b"\n")
        at = draw.randrange(len(lines) - 1)
        document = json.loads(lines[at])
        replace_one(document, draw)
        lines[at] = verify.canonical(document)
        path.write_bytes(b"\n".join(lines))
        relist(place, path)
        assert by_tool(Laid(place, {})).exit in (0, 1, 3)
        path.write_bytes(data)
        relist(place, path)
    assert by_tool(Laid(place, {})).exit == 0


def replace_one(document, draw):
    """Put something else in the place of one value."""
    holder = document
    while True:
        key = draw.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if not isinstance(holder[key], dict | list) or not holder[key] or draw.random() < 0.2:
            holder[key] = draw.choice([None, True, -1, 2**53 - 1, "", "x" * 64, [], {}, [[]], {"a": {}}])
            return
        holder = holder[key]


def relist(place, path):
    """Let the manifest list a file as it is."""
    if path.name == "manifest.json":
        return
    manifest = next(folder / "manifest.json" for folder in path.parents if (folder / "manifest.json").exists())
    document = json.loads(manifest.read_bytes())
    for entry in document["files"]:
        if entry["path"] == path.relative_to(manifest.parent).as_posix():
            entry |= {"sha256": verify.file_sha256(path), "size": path.stat().st_size}
    manifest.write_bytes(verify.canonical(document) + b"\n")


TIMED_OUT = {"failure": "timed_out", "received": None, "sha256": None, "size": 0}
FORGED_TAPES = {
    "a failure that the receipts do not have": lambda lines: lines[-1].update(TIMED_OUT),
    "an answer that did not come": lambda lines: lines[-1].update(TIMED_OUT, failure=None),
    "no JSON that the receipts do not have": lambda lines: given(lines[-1], "{"),
    "another type": lambda lines: given(lines[-1], '{"id":1,"type":"ready"}'),
    "a number that is none": lambda lines: given(lines[-1], '{"id":true,"type":"proposals"}'),
    "an answer again": lambda lines: lines.append({**lines[-1], "seq": len(lines) - 1}),
    "an ending of an agent at work": lambda lines: lines.append(
        {**lines[-1], **TIMED_OUT, "seq": len(lines) - 1, "message": "watch", "session": 0, "question": "0" * 64}
    ),
    "a place that goes back": lambda lines: lines[1].update(t=1),
    "a place after the run": lambda lines: lines[-1].update(episode=10**6),
    "a session that was not opened": lambda lines: lines[-1].update(session=1),
    "a reason without a failure": lambda lines: lines[-1].update(reason="timeout"),
    "a hash of another form": lambda lines: lines[-1].update(TIMED_OUT, failure="closed", size=1, sha256="zz"),
    "a key too many": lambda lines: lines[-1].update(more=1),
    "another mode": lambda lines: lines[0].update(mode="live"),
    "another head": lambda lines: lines[0].update(head="1" * 64),
}


def given(line, text):
    """Let an exchange have another answer."""
    line.update(received={"text": text}, size=len(text), sha256=hashlib.sha256(text.encode()).hexdigest())


@pytest.mark.parametrize("name", FORGED_TAPES)
def test_a_forged_tape_is_refuted(name, bundle):
    forger = Forger(bundle("outside"))
    lines = [json.loads(line) for line in forger.read("tape.jsonl").splitlines()]
    FORGED_TAPES[name](lines)
    forger.write("tape.jsonl", b"".join(canonical(line) + b"\n" for line in lines))
    forger.seal()
    assert refuted_by_the_tape(forger.folder)


@pytest.mark.parametrize("reason", [*verify.FAILURES, "no_answer", "wrong_type", "unheard_of"])
def test_an_agent_fault_needs_a_failed_exchange(reason, bundle):
    forger = Forger(bundle("outside"))
    forger.bodies("episode_end")[0]["faults"] = [{"t": 0, "message": "decide", "reason": reason}]
    forger.seal()
    assert refuted_by_the_tape(forger.folder)


def refuted_by_the_tape(folder):
    """Whether check 22 is the one that fails."""
    checks = verify.verify_bundle(verify.Bundle(folder))
    failed = [(check.number, check.code) for check in checks if check.status == "failed"]
    return failed == [(22, "E_TAPE_FORM")]


def test_a_program_failure_is_not_the_same_as_a_finding_of_the_evidence(monkeypatch, capsys):
    """Anything unexpected in this program ends with 3 and names it."""
    monkeypatch.setattr(builtins, "sorted", lambda *_, **__: (_ for _ in ()).throw(AssertionError("a defect")))
    assert verify.main([str(PLACE / "bases" / "climb")]) == 3
    assert "this program failed" in capsys.readouterr().out


# Counterexamples of a rule with any radius


def far(radius, table=True):
    """A universe whose cells copy the leftmost cell that they see, and a counterexample in it."""
    windows = map("".join, itertools.product("-o", repeat=2 * radius + 1))
    transition = {"table": {window: window[0] for window in windows}} if table else {"next": "left2"}
    universe = {"alphabet": ["-", "o"], "ring": {"min": 3, "max": 9}, "radius": radius, "transition": transition}
    states = ["o----", f"{'-' * radius}o{'-' * (4 - radius)}"]
    return universe, {"start": "o----", "t": 0, "excerpt": {"from": 0, "states": states}}


@pytest.mark.parametrize("table", [True, False])
@pytest.mark.parametrize("radius", [2, 3])
def test_a_counterexample_is_evolved_within_the_radius(radius, table):
    universe, recorded = far(radius, table)
    seen: dict[str, str] = {}
    assert verify.evolve(universe, None, recorded, seen) == ("evolved" if table else "an expression")
    recorded["excerpt"]["states"][1] = "oo---"
    with pytest.raises(verify.Finding, match=r"step 1 is|becomes both"):
        verify.evolve(universe, None, recorded, seen)


@pytest.mark.parametrize("radius", [0, 4, "2", 10**9])
def test_a_radius_that_no_universe_has_is_refused(radius):
    universe, recorded = far(2)
    universe["radius"] = radius
    with pytest.raises(verify.Finding):
        verify.evolve(universe, None, recorded, {})
