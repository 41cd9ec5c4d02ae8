"""Verify a bundle of evidence with Python alone: no package, no network, no code of the engine that made it.

    python3 verify.py BUNDLE [--trust TRUST.json] [--against CHECKPOINT] [--no-replay] [--level L4] [--work N]
        [--json]

BUNDLE is a folder or a zip file. Written a second time, from the pages in `docs/` and the standards named there: it
imports nothing of the engine, so that a slip of one is noticed by the other. It needs Python 3.9 or newer.

It checks what follows from the evidence itself: files, canonical form, chain, order, commitments, joining states, the
result, the specs' digest, the audit log, and what covers the manifest; with --trust who signed it, with --against that
it goes on from a head seen before. It resolves the YAML files beside the specs again, and compares. Last it makes again
what the specs lead to, with an engine of its own, and compares the bytes: runs, kernels, laws, suites, discoveries. The
last line says what it did *not* check of this very bundle: never that the specs are well typed.

Exit codes: 0 nothing that was asked for is refuted or open; 1 refuted; 2 wrong usage, or there is no evidence; 3 not
refuted, but something that was asked for could not be shown. To make and to resolve again is asked for unless
--no-replay is: what this file does not know, as another version, ends with 3, since whoever forges may choose it.

Work is bounded: --work N is how many million steps of evaluation a part of the evidence may take (each check, each run
of a suite, each verdict of a discovery), and twenty times as many are the most for all of it. What takes more ends
with 3, too. On a terminal a line tells how far it is.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tools.verifier.archive import unzip
from tools.verifier.basis import MANIFEST, RECEIPTS, SPECS, TIMESTAMP, Open, Refuted, guarded, plain
from tools.verifier.bundle import Bundle
from tools.verifier.covers import note
from tools.verifier.made_again import TYPES_UNCHECKED, made_again
from tools.verifier.progress import PROGRESS
from tools.verifier.sources_made import SOURCES_CHECK
from tools.verifier.trust import read_trust
from tools.verifier.values import BUDGET, PARTS_OF_ALL, USUAL_WORK

AGAIN_CHECK = "made again by this file: the same bytes"
STAMPS_UNCHECKED = "who made a time stamp"
WORK_HELP = f"""million steps of evaluation that a part of the evidence may take: each check, each run of a suite, each
verdict of a discovery; {PARTS_OF_ALL} times as many for all of it (default: {USUAL_WORK}, up to a minute for a part)"""
UNASKED = "L4 was asked for and replay was not"


def verify(place, trust=None, against=None, again=True, level=None, work=USUAL_WORK):
    """All checks: {verdict, checks: [{name, status, code, message}], unchecked}; after a refutation none is made.

    Args:
        place: The folder.
        trust: Whom the reader trusts, as `read_trust` gives it.
        against: A head that was seen before: size, root, origin.
        again: Whether what the specs lead to is made again.
        level: L4 if that must be shown.
        work: How many million steps of evaluation a part may take.
    """
    checks, bundle = [], Bundle(place)
    BUDGET.begin(work)

    def make(name, check, code):
        BUDGET.part()
        said = {"name": name, "status": "passed", "code": None, "message": None}
        try:
            guarded(check, code)
        except Refuted as refuted:
            said.update(status="failed", code=refuted.code, message=refuted.message)
        except Open as lacking:
            said.update(status="not made", code=lacking.code, message=lacking.message)
        checks.append(said)
        return said["status"] != "failed"

    def further():
        yield from bundle.checks()
        if trust is not None:
            yield "it is the evidence that you expect", lambda: bundle.check_expected(trust), "E_EXPECTED"
            yield "enough keys that you trust have signed it", lambda: bundle.check_signatures(trust), "E_SIGNATURE"
        for head in [against] if against else []:
            yield "the log goes on from the head that you saw", lambda: bundle.check_against(*head), "E_FORK"
        if trust is not None and "checkpoint" in trust:
            seen = trust["checkpoint"]
            yield (
                "the log goes on from the head in the trust file",
                lambda: bundle.check_against(seen["size"], seen["root"], None),
                "E_FORK",
            )
        if again:
            yield AGAIN_CHECK, lambda: made_again(bundle), "E_REPLAY"

    intact = all(make(*one) for one in further())
    if intact and level == "L4" and not again:
        checks.append({"name": AGAIN_CHECK, "status": "not made", "code": "E_REPLAY", "message": UNASKED})
    left = any(one["status"] == "not made" for one in checks)
    verdict = "FAIL" if not intact else "INCONCLUSIVE" if left else "PASS"
    return {"verdict": verdict, "checks": checks, "unchecked": unchecked(checks, bundle)}


def unchecked(checks, bundle):
    """What was not checked of this very bundle, in a sentence."""
    left = [STAMPS_UNCHECKED] if TIMESTAMP in bundle.attached else []
    made = {one["name"]: one for one in checks}
    if SOURCES_CHECK in made and made[SOURCES_CHECK]["status"] == "not made":
        left.append(f"that specs.json follows from the documents in specs/: {made[SOURCES_CHECK]['message']}")
    if bundle.sources is not None and not bundle.sources:
        left.append("which documents specs.json was resolved from: there is no specs/")
    if any(one["status"] == "failed" for one in checks):
        left.append("whatever follows the check that failed")
    elif AGAIN_CHECK not in made:
        left.append("what the specs lead to (replay): you asked for none")
    elif made[AGAIN_CHECK]["status"] == "not made":
        left.append(f"what the specs lead to (replay): {made[AGAIN_CHECK]['message']}")
    else:
        left.append(TYPES_UNCHECKED)
    return f"Not checked here: {'; '.join([*left, *bundle.unmade])}."


def shown(text):
    """A text that may come from the evidence, as a terminal gets it: printable ASCII, everything else escaped."""
    return "".join(one if " " <= one <= "~" else ascii(one)[1:-1] for one in text)


def ending(found):
    """The verdict as the last line tells it: `PASS` alone only if what the specs lead to was made again."""
    made = {one["name"]: one for one in found["checks"]}
    lacking = [made[name] for name in (AGAIN_CHECK, SOURCES_CHECK) if name in made]
    told = [one["message"] for one in lacking if one["status"] == "not made"]
    if found["verdict"] == "INCONCLUSIVE" and told:
        return f"NOT REFUTED, not made again: {'; '.join(told)}"
    if found["verdict"] == "PASS" and AGAIN_CHECK not in made:
        return "PASS, not made again (you asked for none)"
    return found["verdict"]


def millions(text):
    """A number of millions, as a command line says it."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:10]) and len(text) <= 9):
        raise argparse.ArgumentTypeError("expected a whole number from 1 to 999999999")
    return int(text)


