"""Every single fault in a bundle is refused for its own reason, and no check of the verifier is there for nothing."""

import ast
import inspect
import json
import os
import traceback
import types
from contextlib import suppress
from importlib import import_module

import pytest

import specledger.verify.bundle
import specledger.verify.documents
import specledger.verify.manifest
import specledger.verify.receipts
import specledger.verify.replay
from specledger.core.verdict import Verdict
from specledger.evidence.layout import MAX_LINE
from specledger.kinds import MODELS
from specledger.verify.bundle import verify_bundle
from specledger.verify.checks import Status, Verification
from specledger.verify.documents import MAX_MANIFEST, MAX_SPECS
from tools.tampering.forger import canonical, tagged

NAMES = {
    1: "the manifest is canonical and of a known format",
    2: "every file is listed, whole and unchanged",
    3: "receipts form one chain of lines",
    4: "head, count and Merkle root are those of the manifest",
    5: "each receipt goes on from those before it, and decisions match their commitments",
    6: "the result is what the receipts add up to",
    7: "the specs are those that the run names",
    8: "replay gives the same bytes",
}

CASES_SHOWN = "the failing cases are those that the receipts show"

# Receipts of `climb` by their numbers; 10 to 18 are as 1 to 9.
START, EPISODE, COMMIT, STEP, DRIFT, COMMIT_1, STEP_1, COMMIT_2, STEP_2, CLOSE, SECOND, END = *range(11), 19


def raw(change):
    """The files are changed, and nothing is made to fit."""
    return change


def text(name, old, new):
    """A text of a file is replaced, and nothing is made to fit."""
    return lambda f: f.swap(name, old, new)


def listed(change):
    """The file list of the manifest is made to fit; `change` gives the new lines of receipts."""

    def make(f):
        f.lines = change(f.lines)
        f.relist()

    return make


def line(number, change):
    """One line is changed, the file list fits."""
    return listed(lambda lines: [change(one) if i == number else one for i, one in enumerate(lines)])


def data(name, change):
    """The bytes of a file are changed, the file list fits."""

    def make(f):
        f.write(name, change(f.read(name)))
        f.relist()

    return make


def edited(change):
    """Receipts are changed, the file list fits, the chain does not."""

    def make(f):
        change(f.receipts)
        f.lines = [canonical(receipt) for receipt in f.receipts]
        f.relist()

    return make


def receipt(number, **fields):
    """Fields beside the body of one receipt are changed, the file list fits."""
    return edited(lambda receipts: receipts[number].update(fields))


def sealed(change, *, parts=False):
    """Chain, root, result and manifest are made to fit; `change` works on the receipts."""

    def make(f):
        change(f.receipts)
        with suppress(AttributeError, IndexError, KeyError, TypeError):  # of what is no run
            f.recount(steps=False)
        if parts:
            f.chain_parts()
        f.seal()

    return make


def body(number, **fields):
    """Fields in the body of one receipt are changed, everything else is made to fit."""
    return sealed(lambda receipts: receipts[number]["body"].update(fields))


def manifest(**fields):
    """Fields of the manifest are changed."""

    def make(f):
        f.manifest |= fields
        f.save()

    return make


def inside(*path, **fields):
    """Fields of something in the manifest are changed."""

    def make(f):
        place = f.manifest
        for step in path:
            place = place[step]
        place |= fields
        f.save()

    return make


def listing(change):
    """The file list itself is changed."""

    def make(f):
        change(f.manifest["files"])
        f.save()

    return make


def whole_manifest(change):
    """The bytes of the manifest are changed."""
    return lambda f: f.write("manifest.json", change(f.read("manifest.json")))


def specs(change):
    """The resolved specs are changed, with their keys and digests, the run's name, and all seals."""

    def make(f):
        f.respec(change)
        f.seal()

    return make


def reseeded(change):
    """The seed is another one, and the specs' keys and digests fit; `change` also sees the manifest before."""

    def make(f):
        old = json.loads(json.dumps(f.manifest))
        f.respec(of("scenario")(lambda spec: spec.update(seed=4)))
        f.first("start")["specs"] = old["specs"]
        change(f, old)
        f.seal()

    return make


