"""The sources of a bundle, resolved again: they give exactly the specs that are recorded, and nothing of them is idle.

Nothing is read but the listed files. What differs refutes the evidence; what is written in a way that this file does
not judge is not checked, and that is said.
"""

import re

from tools.verifier.basis import CRASHES, KNOWN_VERSION, MEBI, Open, demand, plain, tagged, write
from tools.verifier.listed import ORIGIN, check_sources
from tools.verifier.shape_check import SHAPES
from tools.verifier.sources_form import (
    REFERENCES,
    inner_shapes,
    mappings_in,
    place_name,
    resolved_mapping,
    shape_of_key,
)
from tools.verifier.sources_merge import (
    bound_params,
    cases_of,
    declared_params,
    filled_in,
    laid_over,
    same_arguments,
    used_with,
)
from tools.verifier.sources_set import Handed, changed_at, read_change
from tools.verifier.values import BUDGET
from tools.verifier.yaml_read import read_yaml
from tools.verifier.yaml_scalars import unreadable

SOURCES_CHECK = "the sources of the specs give these specs"
MOST_LINKS_OF_A_CHAIN, MOST_INSIDE = 32, 32
ENDINGS = (".yaml", ".yml")
SPEC_HEAD = re.compile(r"([a-z][a-z0-9_-]*)/v1")


