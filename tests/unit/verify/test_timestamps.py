"""Who signed a time stamp: the reader's authority, at a time at which it could, for that purpose; never whoever says so.

The responses lie in fixtures/timestamp, whose README says how they were made. Only the last tests ask openssl.
"""

import builtins
import hashlib
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from specledger.cli.main import command_line
from specledger.core.diagnostics import Rejected
from specledger.core.verdict import Verdict
from specledger.evidence.seal import Seal
from specledger.evidence.timestamp import read_timestamp
from specledger.kinds import KINDS
from specledger.verify import timestamps
from specledger.verify.assurance_levels import Reader, headline, level_statuses
from specledger.verify.checks import Broken, Lacking, Level
from specledger.verify.run import RUN
from specledger.verify.timestamps import MAX_TSA, check_stamp, read_authorities
from tests.authority import stamp
from tests.toys.refusals import codes
from tests.verifying import verify_bundle

pytest.importorskip("rfc3161_client", reason="the extra `sign`")

FIXTURES = Path(__file__).parents[3] / "fixtures" / "timestamp"
IMPRINT = hashlib.sha256(b"specledger test imprint\n").digest()
NAME = r"CN=Stamps\; of \<tests\>,O=Throw-away test authority"


def response(name):
    return (FIXTURES / f"{name}.tsr").read_bytes()


def authority(*names):
    return read_authorities([FIXTURES / f"{name}.pem" for name in names])


def judged(data, imprint=IMPRINT, roots=("root",)):
    """What is found of a response: its signer, or the code and what is said."""
    try:
        return check_stamp(data, imprint, authority(*roots))
    except (Broken, Lacking) as found:
        return type(found), found.code, found.message


def test_a_stamp_of_a_trusted_authority_names_its_signer():
    assert judged(response("granted")) == judged(response("granted"), roots=("other", "root")) == NAME
    assert read_timestamp(response("granted")).imprint == IMPRINT


GRANTED = response("granted")
REFUTED = {
    "another imprint": (GRANTED, bytes(32), "Mismatch between messages"),
    "a time before the certificate's": (response("early"), IMPRINT, "not yet valid"),
    "a time at which the certificate had expired": (response("late"), IMPRINT, "has expired"),
    "a certificate for another purpose": (response("server"), IMPRINT, "unsuitable certificate purpose"),
    "a certificate without a purpose": (response("bare"), IMPRINT, "unsuitable certificate purpose"),
    "a wrong signature": (GRANTED[:-5] + bytes([GRANTED[-5] ^ 1]) + GRANTED[-4:], IMPRINT, "the signature is wrong"),
    "another time than the signed one": (GRANTED.replace(b"1231235959Z", b"1231235958Z"), IMPRINT, ""),
}


@pytest.mark.parametrize(("data", "imprint", "why"), REFUTED.values(), ids=REFUTED)
def test_a_wrong_stamp_in_the_name_of_a_trusted_authority_is_refuted(data, imprint, why):
    kind, code, message = judged(data, imprint)
    assert (kind, code, why in message) == (Broken, "E_STAMP", True), message


NOT_JUDGED = {
    "of somebody else": (GRANTED, "other", "E_STAMP_UNTRUSTED"),
    "of somebody else, too early": (response("early"), "other", "E_STAMP_UNTRUSTED"),
    "empty": (b"", "root", None),
    "a letter": (b"x", "root", None),
    "no response": (b"\x30\x03\x02\x01\x00", "root", None),
    "granted with modifications": (GRANTED[:8] + b"\1" + GRANTED[9:], "root", None),
}


@pytest.mark.parametrize(("data", "root", "code"), NOT_JUDGED.values(), ids=NOT_JUDGED)
def test_what_cannot_be_judged_refutes_nothing(data, root, code):
    assert judged(data, roots=(root,))[:2] == (Lacking, code)


@pytest.mark.medium
def test_no_changed_byte_crashes_or_changes_what_is_stamped():
    data = response("granted")
    accepted = []
    for place in range(0, len(data), 3):
        changed = data[:place] + bytes([data[place] ^ 0x41]) + data[place + 1 :]
        if isinstance(judged(changed), str):
            accepted.append(read_timestamp(changed))
    assert all(stamp == read_timestamp(data) for stamp in accepted)
    assert len(accepted) < len(data) // 100  # algorithms beside the signature, which cover nothing


def test_certificates_that_sign_one_another_in_a_ring_end():
    from cryptography.x509 import load_pem_x509_certificate

    from specledger.verify.timestamps import _leads

    root, other = (load_pem_x509_certificate((FIXTURES / f"{name}.pem").read_bytes()) for name in ("root", "other"))
    assert not _leads(other, [other, other], [root])
    assert _leads(root, [root], [root])


def test_a_response_holds_so_many_certificates_at_most(monkeypatch):
    from rfc3161_client import decode_timestamp_response

    count = len(decode_timestamp_response(GRANTED).signed_data.certificates)
    trusted = authority("root")
    for most in range(count):
        monkeypatch.setattr(timestamps, "_MOST", most)
        with pytest.raises(Lacking, match=f"it holds more than {most} certificates"):
            check_stamp(GRANTED, IMPRINT, trusted)
    for most in (count, count + 1):
        monkeypatch.setattr(timestamps, "_MOST", most)
        assert check_stamp(GRANTED, IMPRINT, trusted) == NAME


