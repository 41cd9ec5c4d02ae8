"""All findings of a file come at once, each of them once: syntax without types, and types beside one another."""

import pytest

from specledger.pipeline.checking import check

HEADS = {
    "world": "spec: world/v1\nname: hall\nstate: {x: int, kept: {type: array, items: string}}\n",
    "invariant": "spec: invariant/v1\nname: kept\n",
    "governor": "spec: governor/v1\nname: keeper\n",
    "agent": "spec: agent/v1\nname: walker\ncandidates: [{op: go}]\n",
    "drift": "spec: drift/v1\nname: gust\n",
    "probe": "spec: probe/v1\nname: asked\nat: after_commit\nchallenge: {of: claims}\n",
    "ranking": "spec: ranking/v1\nname: order\n",
    "universe": "spec: universe/v1\nname: ring\n",
    "law": "spec: law/v1\nname: kept\nuniverse: ring\ntemplate: form\n",
    "scenario": "spec: scenario/v1\nname: walk\nworld: hall\ngovernor: keeper\nagent: walker\nhorizon: 3\n",
}
SOUND = {
    "world": "actions: {go: {effects: [{set: x, to: x + 1}]}}\nobserve: {x: x}\nstart: {x: 0, kept: '[]'}\n",
    "governor": "gates: [{id: roof, deny: next.x > 9, reason: above}]\nchoose: {maximise: 0}\n",
    "agent": 'score: "0"\n',
    "drift": "at: t == 2\neffects: [{set: x, to: '0'}]\n",
    "scenario": "",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Writes a file into the working folder, whose specs can be used by their names."""
    monkeypatch.chdir(tmp_path)
    for kind, body in SOUND.items():
        name = HEADS[kind].split("name: ")[1].split("\n")[0]
        (tmp_path / "specs" / kind).mkdir(parents=True)
        (tmp_path / "specs" / kind / f"{name}.yaml").write_text(HEADS[kind] + body)

    def write(kind, body):
        (tmp_path / "f.yaml").write_text(HEADS[kind] + body)
        return "f.yaml"

    return write


def told(findings):
    """What was found, as (code, line:column), in order."""
    return [(one.code, f"{one.span.start.line}:{one.span.start.column}") for one in findings]


S, P, L = "E_EXPR_SYNTAX", "E_EXPR_OUTSIDE_PROFILE", "E_EXPR_LIMIT"
LONG = "1" + " + 1" * 40

# kind, what follows its head: what is found, although nothing is known of the world
ALONE = {
    "every expression of an invariant": (
        "invariant",
        'when: \'t < (3\'\nrequire: "t <= && 3"\nwitness: {a: "1 +", b: x, c: "timestamp(\'x\')"}\n',
        [(S, "3:14"), (S, "4:16"), (S, "5:18"), (P, "5:31")],
    ),
    "a gate, a choice and a cost": (
        "governor",
        "gates: [{id: a, deny: 'next.n > (', reason: b}]\nchoose: {maximise: x y}\ncost: {c: '['}\n",
        [(S, "3:34"), (S, "4:22"), (S, "5:13")],
    ),
    "an effect and a condition of memory": (
        "governor",
        "gates: []\nchoose: {maximise: 0}\nmemory: {fields: {m: {type: int, start: '-'}}}\n"
        "remember: [{id: w, when: 'x ==', effect: {set: m, to: 'm +'}}]\n",
        [(S, "5:43"), (S, "6:31"), (S, "6:59")],
    ),
    "a score": ("agent", "score: action.by +\n", [(S, "4:19")]),
    "a draw, a candidate and a function": (
        "agent",
        "score: 0\ndraw: {d: {from: '[1', stream: s}}\nfunctions: {f: {args: [], is: a..b}}\n",
        [(S, "5:21"), (S, "6:33")],
    ),
    "what a probe expects": ("probe", "expect: '(('\nwhen: a b\n", [(S, "5:12"), (S, "6:9")]),
    "when a drift is due": ("drift", "at: '%'\neffects: [{set: x, to: '*'}]\n", [(S, "3:6"), (S, "4:25")]),
    "an expression that is too large": ("invariant", f"require: {LONG} > 0\n", [(L, "3:10")]),
    "methods and qualified functions that the profile leaves out": (
        "invariant",
        "require: x.matches('a') && math.sqrt(2.0) > 1.0 && f(math.abs(x).getHours())\n",
        [(P, "3:12"), (P, "3:28"), (P, "3:66")],
    ),
    "a number and a word are expressions": ("invariant", "require: true\nwitness: {a: 3, b: 0.50, c: -1}\n", []),
    "what is no expression is left alone": ("invariant", "require: a\ndoc: '(('\nmetadata: {annotations: {n: '1 +'}}\n", []),
    "one of several forms": (
        "universe",
        "observables: {o: {window: 'a ..', count: '1 +'}, p: {window: [a, b], count: x}}\nalphabet: [a]\n",
        [*[("E_SPEC_MISSING_KEY", "1:1")] * 3, (S, "3:31"), (S, "3:46"), ("E_SPEC_VALUE", "4:1")],
    ),
    "a text or a comparison": (
        "law",
        "forbidden: it\npreconditions: ['n(', {lhs: 'm(', op: '>', rhs: 0}]\n",
        [("E_REF_MISSING", "3:11"), ("E_REF_MISSING", "4:11"), (S, "6:20"), (S, "6:32")],
    ),
    "beside an unknown key": ("agent", "score: 1 +\ncolour: red\n", [(S, "4:11"), ("E_SPEC_UNKNOWN_KEY", "5:1")]),
    "beside a value of the wrong type": ("invariant", "require: [x]\nwhen: a b\n", [("E_SPEC_TYPE", "3:1"), (S, "4:9")]),
    "one that is too long is told once": ("invariant", f"require: {'a' * 8193}\nwhen: (\n", [("E_SPEC_VALUE", "3:10"), (S, "4:8")]),
    "an empty one is told once": ("invariant", "require: ''\nwhen: (\n", [("E_SPEC_VALUE", "3:10"), (S, "4:8")]),
    "an argument is told where it was written": (
        "invariant",
        "params: {p: {type: string, default: '1 +'}}\nrequire: ${p}\n",
        [(S, "3:41")],
    ),
    "what an unknown argument leaves is not told": ("invariant", "require: '${q} +'\nwhen: (\n", [("E_PARAM_PARTIAL", "3:10"), (S, "4:8")]),
    "a scenario whose reference leads nowhere": ("scenario", "drift: [gus]\nuntil: x ==\n", [("E_REF_MISSING", "7:9"), (S, "8:12")]),
    "a start and an end of a scenario": ("scenario", "start: {x: y}\nuntil: x ==\n", [("E_EXPR_UNKNOWN_NAME", "7:12"), (S, "8:12")]),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "body", "expected"), ALONE.values(), ids=ALONE)
def test_expressions_are_parsed_without_types(project, kind, body, expected):
    checked, findings = check([project(kind, body)])
    assert told(findings) == expected
    assert bool(checked) == (not expected)


def test_expressions_are_parsed_with_the_shapes_of_all_files(project, tmp_path):
    (tmp_path / "g.yaml").write_text(HEADS["drift"] + "at: '('\neffects: []\n")
    _, findings = check([project("agent", "score: (\n"), "g.yaml", "walk"])
    assert [(one.span and one.span.file, one.code) for one in findings] == [
        ("f.yaml", S),
        ("g.yaml", S),
        ("g.yaml", "E_SPEC_VALUE"),
    ]


N, T, F = "E_EXPR_UNKNOWN_NAME", "E_EXPR_TYPE", "E_EFFECT_TARGET"
GO = "actions: {go: {effects: [{set: x, to: x + 1}]}}\n"

# what follows the head of the world: what is found, each mistake once
WORLD = {
    "a wrong condition hides no effects": (
        "actions:\n  go:\n    when: a\n    effects: [{set: x, to: b}]\n    otherwise: [{set: x, to: c}]\n",
        [(N, "6:11"), (N, "7:28"), (N, "8:30")],
    ),
    "a wrong let hides nothing, and what reads it is no mistake": (
        "actions:\n  go:\n    let: {a: nope, b: a + 1, c: b + nought}\n    when: a > 0\n"
        "    effects: [{set: x, to: a + b}, {set: x, to: b + d}]\n    outcome: {o: c + 1}\nrecord: {r: outcome.o + e}\n",
        [(N, "6:14"), (N, "6:37"), (N, "8:53"), (N, "10:25")],
    ),
    "a let of the wrong type": ("actions: {go: {let: {a: 1 + 'b', c: a + 1}, effects: [{set: x, to: c + a}]}}\n", [(T, "4:25")]),
    "lets in a circle": (
        "actions: {go: {let: {a: b + n, b: a, c: b}, effects: [{set: x, to: c}, {set: x, to: d}]}}\n",
        [("E_LET_CYCLE", "4:25"), (N, "4:29"), (N, "4:85")],
    ),
    "a wrong target hides nothing of its effect": (
        "actions: {go: {effects: [{set: y, to: a, when: b}, {put: x, key: c, value: d}, {append: y, value: e}]}}\n",
        [(F, "4:32"), (N, "4:39"), (N, "4:48"), (F, "4:58"), (N, "4:66"), (N, "4:76"), (F, "4:89"), (N, "4:99")],
    ),
    "a wrong target of elements": (
        "actions:\n  go:\n    effects:\n      - {remove: y, as: o, where: o.p == a}\n"
        "      - {each: kept, as: o, where: o == b, update: {p: c}}\n",
        [(F, "7:18"), (N, "7:42"), (F, "8:9"), (N, "8:41"), (N, "8:56")],
    ),
    "a wrong condition of an effect": ("actions: {go: {effects: [{set: x, when: a, to: b}]}}\n", [(N, "4:41"), (N, "4:48")]),
    "a type that means nothing": (
        "types: {t: intt}\ninputs: {i: t}\nactions: {go: {args: {a: wat}, effects: [{set: x, to: a + i + b}]}}\n",
        [("E_DECLARATION", "5:13"), ("E_DECLARATION", "6:26"), (N, "6:63")],
    ),
    "a constant that means nothing": (
        "constants: {C: [1, 'a']}\nactions: {go: {effects: [{set: x, to: 'C[0] + b'}]}}\nstart: {x: 'C[1]'}\n",
        [("E_DECLARATION", "4:13"), (N, "5:47")],
    ),
    "a function that nothing calls": (
        "functions: {h: {args: [a], is: a + nope}, g: {args: [a], is: 'a + (1 + ''b'')'}}\n" + GO,
        [(N, "4:36"), (T, "4:68")],
    ),
    "a function that nothing calls is sound for some arguments": (
        "functions:\n  f: {args: [a], is: 'a.b[0] + x'}\n  g: {args: [a], is: f(a) + action.by + next.x}\n"
        "  h: {args: [a], is: 'a.exists(e, e.p == x) && size(label) > 0'}\nobserve: {label: \"'b'\"}\n" + GO,
        [],
    ),
    "a function that only another one calls is told once": (
        "functions: {g: {args: [], is: h(1) + h(2)}, h: {args: [a], is: a + nope}}\n" + GO,
        [(N, "4:68")],
    ),
    "a function that calls itself, and that nothing else calls": (
        "functions: {f: {args: [], is: f() + 1}}\n" + GO,
        [("E_EXPR_RECURSION", "4:31")],
    ),
    "functions and derived values in rings, and what leads to one": (
        "functions: {f: {args: [a], is: g(a)}, g: {args: [a], is: f(a)}, h: {args: [a], is: f(a)}}\n"
        "derived: {d: e + 1, e: d + 1}\n" + GO,
        [("E_EXPR_RECURSION", "4:32"), ("E_EXPR_RECURSION", "5:14")],
    ),
    "a mistake of a function that is called often is told once": (
        "functions: {f: {args: [a], is: a + 'b'}}\nactions: {go: {effects: [{set: x, to: f(1)}, {set: x, to: f(x)}]}}\n",
        [(T, "4:32")],
    ),
    "a wrong argument hides nothing of the function": (
        "functions: {f: {args: [a], is: a + (1 + 'b')}}\nactions: {go: {effects: [{set: x, to: f(nope)}]}}\n",
        [(T, "4:37"), (N, "5:41")],
    ),
    "a derived value that nothing reads": ("derived: {d: x + nope, e: d}\n" + GO, [(N, "4:18")]),
    "a derived value that is read through the next state": ("derived: {d: x + 1}\n" + GO + "record: {r: next.d}\n", []),
    "a function of CEL's own cannot be defined": ("functions: {duration: {args: [a], is: a}}\n" + GO, [("E_NAME_TAKEN", "4:13")]),
    "a start value without a field": (GO + "start: {y: a, x: b}\n", [(N, "5:12"), ("E_WORLD_START", "5:12"), (N, "5:18")]),
    "a focus variable whose value is wrong": (
        GO + "variables: {v: {read: nope, require: value > a, effects: [{set: x, to: value + b}]}}\n",
        [(N, "5:23"), (N, "5:46"), (N, "5:80")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), WORLD.values(), ids=WORLD)
def test_a_mistake_of_a_world_hides_no_other(project, body, expected):
    _, findings = check([project("world", body)])
    assert told(findings) == expected


# the kind that is changed, what follows its head there: what is found in the scenario that uses it
USED = {
    "a governor's claim that means nothing": (
        "governor",
        "claims: {c: wat}\nlet: {l: nope}\ngates: [{id: a, deny: proposal.c + l > y, reason: b}]\nchoose: {maximise: z}\n",
        [("E_DECLARATION", "3:13"), (N, "4:10"), (N, "5:40"), (N, "6:20")],
    ),
    "a governor's function that nothing calls": (
        "governor",
        "functions: {f: {args: [], is: nope}}\ngates: []\nchoose: {maximise: 0}\n",
        [(N, "3:31")],
    ),
    "an agent's candidate that is no action": (
        "agent",
        "score: a\nlet: {l: b}\neach: {e: l + c}\n",
        [(N, "4:8"), (N, "5:10"), (N, "6:15")],
    ),
    "an agent that cannot predict": (
        "agent",
        "predicts: true\nscore: next.x + a\nfunctions: {f: {args: [], is: b}}\n",
        [("E_AGENT_PREDICTS", "4:11"), (N, "5:17"), (N, "6:31")],
    ),
    "a drift that draws from nothing": (
        "drift",
        "at: t == a\ndraw: {d: {from: nope, stream: s}}\neffects: [{set: x, to: d + b}]\n",
        [(N, "3:10"), (N, "4:18"), (N, "5:28")],
    ),
}


@pytest.mark.parametrize(("kind", "body", "expected"), USED.values(), ids=USED)
def test_a_mistake_of_another_kind_hides_no_other(project, tmp_path, kind, body, expected):
    name = HEADS[kind].split("name: ")[1].split("\n")[0]
    (tmp_path / "specs" / kind / f"{name}.yaml").write_text(HEADS[kind] + body)
    _, findings = check([project("scenario", "drift: [gust]\n")])
    assert told(findings) == expected


def test_a_ranking_and_its_facts(project):
    body = "let: {l: nope, m: l + 1}\nfactors: {f: {weight: 1, rules: [{add: 1, when: m > similarity + n}]}}\n"
    _, findings = check([project("ranking", body)])
    assert told(findings) == [(N, "3:10"), (N, "4:66")]
