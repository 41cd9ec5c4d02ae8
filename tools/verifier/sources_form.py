"""What the shapes of specs leave open: which values are references, and which are left out as they are the default.

A spec in its resolved form has no value that equals its default; a default of null, an empty list or an empty mapping
follows from the shape. Expressions are texts, fixed-point numbers the shortest decimal text, other numbers with a
fraction `{"$double": text}`.
"""

import re
from decimal import Decimal

from tools.verifier.shape_check import SHAPES, alternatives
from tools.verifier.yaml_scalars import unreadable

FIXED_ONE = 1_000_000
DECIMAL_TEXT = re.compile(r"-?[0-9]{1,10}(?:\.[0-9]{1,6}0{0,20})?", re.ASCII)

# Where references stand, of a document `kind.key`, of a mapping inside of one `Mapping.key`; and the kind meant.
REFERENCES = {
    line.split()[0]: line.split()[1]
    for line in """\
        Admission.vocabulary vocabulary|Arm.agent agent|Arm.drift drift|Arm.governor governor|Arm.invariants invariant
        Arm.scenarios scenario|Arm.world world|Cassette.records model|HeldOut.universes universe|Mutant.agent agent
        Mutant.drift drift|Mutant.governor governor|Mutant.invariants invariant|Mutant.suite suite|Mutant.world world
        Narration.by agent|Narration.declares agent|Part.world world|discovery.expect law|discovery.model model
        discovery.prompt prompt|discovery.ranking ranking|discovery.templates template|discovery.universe universe
        governor.invariants invariant|law.template template|law.universe universe|scenario.agent agent
        scenario.drift drift|scenario.governor governor|scenario.invariants invariant|scenario.probes probe
        scenario.world world""".replace("\n", "|").split("|")
}

DEFAULTS = {
    **dict.fromkeys(("Action.when", "Attempts.require", "Candidate.when", "EachEffect.where", "Gate.when"), "true"),
    **dict.fromkeys(("Variable.require", "Write.when", "drift.when", "invariant.when", "probe.when"), "true"),
    **dict.fromkeys(("Proposer.add_to_redundancy_filter", "Proposer.include_counterexamples"), True),
    **dict.fromkeys(("Redundancy.equivalent", "GeminiConfig.json_mode"), True),
    **dict.fromkeys(("Factor.subtract", "Proposer.strict_parsing", "Transform.reflect"), False),
    **dict.fromkeys(("agent.predicts", "law.strict"), False),
    **dict.fromkeys(("Arms.placebo", "Arms.same", "Generator.first", "Generator.weight", "HeldOut.mutants"), 0),
    **dict.fromkeys(("HeldOut.mutations", "Maze.loops", "Steps.from", "scenario.seed", "suite.seed"), 0),
    **dict.fromkeys(("Challenge.repeats", "Chart.unit", "Draw.least", "Draw.most", "Narration.steps"), 1),
    **dict.fromkeys(("ScriptedLaws.times", "ScriptedText.times", "discovery.lag", "scenario.episodes"), 1),
    **dict.fromkeys(("MemoryLimits.max_counterexamples", "MemoryLimits.max_falsified"), 20),
    **dict.fromkeys(("MemoryLimits.max_unknown", "discovery.iterations"), 20),
    **dict.fromkeys(("discovery.seed", "law.seed"), 42),
    **dict.fromkeys(("Effort.T", "Quantifiers.T"), 50),
    **dict.fromkeys(("Effort.cases", "law.cases"), 300),
    **dict.fromkeys(("Effort.mutations", "law.mutations"), 1500),
    **dict.fromkeys(("Admission.watchdog_ms", "Escalation.T", "Outside.deadline_ms"), 200),
    **dict.fromkeys(("Escalation.cases", "Outside.start_ms"), 2000),
    **dict.fromkeys(("Factor.least", "Factor.start", "Transform.shift"), "0"),
    **dict.fromkeys(("Figure.at", "GeminiConfig.top_p"), "0.95"),
    "Admission.ms_per_tick": 100,
    "Admission.signature": "secret",
    "Challenge.on": "here",
    "Escalation.every": 5,
    "Escalation.mutations": 5000,
    "Factor.most": "1",
    "Figure.along": "episode",
    "GeminiConfig.deadline_ms": 60_000,
    "GeminiConfig.max_output_tokens": 8192,
    "GeminiConfig.model": "gemini-2.5-flash",
    "GeminiConfig.retries": 3,
    "GeminiConfig.temperature": "0.7",
    "GeminiConfig.top_k": 40,
    "HeldOut.cases": 100,
    "Map.vary": "run",
    "Memory.scope": "episode",
    "MemoryLimits.max_accepted": 30,
    "Narration.claims": 3,
    "Part.sort": "bool",
    "Proposer.max_token_budget": 8000,
    "Redundancy.threshold": "0.9",
    "Request.count": 5,
    "Script.then": "exhausted",
    "ScriptedFailure.detail": "",
    "Steps.to": "T",
    "Token.shape": "disc",
    "invariant.scope": "step",
    "invariant.severity": "fatal",
    "law.schema_version": "1.0.0",
    "ranking.sensitivity": "0.2",
    "scenario.commit": "proposals",
    "suite.replay": "none",
    "suite.resamples": 999,
}


