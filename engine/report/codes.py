"""The codes of findings about reports: what is asked for and cannot be drawn or told."""

from engine.core.diagnostics import code

E_PICTURE_NONE = code(
    "E_PICTURE_NONE",
    "the world does not say how it is drawn",
    "`spec report --format svg` draws what the world's `picture` names: a field of codes, tokens and charts. The specs "
    "in the bundle are those that the run was made from, so a world gets its picture before the run.",
)
E_REPORT_KIND = code(
    "E_REPORT_KIND",
    "this kind of evidence has no such report",
    "Only a run can be drawn: a suite holds the bundles of its runs, each in a folder of its own, and each of them can "
    "be drawn by itself. Files of agents are made of runs and suites, since a law has no agent.",
)
E_REPORT_EPISODE = code(
    "E_REPORT_EPISODE",
    "there is no such episode",
    "Episodes are counted from 0. An episode that could not begin has no start state, and is not drawn.",
)
E_REPORT_RECEIPTS = code(
    "E_REPORT_RECEIPTS",
    "the receipts do not hold what the report needs",
    "Their chain is whole, but a value is not of the type that the specs lead to: replay would refute them. "
    "`spec verify` makes it.",
)
E_REPORT_PLACE = code(
    "E_REPORT_PLACE",
    "a report cannot lie there",
    "A bundle holds the files that its manifest lists and nothing else; a report inside it would break it. A report of "
    "many files needs a folder of its own, new or empty. Name another place by --out.",
)
E_TESTS = code(
    "E_TESTS",
    "the file is no JUnit XML that can be read",
    "`--tests` takes what `pytest --junitxml FILE` writes: well-formed XML without a document type, of a bounded size, "
    "with `testcase` elements. The message says where it is not so.",
)
