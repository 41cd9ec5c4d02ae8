"""Write the shapes of specs for the one-file verifier from the JSON Schemas: `python -m tools.shapes`.

`schemas/kinds` says what an author may write. What is recorded is resolved: without `extends`, `params`, `matrix` and
placeholders, and with the key of a spec for each reference. What is left of the schemas becomes the table of
`tools/verifier/shapes.py`; a test compares it with them.
"""

import json
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parents[1] / "schemas" / "kinds"
TARGET = Path(__file__).resolve().parent / "verifier" / "shapes.py"
AUTHORS = ("extends", "params", "matrix")
WIDTH = 120
HEAD = '''"""The shapes of recorded specs: made from schemas/kinds by `python -m tools.shapes`, and not to be edited.

A line names a mapping and gives the shape of each of its keys; a key with `!` must be there. Mappings before the first
`# kind` are those of all kinds, the others of one; `Document` is the spec itself. A shape: `s` text, `b` boolean, `n`
number, `e` an expression, `0` null, `*` anything, `i1:9` an integer of a range (an end may be left out), `=a` a word,
`[x]` a list, `{x}` a mapping of names, `@Name` one of the mappings; several with `|` between them are alternatives.
"""

SHAPE_TEXT = """\\
'''


def shape(schema: object, names: dict[str, str]) -> str:
    """The shape of a JSON Schema; `names` collects the definitions that it refers to."""
    if not isinstance(schema, dict) or not schema:
        return "*"
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in ("Placeholder", "Use"):
            return ""
        names.setdefault(name, "")
        return f"@{name}"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return "|".join(dict.fromkeys(one for one in (shape(part, names) for part in schema[key]) if one))
    if "const" in schema:
        return f"={schema['const']}"
    if "enum" in schema:
        return "|".join(f"={one}" for one in schema["enum"])
    types = schema["type"] if isinstance(schema.get("type"), list) else [schema.get("type")]
    return "|".join(_plain(schema, one, names) for one in types)


def _plain(schema: dict[str, object], type_: object, names: dict[str, str]) -> str:
    if type_ == "integer":
        low, high = schema.get("minimum", ""), schema.get("maximum", "")
        return f"i{low}:{high}"
    if type_ == "array":
        return f"[{shape(schema.get('items'), names)}]"
    if type_ == "object":
        patterns = schema.get("patternProperties") or {"": schema.get("additionalProperties")}
        assert isinstance(patterns, dict)
        return f"{{{shape(next(iter(patterns.values())), names)}}}"
    words = {"string": "s", "boolean": "b", "number": "n", "null": "0"}
    return words.get(str(type_), "*")


def table() -> dict[str, dict[str, dict[str, str]]]:
    """By kind, by the name of a definition, by key: the shape."""
    found = {}
    for path in sorted(SCHEMAS.glob("*.schema.json")):
        definitions = json.loads(path.read_bytes())["definitions"]
        names = {"Document": ""}
        made: dict[str, dict[str, str]] = {}
        while left := sorted(set(names) - set(made)):
            for name in left:
                made[name] = _keys(definitions[name], names)
        found[path.name.partition(".")[0]] = dict(sorted(made.items()))
    return found


def _keys(definition: dict[str, object], names: dict[str, str]) -> dict[str, str]:
    properties, required = definition.get("properties"), definition.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return {"": shape(definition, names)}  # a definition that is no mapping stands for its shape
    keys = {key: one for key, one in sorted(properties.items()) if key not in AUTHORS}
    return {f"{key}{'!' if key in required else ''}": shape(one, names) for key, one in keys.items()}


def text() -> str:
    """The module: what several kinds have alike stands once."""
    kinds = table()
    said = {(name, _line(name, keys)) for made in kinds.values() for name, keys in made.items() if name != "Document"}
    shared = {
        one
        for one in said
        if sum(one[0] in made and _line(one[0], made[one[0]]) == one[1] for made in kinds.values()) > 1
    }
    lines = [line for _, line in sorted(shared)]
    for kind, made in kinds.items():
        own = [_line(name, keys) for name, keys in made.items() if (name, _line(name, keys)) not in shared]
        lines += [f"# {kind}", *own]
    return HEAD + "\n".join(lines) + '\n"""\n'


def _line(name: str, keys: dict[str, str]) -> str:
    """A mapping and its keys, on as many lines as it takes."""
    lines = [name]
    for key, one in keys.items():
        word = f"{key}:{one.replace(' ', '~').replace('s|n|b', 'e')}"
        if len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append(" ")
        lines[-1] += f" {word}"
    return "\n".join(lines)


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
