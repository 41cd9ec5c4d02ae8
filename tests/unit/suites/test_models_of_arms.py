"""A suite whose arms ask different models says so when it is checked."""

import pytest

ASKS = "spec: agent/v1\nname: asks-{name}\nextends: candid-start\noutside: {{model: ./{name}.yaml}}\n"
SCRIPT = "spec: model/v1\nname: {name}\nscripted: {{answers: [{{text: nothing}}], then: repeat}}\n"


@pytest.mark.medium
@pytest.mark.parametrize(
    ("candid", "covert", "said"),
    [
        ("first", "second", "the arms ask different models (candid: first; covert: second)"),
        ("first", "first", None),
        ("first", "kept", None),
    ],
    ids=["two models", "one model", "one model and its record"],
)
def test_arms_that_ask_different_models_are_named(candid, covert, said, tmp_path, spec):
    for name in ("first", "second"):
        (tmp_path / f"{name}.yaml").write_text(SCRIPT.format(name=name))
    (tmp_path / "kept.yaml").write_text(
        "spec: model/v1\nname: kept\ncassette: {records: ./first.yaml, file: kept.jsonl}\n"
    )
    for name in {candid, covert}:
        (tmp_path / f"asks-{name}.yaml").write_text(ASKS.format(name=name))
    arms = f"candid: {{agent: ./asks-{candid}.yaml}}, covert: {{agent: ./asks-{covert}.yaml}}"
    (tmp_path / "mine.yaml").write_text(f"spec: suite/v1\nname: mine\nextends: reasons-of-a-model\nruns: {{{arms}}}\n")
    checked = spec("check", str(tmp_path / "mine.yaml"))
    assert checked.out.count("W_SUITE_MODELS") + checked.err.count("W_SUITE_MODELS") == (said is not None)
    assert (said or "ok suite mine") in checked.out + checked.err
