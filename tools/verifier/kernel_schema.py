"""The documents that pass between an agent and a kernel: the schemas of docs/kernel.md, written as small tuples.

A form is a tuple whose first word says what it is: `text` (least and most characters, and a pattern), `whole` (least
and greatest, None for none), `number` (the same; the only place for fractions), `list` (an item's form, least and most
items), `object` (forms by name, and the names that may be absent), `any` and `map` (any object). A set is its texts.
"""

import re

HASH = ("text", 64, 64, re.compile(r"[a-f0-9]{64}"))
UUID_FORM = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-5][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}")
UUID_TEXT = ("text", 36, 36, UUID_FORM)
ANYTHING, ANY_MAP = ("any",), ("map",)
NAME_TEXT, FLAG, SHARE = ("text", 1, 80, None), ("flag",), ("number", 0, 1)
COORDINATE = ("whole", 0, 255)


def closed(**members):
    """The form of an object that has exactly these members."""
    return ("object", members, frozenset())


def listed(form, least, most):
    """The form of a list."""
    return ("list", form, least, most)


RENAMED = {"self_": "self", "from_": "from", "type_": "type"}


def named(**members):
    """The same for members that Python has other words for: `from_` stands for `from`."""
    return ("object", {RENAMED.get(name, name): form for name, form in members.items()}, frozenset())


ENTITY = closed(
    id=NAME_TEXT,
    x=COORDINATE,
    y=COORDINATE,
    energy=("whole", 0, 100000),
    inventory=listed(NAME_TEXT, 0, 32),
    status=closed(alive=FLAG, stunned=FLAG),
)
THING = closed(id=NAME_TEXT, kind=NAME_TEXT, x=COORDINATE, y=COORDINATE, props=ANY_MAP)
HAZARD = closed(id=NAME_TEXT, kind=NAME_TEXT, x=COORDINATE, y=COORDINATE, severity=("whole", 1, 100))
TOOL = closed(id=NAME_TEXT, kind=NAME_TEXT, charges=("whole", 0, 100000))
SIDE = ("whole", 2, 256)
WALLS = listed(closed(x=COORDINATE, y=COORDINATE), 0, 65536)
ENVIRONMENT = named(
    tick=("whole", 0, 1000000),
    grid=closed(w=SIDE, h=SIDE, walls=WALLS),
    self_=ENTITY,
    agents=listed(ENTITY, 0, 64),
    objects=listed(THING, 0, 256),
    hazards=listed(HAZARD, 0, 256),
    tools=listed(TOOL, 0, 64),
    rng_seed=("text", 1, 64, None),
)
PLAN = closed(
    steps=listed(
        closed(op={"move", "wait", "pickup", "drop", "signal", "use_tool", "noop"}, args=ANY_MAP),
        1,
        64,
    )
)
SCOPE_FORM = closed(
    allowed_ops=listed(NAME_TEXT, 1, 16),
    rate_limit=closed(max_calls=("whole", 1, 1000), per_ms=("whole", 1, 86400000)),
    expiry_ms=("whole", 1, 864000000),
)
REQUEST = closed(
    capability={"move", "pickup", "drop", "signal", "use_tool", "actuate_physical_stub"},
    scope=SCOPE_FORM,
    justification=("text", 1, 2000, None),
)
NODE = closed(
    id=("whole", 0, 1000000),
    kind={"assumption", "inference", "simulation", "evaluation", "observation"},
    summary=("text", 1, 2000, None),
    payload=ANY_MAP,
)
PLACE_NUMBER = ("whole", 0, None)
EDGE = named(from_=PLACE_NUMBER, to=PLACE_NUMBER, type_={"supports", "assumes", "derives", "simulates", "evaluates"})
SNAPSHOT = closed(
    fork_id=NAME_TEXT,
    state_digest=HASH,
    focus_vars=listed(NAME_TEXT, 1, 64),
    commitment=HASH,
    nonce_ref=("text", 1, 120, None),
)
CLAIM = closed(
    var=NAME_TEXT,
    direction={"increase", "decrease", "threshold", "categorical"},
    expected_effect_on_choice=("text", 1, 500, None),
    confidence=SHARE,
    supporting_nodes=listed(PLACE_NUMBER, 1, 64),
)
COUNTERFACTUAL = closed(
    cf_id=NAME_TEXT,
    base_state_digest=HASH,
    mutation=closed(var=NAME_TEXT, new_value=ANYTHING),
    predicted_outcome=closed(choice=NAME_TEXT, score=("number", -1000000000, 1000000000)),
    prob_mass=SHARE,
)
TRACE = closed(
    trace_version={"0.2"},
    trace_commit=HASH,
    nodes=listed(NODE, 1, 2048),
    edges=listed(EDGE, 0, 4096),
    fork_snapshots=listed(SNAPSHOT, 0, 64),
    causal_claims=listed(CLAIM, 0, 64),
    counterfactuals=listed(COUNTERFACTUAL, 1, 128),
)
PAYLOAD = (
    "object",
    {
        "intent": ("text", 1, 2000, None),
        "plan": PLAN,
        "constraints": listed(("text", 1, 500, None), 0, 64),
    },
    frozenset({"constraints"}),
)
PROPOSAL = closed(
    proposal_id=UUID_TEXT,
    proposal_type={"action", "self_modify", "delegate", "capability_request"},
    env=ENVIRONMENT,
    payload=PAYLOAD,
    trace=TRACE,
    requested_capabilities=listed(REQUEST, 0, 16),
)


def fits_form(value, form):
    """Whether a value is of a form; true, false and numbers are three different things."""
    if isinstance(form, set):
        return isinstance(value, str) and value in form
    kind = form[0]
    if kind == "any":
        return True
    if kind == "map":
        return isinstance(value, dict)
    if kind == "flag":
        return isinstance(value, bool)
    if kind == "text":
        long = isinstance(value, str) and form[1] <= len(value) <= form[2]
        return long and (form[3] is None or form[3].fullmatch(value) is not None)
    if kind in ("whole", "number"):
        return _in_range(value, form)
    if kind == "list":
        long = isinstance(value, list) and form[2] <= len(value) <= form[3]
        return long and all(fits_form(one, form[1]) for one in value)
    return _fits_object(value, form)


def _in_range(value, form):
    kinds = (int,) if form[0] == "whole" else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        return False
    return (form[1] is None or value >= form[1]) and (form[2] is None or value <= form[2])


def _fits_object(value, form):
    _, members, spare = form
    if not isinstance(value, dict) or not value.keys() <= members.keys():
        return False
    if not members.keys() - spare <= value.keys():
        return False
    return all(fits_form(inner, members[name]) for name, inner in value.items())


def form_inside(form, key):
    """The form of a member or an item; None where nothing is said of it."""
    if form is None or isinstance(form, set):
        return None
    if form[0] == "object":
        return form[1].get(key)
    return form[1] if form[0] == "list" else None
