"""The cases of the conformance suite that take more than the files of a bundle, for the verifier in one file."""

import pytest

from tools.conformance import PLACE, cases, read_case


def needing(family, *needs):
    """The cases of a family that only show by one of these needs, as parameters: the folder, and what it says."""
    told = [(folder, read_case(folder)) for folder in cases(PLACE) if folder.name.startswith(f"{family}-")]
    return [pytest.param(*case, id=case[1]["name"]) for case in told if case[1]["expect"].get("needs") in needs]
