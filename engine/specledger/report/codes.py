"""Codes of findings of reports, traces and agent checks."""

from specledger.core.diagnostics import code

E_PICTURE_NONE = code(
    "E_PICTURE_NONE",
    "the world does not say how it is drawn",
    "`spec report --format svg` draws what the world's `picture` names: a field of codes, tokens and charts. A report "
    "reads the specs in the bundle, so add the picture to the world before the run.",
)
E_REPORT_KIND = code(
    "E_REPORT_KIND",
    "this kind of evidence has no such report",
    "Only a run can be drawn. A suite has a folder for the bundle of each of its runs, which can be drawn by itself. "
    "The format `folder` needs a run or a suite, since a law has no agent.",
)
E_REPORT_EPISODE = code(
    "E_REPORT_EPISODE",
    "there is no such episode",
    "Episodes are counted from 0. An episode that could not begin has no start state, and is not drawn.",
)
E_REPORT_RECEIPTS = code(
    "E_REPORT_RECEIPTS",
    "a receipt is malformed",
    "The chain of receipts is intact, but a value does not have the type that the specs give it. Replay would refute "
    "the bundle: use `spec verify`.",
)
E_REPORT_PLACE = code(
    "E_REPORT_PLACE",
    "a report cannot be written there",
    "A bundle has only the files that its manifest lists, so a report inside it would break it. The format `folder` "
    "needs a new or empty folder. Give another path with --out.",
)
E_TESTS = code(
    "E_TESTS",
    "the file is not valid JUnit XML",
    "`--tests` takes the output of `pytest --junitxml FILE`: well-formed XML without a document type, of a bounded "
    "size, with `testcase` elements.",
)
E_AGENT_LATE = code(
    "E_AGENT_LATE",
    "an agent did not answer in time",
    "An answer is due within `deadline_ms`, and `start_ms` more for the first question to a process. Answer sooner, "
    "flush the output, or allow more time in the agent's spec.",
)
E_AGENT_PROTOCOL = code(
    "E_AGENT_PROTOCOL",
    "an agent does not speak the protocol",
    "The answer to a question is one line of JSON of at most 1 MiB. The message says what came instead: `raised` is an "
    "exception of a function, `closed` a program that ended, `too_long` more than 1 MiB, `not_json` anything else.",
)
E_AGENT_PROPOSAL = code(
    "E_AGENT_PROPOSAL",
    "a proposal of an agent is malformed",
    "A proposal is {action: {op, arguments}, score, claims}: an operation of the world with exactly its arguments, an "
    "integer score, and the claims that the governor asks for. Under a kernel it is one document of the schema "
    "`proposal`. The message has the reason that the gate `schema` recorded.",
)
E_TRACE_KIND = code(
    "E_TRACE_KIND",
    "only a run has steps",
    "`spec trace` takes the bundle of a scenario's run. A suite has a folder for the bundle of each of its runs, which "
    "can be traced; laws and discoveries have no steps.",
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
    "`commit.proposals.0.action`, `drift.changed`; or it begins with `state`, the recomputed state after each step: "
    "`state.level`. A key with a dot stands in double quotes.",
)
E_TRACE_STATE = code(
    "E_TRACE_STATE",
    "a state cannot be recomputed from the receipts",
    "`spec trace` recomputes the states of a run from the start, the changes by drifts and the actions that its "
    "receipts hold. Another digest than the recorded one means that the run cannot be replayed; `spec verify` says at "
    "which receipt.",
)
E_AGENT_PROMISE = code(
    "E_AGENT_PROMISE",
    "an agent does not do what it says of itself",
    "In its answer to `hello` an agent says how it keeps its state, and whether it is deterministic. One that declares "
    "`state: replay` answers an episode in a fresh process as before; a deterministic one gives the same answer to the "
    "same question; a commitment opens with the nonce that the agent reveals.",
)
E_AGENT_CHECK = code(
    "E_AGENT_CHECK",
    "an agent cannot be checked like this",
    "`spec agent check` takes an agent's spec, or a command, and one scenario without a matrix. The command must be "
    "valid as an agent's `outside.command`.",
)