class Sources:
    """Resolves the documents of a bundle: `files` are their bytes by their paths, `origin` says how."""

    def __init__(self, origin, files):
        self.origin, self.files = origin, files
        self.links = {(one["from"], one["kind"], one["target"]): one["to"] for one in origin["links"]}
        self.idle = set(self.links)
        self.read, self.merged, self.done, self.specs, self.inside = {}, {}, {}, {}, []

    def document(self):
        """What they give, as specs.json holds it."""
        given, changes = {}, []
        for steps, value in map(read_change, self.origin["set"]):
            if len(steps) == 2 and steps[0] == "with":
                given[steps[1]] = value
            elif steps[0] in ("with", "extends", "params", "matrix"):
                unreadable(f"{steps[0]} is no part of a resolved spec")
            else:
                changes.append((steps, value))
        main = self.origin["main"]
        params, matrix, _ = self.template(main)
        cases = cases_of(matrix, params)
        if any(name in case for case in cases.values() for name in given):
            unreadable("a change gives an axis of the matrix")
        if self.origin["case"] not in cases:
            unreadable(f"there is no case {self.origin['case']!r}")
        root = self.spec(main, {**given, **cases[self.origin["case"]]}, tuple(changes))
        unread = sorted(set(self.files) - set(self.read))
        if unread or self.idle:
            unreadable(f"nothing leads to {unread[0] if unread else sorted(self.idle)[0][2]}")
        return {"root": root, "specs": self.reached(root)}

    def reached(self, root):
        """The specs that one needs, directly or not, by their keys."""
        made, todo = {}, [root]
        while todo:
            key = todo.pop()
            if key not in made:
                made[key], needed = self.specs[key]
                todo += needed
        return made

    # Documents

    def parsed(self, path):
        """A document with a right head."""
        if path not in self.read:
            value = read_yaml(self.files[path], path)
            head = value.get("spec") if isinstance(value, dict) else None
            match = SPEC_HEAD.fullmatch(head) if isinstance(head, str) else None
            known = match is not None and (match[1], "Document") in SHAPES
            if not known or next(iter(value)) != "spec" or "name" not in value:
                unreadable(f"{path} has no head of a spec")
            if match[1] != path.partition("/")[0]:
                unreadable(f"{path} is of the kind {match[1]}")
            BUDGET.spend(len(self.files[path]) // 10)
            self.read[path] = value
        return self.read[path]

    def found(self, target, kind):
        """The path of the document that a reference leads to; its name is that of the reference."""
        source = target.file if getattr(target, "file", None) in self.files else self.origin["main"]
        own = next((path for path in (f"{kind}/{target}{end}" for end in ENDINGS) if path in self.files), None)
        place = (source, kind, str(target))
        self.idle.discard(place)
        path = self.links.get(place, own)
        if path is None or (place in self.links and path == own):
            unreadable(f"the reference {target[:80]!r} leads nowhere, or the link that it follows says nothing")
        name = self.parsed(path)["name"]
        meant = target.endswith(ENDINGS) or not isinstance(name, str) or name == target
        if path.partition("/")[0] != kind or not meant:
            unreadable(f"{path} is not what {target[:80]!r} refers to")
        return path

    def whole(self, path, chain=()):
        """A document laid over what it extends."""
        if path not in self.merged:
            value = self.parsed(path)
            if "extends" in value:
                target = value["extends"]
                if not isinstance(target, str):
                    unreadable(f"{path} extends what is no name")
                base = self.found(target, path.partition("/")[0])
                if base in (*chain, path) or len(chain) >= MOST_LINKS_OF_A_CHAIN - 1:
                    unreadable(f"{path} extends itself, or too many others")
                value = laid_over(self.whole(base, (*chain, path)), value)
                value = {key: one for key, one in value.items() if key != "extends"}
            self.merged[path] = value
        return self.merged[path]

    def template(self, path):
        """The parameters, the matrix and the rest of a document."""
        rest = dict(self.whole(path))
        params, matrix = rest.pop("params", None), rest.pop("matrix", None)
        return declared_params(params), matrix, rest

    # Specs

    def spec(self, path, given, changes):
        """The key of the spec that a document becomes with these arguments and changes."""
        params, _, rest = self.template(path)
        values = bound_params(params, given, path)
        identity = (path, same_arguments(values), repr(changes))
        if identity not in self.done:
            self.inside.append(path)
            self.done[identity] = self.made(path, filled_in(rest, values), changes)
            self.inside.pop()
        return self.done[identity]

    def made(self, path, root, changes):
        """The key of the spec that a filled-in document becomes with these changes."""
        kind = path.partition("/")[0]
        for steps, value in changes:
            root = changed_at(root, [("@Document", None)], kind, steps, value)
        needed = []
        root = self.with_keys(root, "@Document", kind, needed)
        data = resolved_mapping(root, "Document", kind)
        text = write(data)
        BUDGET.spend(len(text) // 10)
        key = f"{kind}/{data['name']}@{tagged('spec', text)[:16]}"
        self.specs[key] = data, needed
        return key

    def with_keys(self, value, shape, kind, needed):
        """A value with the keys of specs in place of references; the keys are added to `needed`."""
        if isinstance(value, list):
            inner = inner_shapes(shape, "[")
            return [self.with_keys(one, inner[0], kind, needed) for one in value] if inner else value
        if not isinstance(value, dict):
            return value
        made = dict(value)
        names, inner = mappings_in(shape), inner_shapes(shape, "{")
        for key, member in value.items():
            for name in names:
                within = shape_of_key(kind, name, key)
                meant = REFERENCES.get(place_name(kind, name, key))
                if meant is not None and within is not None:
                    listed = isinstance(member, list) and inner_shapes(within, "[")
                    follow = [self.followed(one, meant, needed) for one in member] if listed else None
                    made[key] = follow if listed else self.followed(member, meant, needed)
                    break
                if within is not None:
                    made[key] = self.with_keys(member, within, kind, needed)
                    break
            else:
                made[key] = self.with_keys(member, inner[0], kind, needed) if inner else member
        return made

    def followed(self, value, kind, needed):
        """The key of the spec that a reference leads to; what is no reference stays what it is."""
        changes = value.changes if isinstance(value, Handed) else ()
        value = value.value if isinstance(value, Handed) else value
        used = used_with(value)
        if used is None:
            return value
        path = self.found(used[0], kind)
        if path in self.inside or len(self.inside) >= MOST_INSIDE:
            unreadable(f"{path} refers to itself, or references are nested too deeply")
        if self.template(path)[1] is not None:
            unreadable(f"{path} is referred to, and has a matrix")
        needed.append(self.spec(path, used[1], changes))
        return needed[-1]


def sources_again(bundle):
    """The sources have their form, and give the specs that are recorded."""
    origin, code = check_sources(bundle), "E_SOURCES"
    if bundle.manifest["engine"]["version"] != KNOWN_VERSION:
        raise Open(code, f"they were resolved by version {bundle.manifest['engine']['version']}, unknown to this file")
    names = [path for path in bundle.sources if path != ORIGIN]
    files = {path[len("specs/") :]: plain(bundle.place / path, code, MEBI) for path in names}
    try:
        made = Sources(origin, files).document()
    except CRASHES as error:
        raise Open(code, f"this file cannot resolve them: {error!r}"[:200]) from None
    demand(write(made) == write(bundle.specs), code, "they give other specs than those that are recorded")