def decision(change):
    """The first decision's commitment and step are changed, everything else is made to fit."""
    return sealed(lambda receipts: change(receipts[COMMIT]["body"], receipts[STEP]["body"]))


def token(**fields):
    return decision(lambda commit, step: step["token"].update(fields))


def of(kind):
    """The one spec of a kind in a document of resolved specs, as a change of the document."""

    def find(change):
        def make(document):
            (key,) = (key for key in document["specs"] if key.startswith(f"{kind}/"))
            change(document["specs"][key])

        return make

    return find


def move(f, name):
    """The file becomes a link to itself elsewhere."""
    (f.folder.parent / "elsewhere").write_bytes(f.read(name))
    (f.folder / name).unlink()
    (f.folder / name).symlink_to(f.folder.parent / "elsewhere")


def fold(f, name):
    (f.folder / name).unlink()
    (f.folder / name).mkdir()


def pipe(f, name):
    (f.folder / name).unlink()
    os.mkfifo(f.folder / name)


def respell(old, new):
    return lambda one: one.replace(old, new, 1)


def nested(depth):
    return b"[" * depth + b"]" * depth


def refuse_second(receipts):
    """In `stuck`, the part of a refused step has moved."""
    step = next(r["body"] for r in receipts if r["type"] == "step" and r["body"]["chosen"] is None)
    step["parts"]["pot"]["after"] = "0" * 64


def misplace_part(receipts):
    """The last receipt of a part claims another predecessor; its own tip is right."""
    last = [r["body"] for r in receipts if r["type"] == "step"][-1]["parts"]["pot"]
    last["tip"] = "0" * 64
    bare = {key: value for key, value in last.items() if key != "tip_after"}
    last["tip_after"] = tagged("part", last["tip"].encode() + canonical(bare))


def rejected_choice(commit, step):
    step["decisions"][step["chosen"]]["rejected"] = [{"gate": "leap", "reason": "too_far", "witness": {}}]


def failing_choice(commit, step):
    step["decisions"][step["chosen"]]["error"] = {"code": "E_EVAL_DIVISION", "expression": None, "offset": None}


def nothing_chosen(commit, step):
    step |= {"chosen": None, "chosen_hash": None, "token": None, "after": step["before"]}


def only_pot(document):
    """Of all specs the part's world is left, as the root."""
    (key,) = (key for key in document["specs"] if key.startswith("world/pot@"))
    document |= {"root": key, "specs": {key: document["specs"][key]}}


def add_idle(document):
    """A world that nothing refers to."""
    (pot,) = (spec for key, spec in document["specs"].items() if key.startswith("world/pot@"))
    document["specs"]["world/idle@0"] = pot | {"name": "idle"}


def error_after_all(receipts):
    receipts.insert(END, {"type": "error", "body": {"episode": 1, "t": 0}})


def move_and_lose(f):
    move(f, "specs.json")
    (f.folder.parent / "elsewhere").unlink()


def list_the_manifest(files):
    files.insert(0, {"path": "manifest.json", "sha256": "0" * 64, "size": 1})


def token_of_another_step(receipts):
    receipts[STEP]["body"]["token"] = receipts[STEP_1]["body"]["token"]


def token_for_nothing(receipts):
    stands(receipts)["token"] = receipts[STEP]["body"]["token"]


def stands(receipts):
    return next(r["body"] for r in receipts if r["type"] == "step" and r["body"]["chosen"] is None)


def moved_at_the_end(receipts):
    """In `stuck`, the step that does nothing is the last of its episode."""
    stands(receipts)["after"] = receipts[CLOSE]["body"]["state"] = "0" * 64


def undecided(receipts):
    """The last decision of the first episode is gone, its commitment is left, and the end of the episode fits."""
    receipts[CLOSE]["body"] |= {"steps": 2, "state": receipts[STEP_1]["body"]["after"]}
    receipts[END]["body"]["steps"] -= 1
    del receipts[STEP_2]


def drop(*numbers):
    return lambda items: [item for i, item in enumerate(items) if i not in numbers]


def without(*numbers):
    """Receipts are taken out, everything else is made to fit."""

    def change(receipts):
        for number in sorted(numbers, reverse=True):
            del receipts[number]

    return sealed(change)


def again(number, at):
    return sealed(lambda receipts: receipts.insert(at, json.loads(json.dumps(receipts[number]))))


