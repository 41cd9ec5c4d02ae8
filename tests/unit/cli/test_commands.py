"""What each command says: to people, and to programs by `--format json`."""

import ast
import json
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import ClassVar

import pytest

from specledger import __version__
from specledger.core.diagnostics import codes
from specledger.kinds import KINDS, load
from specledger.load.doc_pages import page_of
from specledger.pipeline import checking
from specledger.pipeline.authoring import load_codes
from specledger.wings.laws.verdict import REASONS

ROOT = Path(__file__).parents[3]


@cache
def declared():
    """Every code that is declared anywhere in the engine."""
    found = set()
    for path in ROOT.glob("engine/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "code":
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant):
                    found.add(first.value)
    assert found
    return found


@pytest.mark.usefixtures("project")
class TestCheck:
    def test_other_kinds_are_looked_at_alone(self, spec):
        done = spec("check", "climber.yaml", "--format=json")
        (found,) = done.json["checked"]
        assert (done.status, found["kind"], found["name"], found["case"]) == (0, "agent", "climber", "")
        assert found["typed"] is False
        assert spec("check", "climb.yaml", "--format=json").json["checked"][0]["typed"] is True
        assert "shape only" in spec("check", "climber.yaml").out

    def test_all_findings_of_all_files_are_told_at_once(self, spec, project):
        scenario = (project / "climb.yaml").read_text()
        (project / "a.yaml").write_text(scenario.replace("horizon: 3", "horizon: three\ncolour: red"))
        (project / "b.yaml").write_text(scenario.replace("governor: warden", "governor: ward"))
        done = spec("check", "a.yaml", "climb.yaml", "b.yaml", "nowhere.yaml", "--format", "json")
        assert done.status == 2
        places = {(one["file"], one["line"], one["column"], one["code"]) for one in done.json["diagnostics"]}
        assert places == {
            ("a.yaml", 10, 10, "E_SPEC_TYPE"),
            ("a.yaml", 11, 1, "E_SPEC_UNKNOWN_KEY"),
            ("b.yaml", 5, 11, "E_REF_MISSING"),
            (None, None, None, "E_SPEC_FILE"),
        }
        assert [one["name"] for one in done.json["checked"]] == ["climb"]
        human = spec("check", "a.yaml", "climb.yaml", "b.yaml", "nowhere.yaml")
        assert human.out.startswith("ok scenario climb ")
        assert human.err.endswith("4 errors. `spec explain CODE` says more about a code.\n")

    def test_a_defect_that_one_file_meets_hides_nothing_of_the_others(self, spec, project, monkeypatch):
        """Whatever raises while one file is looked at: the others are checked, and the defect is told as one."""
        (project / "b.yaml").write_text((project / "climb.yaml").read_text().replace("horizon: 3", "horizon: three"))
        loaded = load

        def failing(target, **options):
            if target == "stairs.yaml":
                raise ZeroDivisionError("a\x1b[31m defect")
            return loaded(target, **options)

        monkeypatch.setattr(checking, "load", failing)
        done = spec("check", "stairs.yaml", "b.yaml", "climb.yaml", "--format=json")
        assert done.status == 70
        assert done.codes == ["E_INTERNAL", "E_SPEC_TYPE"]
        assert [one["name"] for one in done.json["checked"]] == ["climb"]
        assert "internal error while checking stairs.yaml: ZeroDivisionError: a\\x1b[31m defect" in done.err
        monkeypatch.setenv("SPECLEDGER_TRACEBACK", "1")
        with pytest.raises(ZeroDivisionError):
            spec("check", "stairs.yaml")

    def test_every_case_of_a_matrix_is_checked(self, spec, edit):
        edit("climb.yaml", "seed: 3", "params: {n: int}\nmatrix: {n: [1, 2]}\nseed: ${n}")
        found = spec("check", "climb.yaml", "--format=json").json["checked"]
        assert [one["case"] for one in found] == ["n=1", "n=2"]
        assert len({one["digest"] for one in found}) == 2


