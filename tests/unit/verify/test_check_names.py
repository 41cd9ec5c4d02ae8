"""The number and the sentence of each numbered check stand at the code that makes it, as the table has them."""

import re
from pathlib import Path

from specledger.verify import check_names
from specledger.verify.check_names import number_of

ENGINE = Path(__file__).resolve().parents[3] / "engine/specledger"
COMMENT = re.compile(r"# check (\d+): (.+?)(?: \(.+\))?$", re.MULTILINE)
NUMBERED = {
    sentence: number_of(sentence, 0)
    for name, sentence in vars(check_names).items()
    if name.isupper() and number_of(sentence, 0)
}


def stated():
    return [
        (int(number), sentence)
        for path in sorted(ENGINE.rglob("*.py"))
        for number, sentence in COMMENT.findall(path.read_text(encoding="utf-8"))
    ]


def test_a_comment_has_the_number_of_its_sentence():
    assert len(stated()) > 20
    assert [(number, sentence) for number, sentence in stated() if NUMBERED.get(sentence) != number] == []


def test_every_numbered_check_is_marked_where_it_is_made():
    replayed = check_names.REPLAY_OF_RUNS  # made where the others are replayed, and named by its kind
    assert {sentence for _, sentence in stated()} == NUMBERED.keys() - {replayed}


def test_the_numbers_are_consecutive():
    assert sorted({*NUMBERED.values()}) == list(range(1, 22))