MANIFEST = {
    "no manifest": raw(lambda f: (f.folder / "manifest.json").unlink()),
    "an empty manifest": whole_manifest(lambda old: b""),
    "a manifest of white space": whole_manifest(lambda old: b"\n"),
    "a manifest that is no JSON": whole_manifest(lambda old: b"{"),
    "a manifest that is a list": whole_manifest(lambda old: b"[]\n"),
    "a manifest that is null": whole_manifest(lambda old: b"null\n"),
    "a manifest of two documents": whole_manifest(lambda old: old * 2),
    "a manifest with white space": text("manifest.json", b'{"engine":', b'{ "engine":'),
    "a manifest without its newline": whole_manifest(lambda old: old[:-1]),
    "a manifest with CR LF": whole_manifest(lambda old: old[:-1] + b"\r\n"),
    "a manifest with a byte order mark": whole_manifest(lambda old: b"\xef\xbb\xbf" + old),
    "a manifest with a duplicate key": text("manifest.json", b'{"engine":', b'{"engine":0,"engine":'),
    "a manifest with an escape": text("manifest.json", b'"run"', b'"\\u0072un"'),
    "a manifest with a float": text("manifest.json", b'"count":20', b'"count":20.0'),
    "a manifest with minus zero": text("manifest.json", b'"errors":0', b'"errors":-0'),
    "a manifest with a huge integer": text("manifest.json", b'"count":20', b'"count":' + b"9" * 400),
    "a manifest nested deeply": text("manifest.json", b'"count":20', b'"count":' + nested(100)),
    "a manifest nested very deeply": text("manifest.json", b'"count":20', b'"count":' + nested(100_000)),
    "a manifest that is no UTF-8": text("manifest.json", b'"PASS"', b'"P\xffSS"'),
    "a manifest that is too large": manifest(engine="x" * MAX_MANIFEST),
    "a manifest with a key too many": manifest(trusted=True),
    "a manifest with a key too few": raw(lambda f: (f.manifest.pop("run"), f.save())),
    "a manifest of another format": manifest(format="specledger/bundle/v2"),
    "a format that is a number": manifest(format=1),
    "an engine that is text": manifest(engine="specledger"),
    "an engine of another name": manifest(engine={"name": "other", "version": "0.1.0"}),
    "an engine without a version": manifest(engine={"name": "specledger"}),
    "an engine with more to say": manifest(engine={"name": "specledger", "version": "0.1.0", "by": "me"}),
    "an evaluator of another name": manifest(evaluator={"name": "other", "version": "1"}),
    "an evaluator whose version is a number": manifest(evaluator={"name": "cel-profile", "version": 1}),
    "an engine with a version that is null": manifest(engine={"name": "specledger", "version": None}),
    "a manifest that is a link": raw(lambda f: move(f, "manifest.json")),
    "a manifest that is a folder": raw(lambda f: fold(f, "manifest.json")),
    "a manifest that is a pipe": raw(lambda f: pipe(f, "manifest.json")),
}
FILES = {
    "a receipt dropped": raw(lambda f: setattr(f, "lines", f.lines[:-1])),
    "a byte of the receipts changed": text("receipts.jsonl", b'"score":1', b'"score":2'),
    "a byte of the specs changed": text("specs.json", b'"horizon":3', b'"horizon":4'),
    "a byte more": raw(lambda f: f.write("specs.json", f.read("specs.json") + b" ")),
    "a file too many": raw(lambda f: f.write("notes.txt", b"")),
    "a hidden file": raw(lambda f: f.write(".DS_Store", b"")),
    "a file whose name is no text": raw(lambda f: (f.folder / "\udcff").write_bytes(b"")),
    "a file whose name steers a terminal": raw(lambda f: f.write("\x1b[31m\u202e", b"")),
    "a folder too many": raw(lambda f: (f.folder / "counterexamples").mkdir()),
    "cases without an order": listing(lambda files: files.reverse()),
    "a folder of sources that is empty": raw(lambda f: (f.folder / "specs" / "world").mkdir(parents=True)),
    "a folder of sources in another one": raw(lambda f: (f.folder / "specs" / "world" / "more").mkdir(parents=True)),
    "no receipts": raw(lambda f: (f.folder / "receipts.jsonl").unlink()),
    "no specs": raw(lambda f: (f.folder / "specs.json").unlink()),
    "receipts that are a link": raw(lambda f: move(f, "receipts.jsonl")),
    "specs that are a link": raw(lambda f: move(f, "specs.json")),
    "receipts that are a folder": raw(lambda f: fold(f, "receipts.jsonl")),
    "receipts that are a pipe": raw(lambda f: pipe(f, "receipts.jsonl")),
    "specs that are a link to nothing": raw(move_and_lose),
    "another size": inside("files", 0, size=1),
    "a size that is text": inside("files", 0, size="1"),
    "another digest": inside("files", 1, sha256="0" * 64),
    "a digest that is a list": inside("files", 1, sha256=[["0"]]),
    "a digest in capitals": listing(lambda files: files[0].update(sha256=files[0]["sha256"].upper())),
    "a path that leaves the bundle": inside("files", 0, path="../receipts.jsonl"),
    "an absolute path": inside("files", 0, path="/etc/passwd"),
    "a path that is a number": inside("files", 0, path=0),
    "an entry with more to say": inside("files", 0, mode="0644"),
    "an entry that is text": manifest(files=["receipts.jsonl", "specs.json"]),
    "files that are text": manifest(files="receipts.jsonl"),
    "files that are null": manifest(files=None),
    "no file listed": manifest(files=[]),
    "a file listed twice": listing(lambda files: files.append(files[0])),
    "files in another order": listing(lambda files: files.reverse()),
    "the manifest listed": listing(list_the_manifest),
}
LINES = {
    "unsorted keys": line(END, lambda one: b'{"type":"end",' + one[1:].replace(b',"type":"end"', b"")),
    "a torn line": data("receipts.jsonl", lambda old: old[:-40]),
    "another byte than the last newline": data("receipts.jsonl", lambda old: old[:-1] + b" "),
    "a last line without its newline": data("receipts.jsonl", lambda old: old[:-1]),
    "half of the file": data("receipts.jsonl", lambda old: old[: len(old) // 2]),
    "white space": line(STEP, respell(b'{"body":', b'{"body": ')),
    "white space at the end": line(STEP, lambda one: one + b" "),
    "CR LF": listed(lambda lines: [one + b"\r" for one in lines]),
    "an empty line": listed(lambda lines: [*lines[:5], b"", *lines[5:]]),
    "an empty line at the end": listed(lambda lines: [*lines, b""]),
    "a duplicate key": line(STEP, respell(b'{"body":', b'{"body":{},"body":')),
    "an escape": line(STEP, respell(b'"chosen"', b'"\\u0063hosen"')),
    "an escaped slash": line(START, respell(b'"climb"', b'"cl\\/imb"')),
    "a float": line(STEP, respell(b'"chosen":1', b'"chosen":1.0')),
    "an exponent": line(STEP, respell(b'"chosen":1', b'"chosen":1e0')),
    "minus zero": line(STEP, respell(b'"t":0', b'"t":-0')),
    "a leading zero": line(STEP, respell(b'"t":0', b'"t":00')),
    "an integer beyond 2^53": line(STEP, respell(b'"chosen":1', b'"chosen":9007199254740993')),
    "a huge integer": line(STEP, respell(b'"chosen":1', b'"chosen":' + b"1" * 5000)),
    "not a number": line(STEP, respell(b'"chosen":1', b'"chosen":NaN')),
    "a lone surrogate": line(START, respell(b'"climb"', b'"\\ud800"')),
    "bytes that are no UTF-8": line(START, respell(b'"climb"', b'"\xc0\xaf"')),
    "an overlong line": line(START, respell(b'"climb"', b'"' + b"x" * MAX_LINE + b'"')),
    "a byte order mark": line(START, lambda one: b"\xef\xbb\xbf" + one),
    "deep nesting": line(START, respell(b'"climb"', nested(70))),
    "very deep nesting": line(START, respell(b'"climb"', nested(50_000))),
    "a line that is a list": line(START, lambda one: b"[]"),
    "a line that is text": line(START, lambda one: b'"body prev run seq type"'),
    "a line that is null": line(START, lambda one: b"null"),
    "a key too many": receipt(STEP, note="x"),
    "a key too few": edited(lambda receipts: receipts[STEP].pop("run")),
    "a type that is a number": receipt(STEP, type=1),
}
CONTENT = {
    "a key too many, sealed": sealed(lambda receipts: receipts[STEP].update(note="x")),
    "a body that is a list": sealed(lambda receipts: receipts[START].update(body=[])),
    "one more receipt, of an unknown type": sealed(
        lambda receipts: receipts.insert(CLOSE, {"body": {}, "type": "gift"})
    ),
    "an unknown type": sealed(lambda receipts: receipts[DRIFT].update(type="gift")),
    "a step without its decisions": sealed(lambda receipts: receipts[STEP]["body"].pop("decisions")),
    "an end that counts nothing": sealed(lambda receipts: receipts[END]["body"].clear()),
    "an episode without its parts": sealed(lambda receipts: receipts[SECOND]["body"].pop("parts")),
    "a state that is missing": sealed(lambda receipts: receipts[EPISODE]["body"].pop("state")),
    "proposals that are a number": body(COMMIT, proposals=7),
}
CHAIN = {
    "a receipt dropped, files listed": listed(drop(STEP)),
    "a receipt twice": listed(lambda lines: [*lines[:4], lines[3], *lines[4:]]),
    "two receipts in another order": listed(lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]]),
    "all receipts in another order": listed(lambda lines: lines[::-1]),
    "a byte of a receipt changed": line(STEP, respell(b'"reached":1', b'"reached":2')),
    "another number": receipt(STEP, seq=4),
    "a number that is true": receipt(1, seq=True),
    "a number that is text": receipt(STEP, seq="3"),
    "another predecessor": receipt(STEP, prev="0" * 64),
    "a predecessor that is null": receipt(START, prev=None),
    "another run": receipt(END, run="0" * 32),
    "a run of a receipt that is a list": receipt(START, run=[]),
    "the manifest of another run": manifest(run="0" * 32),
    "the manifest of a run that is a number": manifest(run=1),
    "a last receipt of another run, sealed": raw(lambda f: f.seal(run="0" * 32)),
    "a last receipt of another number, sealed": raw(lambda f: f.seal(seq=END + 1)),
    "a last receipt of another predecessor, sealed": raw(lambda f: f.seal(prev="0" * 64)),
}
ENDS = {
    "the end cut off, sealed": without(END),
    "the start cut off, sealed": without(START),
    "a second start": again(START, 1),
    "a second end": again(END, END + 1),
    "a step after the end": again(DRIFT, END + 1),
    "receipts that are empty, sealed": sealed(lambda receipts: receipts.clear()),
}
HEAD = {
    "receipts that are empty": listed(lambda lines: []),
    "the first receipt alone": listed(lambda lines: lines[:1]),
    "the end cut off": listed(lambda lines: lines[:-1]),
    "the second episode cut off": listed(lambda lines: lines[:SECOND]),
    "the last receipt changed": line(END, respell(b'"steps":6', b'"more":1,"steps":6')),
    "another count": inside("receipts", count=21),
    "another head": inside("receipts", head="0" * 64),
    "another root": inside("receipts", root="0" * 64),
    "a count that is text": inside("receipts", count="20"),
    "receipts that say more": inside("receipts", note="x"),
    "receipts that say less": raw(lambda f: (f.manifest["receipts"].pop("root"), f.save())),
    "receipts of the manifest that are null": manifest(receipts=None),
}
COMMITMENT = {
    "a proposal changed": decision(lambda commit, step: commit["proposals"][0].update(score=9)),
    "a proposal added": decision(lambda commit, step: commit["proposals"].append(commit["proposals"][0])),
    "two proposals in another order": decision(lambda commit, step: commit["proposals"].reverse()),
    "another root of the set": decision(lambda commit, step: commit.update(root="0" * 64)),
    "a root that is null": decision(lambda commit, step: commit.update(root=None)),
    "a decision too few": decision(lambda commit, step: step["decisions"].pop()),
    "a decision too many": decision(lambda commit, step: step["decisions"].append(step["decisions"][0])),
    "another choice": decision(lambda commit, step: step.update(chosen=0)),
    "a choice that was rejected": decision(rejected_choice),
    "a choice that could not be judged": decision(failing_choice),
    "a choice outside the set": decision(lambda commit, step: step.update(chosen=3)),
    "a negative choice": decision(lambda commit, step: step.update(chosen=-2)),
    "a choice that is true": decision(lambda commit, step: step.update(chosen=True)),
    "a choice that is text": decision(lambda commit, step: step.update(chosen="1")),
    "another digest of what was chosen": decision(lambda commit, step: step.update(chosen_hash="0" * 64)),
    "no digest of what was chosen": decision(lambda commit, step: step.update(chosen_hash=None)),
    "no token": decision(lambda commit, step: step.update(token=None)),
    "a token of another name": token(id="0" * 64),
    "a token of another scope": token(scope="0" * 64),
    "a token of another proposal": token(proposal="0" * 64),
    "a token of another commitment": token(commitment="0" * 64),
    "a token that says more": token(note="x"),
    "the token of another step": sealed(token_of_another_step),
    "nothing chosen, though something was admitted": decision(nothing_chosen),
    "a decision without a commitment": without(COMMIT),
}
STUCK = {
    "nothing chosen, and a token": sealed(token_for_nothing),
    "nothing chosen, and its digest": sealed(lambda receipts: stands(receipts).update(chosen_hash="0" * 64)),
}
STATE = {
    "an episode that begins anew": again(EPISODE, 2),
    "an episode skipped": body(EPISODE, episode=1),
    "an episode that is false": body(EPISODE, episode=False),
    "another digest of the start": body(EPISODE, digest="0" * 64),
    "another start": body(EPISODE, state={"n": 5}),
    "a drift from another state": body(DRIFT, before="0" * 64),
    "a drift to another state": body(DRIFT, after="0" * 64),
    "a drift at another time": body(DRIFT, t=2),
    "a drift between commitment and decision": sealed(lambda receipts: receipts.insert(COMMIT_1, receipts.pop(DRIFT))),
    "a drift in another episode": body(DRIFT, episode=1),
    "a drift before any episode": sealed(lambda receipts: receipts.insert(1, receipts.pop(DRIFT))),
    "a commitment at another time": body(COMMIT, t=1),
    "a commitment at a time that is false": body(COMMIT, t=False),
    "a commitment twice": again(COMMIT, 3),
    "a step from another state": body(STEP_1, before="0" * 64),
    "a step to another state": body(STEP, after="0" * 64),
    "a step left out": without(COMMIT_2, STEP_2),
    "a step in the middle left out": without(COMMIT_1, STEP_1),
    "the last decision left out": without(STEP_2),
    "the last decision left out, and the end fits": sealed(undecided, parts=True),
    "another tip of a part": sealed(lambda receipts: receipts[STEP]["body"]["parts"]["pot"].update(tip_after="0" * 64)),
    "another receipt of a part": sealed(lambda receipts: receipts[STEP]["body"]["parts"]["pot"].update({"is": 9})),
    "a part with another predecessor": sealed(misplace_part),
    "an episode that counts more steps": body(CLOSE, steps=4),
    "steps that are text": body(CLOSE, steps="3"),
    "an episode that ends in another state": body(CLOSE, state="0" * 64),
    "an episode that ends as another one": body(CLOSE, episode=1),
    "an episode that ends twice": again(CLOSE, SECOND),
    "an episode left out": without(*range(SECOND, END)),
    "the end of an episode left out": without(CLOSE),
    "the end of the last episode left out": without(END - 1),
    "an end that counts more episodes": body(END, episodes=3),
    "an end that counts true episodes": body(END, episodes="2"),
    "an end that counts more steps": body(END, steps=7),
    "an error after the last episode": sealed(error_after_all),
}
STUCK_STATE = {
    "nothing done, and another state": sealed(lambda receipts: stands(receipts).update(after="0" * 64)),
    "nothing done, and another state to the end": sealed(moved_at_the_end),
    "a part that moved though it was refused": sealed(refuse_second, parts=True),
}
RESULT = {
    "another verdict": inside("result", verdict="INCONCLUSIVE"),
    "more successes": inside("result", successes=3),
    "errors that are false": inside("result", errors=False),
    "a figure left out": raw(lambda f: (f.manifest["result"].pop("warnings"), f.save())),
    "a figure of something else": inside("result", score=9),
    "a result that is null": manifest(result=None),
    "a result that is a list": manifest(result=[["PASS"]]),
}
SPECS = {
    "specs with white space": data("specs.json", lambda old: old.replace(b'{"root":', b'{ "root":')),
    "specs with a duplicate key": data("specs.json", lambda old: old.replace(b'{"root":', b'{"root":0,"root":')),
    "specs with a float": data("specs.json", lambda old: old.replace(b'"horizon":3', b'"horizon":3.0')),
    "specs that are no JSON": data("specs.json", lambda old: b"{"),
    "specs that are empty": data("specs.json", lambda old: b""),
    "specs that are null": data("specs.json", lambda old: b"null\n"),
    "specs nested deeply": data("specs.json", lambda old: nested(5000) + b"\n"),
    "specs that are too large": data("specs.json", lambda old: b'"' + b"x" * MAX_SPECS + b'"\n'),
    "specs without their newline": data("specs.json", lambda old: old[:-1]),
    "specs of another seed": data("specs.json", lambda old: old.replace(b'"seed":3', b'"seed":4')),
    "specs of another seed, their keys made to fit": reseeded(lambda f, old: f.manifest.update(old)),
    "specs of another seed, and manifest and run say so": reseeded(lambda f, old: None),
    "a run of another name": raw(lambda f: (f.manifest.update(run="0" * 32), f.seal())),
    "specs with an unknown field": specs(of("scenario")(lambda spec: spec.update(colour="red"))),
    "specs with a field of another type": specs(of("scenario")(lambda spec: spec.update(horizon="3"))),
    "specs that do not compile": specs(of("invariant")(lambda spec: spec.update(require="n <= 'x'"))),
    "specs of a kind that is not run": specs(only_pot),
    "specs with one that nobody needs": specs(add_idle),
    "a manifest of other specs": manifest(specs="0" * 64),
    "a manifest of specs that are null": manifest(specs=None),
    "a first receipt of other specs": body(START, specs="0" * 64),
    "specs without their root": specs(lambda document: document.update(root="scenario/gone@0000000000000000")),
}
REPLAY = {
    "a figure of the record changed": body(STEP, record={"reached": 2}),
}

