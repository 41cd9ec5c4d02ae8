"""Colour, how much is printed, completion, and help grouped by task."""

import io

import pytest

from specledger.cli.commands import COMMANDS
from specledger.cli.main import command_line
from specledger.cli.output import Terminal, paint
from specledger.core.wing import wings
from specledger.kinds import KINDS


class Screen(io.StringIO):
    def isatty(self):
        return True


COLORS = {
    "a terminal": ([], {}, True, True),
    "a pipe": ([], {}, False, False),
    "NO_COLOR": ([], {"NO_COLOR": "1"}, True, False),
    "an empty NO_COLOR": ([], {"NO_COLOR": ""}, True, True),
    "a dumb terminal": ([], {"TERM": "dumb"}, True, False),
    "FORCE_COLOR": ([], {"FORCE_COLOR": "1"}, False, True),
    "NO_COLOR wins": ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
    "always": (["--color", "always"], {"NO_COLOR": "1"}, False, True),
    "never": (["--color=never"], {"FORCE_COLOR": "1"}, True, False),
    "the last one counts": (["--color", "always", "--color=auto"], {}, False, False),
}


@pytest.mark.parametrize(("words", "environment", "screen", "colored"), COLORS.values(), ids=COLORS)
def test_when_output_is_coloured(words, environment, screen, colored):
    stream = Screen() if screen else io.StringIO()
    assert Terminal.of(["spec", "run", *words], environment).colors(stream) is colored


def test_what_is_painted():
    text = "a.yaml:1:2: error[E_X]: no\n1 | abc\n  |  ^\n  hint: yes\nrun  PASS"
    shown = paint(text)
    assert shown.count("\x1b[0m") == 4
    assert "\x1b[31m\x1b[1merror[E_X]\x1b[0m" in shown
    assert paint("PASSWORD, failing: nothing to see") == "PASSWORD, failing: nothing to see"


def test_json_and_reports_are_never_painted(spec, climb, tmp_path):
    done = spec("run", climb, "--out", tmp_path / "out", "--format=json", "--color=always")
    assert "\x1b" not in done.out
    assert "\x1b" not in spec("report", tmp_path / "out", "--format=markdown", "--color=always").out
    assert "\x1b[32mPASS" in spec("run", climb, "--out", tmp_path / "out", "--color=always").out


def test_quiet_prints_only_what_is_wrong(spec, climb, tmp_path):
    out = ["--out", tmp_path / "out"]
    assert (spec("check", climb, "-q").out, spec("run", climb, "-q", *out).out) == ("", "")
    assert spec("verify", tmp_path / "out", "--quiet").out == ""
    done = spec("run", climb, "-q", *out, "--set", "governor.invariants.bounded.with.top=1")
    assert (done.status, "FAIL" in done.out) == (1, True)
    assert spec("check", climb, "-q", "--set", "horizon=0").err


def test_verbose_names_files_and_explains_codes(spec, climb, tmp_path):
    assert "climb: world/stairs " in spec("run", climb, "-v", "--out", tmp_path / "out").err
    assert "E_SPEC_VALUE: A value that is not allowed here\n" in spec("check", climb, "-v", "--set", "horizon=0").err


def test_help_groups_commands_by_task(spec):
    shown = spec("--help").out
    assert "Exit codes: 0 conforms" in shown
    places = [shown.index(panel) for panel in COMMANDS]
    assert places == sorted(places)
    app = command_line()
    groups = {one.typer_instance.info.name for one in app.registered_groups if one.typer_instance}
    assert {one.name for one in app.registered_commands} == {
        name
        for groups_of in (COMMANDS, *(wing.commands() for wing in wings()))
        for group in groups_of.values()
        for name in group
    } - groups
    assert groups == {"agent", "keys"}


COMPLETED = {
    "spec run haz": "hazard",
    "spec run clim": "climb.yaml",
    "spec discover kinetic-": "kinetic-enumerated",
    "spec new wor": "world",
    "spec explain scenario.pr": "scenario.probes",
    "spec explain E_CHECK_N": "E_CHECK_NONE",
    "spec report out --profile ni": "nist-sp-800-53",
    "spec verify o": "out",
    "spec ": "check",
}


def test_a_shell_completes_words(spec, project, monkeypatch):
    spec("run", "climb.yaml")
    for line, word in COMPLETED.items():
        with monkeypatch.context() as patch:
            patch.setenv("_SPEC_COMPLETE", "complete_bash")
            patch.setenv("COMP_WORDS", line)
            patch.setenv("COMP_CWORD", str(line.count(" ")))
            assert word in spec().out.split(), line


def test_missing_arguments_list_the_choices(spec):
    assert f"hint: one of {', '.join(sorted(KINDS)[:3])}" in spec("new").err
    assert "simple" in spec("run").err or " more; " in spec("run").err
    assert "json" in spec("report", "out", "--format", "none").err


def test_all_codes_are_listed(spec):
    lines = spec("explain", "codes").out.splitlines()
    assert len(lines) > 250
    assert any(line.startswith("E_CHECK_NONE ") for line in lines)
