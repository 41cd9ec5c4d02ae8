"""The verification of evidence: numbered checks with stable codes, first of the files alone, then by replay.

What is checked raises `checks.Broken`, with a code, if it is refuted, and `checks.Lacking` if it cannot be checked; a
receipt of another form may also raise what `receipts.MALFORMED` lists. The second evaluator raises
`reference.Unjudged` where the other engine gives no value, and `Rejected` E_JUDGE_PACKAGE where it is not installed.

`receipts` and what it imports need only `core` and `evidence`, no engine.
"""
