"""Strict YAML -> typed, resolved `Bundle`: the only package that reads spec files.

`extends`, `params`, `matrix`, references and `--set` become one resolved form, in which each value knows where it was
written.

    from specledger.load import load
    from specledger.load.from_document import bundle_from_document

    bundle, *_ = load("specs/scenario/hazard.yaml", kinds, set=["horizon=5"])  # a Bundle per matrix case; or Rejected
    bundle.case                                  # "" or "seed=1,map=a"
    bundle.digest                                # hex; the same however the files share what they say
    scenario = bundle.main                       # Resolved of the spec that was asked for (bundle.root is its key)
    scenario.kind, scenario.name, scenario.model # "scenario", "hazard", the pydantic model (spec.scenario.Scenario)
    world = bundle.specs[scenario.refs["world",]]           # a reference's path -> key of another Resolved
    drift = bundle.specs[scenario.model.drift[0]]           # the model's own field holds the same key
    when = world.text("actions", "move", "when") # core.spans.Text of a scalar: each character knows its line and column
    place = world.span("actions", "move")        # core.spans.Span, e.g. for a Diagnostic about the whole action
    world.data                                   # plain resolved data, JSON-able, defaults left out, no floats
    document = bundle.document()                 # {"root": key, "specs": {key: data}}: what evidence stores
    again = bundle_from_document(document, kinds)  # no files touched; hostile input is Rejected; the same digest
    assert again.digest == bundle.digest
"""

from specledger.load.bundle import Bundle, Resolved
from specledger.load.from_files import load
from specledger.load.library import Search

__all__ = ["Bundle", "Resolved", "Search", "load"]
