"""The signer of a time stamp: a trusted authority, with a certificate that was valid at the time of the stamp.

An authority is a root certificate that the reader passes, with the certificates between the signer and that root. A
stamp of another signer refutes nothing, because anybody may stamp; a stamp of a trusted authority must be right. Roots
are never taken from the response, revocation is not looked up, and the current time is not used.

`rfc3161-client` and `cryptography` are imported when a stamp is verified; the extra `sign` installs them.

Source: RFC 3161, 2.3 (purpose) and 2.4.2 (response); RFC 5652, 5.4 (signature); RFC 5280, 6.1 (path).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic, Rejected, code, missing_package, printable
from specledger.verify.checks import Broken, Lacking
from specledger.verify.trust import read_bounded

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from rfc3161_client import TimeStampResponse

MAX_TSA: Final = 1_048_576
"""Bytes of a file of certificates at most."""

_MOST: Final = 64  # certificates in a file or a response
_LONGEST: Final = 8  # certificates from a signer to its root
_BLOCK: Final = b"-----BEGIN "
_WHY: Final = re.compile(r'Verify error: ([^"]{1,120})')

E_TSA = code("E_TSA", "the authority's certificates cannot be read")
E_TSA_PACKAGE = code("E_TSA_PACKAGE", "time stamps cannot be verified here")
E_STAMP = code("E_STAMP", "the time stamp is not the authority's")
E_STAMP_UNTRUSTED = code("E_STAMP_UNTRUSTED", "no authority that you trust made the time stamp")


class Authorities(Struct, frozen=True):
    """The certificates that a reader brings.

    Attributes:
        roots: Those that name themselves as their issuer; at least one.
        between: The others, which may lead from a signer to a root.
    """

    roots: tuple[Certificate, ...]
    between: tuple[Certificate, ...] = ()


def read_authorities(files: Sequence[Path]) -> Authorities | None:
    """Read files of certificates; None if there are no files."""
    if not files:
        return None
    certificates = dict.fromkeys(certificate for file in files for certificate in _certificates(file))
    roots = tuple(certificate for certificate in certificates if certificate.issuer == certificate.subject)
    return Authorities(
        roots, tuple(certificate for certificate in certificates if certificate.issuer != certificate.subject)
    )


def _certificates(file: Path) -> list[Certificate]:
    try:
        from cryptography.x509 import load_pem_x509_certificates  # noqa: PLC0415 - only who verifies loads it
    except ImportError:
        raise missing_package(E_TSA_PACKAGE, "cryptography", "sign") from None
    try:
        data = read_bounded(file, MAX_TSA)
        certificates = load_pem_x509_certificates(data)
        if not data.count(_BLOCK) == len(certificates) <= _MOST:
            raise ValueError(f"it holds something else than at most {_MOST} certificates")
        if not any(certificate.issuer == certificate.subject for certificate in certificates):
            raise ValueError("no certificate in it is a root")
        return certificates
    except ValueError as error:
        raise _unreadable(file, str(error)) from error


def _unreadable(file: Path, why: str) -> Rejected:
    return Rejected([Diagnostic(E_TSA, f"{file} holds no authority: {printable(why)}")])


def check_stamp(data: bytes, imprint: bytes, authorities: Authorities) -> str:
    """Check that a trusted authority signed a time stamp, and give the name of the signer, escaped.

    Raises:
        Broken: E_STAMP, if the signer's certificate leads to a trusted root and the stamp is not right.
        Lacking: E_STAMP_UNTRUSTED, if it leads to none, or the response cannot be judged here.
        Rejected: E_TSA_PACKAGE.
    """
    try:
        from rfc3161_client import VerifierBuilder, decode_timestamp_response  # noqa: PLC0415 - only who verifies loads it
    except ImportError:
        raise missing_package(E_TSA_PACKAGE, "rfc3161-client", "sign") from None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what the libraries tolerate as yet is not tolerated
        try:
            response = decode_timestamp_response(data)
            signer, enclosed = _signer(response)
            name, granted = printable(signer.subject.rfc4514_string()), response.status == 0
            trusted = _leads(signer, (*enclosed, *authorities.between), authorities.roots)
        except Exception as error:  # the libraries raise any error on hostile bytes
            raise Lacking(f"the time stamp cannot be verified here: {printable(str(error))[:200]}") from None
        if not trusted:
            raise Lacking(f"it is stamped by {name}, which leads to no authority that you trust", E_STAMP_UNTRUSTED)
        if not granted:
            raise Lacking("the authority granted the time stamp with modifications, which is not verified here")
        try:
            verifier = VerifierBuilder(roots=list(authorities.roots), intermediates=list(authorities.between)).build()
            verifier.verify(response, imprint)
        except Exception as error:  # as above
            raise Broken(E_STAMP, f"the stamp in the name of {name} is not right: {_why(error)}") from None
    return name


def _signer(response: TimeStampResponse) -> tuple[Certificate, list[Certificate]]:
    """The certificate of the signer, and all certificates of a response."""
    from cryptography.x509 import load_der_x509_certificate  # noqa: PLC0415 - as above

    signed = response.signed_data
    encoded, signers = sorted(signed.certificates), list(signed.signer_infos)
    if len(encoded) > _MOST:
        raise ValueError(f"it holds more than {_MOST} certificates")
    if len(signers) != 1:
        raise ValueError(f"it has {len(signers)} signers, not one")
    certificates = [load_der_x509_certificate(data) for data in encoded]
    for certificate in certificates:
        if (certificate.issuer, certificate.serial_number) == (signers[0].issuer, signers[0].serial_number):
            return certificate, certificates
    raise ValueError("it does not hold the certificate of its signer; `openssl ts -query -cert` asks for it")


def _leads(signer: Certificate, between: Iterable[Certificate], roots: Iterable[Certificate]) -> bool:
    """Whether certificates lead from a signer to a root, by their signatures alone.

    Each certificate is visited once, so a ring of certificates that sign one another ends.
    """
    waiting, left = [signer], set(between)
    for _ in range(_LONGEST):
        if any(_issued(certificate, root) for certificate in waiting for root in roots):
            return True
        above = {issuer for issuer in left for certificate in waiting if _issued(certificate, issuer)}
        left -= above
        waiting = list(above)
    return False


def _issued(certificate: Certificate, issuer: Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except Exception:  # another issuer, a wrong signature, an algorithm or a key that is unknown
        return False
    return True


def _why(error: Exception) -> str:
    """What the library says in a few words; of its own errors it gives a dump, of which the reason is taken."""
    text = str(error)
    match = _WHY.search(text)
    if match is not None:
        return printable(match[1])
    return "the signature is wrong" if "ErrorStack" in text else printable(text)[:200]
