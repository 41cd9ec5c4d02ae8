"""The folders of specs, schemas and documentation that come with the package, installed or in a checkout."""

from pathlib import Path

import specledger


def find_data() -> Path | None:
    """The folder that holds `specs/` and `schemas/`, or None where neither place has them."""
    package = Path(specledger.__file__).resolve().parent
    places = (package / "_data", package.parents[1])  # installed; in a checkout, whose source root is engine/
    return next((folder for folder in places if (folder / "specs").is_dir() and (folder / "schemas").is_dir()), None)


def find_specs() -> Path | None:
    """The folder of the shipped specs: one folder a kind, one file a spec, the file named as the spec."""
    data = find_data()
    return None if data is None else data / "specs"


def find_schemas() -> Path | None:
    """The folder of the shipped JSON Schemas."""
    data = find_data()
    return None if data is None else data / "schemas"


def find_docs() -> Path | None:
    """The folder of the documentation."""
    data = find_data()
    return None if data is None or not (data / "docs").is_dir() else data / "docs"
