"""Every shipped law gives the pinned digests: of the law, its cases, its verdict and its certificate.

`spec golden --update --dir=fixtures/laws specs/law/*.yaml` accepts a change.
"""

from pathlib import Path

import pytest

from specledger.pipeline import load_cases, pin, pin_matches

FOLDER = Path("fixtures/laws")
LAWS = sorted(Path("specs/law").glob("*.yaml"))


@pytest.mark.parametrize("path", LAWS, ids=lambda path: path.stem)
def test_a_law_gives_what_is_pinned(path):
    (bundle,) = load_cases(str(path))
    difference = pin_matches(pin(bundle), FOLDER)
    assert difference is None, f"{difference}; accept: spec golden --update --dir={FOLDER} {path}"


def test_nothing_else_is_pinned():
    named = {path.stem for path in LAWS}
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}{end}" for name in named for end in (".json", ".jsonl")}
