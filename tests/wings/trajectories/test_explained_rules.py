"""Every form of a rule of a policy has a sentence of its own."""

from specledger.lang.statement import lines_of
from specledger.pipeline.explaining import explain

POLICY = """spec: policy/v1
name: post
tools: {readers: [read_file, view], payers: [pay]}
sets: {known: [a, b], one: [c]}
rules:
  approved: {severity: fatal, when: {tool: pay}, after: {tool: approve, same: args.to}}
  approved-since: {severity: warn, when: {tool: [pay, send]}, after: {tool: readers, since: pay, same: {args.to: args.path}}}
  secret: {severity: warn, when: {tool: any}, not_after: {tool: readers, read: {s: {path: args.path, matches: secret}}, if: s}, else: Say no.}
  not-much: {severity: warn, when: {tool: payers, if: sum > 3}, read: {sum: {path: args.sum, as: number}}, require: sum <= 100}
  last: {severity: warn, when: {tool: pay}, read: {sum: {path: result.sum, of: quote, same: args.to, as: number}}, require: sum <= 100}
  known: {severity: fatal, when: {tool: pay}, each: args.to, as: [email, iban], from: [request, system, {set: known}, {result_of: readers, field: [a, b]}, {result_of: view, field: c}, {text_of: view}]}
  unknown: {severity: fatal, when: {tool: pay}, each: args.to, as: email, not_from: [request]}
  often: {severity: warn, when: {tool: pay}, memory: {n: {count: {}}}, require: n < 4}
  total: {severity: warn, when: {tool: pay}, read: {s: {path: args.sum, as: number}}, memory: {n: {sum: s}}, require: n < 4}
  again: {severity: warn, when: {tool: pay}, memory: {n: {repeats: {}}}, require: n < 4}
  said: {severity: warn, when: {message: assistant, matches: please}, require: "false"}
  never: {severity: fatal, when: {tool: delete}}
"""

SENTENCES = [
    "Rule `again` warns of a call of `pay` if `n` is at least 4.",
    "`n` is how many calls in a row, up to this one, are the same.",
    "Rule `approved` denies a call of `pay` if no call of `approve` with the same `args.to` was made before.",
    "Rule `approved-since` warns of a call of one of `pay` and `send` if no call of one of `readers` with the same `args.to` as its `args.path` was made before, after the last call of `pay`.",
    "Rule `known` denies a call of `pay` if a value at `args.to`, read as email or iban, occurs in none of the request, the system's instructions, the set `known`, the results of one of `readers` at `a` or `b`, the results of `view` at `c` or the text of the results of `view`.",
    "Rule `last` warns of a call of `pay` if `sum` is more than 100.",
    "`sum` is `result.sum` of the last result of `quote` with the same `args.to`, read as number.",
    "Rule `never` denies a call of `delete`.",
    "Rule `not-much` warns of a call of one of `payers` where `sum` is more than 3 if `sum` is more than 100.",
    "`sum` is `args.sum`, read as number.",
    "Rule `often` warns of a call of `pay` if `n` is at least 4.",
    "`n` is how many such calls there were, this one included.",
    "Rule `said` warns of a message of the assistant in which the pattern `please` occurs if it always holds.",
    "Rule `secret` warns of a call of any tool if a call of one of `readers` for which `s` is true was made before.",
    'It then says "Say no.".',
    "`s` is whether the pattern `secret` occurs in `args.path`.",
    "Rule `total` warns of a call of `pay` if `n` is at least 4.",
    "`s` is `args.sum`, read as number.",
    "`n` is the total of `s` over such calls, this one included.",
    "Rule `unknown` denies a call of `pay` if a value at `args.to`, read as email, occurs in the request.",
    "`payers` are the tools `pay`.",
    "`readers` are the tools `read_file` and `view`.",
    "`known` is a set of 2 values.",
    "`one` is a set of 1 value.",
]


def test_every_form_of_a_rule_is_said(tmp_path):
    (tmp_path / "post.yaml").write_text(POLICY, encoding="utf-8")
    (spec,) = explain(str(tmp_path / "post.yaml"))
    assert list(lines_of(spec.statements)) == SENTENCES
