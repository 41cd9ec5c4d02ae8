"""Limits and numbers that specs, evidence and programs of others rely on: another value takes or refuses other input."""

from importlib import import_module

import pytest

MIB = 1_048_576

LIMITS: dict[str, dict[str, float]] = {
    "core.canonical": {"MAX_INTEGER": 9_007_199_254_740_991, "MAX_DEPTH": 64, "LINE_LIMIT": MIB},
    "core.diagnostics": {"MOST_FINDINGS": 1000},
    "core.digest": {"DIGEST_SIZE": 32, "KEY_SIZE": 32},
    "core.entries": {"MOST_NOTES": 4000, "MOST_WITNESSES": 128, "MOST_TOKENS": 16},
    "core.floats": {"MOST_DECIMALS": 8},
    "core.log_json": {"MAX_VALUE_DEPTH": 56},
    "core.statistics": {"LEAST_CLUSTERS": 8},
    "core.volume": {"MAX_VOLUME": MIB},
    "core.weight": {
        "MAX_WEIGHT": 8_388_608,
        "MEMBER": 8,
        "LIST": 16,
        "OBJECT": 32,
        "MAX_FORM": 8_323_072,
        "MAX_FORM_VOLUME": 1_040_384,
    },
    "expr.limits": {
        "INT_MIN": -9_223_372_036_854_775_808,
        "INT_MAX": 9_223_372_036_854_775_807,
        "MAX_SOURCE": 8192,
        "MAX_NESTING": 32,
        "MAX_CHAIN": 32,
        "MAX_HEIGHT": 48,
        "MAX_ITEMS": 256,
        "MAX_LOOPS": 6,
        "MAX_EXPANDED_HEIGHT": 100,
        "MAX_EXPANDED_NODES": 20_000,
        "MAX_LIST": 65_536,
        "MAX_STRING": 65_536,
        "MAX_WORK": 2_000_000,
        "CHARACTERS_OF_WORK": 16,
        "MAX_MEMORY": 80_000_000,
        "MOST_SOURCE": 400_000,
    },
    "lang.choices": {"MOST_LABELS": 64},
    "lang.declare": {"FIELD_SIDE": 256, "MAX_PARTS": 4096, "MAX_DEPTH": 32},
    "lang.notation": {"MOST_TEXT": 400, "MOST_READINGS": 512},
    "lang.prompt_template": {"MOST_JSON": 65_536},
    "lang.statement": {"LONGEST_LINE": 110},
    "load.bundle": {"MAX_VALUES": 400_000, "MAX_EXPRESSIONS": MIB},
    "load.extends": {"MAX_CHAIN": 32},
    "load.input_filter": {"MAX_BYTES": MIB},
    "load.matrix": {"MAX_CASES": 4096},
    "load.plain_yaml": {"MOST_TEXT": 4_000_000, "MOST_DEPTH": 40, "MOST_NODES": 400_000},
    "load.resolve": {"MAX_SPECS": 8192, "MAX_NESTING": 32},
    "load.yaml_reader": {"MAX_DEPTH": 48, "MAX_NODES": 100_000},
    "spec.base": {"QFIXED_ONE": 1_000_000, "POLICY_MS": 200, "INTEGER_LIMIT": 9_007_199_254_740_991, "MAX_NAME": 120},
    "spec.model": {"MOST_TIMES": 10_000_000},
    "worlds.cells": {"MOST_RING": 512, "MOST_BALL": 64, "MOST_REACH": 64, "MOST_EDITED": 4},
    "worlds.drift": {"MAX_SCHEDULE": 200_000_000, "MAX_LISTED": 8_388_608},
    "worlds.maps": {"ATTEMPTS": 1000, "CELLS_DRAWN": 4_194_304, "MAX_SIDE": 256},
    "worlds.paths": {"MOST_PLACES": 1_000_000},
    "worlds.variables": {"MOST_TRIES": 4096, "MOST_NAME": 80},
    "agents.agent": {"MOST_PROPOSALS": 256, "MOST_COMBINATIONS": 65_536},
    "gates.documents": {"MOST_FINDINGS": 20},
    "oracles.action_tools": {"MOST_REASONS": 64},
    "oracles.answer": {"MOST_ANSWER": MIB},
    "oracles.cassette": {"MOST_FILE": 64 * MIB},
    "oracles.enumerated": {
        "MOST_COST": 40,
        "MOST_PLACES": 8,
        "MOST_LEVELS": 32,
        "MOST_DOCUMENTS": 100,
        "MOST_BYTES": 8192,
        "MOST_ALTERNATIVES": 2000,
    },
    "oracles.failures": {"MOST_TEXT": 524_288},
    "oracles.model": {"MOST_DETAIL": 500, "MOST_CALLS": 8, "BYTES_A_TOKEN": 4},
    "oracles.outside": {"MOST_TEXT": 200, "MOST_ERRORS": 4096},
    "oracles.recording": {"MOST_TAPE": 256 * MIB},
    "oracles.tape_file": {"MOST_LINE": 8_388_608, "MOST_KEPT": 64 * MIB},
    "oracles.service": {"MOST_BODY": 4 * MIB},
    "oracles.service_client": {"LONGEST_PAUSE": 3600, "LONGEST_WAIT": 30.0},
    "evidence.checkpoint": {"MAX_NOTE": 65_536, "MAX_ORIGIN": 255},
    "evidence.counterexamples": {"MOST_CASES": 100},
    "evidence.envelope": {"MOST_SIGNATURES": 16, "MAX_ENVELOPE": MIB, "SIGNATURE_SIZE": 64},
    "evidence.keys": {"PUBLIC_SIZE": 32},
    "evidence.layout": {
        "MAX_LINE": 8_388_608,
        "MAX_MANIFEST": MIB,
        "MAX_SOURCE": MIB,
        "MAX_SPECS": 16 * MIB,
        "MAX_SPECS_VOLUME": 2 * MIB,
        "MAX_SOURCES": 8 * MIB,
    },
    "evidence.runlog": {"MAX_LOG": 64 * MIB, "MAX_ENTRY": MIB},
    "evidence.timestamp": {"MAX_TIMESTAMP": 65_536},
    "run.watchdog": {"MAX_MESSAGE": 64 * MIB},
    "verify.held": {"MOST_KEPT": 64 * MIB},
    "verify.manifest": {"MAX_MANIFEST": MIB},
    "verify.proof": {"MAX_PROOF": 16 * MIB},
    "verify.reference": {"MOST_ROUNDS": 200_000},
    "verify.timestamps": {"MAX_TSA": MIB},
    "verify.trust": {"MAX_TRUST": MIB},
}