def main(words=None):
    """Verify what the words of a command line name, print what was found, and give the exit code."""
    parser = argparse.ArgumentParser(description="Verify a bundle of evidence with Python alone.")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--trust", help="whom you trust: a trust.json that does not come from the bundle")
    parser.add_argument("--against", type=Path, help="a checkpoint that you saw before")
    parser.add_argument("--no-replay", action="store_true", help="make nothing again")
    parser.add_argument("--level", choices=["L4"], help="L4: what the specs lead to must be made again")
    parser.add_argument("--work", type=millions, default=USUAL_WORK, metavar="N", help=WORK_HELP)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as work:
        try:
            trust = read_trust(asked.trust) if asked.trust else None
            seen = note(plain(asked.against, "E_AGAINST", 1 << 16), "E_AGAINST") if asked.against else None
            place = asked.bundle
            if place.is_file():
                with place.open("rb") as file:
                    if file.read(4) not in (b"PK\3\4", b"PK\5\6"):
                        raise Refuted("E_NO_EVIDENCE", f"{place} is neither a folder nor a zip file")
                place = Path(work, "bundle")
                place.mkdir()
                unzip(asked.bundle, place)
            if not any((place / name).exists() for name in (MANIFEST, RECEIPTS, SPECS)):
                raise Refuted("E_NO_EVIDENCE", f"{asked.bundle} is no bundle")
            against = (*seen["head"], seen["origin"]) if seen else None
            PROGRESS.begin(sys.stderr)
            found = verify(place, trust, against, not asked.no_replay, asked.level, asked.work)
        except (Refuted, OSError) as error:
            code, message = getattr(error, "code", "E_NO_EVIDENCE"), getattr(error, "message", str(error))
            if code != "E_ARCHIVE":
                print(json.dumps({"verdict": None, "code": code}) if asked.json else f"[{code}] {shown(message)}")
                return 2
            found = {
                "verdict": "FAIL",
                "checks": [{"name": "archive", "status": "failed", "code": code, "message": message[:200]}],
                "unchecked": "Not checked here: what lies in the archive.",
            }
        finally:
            PROGRESS.end()
    if asked.json:
        print(json.dumps(found, indent=2))
    else:
        for index, one in enumerate(found["checks"], 1):
            said = f" [{one['code']}]" if one["code"] else ":" if one["message"] else ""
            said += f" {one['message']}" if one["message"] else ""
            print(f"{index}. {one['status']:8} {one['name']}{shown(said)}")
        print(shown(f"{ending(found)}. {found['unchecked']}"))
    return {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 3}[found["verdict"]]
