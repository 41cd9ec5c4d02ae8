"""One bundle, checked in the order in which its parts rest on one another."""

import hashlib
import json
import os
import re

from tools.verifier.basis import (
    ATTACHED,
    CHECKPOINT,
    FAILURES,
    FOLDERS,
    GUIDE,
    HEX64,
    KINDS,
    LINE,
    LOG,
    MANIFEST,
    MEBI,
    RECEIPTS,
    SIGNED,
    SPECS,
    SUMS,
    TAPE,
    TIMESTAMP,
    ZEROS,
    Open,
    Refuted,
    Tree,
    demand,
    document,
    file_sha256,
    guarded,
    is_text,
    number,
    plain,
    read,
    tagged,
    unbase64,
    write,
)
from tools.verifier.covers import imprint, note, statements
from tools.verifier.curve import ed25519
from tools.verifier.guide import check_words
from tools.verifier.listed import check_cases, check_evaluator, check_folders, may_fail, sorted_out
from tools.verifier.logs import check_log
from tools.verifier.orders import ORDERS
from tools.verifier.progress import PROGRESS
from tools.verifier.sources_made import SOURCES_CHECK, sources_again
from tools.verifier.values import BUDGET


class Bundle:
    """One folder, checked in the order in which its parts rest on one another."""

    VERSION = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}([-.+]?[a-z0-9]{1,20}){0,3}")
    KEYS = {"format", "run", "specs", "result", "receipts", "files", "engine", "evaluator"}

    def __init__(self, place, inner=False):
        self.place, self.inner = place, inner
        self.note, self.envelopes, self.specs, self.tape = None, {}, None, None
        self.attached, self.unmade, self.sources = [], [], None
        self.inside = {}

    def checks(self):
        """What is checked of it, in order: a name and a function."""
        yield "the manifest is canonical and of a known format", self.read_manifest, "E_MANIFEST"
        yield "every file is listed, whole and unchanged", self.check_files, "E_FILES"
        yield "receipts form one chain of lines", self.check_chain, "E_LINE"
        yield "head, count and Merkle root are those of the manifest", self.check_head, "E_HEAD"
        yield (
            "each receipt goes on from those before it, and decisions match their commitments",
            self.check_receipts,
            "E_LINE",
        )
        yield "the result is what the receipts add up to", self.check_result, "E_RESULT"
        if self.cases or may_fail(self.kind, self.order.result.made()):
            yield "failing cases are those that the receipts show", lambda: check_cases(self), "E_COUNTEREXAMPLES"
        yield "the specs are those that the run names", self.check_specs, "E_SPECS"
        if self.sources:
            yield SOURCES_CHECK, lambda: sources_again(self), "E_SOURCES"
        if TAPE in self.listed:
            yield "the tape is one", self.check_tape, "E_TAPE_FORM"
        if self.order.entries or LOG in self.listed:
            yield (
                "the audit log is whole, and ends with the entries of the run",
                lambda: check_log(self),
                "E_AUDIT_LINE",
            )
        if self.attached:
            yield "what lies beside the manifest is about it", self.check_attached, "E_ENVELOPE"
        if self.kind in ("law", "discovery"):
            yield "every verdict fits itself, and what rests on it fits it", self.order.check_verdicts, "E_VERDICT"
        if self.kind == "suite":
            yield "every run is whole in itself, and the one that the suite speaks of", self.check_runs, "E_RUNS"

    def read_manifest(self):
        """The manifest has exactly its fields, and is of a known kind."""
        manifest = document(self.place / MANIFEST, "E_MANIFEST", MEBI)
        demand(isinstance(manifest, dict), "E_MANIFEST", "the manifest is no object")
        self.kind = manifest.get("kind", "scenario")
        keys = self.KEYS if "kind" not in manifest else {*self.KEYS, "kind"}
        known = self.kind in KINDS and (self.kind != "scenario" or "kind" not in manifest)
        demand(manifest.keys() == keys and known, "E_MANIFEST", "the manifest has not exactly the fields that it must")
        demand(manifest["format"] == "specledger/bundle/v1", "E_MANIFEST", "the format is unknown")
        engine = manifest["engine"]
        demand(
            isinstance(engine, dict) and engine.keys() == {"name", "version"}, "E_MANIFEST", "what made it is unknown"
        )
        made = engine["name"] == "specledger" and self.VERSION.fullmatch(engine["version"])
        demand(made, "E_MANIFEST", "what made it is unknown")
        check_evaluator(manifest)
        self.manifest, self.order = manifest, ORDERS[self.kind]()

    def check_files(self):
        """What is listed is there, as listed, and nothing else is."""
        entries = self.manifest["files"]
        shaped = isinstance(entries, list) and all(e.keys() == {"path", "sha256", "size"} for e in entries)
        demand(shaped, "E_FILES", "`files` lists {path, sha256, size}")
        paths = [entry["path"] for entry in entries]
        further = {"scenario": (LOG, TAPE), "discovery": (TAPE,)}.get(self.kind, ())
        self.listed = [RECEIPTS, SPECS, *(name for name in further if name in paths)]
        self.held = self.bundles() if self.kind == "suite" else []
        self.sources, self.cases = sorted_out(paths)
        wanted = [*self.listed, *(f"{place}/{MANIFEST}" for place in self.held), *self.sources, *self.cases]
        same = paths == sorted(set(wanted), key=str.encode)
        demand(same, "E_FILES", "the manifest lists other files than there must be, or out of order")
        check_folders(self.place, [*self.sources, *self.cases])
        names = sorted(entry.name for entry in os.scandir(self.place))
        self.attached = [] if self.inner else [name for name in ATTACHED if name in names]
        folders = [folder for folder in FOLDERS if self.kind == "suite" and folder in names]
        folders += ["specs"] * bool(self.sources) + ["counterexamples"] * bool(self.cases)
        demand(names == sorted([MANIFEST, *self.listed, *self.attached, *folders]), "E_FILES", "not listed, or missing")
        for entry in entries:
            path = self.place / entry["path"]
            demand(path.is_file() and not path.is_symlink(), "E_FILES", f"{entry['path']} is no plain file")
            same = number(entry["size"], path.stat().st_size) and entry["sha256"] == file_sha256(path)
            demand(same, "E_FILES", f"{entry['path']} differs from its size or SHA-256 in the manifest")

    def bundles(self):
        """The paths of the bundles inside a suite's, sorted; nothing else may lie in its folders."""
        found, todo = [], [(folder, 2) for folder in FOLDERS if os.path.lexists(self.place / folder)]
        while todo:
            path, depth = todo.pop()
            folder = self.place / path
            demand(folder.is_dir() and not folder.is_symlink(), "E_FILES", f"not listed: {path}")
            inside = sorted(os.listdir(folder))
            demand(inside and depth >= 0, "E_FILES", f"not listed: {path}")
            for name in inside:
                inner = f"{path}/{name}"
                if (self.place / inner / MANIFEST).exists():
                    demand(not (self.place / inner).is_symlink(), "E_FILES", f"{inner} is a link")
                    found.append(inner)
                else:
                    todo.append((inner, depth - 1))
        return sorted(found)

    def check_chain(self):
        """Every line is a receipt in canonical form, and follows the one before it."""
        run, head, tree, count = self.manifest["run"], ZEROS, Tree(), 0
        for line in self.lines():
            receipt = read(line, "E_LINE", f"line {count + 1}")
            shaped = isinstance(receipt, dict) and receipt.keys() == {"body", "prev", "run", "seq", "type"}
            demand(shaped and isinstance(receipt["type"], str), "E_LINE", f"line {count + 1} is no receipt")
            follows = receipt["run"] == run and number(receipt["seq"], count) and receipt["prev"] == head
            demand(follows, "E_CHAIN", f"receipt {count} does not follow the one before it")
            head = hashlib.sha256(b"\0" + line).hexdigest()
            tree.add(line)
            count += 1
        self.head = {"count": count, "head": head, "root": tree.root()}

    def check_receipts(self):
        """Every receipt goes on with what those before it told."""
        kind = ""
        for count, line in enumerate(self.lines()):
            receipt = json.loads(line)
            kind = receipt["type"]
            demand((kind == "start") == (count == 0), "E_ENDS", f"receipt {count} is {kind!r}")
            self.order.add(kind, receipt["body"])
            if count == 0:
                self.named = receipt["body"]["specs"]
        demand(kind == "end", "E_ENDS", "the last receipt is no `end`" if kind else "there are no receipts")

    def lines(self):
        """The lines of the receipts without their newlines, one at a time."""
        with (self.place / RECEIPTS).open("rb") as file:
            while line := file.readline(LINE + 1):
                demand(line.endswith(b"\n"), "E_LINE", "a line is too long, or torn")
                yield line[:-1]

    def check_head(self):
        """The manifest tells the head that the receipts have."""
        same = isinstance(self.manifest["receipts"], dict) and write(self.manifest["receipts"]) == write(self.head)
        demand(same, "E_HEAD", f"the receipts have {self.head}")

    def check_result(self):
        """The manifest tells the result that the receipts come to."""
        same = write(self.manifest["result"]) == write(self.order.result.made())
        demand(same, "E_RESULT", "the receipts add up to another result")

    def check_specs(self):
        """Every spec is named by its digest, and all of them are those that the run names."""
        specs = document(self.place / SPECS, "E_SPECS", 16 * MEBI)
        shaped = isinstance(specs, dict) and specs.keys() == {"root", "specs"} and isinstance(specs["specs"], dict)
        demand(shaped and specs["root"] in specs["specs"], "E_SPECS", "specs.json is {root, specs}")
        for key, data in specs["specs"].items():
            kind, at, digits = key.rpartition("@")
            own = tagged("spec", write(data))[:16]
            named = isinstance(data, dict) and kind == f"{str(data.get('spec')).removesuffix('/v1')}/{data.get('name')}"
            demand(at and digits == own and named, "E_SPECS", f"{key} is not the key of its spec")
        digest = tagged("specs", write(specs))
        demand(self.manifest["specs"] == digest == self.named, "E_SPECS", f"the specs' digest is {digest}")
        demand(
            self.manifest["run"] == tagged("run", digest.encode())[:32], "E_SPECS", "the run is not that of its specs"
        )
        demand(specs["root"].startswith(f"{self.kind}/"), "E_SPECS", "the specs are those of something else")
        self.specs = specs

    def check_tape(self):
        """Every line is an answer of its form; whether it is the one that was asked for, replay tells."""
        code, count, self.tape = "E_TAPE_FORM", 0, []
        asked = self.kind == "discovery"
        with (self.place / TAPE).open("rb") as file:
            for line in iter(lambda: file.readline(LINE + 1), b""):
                demand(line.endswith(b"\n") and len(line) <= LINE, code, "a line of the tape is torn or too long")
                document = read(line[:-1], code, "a line of the tape")
                if count == 0:
                    known = document == {"format": "specledger/model-tape/v1"} if asked else self.begins(document)
                    demand(known, code, "the first line is no head of a tape")
                elif asked:
                    shaped = document.keys() == {"iteration", "request", "answer"}
                    demand(shaped and number(document["iteration"], count - 1), code, "a line of the tape is no answer")
                else:
                    self.answer(document)
                self.tape.append(document)
                count += 1
        demand(count, code, "the tape is empty")

    @staticmethod
    def begins(document):
        """Whether a document is the head of the tape of a run."""
        shaped = document.keys() == {"format", "head", "mode"} and document["format"] == "specledger/tape/v1"
        return shaped and document["mode"] in ("live", "simulated") and isinstance(document["head"], str)

    @staticmethod
    def answer(document):
        """See that an answer on a tape has the size and the hash of its bytes, if it has any."""
        code, held = "E_TAPE_FORM", document["received"]
        keys = {"episode", "t", "failure", "reason", "received", "sha256", "size"}
        figures = [document[name] for name in ("episode", "t", "size")]
        shaped = document.keys() == keys and all(type(one) is int and one >= 0 for one in figures)
        known = document["failure"] is None or document["failure"] in FAILURES
        words = isinstance(document["reason"], str) and (document["sha256"] is None or document["sha256"] != "")
        words = words and isinstance(document["sha256"], (str, type(None)))
        demand(shaped and known and words, code, "a line of the tape is no answer")
        if held is not None:
            ((form, text),) = held.items()
            demand(form in ("text", "base64"), code, "an answer holds no bytes")
            data = text.encode() if form == "text" else unbase64(text, code, "an answer")
            plainly = form == "text" or not is_text(data)
            whole = number(document["size"], len(data)) and document["sha256"] == hashlib.sha256(data).hexdigest()
            demand(plainly and whole, code, "an answer has another hash than its bytes")

    def check_runs(self):
        """Every bundle inside is whole, and each is one that a receipt of the suite speaks of, and speaks truly."""
        told = self.order.runs
        demand(sorted(told) == self.held, "E_RUNS", "the suite speaks of other runs than it holds")
        for place, path in enumerate(self.held, 1):
            PROGRESS.tell("files of run", place, len(self.held))
            BUDGET.part()
            inner = self.inside[path] = Bundle(self.place / path, inner=True)
            try:
                for _, check, code in inner.checks():
                    guarded(check, code)
            except Refuted as refuted:
                raise Refuted("E_RUNS", f"{path}: {refuted.message} [{refuted.code}]") from None
            known = {name: inner.manifest[name] for name in ("specs", "receipts", "result")}
            demand(write(known) == write(told[path]), "E_RUNS", f"{path} is another run than the suite speaks of")

    # What covers the manifest

    def check_attached(self):
        """What covers the manifest says what follows from it, whoever signed it."""
        signed = [name for name in SIGNED if name in self.attached]
        demand(len(signed) in (0, len(SIGNED)), "E_FILES", f"a signed bundle holds {', '.join(SIGNED)}")
        if signed:
            self.note = note(plain(self.place / CHECKPOINT, "E_CHECKPOINT", 1 << 16))
            head = (self.head["count"], self.head["root"])
            demand(
                self.note["head"] == head, "E_CHECKPOINT", "the checkpoint states another head than the receipts have"
            )
            stated = statements(self.manifest, self.bytes())
            self.envelopes = {name: self.envelope(name, made) for name, made in stated.items()}
        if TIMESTAMP in self.attached:
            stamped = imprint(plain(self.place / TIMESTAMP, "E_TIMESTAMP", 1 << 16))
            own = hashlib.sha256(self.bytes()).digest()
            demand(stamped == own, "E_TIMESTAMP", "the time stamp is over another digest than that of manifest.json")
        if SUMS in self.attached:
            wanted = "".join(f"{digest}  {path}\n" for path, digest in sorted(self.sums("", self.attached).items()))
            found = plain(self.place / SUMS, "E_DIGESTS", 64 * MEBI)
            demand(found == wanted.encode(), "E_DIGESTS", f"{SUMS} is not that of these files")
        if GUIDE in self.attached:
            text = plain(self.place / GUIDE, "E_DIGESTS", MEBI).decode("utf-8", "replace")
            check_words(self, text, hashlib.sha256(self.bytes()).hexdigest())

    def bytes(self):
        """The bytes of the manifest."""
        return plain(self.place / MANIFEST, "E_MANIFEST", MEBI + 1)

    def sums(self, prefix, more=()):
        """SHA-256 of every file by its path: here, and in the bundles inside."""
        folder = self.place / prefix if prefix else self.place
        names = [MANIFEST, *(name for name in more if name != SUMS)]
        found = {f"{prefix}{name}": file_sha256(folder / name) for name in names}
        for entry in document(folder / MANIFEST, "E_MANIFEST", MEBI)["files"]:
            path = f"{prefix}{entry['path']}"
            found[path] = entry["sha256"]
            if path.endswith(f"/{MANIFEST}"):
                found.update(self.sums(path[: -len(MANIFEST)]))
        return found

    def envelope(self, name, payload):
        """The signatures of an envelope around exactly this payload, and what they are over."""
        code, media = "E_ENVELOPE", "application/vnd.in-toto+json"
        held = document(self.place / name, code, MEBI)
        shaped = isinstance(held, dict) and held.keys() == {"payload", "payloadType", "signatures"}
        demand(shaped and held["payloadType"] == media, code, f"{name} is no envelope of an in-toto statement")
        demand(unbase64(held["payload"], code, "the payload") == payload, code, f"{name} is about something else")
        signatures = []
        demand(isinstance(held["signatures"], list), code, f"{name} has no signatures")
        for one in held["signatures"]:
            demand(isinstance(one, dict) and one.keys() == {"keyid", "sig"}, code, "a signature is {keyid, sig}")
            known = isinstance(one["keyid"], str) and HEX64.fullmatch(one["keyid"])
            raw = unbase64(one["sig"], code, "a signature")
            demand(known and len(raw) == 64, code, "a signature is not of its form")
            signatures.append((one["keyid"], raw))
        keys = [key for key, _ in signatures]
        demand(1 <= len(keys) <= 16 and keys == sorted(set(keys)), code, f"{name} has 1 to 16 signatures, one of a key")
        return b"DSSEv1 %d %b %d %b" % (len(media), media.encode(), len(payload), payload), signatures

    # What the reader brings

    def check_expected(self, trust):
        """Run, specs and origin are those that the reader expects."""
        for name in ("run", "specs"):
            same = trust.get(name, self.manifest[name]) == self.manifest[name]
            demand(same, "E_EXPECTED", f"the {name} is {self.manifest[name]}, expected is {trust.get(name)}")
        origin = trust["origin"].replace("{run}", self.manifest["run"])
        demand(self.note is None or self.note["origin"] == origin, "E_EXPECTED", f"the origin is not {origin!r}")
        if self.note is None and not {"run", "specs"} & trust.keys():
            raise Open(None, "the trust file expects no run and no specs, and an unsigned bundle has no origin")

    def check_signatures(self, trust):
        """As many trusted keys as the reader asks for have signed everything that is signed."""
        if self.note is None:
            raise Open("E_UNSIGNED", "the bundle holds no signatures")
        keys = {one["id"]: unbase64(one["public"], "E_TRUST", "a key") for one in trust["keys"]}
        signers = [self.note_signers(keys)]
        for signed, signatures in self.envelopes.values():
            own = [(key, raw) for key, raw in signatures if key in keys]
            wrong = [key for key, raw in own if not ed25519(keys[key], raw, signed)]
            demand(not wrong, "E_SIGNATURE", f"a signature of the trusted key {''.join(wrong[:1])} is wrong")
            signers.append({key for key, _ in own})
        both = set.intersection(*signers)
        if len(both) < trust["threshold"]:
            raise Open("E_UNTRUSTED", f"{len(both)} trusted keys signed all of it, {trust['threshold']} must")

    def note_signers(self, keys):
        """The trusted keys that signed the checkpoint."""
        origin, found = self.note["origin"], set()
        for key, public in keys.items():
            hint = hashlib.sha256(origin.encode() + b"\n\x01" + public).digest()[:4]
            for name, raw in self.note["signatures"]:
                if (name, raw[:4]) == (origin, hint):
                    right = ed25519(public, raw[4:], self.note["text"])
                    demand(right, "E_SIGNATURE", f"the checkpoint's signature of the trusted key {key} is wrong")
                    found.add(key)
        return found

    def check_against(self, size, root, origin):
        """The receipts begin with those of a head that was seen before."""
        if origin is not None and self.note is not None and origin != self.note["origin"]:
            raise Open("E_OTHER_LOG", f"the head is that of {origin!r}")
        heads = f"seen: {size} receipts, root {root}; here: {self.head['count']}, root {self.head['root']}"
        demand(size <= self.head["count"], "E_ROLLBACK", f"the log was longer before. {heads}")
        tree = Tree()
        for line in self.lines():
            if tree.size == size:
                break
            tree.add(line)
        demand(tree.root() == root, "E_FORK", f"the log does not go on from the head that was seen. {heads}")
