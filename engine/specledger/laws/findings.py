"""Diagnostic codes of laws."""

from specledger.core.diagnostics import code

E_LAW_MISSING = code(
    "E_LAW_MISSING",
    "a law lacks what its template needs",
    "A template lists the fields that are part of its form: `direction` for a monotone law, `bound_op` and "
    "`bound_value` for a bound, `transform` for a symmetry, `trigger_symbol`, `result_op` and `result_symbol` for a "
    "transition, `quantifiers: {H: …}` where something has time to come true. Every other law has a `claim_ast`.",
)
E_LAW_FIELD = code(
    "E_LAW_FIELD",
    "a law says what its template does not need",
    "Strict parsing takes only those of `direction`, `bound_op`, `bound_value`, `transform`, `trigger_symbol`, "
    "`result_op` and `result_symbol` that the template lists in `needs`. Leave the others out.",
)
W_LAW_FIELD = code(
    "W_LAW_FIELD",
    "a field of a law was not read",
    "The template of the law does not list the field in `needs`. What it says is no part of the law, whatever it is: a "
    "law with a `transform` is about a symmetry only if its template is.",
)
E_LAW_FORM = code(
    "E_LAW_FORM",
    "a claim is not of its template's form",
    "The template says what a claim looks like, which steps its parts may read, and which fields of the law it must "
    "agree with. Where the fields say all of the claim, `claim_ast` may be left out.",
)
E_LAW_UNDEFINED = code(
    "E_LAW_UNDEFINED",
    "a name that neither the law nor its universe defines",
    "A claim reads the names of the law's own `observables`: `{name: X, expr: count('X')}`. These read the observables "
    "of the universe. `spec check` refuses a name that is probably a misspelling; another name that the universe lacks "
    "is a warning, `W_LAW_UNDECIDED`.",
)
E_LAW_SORT = code(
    "E_LAW_SORT",
    "an operator of a claim has operands that it cannot take",
    "`and`, `or`, `not` and `=>` take truth values; arithmetic and order take integers; a claim is a truth value.",
)
E_LAW_INTEGER = code(
    "E_LAW_INTEGER",
    "an integer of a law cannot be recorded",
    "Receipts and certificates hold integers up to 2^53 - 1. The integers of observables, preconditions and claims are "
    "within this range, and so are the factors of what they add up when they are multiplied out.",
)
E_LAW_STRING = code(
    "E_LAW_STRING",
    "a string claim where only a tree is accepted",
    "Strict parsing takes `claim_ast` alone; `claim` is then a summary for people.",
)
W_LAW_STRING = code(
    "W_LAW_STRING",
    "a claim was read from its string",
    "String claims are deprecated: write `claim_ast`. The string was compiled to the same tree.",
)
E_LAW_TEST = code(
    "E_LAW_TEST",
    "a proposed test has a parameter that means nothing",
    "The parameters of a proposed test are `cases`, `lengths` and the one that its family calls `beyond`.",
)
W_LAW_UNDECIDED = code(
    "W_LAW_UNDECIDED",
    "nothing can be said of a law",
    "The law is kept, and its verdict will be UNKNOWN with this reason: its universe lacks what it speaks of, its "
    "string claim leaves open what is meant, or it is too much. A law that expects `status: UNKNOWN` has no "
    "such warning.",
)
