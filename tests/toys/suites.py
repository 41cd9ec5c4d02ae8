"""Small suites for tests."""

from pathlib import Path


def suite_of_calls(folder: Path, name: str, **arms: str) -> str:
    """Write a suite that counts steps, with a scenario of each arm, and give its path."""
    runs = "".join(f"  {arm}: {{scenarios: [{scenario}]}}\n" for arm, scenario in arms.items())
    path = folder / f"{name}.yaml"
    path.write_text(
        f"spec: suite/v1\nname: {name}\nruns:\n{runs}"
        "measures: {length: size(steps)}\n"
        "figures: {calls: {sum: length}}\n"
        "checks:\n  - {id: any, require: calls.value >= 0, opportunities: calls.of}\n",
        encoding="utf-8",
    )
    return str(path)