@pytest.mark.usefixtures("project")
class TestVerify:
    def test_every_check_is_a_numbered_line(self, spec):
        spec("run", "climb.yaml", "--out", "here")
        done = spec("verify", "here")
        assert (done.status, done.err) == (0, "")
        lines = done.out.splitlines()
        numbers = [1, 2, 3, 4, 5, 6, 7, 9, 14, 20]
        assert [line.strip().split("  ")[0] for line in lines[:-13]] == [f"{number}. ok" for number in numbers]
        assert lines[-1] == "here: intact, unsigned, replay gives the same bytes."
        assert [line[:14] for line in lines[-13:-7]] == [
            f"L{number} {'reached    ' if number in (0, 4) else 'not checked'}" for number in range(6)
        ]
        assert all(": " in line for line in lines[-13:-7] if "not checked" in line)
        assert lines[-7] == "recorded       verdict PASS: what the run found; verified is the evidence of it"
        facts = spec("verify", "here", "--format", "json").json["facts"]
        digests = facts["recorded"]
        assert lines[-6] == f"to compare     run {digests['run']}, specs {digests['specs']}"
        assert (digests["verdict"], len(digests["specs"])) == ("PASS", 64)
        assert facts["signers"] == {"origin": None, "others": [], "trusted": []}
        assert lines[-5] == "signed         nobody signed: anybody can have written it"
        assert lines[-4] == "exit code 0    all that was asked for is shown: L0, L4"
        assert [line.startswith("never shown    ") for line in lines[-3:-1]] == [True, True]

    @pytest.mark.parametrize(
        ("options", "status"),
        [
            ([], 0), (["--level", "L0", "--no-replay"], 0), (["--level", "L1"], 3), (["--level", "L3", "--level", "L4"], 3),
            (["--level", "L9"], 2), (["--trust", "none.json"], 2), (["--against", "none"], 2), (["--proof", "999"], 2),
            (["--against", "here", "--level", "L3"], 0), (["--inclusion"], 2),
        ],
        ids=str,
    )  # fmt: skip
    def test_what_is_asked_decides_how_it_ends(self, spec, options, status):
        spec("run", "climb.yaml", "--out", "here")
        done = spec("verify", "here", *options)
        assert done.status == status, done.err
        unreached = [line for line in done.out.splitlines() if line.startswith("exit code 3 ")]
        assert [level in line for line in unreached for level in options if level in ("L1", "L3")] == (
            [True] if status == 3 else []
        )

    def test_an_inclusion_proof_goes_from_one_call_to_the_next(self, spec, project):
        spec("run", "climb.yaml", "--out", "here")
        made = spec("verify", "here", "--proof", "3")
        assert (made.status, made.json["index"]) == (0, 3)
        assert "here: intact" in made.err
        (project / "proof.json").write_text(made.out)
        assert spec("verify", "--inclusion", "proof.json").status == 3
        assert spec("verify", "--inclusion", "proof.json", "--against", "here").status == 0
        (project / "proof.json").write_text(made.out.replace('"index": 3', '"index": 4'))
        assert spec("verify", "--inclusion", "proof.json", "--against", "here").status == 1

    def test_what_failed_is_told_with_its_code_and_what_was_not_made(self, spec, project):
        spec("run", "climb.yaml", "--out", "here")
        data = (project / "here" / "receipts.jsonl").read_bytes()
        (project / "here" / "receipts.jsonl").write_bytes(data.replace(b'"score":1', b'"score":2', 1))
        done = spec("verify", "here")
        assert done.status == 1
        lines = done.out.splitlines()
        assert lines[0].startswith(" 1. ok ")
        assert lines[1].startswith(
            " 2. FAILED   every file is listed and unchanged [E_FILES]: receipts.jsonl has the SHA-256 "
        )
        assert all(f"{n}. not run" in line for n, line in zip(range(3, 8), lines[2:7], strict=True))
        run = json.loads((project / "here" / "manifest.json").read_bytes())
        claimed = f"claimed        verdict PASS, run {run['run']}, specs {run['specs']}: its manifest says so"
        assert lines[-3] == claimed
        assert lines[-2].startswith("exit code 1    a check failed: rely on nothing that is in it")
        assert lines[-1] == "here: REFUTED [E_FILES]."

    @pytest.mark.medium
    def test_overrides_are_said_where_the_source_files_are_checked(self, spec):
        spec("run", "climb.yaml", "--out", "plain")
        spec("run", "climb.yaml", "--seed", "9", "--set", "horizon=5", "--out", "set")
        assert "--set" not in spec("verify", "plain").out
        assert " files, changed by --set horizon=5 --set seed=9\n" in spec("verify", "set").out

    @pytest.mark.parametrize("file", ["manifest.json", "receipts.jsonl", "specs.json", "sha256sums"])
    def test_a_check_has_its_number_whatever_failed_before(self, spec, project, file):
        spec("run", "climb.yaml", "--out", "here")
        whole = {check["name"]: check["number"] for check in spec("verify", "here", "--format", "json").json["checks"]}
        (project / "here" / file).write_bytes(b"{}\n")
        broken = spec("verify", "here", "--format", "json").json["checks"]
        assert {check["name"]: check["number"] for check in broken}.items() <= whole.items()
        assert [check["status"] for check in broken].count("failed") == 1
        assert broken[-1]["number"] == 20

    SEVERAL: ClassVar = {
        "all hold": (["a", "b"], [], 0, "2 bundles: 2 verified; recorded verdicts: 2 PASS"),
        "one is refuted": (["a", "broken", "b"], [], 1, "3 bundles: 2 verified, 1 refuted; recorded verdicts: 2 PASS"),
        "one is no evidence": (
            ["a", "nowhere"],
            [],
            2,
            "2 bundles: 1 verified, 1 no evidence; recorded verdicts: 1 PASS",
        ),
        "a refuted one counts more": (["nowhere", "broken"], [], 1, "2 bundles: 1 refuted, 1 no evidence"),
        "not replayed": (["a", "b"], ["--no-replay"], 3, "2 bundles: 2 not decided; recorded verdicts: 2 PASS"),
        "quietly": (["a", "broken"], ["-q"], 1, "2 bundles: 1 verified, 1 refuted; recorded verdicts: 1 PASS"),
    }

    @pytest.mark.parametrize(("places", "options", "status", "total"), SEVERAL.values(), ids=SEVERAL)
    def test_several_bundles_have_a_line_each_and_a_total(self, spec, project, places, options, status, total):
        for place in ("a", "b", "broken"):
            spec("run", "climb.yaml", "--out", place)
        (project / "broken" / "specs.json").unlink()
        done = spec("verify", *places, *options)
        lines = done.out.splitlines()
        assert (done.status, lines[-1]) == (status, total)
        told = [place for place in places if place != "nowhere" and (place == "broken" or "-q" not in options)]
        assert [line[14:].split()[0] for line in lines[:-1]] == [f"{place}:" for place in told]
        assert ("E_NO_EVIDENCE" in done.err) == ("nowhere" in places)

    def test_of_several_bundles_each_line_says_what_the_evidence_says(self, spec, project, edit):
        """That evidence is what it was says nothing good of the agent: the result stands beside it."""
        spec("run", "climb.yaml", "--out", "good")
        edit("climb.yaml", "governor: warden", "governor: {use: warden, with: {stamina: 2}}")
        spec("run", "climb.yaml", "--out", "bad")
        good, bad, total = spec("verify", "good", "bad").out.splitlines()
        results = [json.loads((project / place / "manifest.json").read_bytes())["result"] for place in ("good", "bad")]
        assert [result["verdict"] for result in results] == ["PASS", "FAIL"]
        assert good.endswith("replay gives the same bytes; recorded verdict PASS")
        assert bad.startswith("VERIFIED ")
        assert bad.endswith("replay gives the same bytes; recorded verdict FAIL")
        assert total == "2 bundles: 2 verified; recorded verdicts: 1 PASS, 1 FAIL"

    @pytest.mark.parametrize("option", [["--proof", "1"], ["--inclusion"]], ids=" ".join)
    def test_what_is_for_one_bundle_is_refused_for_several(self, spec, option):
        spec("run", "climb.yaml", "--out", "here")
        done = spec("verify", "here", "here", *option)
        assert (done.status, "E_USAGE" in done.err) == (2, True)

    def test_what_is_no_evidence(self, spec, project):
        done = spec("verify", "climb.yaml", "--format=json")
        assert (done.status, done.codes) == (2, ["E_AUDIT_NO_LOG"])
        spec("run", "climb.yaml", "--out", "there")
        (told,) = spec("verify", "there/receipts.jsonl", "--format=json").json["diagnostics"]
        assert told["hint"] == "it is part of a bundle: verify the folder `there`"
        (project / "empty").mkdir()
        done = spec("verify", "empty", "--format=json")
        assert (done.status, done.codes) == (2, ["E_NO_EVIDENCE"])


