"""Sets of e-mail addresses: one of a domain, or one that the user named."""

import json

import pytest

from tests.wings.trajectories.test_scan import chat

RULES = """
spec: policy/v1
name: mail
sets: {{ours: ["{element}"]}}
rules:
  it:
    when: {{tool: send}}
    each: args.to
    as: email
    {demand}: [{sources}]
"""
DEMANDS = {"from": "request, {set: ours}", "not_from": "{set: ours}"}
ADDRESSES = {
    "Xenia <XENIA@our.example>": True,
    "xenia@sub.our.example": False,
    "our.example@else.example": False,
    "xenia@our.example.else": False,
    "xenia@notour.example": False,
}


@pytest.mark.parametrize("demand", DEMANDS)
@pytest.mark.parametrize("address", ADDRESSES)
def test_a_domain_stands_for_its_addresses_alone(spec, tmp_path, monkeypatch, address, demand):
    monkeypatch.chdir(tmp_path)
    text = RULES.format(element="*@Our.example", demand=demand, sources=DEMANDS[demand])
    (tmp_path / "rules.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "chat.json").write_text(chat(("send", {"to": [address]})), encoding="utf-8")
    done = spec("scan", "chat.json", "--policy", "rules.yaml", "--output", "json")
    held = ADDRESSES[address] is (demand == "from")
    assert json.loads(done.out)["verdict"] == ("PASS" if held else "FAIL")


@pytest.mark.parametrize("element", ["*@*.example", "ann*@our.example", "*@our.*"])
def test_another_star_is_an_error_with_a_hint(spec, tmp_path, monkeypatch, element):
    monkeypatch.chdir(tmp_path)
    text = RULES.format(element=element, demand="from", sources=DEMANDS["from"])
    (tmp_path / "rules.yaml").write_text(text, encoding="utf-8")
    done = spec("check", "rules.yaml")
    assert done.status == 2
    assert "rules.yaml:4:15: error[E_POLICY_VALUE]" in done.err