CASES = {
    name: ("stuck" if table in (STUCK, STUCK_STATE) else "climb", code, number, make)
    for table, code, number in (
        (MANIFEST, "E_MANIFEST", 1),
        (FILES, "E_FILES", 2),
        (LINES, "E_LINE", 3),
        (CONTENT, "E_LINE", 5),
        (CHAIN, "E_CHAIN", 3),
        (ENDS, "E_ENDS", 5),
        (COMMITMENT, "E_COMMITMENT", 5),
        (STUCK, "E_COMMITMENT", 5),
        (STATE, "E_STATE", 5),
        (STUCK_STATE, "E_STATE", 5),
        (HEAD, "E_HEAD", 4),
        (RESULT, "E_RESULT", 6),
        (SPECS, "E_SPECS", 7),
        (REPLAY, "E_REPLAY", 8),
    )
    for name, make in table.items()
}


@pytest.mark.parametrize("name", CASES)
def test_a_single_fault_is_refused_for_its_reason(forge, name):
    variant, code, number, make = CASES[name]
    forger = forge(variant)
    make(forger)
    found = verify_bundle(forger.folder, MODELS)
    checks = [check for check in found.checks if check.name != CASES_SHOWN]  # only of a run that failed
    assert {at: check.name for at, check in enumerate(checks, 1)} == NAMES
    failing = [check for check in found.checks if check.status is Status.FAILED]
    assert [(check.code, check.number) for check in failing] == [(code, number)], failing
    assert failing[0].message
    assert [check.status for check in found.checks[: number - 1]] == [Status.PASSED] * (number - 1)
    later = [(check.status, check.message) for check in checks[number:]]
    assert later == [(Status.NOT_MADE, "an earlier check failed")] * (len(NAMES) - number)
    assert found.verdict is Verdict.FAIL