@pytest.mark.usefixtures("project")
class TestGolden:
    @pytest.mark.medium
    def test_accepted_then_same_then_different(self, spec, project, edit):
        done = spec("golden", "climb.yaml", "--dir", "pins")
        assert (done.status, done.out) == (3, ""), "a folder that there is not is found before any work"
        assert "hint: to make it: spec golden --update --dir=pins climb.yaml" in done.err
        (project / "pins").mkdir()
        done = spec("golden", "climb.yaml", "--dir", "pins")
        assert (done.status, done.out) == (1, "climb: not pinned\n")
        assert "error[E_GOLDEN_DIFFERS]: climb: nothing is pinned yet" in done.err
        done = spec("golden", "--update", "climb.yaml", "--dir", "pins")
        assert (done.status, done.out, done.err) == (0, "climb: accepted\n", "")
        assert sorted(path.name for path in (project / "pins").iterdir()) == ["climb.json", "climb.jsonl"]
        done = spec("golden", "climb.yaml", "--dir", "pins")
        assert (done.status, done.out, done.err) == (0, "climb: same\n", "")
        done = spec("golden", "--update", "climb.yaml", "--dir", "pins")
        assert (done.status, done.out) == (0, "climb: same\n")

    @pytest.mark.parametrize(
        ("file", "old", "new", "changed", "difference"),
        [
            ("climber.yaml", "score: action.by ", "score: 0 - action.by ", "agent/climber", "episode 0, step 0: receipt 2 differs at body.proposals[1].score: recorded 1, replayed -1"),
            ("climb.yaml", "drift: [shift]\n", "", "drift/shift, scenario/climb", "receipt 0 differs at body.drifts[0]: recorded {"),
            ("climb.yaml", "doc: The", "doc: Thus the", "scenario/climb", "only digests differ: the specs say something else, but the run does the same"),
        ],
    )  # fmt: skip
    def test_a_difference_names_the_changed_spec_then_step_and_field(
        self, spec, edit, file, old, new, changed, difference
    ):
        """It does not name the digest of all specs in the first receipt, which every change changes."""
        spec("golden", "--update", "climb.yaml", "--dir", "pins")
        edit(file, old, new)
        done = spec("golden", "climb.yaml", "--dir", "pins")
        assert (done.status, done.out) == (1, "climb: differs\n")
        assert f"error[E_GOLDEN_DIFFERS]: climb: changed specs: {changed}; {difference}" in done.err

    @pytest.mark.medium
    def test_programs_are_told_as_json(self, spec, project, edit):
        (project / "pins").mkdir()
        told = {"name": "climb", "difference": "nothing is pinned yet", "verdict": "PASS"}
        pinned = [
            (("golden", "climb.yaml"), 1, told | {"pinned": "not pinned"}, ["E_GOLDEN_DIFFERS"]),
            (("golden", "--update", "climb.yaml"), 0, told | {"pinned": "accepted"}, []),
            (("golden", "climb.yaml"), 0, told | {"pinned": "same", "difference": None}, []),
        ]
        for words, status, case, found in pinned:
            done = spec(*words, "--dir", "pins", "--format", "json")
            assert (done.status, done.json["compared"], done.codes) == (status, [case], found)
            assert bool(done.err) == bool(found)
        edit("climb.yaml", "horizon: 3", "horizon: 2")
        done = spec("golden", "climb.yaml", "--dir", "pins", "--format=json")
        (case,) = done.json["compared"]
        assert (done.status, case["pinned"], done.codes) == (1, "differs", ["E_GOLDEN_DIFFERS"])
        assert case["difference"] == (
            "changed specs: scenario/climb; receipt 0 differs at body.horizon: recorded 3, replayed 2"
        )
        done = spec("golden", "--format=json")
        assert (done.status, done.json["compared"], done.codes) == (3, [], ["E_GOLDEN_NONE"])

    def test_the_command_that_accepts_can_be_pasted(self, spec, project, edit):
        (project / "with space").mkdir()
        (project / "climb.yaml").rename(project / "with space" / "climb.yaml")
        for name in ("stairs", "pot", "climber", "warden", "bounded", "shift"):
            (project / f"{name}.yaml").rename(project / "with space" / f"{name}.yaml")
        (project / "my pins").mkdir()
        done = spec("golden", "with space/climb.yaml", "--dir", "my pins")
        (hint,) = (line for line in done.err.splitlines() if "to accept it: " in line)
        command = shlex.split(hint.partition("to accept it: ")[2])
        assert command[0] == "spec"
        assert spec(*command[1:]).out == "climb: accepted\n"
        assert spec("golden", "with space/climb.yaml", "--dir", "my pins").status == 0

    def test_a_pin_of_a_run_that_fails_is_told(self, spec, edit):
        """It can be pinned like any other; nobody should take it for a pass."""
        edit("climb.yaml", "governor: warden", "governor: {use: warden, with: {stamina: 2}}")
        done = spec("golden", "--update", "climb.yaml", "--dir", "pins")
        assert (done.status, done.out) == (0, "climb: accepted, and its verdict is FAIL\n")
        done = spec("golden", "climb.yaml", "--dir", "pins")
        assert (done.status, done.out) == (0, "climb: same, and its verdict is FAIL\n")


