"""Agent faults are told by their names, with what they mean; the documentation lists the same ones."""

import re
from pathlib import Path

from specledger.report.fault_words import _WORDS, fault_words


def test_a_fault_has_its_meaning_and_an_unknown_one_its_name():
    assert fault_words({"raised": 2, "other": 1}) == {"raised (the agent raised an error)": 2, "other": 1}


def test_the_faults_of_the_documentation_have_a_meaning():
    page = (Path(__file__).parents[3] / "docs" / "outside.md").read_text(encoding="utf-8")
    table = page.partition("| fault | when |")[2].partition("\n\n")[0]
    cells = re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(cells)) == [*_WORDS]