MODULES = tuple(
    import_module(f"specledger.verify.{name}")
    for name in ("bundle", "claims", "documents", "listing", "manifest", "receipts", "replay")
)
TAKEN = ("Receipts", "check_files", "check_head", "check_result", "compare", "plan_again", "read_document", "read_manifest", "rebuild")  # fmt: skip
"""What the verifier of a bundle takes from the other modules."""


def is_refusal(node):
    """Whether a statement refuses evidence: `raise Broken(...)`, `raise _invalid(...)` or `self._demand(...)`."""
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
        return node.exc.func.id in ("Broken", "_invalid")
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "_demand"


def refusals(module):
    """Those of `_demand` are its callers'; what only `--no-replay` looks at, the forgeries show."""
    tree = ast.parse(inspect.getsource(module))
    left = [each for each in ast.walk(tree) if getattr(each, "name", "") in ("_demand", "_check_start")]
    inside = [inner for node in left for inner in ast.walk(node)]
    return [node for node in ast.walk(tree) if is_refusal(node) and node not in inside]


SITES = [(module, node) for module in MODULES for node in refusals(module)]
"""`Broken` is raised by `_demand` for those who call it, so that is no site of its own."""


def without_refusal(module, refusal):
    """The module with one refusal taken out."""

    class Remover(ast.NodeTransformer):
        def generic_visit(self, node):
            if is_refusal(node) and node.lineno == refusal.lineno:
                return ast.copy_location(ast.Pass(), node)
            return super().generic_visit(node)

    mutant = types.ModuleType(module.__name__)
    exec(compile(Remover().visit(ast.parse(inspect.getsource(module))), module.__file__, "exec"), mutant.__dict__)
    return mutant


