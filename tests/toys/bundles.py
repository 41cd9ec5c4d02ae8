"""What lies in the folder of a bundle."""

import json


def files_of(place):
    """The bytes of every file in a folder by its path."""
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def receipts_of(place):
    """The receipts of a bundle."""
    return [json.loads(line) for line in (place / "receipts.jsonl").read_bytes().splitlines()]


def bodies_of(place, type_):
    """The bodies of the receipts of a type."""
    return [one["body"] for one in receipts_of(place) if one["type"] == type_]
