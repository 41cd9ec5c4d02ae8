"""The verification of a bundle whose kind a test knows."""

from specledger.run.workers import ALONE
from specledger.verify.assurance_levels import Reader
from specledger.verify.bundle import Refuted, open_bundle


def verify_bundle(folder, kind, kinds, reader=None, executor=ALONE):
    """Verify a bundle of a known kind, with replay unless the reader says otherwise."""
    try:
        return open_bundle(folder, kind, kinds, Reader() if reader is None else reader, executor)[1]
    except Refuted as refuted:
        return refuted.verification