@pytest.mark.parametrize("module", LIMITS)
def test_a_limit_is_what_it_is(module):
    found = import_module(f"specledger.{module}")
    assert {name: getattr(found, name) for name in LIMITS[module]} == LIMITS[module]


def test_hashes_of_nothing_are_as_long_as_hashes():
    from specledger.core.binding import GENESIS
    from specledger.evidence.runlog import GENESIS as FIRST

    assert GENESIS == FIRST == "0" * 64


CHECKS = {
    "MANIFEST": 1, "FILES": 2, "CHAIN": 3, "HEAD": 4, "ORDER": 5, "RESULT": 6, "SPECS": 7, "FAILING_CASES": 8,
    "SOURCES": 9, "REPLAY": 20, "JUDGE": 21, "AUDIT_LOG": 10, "START": 11, "RUNS": 10, "ASSESSMENT": 11,
    "REPLAY_OF_RUNS": 20, "DETACHED": 14, "EXPECTED": 15, "SIGNATURES": 16, "TIME": 17, "EXTENDS": 18, "ANNOUNCED": 19,
}  # fmt: skip
"""Numbers of checks, which profiles and readers of verifications refer to."""


def test_numbers_of_checks():
    from specledger.verify import check_names

    checks = {name: check for name, check in vars(check_names).items() if isinstance(check, check_names.CheckName)}
    assert {name: check.number for name, check in checks.items() if check.number is not None} == CHECKS
    assert {name.partition("_")[0] for name, check in checks.items() if check.number is None} == {"PROOF", "LOG"}


IMPACTS = {
    "fatal": {"ends_episode": True, "fails_run": True, "denies_call": True},
    "warn": {"ends_episode": False, "fails_run": False, "denies_call": False},
}


@pytest.mark.parametrize("severity", IMPACTS)
def test_what_a_severity_does(severity):
    from specledger.core.events import Severity

    impact = Severity(severity).impact
    assert {name: getattr(impact, name) for name in IMPACTS[severity]} == IMPACTS[severity]