@pytest.mark.usefixtures("project")
class TestShow:
    def test_the_resolved_form_is_json_with_the_digest_of_the_run(self, spec, project):
        shown = spec("show", "climb.yaml", "--set", "seed=8").json
        spec("run", "climb.yaml", "--seed", "8", "--out", "here")
        evidence = json.loads((project / "here" / "specs.json").read_text())
        assert {"root": shown["root"], "specs": shown["specs"]} == evidence
        assert shown["digest"] == json.loads((project / "here" / "manifest.json").read_text())["specs"]
        assert shown["case"] == ""

    def test_origins_name_the_place_of_every_value(self, spec):
        done = spec("show", "climb.yaml", "--origins")
        assert (done.status, done.err) == (0, "")
        assert "  horizon = 3  # climb.yaml:10:10" in done.out.splitlines()
        assert "  gates.0.deny = action.by > 1  # warden.yaml:" in done.out


class TestSchema:
    @pytest.mark.medium
    def test_all_kinds_or_one(self, spec):
        everything = spec("schema")
        assert (everything.status, everything.err) == (0, "")
        assert list(everything.json) == sorted(KINDS)
        for kind in KINDS:
            assert spec("schema", kind).json == everything.json[kind]


FIELDS = {
    "the types": ("receipts/run", "    episode      An episode begins in a state."),
    "the fields of a type": ("receipts/suite.check", "    least          The number of opportunities that it needs. (required)"),
    "a field at depth": ("receipts/run.step.decisions.rejected.gate", "  The id of the gate."),
    "a field of a wing": ("receipts/law.verdict.verdict.up_to", "  The longest ring that a proof covers; null if it covers all."),
    "a field without its receipt": ("chosen_hash", "receipts/run.step.chosen_hash: text (required)"),
}  # fmt: skip


