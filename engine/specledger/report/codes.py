"""The codes of findings that evidence leads to: what cannot be drawn or told, and how an agent answered."""

from specledger.core.diagnostics import code

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
E_AGENT_LATE = code(
    "E_AGENT_LATE",
    "an agent did not answer in time",
    "Nothing came within `deadline_ms` of a question, and `start_ms` more for the first one of a process. Answer "
    "sooner, flush what is written, or allow more time in the agent's spec.",
)
E_AGENT_PROTOCOL = code(
    "E_AGENT_PROTOCOL",
    "an agent does not speak the protocol",
    "For each question there is one answer: one line of JSON of at most 1 MiB. The message says what came instead: "
    "`raised` is a function's exception, `closed` a program that ended, `too_long` more bytes than are read, "
    "`not_json` what is no JSON document.",
)
E_AGENT_PROPOSAL = code(
    "E_AGENT_PROPOSAL",
    "what an agent proposes has not the form of a proposal",
    "A proposal is {action: {op, arguments}, score, claims}: an operation of the world with exactly its arguments, an "
    "integer score, and the claims that the governor asks for. Under a kernel it is one document of the schema "
    "`proposal`. The message has the word that the gate `schema` recorded.",
)
E_TRACE_KIND = code(
    "E_TRACE_KIND",
    "only a run has steps",
    "`spec trace` looks into the bundle of a scenario's run. A suite holds the bundles of its runs, each in a folder "
    "of its own, and each of them can be traced; laws and discoveries have no steps.",
)
E_TRACE_STEP = code(
    "E_TRACE_STEP",
    "there is no such step",
    "Episodes and the steps of each are counted from 0. An episode may end before its horizon; `spec trace BUNDLE` "
    "lists the steps that there are.",
)
E_TRACE_FIELD = code(
    "E_TRACE_FIELD",
    "no receipt has such a field",
    "A field is a path of keys and indices with dots between, beginning with the type of a receipt: `step.cost.total`, "
    "`commit.proposals.0.action`, `drift.changed`. A key with a dot stands in double quotes.",
)
E_AGENT_CHECK = code(
    "E_AGENT_CHECK",
    "an agent cannot be tried so",
    "`spec agent check` takes an agent's spec, or the words of a command, and one scenario: a spec with a matrix is "
    "several. A command has to be one that an agent's `outside` could have.",
)