def test_a_file_holds_so_many_certificates_at_most(monkeypatch, tmp_path):
    (tmp_path / "tsa.pem").write_bytes(b"".join((FIXTURES / f"{name}.pem").read_bytes() for name in ("root", "other")))
    monkeypatch.setattr(timestamps, "_MOST", 2)
    trusted = read_authorities([tmp_path / "tsa.pem"])
    assert trusted is not None
    assert len(trusted.roots) == 2
    monkeypatch.setattr(timestamps, "_MOST", 1)
    assert codes(read_authorities, [tmp_path / "tsa.pem"]) == ["E_TSA"]


SIGNERS = {"none": 0, "two": 2}


@pytest.mark.parametrize("count", SIGNERS.values(), ids=SIGNERS)
def test_a_response_has_one_signer(count):
    from rfc3161_client import decode_timestamp_response

    signed = decode_timestamp_response(GRANTED).signed_data
    (signer,) = signed.signer_infos
    made: Any = SimpleNamespace(
        signed_data=SimpleNamespace(certificates=signed.certificates, signer_infos=[signer] * count)
    )
    with pytest.raises(ValueError, match=f"it has {count} signers, not one"):
        timestamps._signer(made)


WRONG = {
    "nothing": b"",
    "no certificate": b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    "a key beside it": (FIXTURES / "root.pem").read_bytes()
    + b"-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n",
    "too much": (FIXTURES / "root.pem").read_bytes() + b"\n" * MAX_TSA,
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_authority_is_refused(case, tmp_path):
    (tmp_path / "tsa.pem").write_bytes(WRONG[case])
    assert codes(read_authorities, [tmp_path / "tsa.pem"]) == ["E_TSA"]


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(Rejected, match="E_TSA"):
        read_authorities([tmp_path / "gone.pem"])
    assert read_authorities([]) is None


@pytest.mark.parametrize(
    ("missing", "act"),
    [
        ("cryptography.x509", lambda trusted: authority("root")),
        ("rfc3161_client", lambda trusted: check_stamp(response("granted"), IMPRINT, trusted)),
    ],
)
def test_without_the_packages_it_is_said_how_to_install_them(missing, act, monkeypatch):
    trusted, load = authority("root"), builtins.__import__

    def refuse(name, *rest):
        if name == missing:
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(Rejected) as refused:
        act(trusted)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "E_TSA_PACKAGE"
    assert diagnostic.message.endswith("is not installed: pip install 'specledger[sign]'")


@pytest.fixture(scope="module")
def stamped(bundles, tmp_path_factory):
    """A bundle that an authority of openssl stamped, and beside it `tsa.pem`, the authority's root."""
    if shutil.which("openssl") is None:
        pytest.skip("not installed: openssl")
    desk = tmp_path_factory.mktemp("authority")
    bundle = shutil.copytree(bundles["small"], desk / "bundle")
    Seal(timestamp=stamp(desk)).attach(bundle)
    return desk


def look(desk, tsa):
    found = verify_bundle(desk / "bundle", RUN, KINDS, Reader(authorities=read_authorities([tsa]) if tsa else None))
    (rung,) = (rung for rung in level_statuses(found) if rung.level is Level.TIMED)
    return found, rung


def test_a_stamped_bundle_reaches_its_level(stamped):
    found, rung = look(stamped, stamped / "tsa.pem")
    time = read_timestamp((stamped / "reply").read_bytes()).time
    assert (rung.status, rung.why) == ("reached", f"{time} by CN=stamps")
    assert found.verdict is Verdict.PASS
    assert "stamped" in headline(found).split(", ")


@pytest.mark.parametrize(
    ("tsa", "code", "verdict"), [(None, None, "PASS"), (FIXTURES / "other.pem", "E_STAMP_UNTRUSTED", "INCONCLUSIVE")]
)
def test_without_the_authority_nothing_is_known_of_the_time(stamped, tsa, code, verdict):
    found, rung = look(stamped, tsa)
    assert (rung.status, rung.code, found.verdict) == ("not checked", code, verdict)
    assert ("--tsa" in rung.why) == (tsa is None)


def test_a_wrong_signature_refutes_the_bundle(stamped, tmp_path):
    shutil.copytree(stamped / "bundle", tmp_path / "bundle")
    (tmp_path / "bundle" / "sha256sums").unlink()
    data = (stamped / "reply").read_bytes()
    (tmp_path / "bundle" / "timestamp.tsr").write_bytes(data[:-3] + bytes([data[-3] ^ 1]) + data[-2:])
    found, rung = look(tmp_path, stamped / "tsa.pem")
    assert (rung.status, rung.code, found.verdict) == ("refuted", "E_STAMP", Verdict.FAIL)


def test_the_command_takes_authorities(stamped):
    told = CliRunner().invoke(
        command_line(), ["verify", str(stamped / "bundle"), "--no-replay", "--tsa", str(stamped / "tsa.pem")]
    )
    assert "L2 reached" in told.stdout
    assert "by CN=stamps" in told.stdout


def test_an_authority_asks_for_a_stamp(bundles):
    found = verify_bundle(bundles["small"], RUN, KINDS, Reader(authorities=authority("root")))
    assert found.verdict is Verdict.INCONCLUSIVE