class TestExplain:
    @pytest.mark.medium
    @pytest.mark.no_cover
    def test_every_code_has_a_page(self, spec):
        load_codes()
        assert declared() <= set(codes())
        first = min(declared())
        done = spec("explain", first)
        assert (done.status, done.err) == (0, "")
        head, _, text = done.out.partition("\n\n")
        assert head == f"{first}: {codes()[first]}"
        assert text.startswith(f"{page_of(first).about}\n\nExample: ")

    @pytest.mark.medium
    def test_a_fresh_process_knows_all_codes(self, process):
        """The command itself must load every module that declares one."""
        last = max(declared())
        program = "import specledger.cli.main; from specledger.pipeline.authoring import load_codes; load_codes(); from specledger.core.diagnostics import codes; print(*codes())"
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
        assert set(done.stdout.split()) == declared()
        assert process("explain", last).out.startswith(f"{last}: ")

    def test_letter_case_does_not_count(self, spec):
        assert spec("explain", "e_chain").out.startswith("E_CHAIN: ")

    TERMS: ClassVar = {
        "a reason of a law": ("vacuous_pass", "the antecedent never held"),
        "a cause of a probe": ("inert", "choice stayed what it was"),
        "a term of the glossary": ("Witness", "(docs/glossary.md, Specs)"),
        "a verdict": ("INCONCLUSIVE", "Nothing was checked, or the evidence does not decide."),
        "a level": ("L4", "the recorded specs lead to exactly these bytes"),
        "an agent fault": ("timed_out", "nothing came in time"),
        "the end of an episode": ("hang", "did not answer its kernel in time"),
        "an outcome of two words": ("not applicable", "none of them applies"),
        "a gate of the engine": ("schema", "no action of the world"),
    }

    @pytest.mark.parametrize(("term", "words"), TERMS.values(), ids=TERMS)
    def test_terms_and_names_that_reports_print(self, spec, term, words):
        done = spec("explain", term)
        assert (done.status, done.err) == (0, "")
        assert done.out.startswith((f"{term}: ", f"{term}\n"))
        assert words in done.out

    @pytest.mark.parametrize(("what", "line"), FIELDS.values(), ids=FIELDS)
    def test_fields_of_receipts(self, spec, what, line):
        done = spec("explain", what)
        assert (done.status, done.err) == (0, "")
        assert line in done.out.splitlines()

    def test_a_field_that_no_receipt_has(self, spec):
        done = spec("explain", "receipts/run.step.chosn")
        assert (done.status, "did you mean `chosen`?" in done.err) == (2, True)

    @pytest.mark.parametrize("reason", REASONS)
    def test_every_reason_of_a_law_has_a_row(self, spec, reason):
        assert spec("explain", reason).out.startswith(f"{reason}: ")

    @pytest.mark.parametrize(("wrong", "meant"), [("vacuos_pass", "vacuous_pass"), ("mispredictd", "mispredicted")])
    def test_a_misspelt_term(self, spec, wrong, meant):
        done = spec("explain", wrong)
        assert (done.status, f"did you mean {meant}?" in done.err) == (2, True)

    def test_a_key_without_its_kind(self, spec):
        done = spec("explain", "after_fatal")
        assert (done.status, done.err) == (0, "")
        assert done.out.startswith("invariant.after_fatal: one of the allowed values")
        many = spec("explain", "functions").out.split("\n\n")
        assert {text.partition(":")[0] for text in many} >= {"world.functions", "agent.functions", "library.functions"}

    def test_the_kinds(self, spec):
        done = spec("explain", "kinds")
        assert (done.status, done.err) == (0, "")
        assert [line.split()[0] for line in done.out.splitlines()[: len(KINDS)]] == list(KINDS)


class TestHelp:
    def test_the_version(self, spec):
        done = spec("--version")
        assert (done.status, done.out, done.err) == (0, f"specledger {__version__}\n", "")

    def test_without_a_command_help_is_shown_and_it_is_no_success(self, spec):
        done = spec()
        assert (done.status, done.out.strip(), done.err) == (2, spec("--help").out.strip(), "")


@pytest.mark.medium
@pytest.mark.usefixtures("project")
def test_the_demo_prints_what_the_readme_says(spec):
    done = spec("demo")
    assert (done.status, done.err) == (0, "")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"$ spec demo\n{done.out}```" in readme
    page = Path("out/demo.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "replay was not requested" not in page
