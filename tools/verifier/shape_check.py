"""Whether recorded specs have the shapes of their kinds: every key is one that the kind knows, every value of its sort.

Not looked at: how names, texts and numbers with a fraction are written, how long lists are, and what must go together.
"""

from tools.verifier.basis import demand
from tools.verifier.shapes import SHAPE_TEXT


def read_shapes(text):
    """The mappings by (kind, name); those of all kinds stand under every kind that has none of its own."""
    found, kind, name = {}, "", ""
    for line in text.split("\n"):
        words = line.split()
        if line.startswith("# "):
            kind = words[1]
        elif words:
            if not line.startswith(" "):
                name = words.pop(0)
            found.setdefault((kind, name), {}).update(word.split(":", 1) for word in words)
    return found


SHAPES = read_shapes(SHAPE_TEXT)
SHAPE_CLASSES = {"s": str, "b": bool, "0": type(None)}


def check_shapes(specs):
    """See that each spec has the shape of its kind."""
    for key, data in specs.items():
        kind = key.partition("/")[0]
        demand((kind, "Document") in SHAPES, "E_SPECS", f"there is no kind {kind!r}")
        wrong = misshaped(data, "@Document", kind, key)
        demand(wrong is None, "E_SPECS", f"{wrong} is not of the shape that its kind has")


def misshaped(value, shape, kind, place):
    """The first place that is not of its shape, None if all are."""
    words = alternatives(shape)
    found = [one_misshaped(value, word, kind, place) for word in words]
    if None in found:
        return None
    return max(found, key=len)


def alternatives(shape):
    """The alternatives of a shape; a bar inside of brackets parts nothing."""
    words, depth = [""], 0
    for one in shape:
        depth += (one in "[{") - (one in "]}")
        if one == "|" and depth == 0:
            words.append("")
        else:
            words[-1] += one
    return words


def one_misshaped(value, word, kind, place):
    """The same for one alternative."""
    head = word[0]
    if head in SHAPE_CLASSES and len(word) == 1:
        return None if type(value) is SHAPE_CLASSES[head] else place
    if head in "ne*" and len(word) == 1:
        number = type(value) in (int, float) or (isinstance(value, dict) and value.keys() == {"$double"})
        return None if head == "*" or number or (head == "e" and type(value) in (str, bool)) else place
    if head == "i":
        low, high = word[1:].split(":")
        inside = type(value) is int and (not low or value >= int(low)) and (not high or value <= int(high))
        return None if inside else place
    if head == "=":
        return None if value == word[1:].replace("~", " ") and isinstance(value, str) else place
    if head in "[{":
        fits_head = isinstance(value, list if head == "[" else dict)
        members = (enumerate(value) if head == "[" else value.items()) if fits_head else ()
        wrong = (misshaped(one, word[1:-1], kind, f"{place}.{key}") for key, one in members)
        return place if not fits_head else next((one for one in wrong if one is not None), None)
    return misshaped_mapping(value, word[1:], kind, place)


def misshaped_mapping(value, name, kind, place):
    """The same for a mapping of the table."""
    keys = SHAPES[(kind, name)] if (kind, name) in SHAPES else SHAPES[("", name)]
    if "" in keys:
        return misshaped(value, keys[""], kind, place)
    if not isinstance(value, dict):
        return place
    for key in sorted(value):
        shape = keys.get(key) or keys.get(f"{key}!")
        wrong = f"{place}.{key}" if shape is None else misshaped(value[key], shape, kind, f"{place}.{key}")
        if wrong is not None:
            return wrong
    missing = [key for key in keys if key.endswith("!") and key[:-1] not in value]
    return f"{place}.{missing[0][:-1]}" if missing else None