def where(broken):
    """The file and line of the refusal that a finding comes from; it is not the last line inside `_demand`."""
    frames = [frame for frame in traceback.extract_tb(broken.__traceback__) if frame.name != "_demand"]
    return frames[-1].filename, frames[-1].lineno


@pytest.fixture(scope="module")
def tampered(copy, tmp_path_factory):
    """Every case as a folder, with the place in the verifier that refuses it."""
    found, places, failed = {}, [], Verification.failed

    def note(verification, name, broken, *level):
        places.append(where(broken))
        failed(verification, name, broken, *level)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Verification, "failed", note)
        for name, (variant, _, _, make) in CASES.items():
            if "pipe" in name:  # without the check, a verifier waits for its other end
                continue
            forger = copy(variant, tmp_path_factory.mktemp("case") / "bundle")
            make(forger)
            places.clear()
            verify_bundle(forger.folder, MODELS)
            found[name] = (forger.folder, places[0])
    return found


@pytest.mark.parametrize(
    ("module", "refusal"), SITES, ids=[f"{m.__name__.split('.')[-1]}:{n.lineno}" for m, n in SITES]
)
def test_no_check_can_be_left_out(tampered, monkeypatch, module, refusal):
    """Without it, some bundle with a single fault is taken for whole, or the verifier falls over it."""
    lines = range(refusal.lineno, refusal.end_lineno + 1)
    caught = [folder for folder, (file, number) in tampered.values() if file == module.__file__ and number in lines]
    assert caught, "no case reaches this check"
    mutant = without_refusal(module, refusal)
    for name in TAKEN:
        if mutant.__name__ != "specledger.verify.bundle" and hasattr(mutant, name):
            monkeypatch.setattr(specledger.verify.bundle, name, getattr(mutant, name))
        if mutant.__name__ == "specledger.verify.documents" and hasattr(mutant, name):
            monkeypatch.setattr(specledger.verify.manifest, name, getattr(mutant, name))
    if hasattr(mutant, "Verifier") and mutant.Verifier is not specledger.verify.bundle.Verifier:
        monkeypatch.setattr(mutant.Verifier, "_check_start", lambda verifier: None)
    verify = mutant.verify_bundle if hasattr(mutant, "verify_bundle") else verify_bundle
    outcomes = [outcome(verify, folder, module is specledger.verify.replay) for folder in caught]
    assert {"accepted", "crash"} & set(outcomes), outcomes


def outcome(verify, folder, replay):
    try:
        found = verify(folder, replay=replay)
    except Exception:
        return "crash"
    failing = [check.message for check in found.checks if check.status is Status.FAILED]
    if failing and "is not what it must be" in failing[0]:  # an exception, too, but one that the verifier expects
        return "crash"
    return failing[0] if failing else "accepted"