def place_name(kind, name, key):
    """How the tables above call a key of a mapping."""
    return f"{kind if name == 'Document' else name}.{key}"


def keys_of_mapping(kind, name):
    """The shapes of a mapping by its keys; those that must be there end with `!`."""
    return SHAPES[(kind, name)] if (kind, name) in SHAPES else SHAPES[("", name)]


def shape_of_key(kind, name, key):
    """The shape of one key of a mapping, None if it has none of that name."""
    keys = keys_of_mapping(kind, name)
    return keys.get(key) or keys.get(f"{key}!")


def mappings_in(shape):
    """The names of the mappings that a shape has among its alternatives."""
    return [one[1:] for one in alternatives(shape) if one[0] == "@"]


def inner_shapes(shape, sign):
    """The shapes of the members of the lists, or of the mappings of names, among the alternatives of a shape."""
    return [one[1:-1] for one in alternatives(shape) if one[0] == sign]


def resolved_form(value, shape, kind):
    """A value as the resolved form has it; one that is not of its shape stays what it is."""
    words = alternatives(shape)
    if isinstance(value, dict):
        fitting = (name for name in mappings_in(shape) if suits(value, kind, name))
        name = next(fitting, None)
        if name is not None:
            return resolved_mapping(value, name, kind)
        inner = inner_shapes(shape, "{")
        return free_form(value) if not inner else {k: resolved_form(v, inner[0], kind) for k, v in free_keys(value)}
    if isinstance(value, list):
        inner = inner_shapes(shape, "[")
        return free_form(value) if not inner else [resolved_form(one, inner[0], kind) for one in value]
    if value is not None and "e" in words:
        return expression_text(value)
    if value is not None and {*words} - {"0"} == {"n", "s"}:
        return fixed_text(value)
    return free_form(value)


def suits(value, kind, name):
    """Whether a mapping has the keys that one of this name must have."""
    return all(key[:-1] in value for key in keys_of_mapping(kind, name) if key.endswith("!"))


def resolved_mapping(value, name, kind):
    """A mapping of a known name without the values that are defaults."""
    made = {}
    for key, member in free_keys(value):
        shape = shape_of_key(kind, name, key)
        made[key] = free_form(member) if shape is None else resolved_form(member, shape, kind)
        if shape is not None and key in keys_of_mapping(kind, name) and is_default(made[key], shape, kind, name, key):
            del made[key]
    return made


def is_default(value, shape, kind, name, key):
    """Whether a value in the resolved form is what stands for it if it is left out."""
    if "0" in alternatives(shape):
        return value is None
    if isinstance(value, (list, dict)):
        return not value
    default = DEFAULTS.get(place_name(kind, name, key))
    return type(default) is type(plainly(value)) and default == value


def plainly(value):
    """A text without the file that it is of."""
    return str(value) if isinstance(value, str) else value


def expression_text(value):
    """An expression as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else str(value)


def fixed_millionths(value):
    """A decimal number of units as an integer of millionths, None if it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    text = str(value) if isinstance(value, str) else format(Decimal(repr(value)), "f")
    return int(Decimal(text) * FIXED_ONE) if DECIMAL_TEXT.fullmatch(text) else None


def fixed_text(value):
    """A fixed-point number as the shortest decimal text; what is none stays what it is."""
    scaled = fixed_millionths(value)
    if scaled is None:
        return free_form(value)
    whole, rest = divmod(abs(scaled), FIXED_ONE)
    return "-" * (scaled < 0) + str(whole) + (f".{rest:06d}".rstrip("0") if rest else "")


def free_form(value):
    """A value of any sort, numbers with a fraction marked."""
    if isinstance(value, float):
        return {"$double": repr(value)}
    if isinstance(value, list):
        return [free_form(one) for one in value]
    return {key: free_form(one) for key, one in free_keys(value)} if isinstance(value, dict) else value


def free_keys(value):
    """The members of a mapping, none of which may have the key that marks numbers."""
    if "$double" in value:
        unreadable("the key $double is reserved")
    return value.items()
