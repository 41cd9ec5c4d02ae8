"""`spec discover`: discoveries are resumable, replayable, and every mistake has its code and its exit."""

import json
import shutil

import pytest
from msgspec.structs import replace

from specledger.oracles.scripted import ScriptedModel
from tests.toys import SMALL
from tests.toys.trials import remember_trials


@pytest.fixture(autouse=True, scope="module")
def quick():
    with pytest.MonkeyPatch.context() as patch:
        remember_trials(patch, {})
        yield


@pytest.fixture
def discover(spec, tmp_path):
    """Run `spec discover` on the small discovery, alone."""

    def run(*words, out="out", file=SMALL / "small.yaml"):
        return spec("discover", file, "--workers=1", f"--out={tmp_path / out}", *words)

    return run


@pytest.mark.medium
def test_a_discovery_is_made_told_and_verified(discover, spec, tmp_path):
    done = discover()
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(
        "small  PASS  4 iterations, 5 evaluations: 1 PROVED, 1 PASS, 2 FAIL, 1 late; stopped by iterations\n"
    )
    assert "    PROVED right: R(t) == R(0), where R = count('>') + count('X')\n" in done.out
    assert "swap: evolve(transform(S))[i](t) == transform(evolve(S))[i](t), where transform = swap_only\n" in done.out
    assert "  expected right-component: found\n" in done.out
    assert "  1 proposals rejected, 0 redundant, 1 answers failed (1 blocked), " in done.out
    assert f"  journal  {tmp_path / 'out.journal.sqlite'}\n" in done.out
    assert (tmp_path / "out.journal.sqlite").is_file()
    assert not (tmp_path / "out" / "tape.jsonl").exists()
    assert spec("verify", tmp_path / "out", "--workers=1").status == 0


@pytest.mark.medium
def test_the_same_journal_gives_the_same_bytes(discover, spec, tmp_path):
    discover()
    again = discover("--journal", str(tmp_path / "out.journal.sqlite"), out="again")
    apart = spec("run", SMALL / "small.yaml", "--workers=1", f"--out={tmp_path / 'apart'}")
    assert (again.status, apart.status) == (0, 0)
    lines = {(tmp_path / place / "receipts.jsonl").read_bytes() for place in ("out", "again", "apart")}
    assert len(lines) == 1
    assert not (tmp_path / "apart.journal.sqlite").exists()  # a run keeps none


def refused(done, code):
    assert (done.status, done.codes) == (2, [code]), done
    assert "Traceback" not in done.err


def test_a_model_without_a_key(discover, tmp_path, monkeypatch):
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    refused(discover("--set", "model=gemini-flash", "--format=json"), "E_MODEL_KEY")
    assert not (tmp_path / "out").exists()


@pytest.mark.medium
def test_a_key_that_is_not_accepted(discover, spec, tmp_path):
    """Asking again cannot help: the evidence of what was done is there, and the user must mend something."""
    answers = "model.scripted.answers=[{text: nothing}, {failure: unauthorised, detail: HTTP 403}]"
    refused(discover("--set", answers, "--format=json"), "E_MODEL_UNAUTHORISED")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert (manifest["result"]["stopped"], manifest["result"]["iterations"]) == ("unauthorised", 2)
    assert spec("verify", tmp_path / "out", "--workers=1").status == 0


@pytest.mark.medium
def test_the_journal_of_a_changed_discovery(discover, tmp_path):
    assert discover("--iterations=1").status == 0
    done = discover("--iterations=1", "--set=trial.cases=61")
    assert done.status == 2
    assert "`trial.cases` of the discovery is 61, was 60" in done.err
    assert "hint: undo the changes to resume it, or name another --journal or --out" in done.err


USAGE = {
    "a law": ["specs/law/momentum.yaml"],
    "one journal for two": [str(SMALL / "small.yaml"), "kinetic", "--journal=x.sqlite"],
    "no iterations": [str(SMALL / "small.yaml"), "--iterations=0"],
}


@pytest.mark.parametrize("name", USAGE)
def test_wrong_usage(spec, name):
    refused(spec("discover", *USAGE[name], "--format=json"), "E_USAGE")


@pytest.fixture
def copied(tmp_path):
    """The small discovery, asked of a cassette beside it that does not exist yet."""
    shutil.copytree(SMALL, tmp_path / "specs")
    text = (tmp_path / "specs" / "small.yaml").read_text().replace("model: small-script", "model: small-cassette")
    (tmp_path / "specs" / "small.yaml").write_text(text)
    return tmp_path / "specs"


@pytest.mark.slow
def test_a_cassette_is_recorded_and_replayed_without_the_model(discover, spec, copied, tmp_path):
    file = copied / "small.yaml"
    refused(discover("--format=json", file=file), "E_CASSETTE_FILE")
    assert discover("--record", "--journal", str(tmp_path / "recording"), file=file).status == 0
    recorded = (copied / "small.jsonl").read_bytes()
    assert discover(file=file, out="replayed").status == 0
    assert (copied / "small.jsonl").read_bytes() == recorded
    (copied / "small.jsonl").unlink()  # the evidence holds what is needed
    assert (tmp_path / "replayed" / "tape.jsonl").is_file()
    assert spec("verify", tmp_path / "replayed", "--workers=1").status == 0


@pytest.mark.slow
def test_the_report_compares_discoveries(discover, spec, tmp_path):
    discover()
    discover("--iterations=1", out="short")
    done = spec("report", tmp_path / "out", tmp_path / "short", "--format=markdown", "--workers=1")
    assert done.status == 0
    rows = [line for line in done.out.splitlines() if line.startswith("| `small` ")]
    assert [row.split(" | ")[3:6] for row in rows] == [["5", "2 (1 proved)", "2"], ["1", "1 (1 proved)", "1"]]
    assert "Yield does not show" in done.out
    assert "| `right` |" in done.out
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert manifest["receipts"]["root"] in done.out


@pytest.mark.medium
def test_the_journal_is_beside_the_evidence(discover, tmp_path):
    assert discover(out="found").status == 0
    assert [path.name for path in tmp_path.glob("*.sqlite")] == ["found.journal.sqlite"]


def test_an_interruption_is_told_once_with_what_is_kept(discover, monkeypatch, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("specledger.pipeline.executing.execute", interrupted)
    done = discover()
    assert done.status == 130
    assert done.err.count("E_INTERRUPTED") == 1
    assert f"interrupted: finished steps are kept in {tmp_path / 'out.journal.sqlite'}" in done.err
    assert "nothing" not in done.err


def law(template, expr=None, **fields):
    """A law without an id of its own, about one observable Q."""
    observables = [] if expr is None else [{"name": "Q", "expr": expr}]
    return {"template": template, "observables": observables, "forbidden": "x", **fields}


KEPT = {"op": "==", "lhs": {"obs": "Q", "t": {"var": "t"}}, "rhs": {"obs": "Q", "t": {"const": 0}}}
PROSE = "Q stays what it is"
LAWS = [
    law("invariant", "count('>') + count('X')", claim_ast=KEPT),
    law("invariant", "count('<') + count('X')", claim_ast=KEPT),
    law("invariant", "count('>') + count('<') + 2 * count('X')", claim_ast=KEPT),
    law("invariant", "count('.')", claim=PROSE),
    {"template": "invariant"},
    {"template": "invariant"},
]


@pytest.fixture
def unnamed(discover, tmp_path):
    """A discovery of laws without ids: three that are conserved, the third following from the others; one in prose."""
    script = "model.scripted=" + json.dumps({"answers": [{"laws": LAWS}]})
    done = discover("--set", script, "--set=expect=[]", "--iterations=1")
    assert done.status == 0, done
    told = [json.loads(line) for line in (tmp_path / "out" / "receipts.jsonl").read_bytes().splitlines()]
    return done, [one for one in told if one["type"] in ("law", "escalation")]


@pytest.mark.medium
def test_a_law_is_called_the_same_everywhere(unnamed, spec, tmp_path):
    done, told = unnamed
    names = {one["body"]["law"].partition("/")[2].rpartition("@")[0] for one in told}
    assert len(names) == 4
    assert sorted(one["type"] for one in told) == ["escalation"] * 3 + ["law"] * 4
    assert all(one["body"]["law"].startswith(f"law/{one['body']['verdict']['law']}@") for one in told)
    report = spec("report", tmp_path / "out", "--format=markdown").out
    for name in names:
        assert f" {name}: " in done.out
        assert f"`{name}" in report


@pytest.mark.medium
def test_an_undecided_law_is_shown_in_the_words_of_its_proposer_with_the_reason(unnamed, spec, tmp_path):
    done, told = unnamed
    (verdict,) = [one["body"]["verdict"] for one in told if one["body"]["verdict"]["status"] == "UNKNOWN"]
    assert (verdict["claim"], verdict["reason"]) == (PROSE, "ambiguous_claim")
    assert verdict["detail"]
    assert f"    ambiguous_claim: {verdict['detail']}  {verdict['law']}: {PROSE}, where Q = count('.')\n" in done.out
    row = next(line for line in spec("report", tmp_path / "out", "--format=markdown").out.splitlines() if PROSE in line)
    assert "ambiguous_claim" in row
    assert verdict["detail"].strip("`") in row
    assert spec("verify", tmp_path / "out", "--workers=1").status == 0


@pytest.mark.medium
def test_the_yield_counts_laws_of_one_meaning_once(unnamed, spec, tmp_path):
    report = spec("report", tmp_path / "out", "--format=markdown").out
    (row,) = [line for line in report.splitlines() if line.startswith("| `small` ")]
    assert row.split(" | ")[3:6] == ["4", "3 (3 proved)", "3"]


@pytest.mark.slow
def test_the_report_says_why_proposals_were_rejected_and_which_came_late(discover, unnamed, spec, tmp_path):
    report = spec("report", tmp_path / "out", "--format=markdown").out
    (row,) = [line for line in report.splitlines() if "E_ANSWER_FIELD" in line]
    assert row.endswith(" | 2 | 0 |")
    discover(out="whole")
    lines = spec("report", tmp_path / "whole", "--format=markdown").out.splitlines()
    rows = [line.split(" | ") for line in lines]
    counts = {
        row[0].removeprefix("| ").strip("`"): int(row[1].removesuffix(" |"))
        for row in rows
        if len(row) == 2 and row[1][0] in "0123456789"
    }
    assert counts == {"PROVED": 1, "PASS": 1, "FAIL": 2, "late": 1, "all": 5}
    heads = next(index for index, line in enumerate(lines) if line.startswith("|  | iteration | prompt |"))
    names = lines[heads].split(" | ")
    shown = [dict(zip(names, line.split(" | "), strict=True)) for line in lines[heads + 2 : heads + 6]]
    assert [sum(int(row[name]) for row in shown) for name in ("laws", "late")] == [5, 1]


@pytest.mark.medium
def test_more_iterations_go_on_where_the_discovery_ended(discover, copied, tmp_path):
    file = copied / "small.yaml"
    assert discover("--record", "--iterations=2", file=file).status == 0
    first = (copied / "small.jsonl").read_bytes()
    assert discover("--record", "--iterations=4", file=file).status == 0
    whole = (copied / "small.jsonl").read_bytes()
    assert whole.startswith(first)
    assert (len(first.splitlines()), len(whole.splitlines())) == (1 + 2, 1 + 4)
    assert discover("--iterations=4", "--journal", str(tmp_path / "new"), file=file, out="other").status == 0
    made = [(tmp_path / place / "manifest.json").read_bytes() for place in ("out", "other")]
    assert made[0] == made[1]


def test_a_missing_record_has_a_hint(discover, copied):
    assert "`--record` asks the model, and makes the file" in discover(file=copied / "small.yaml").err


SCRAMBLED = "--set=prompt=blind-scrambled"


@pytest.mark.parametrize("model", ["small-script", "small-cassette"])
def test_a_scrambled_prompt_for_fixed_answers_is_warned_of(spec, model):
    done = spec("check", SMALL / "small.yaml", SCRAMBLED, f"--set=model={model}")
    assert done.status == 0
    assert "W_DISCOVERY_SCRAMBLED" in done.err
    assert "W_DISCOVERY_SCRAMBLED" not in spec("check", SMALL / "small.yaml", f"--set=model={model}").err


def test_a_service_may_be_asked_by_a_scrambled_prompt(spec):
    assert spec("check", "kinetic-live", SCRAMBLED).err == ""


@pytest.mark.medium
def test_failures_are_retried_at_the_command(discover, monkeypatch, tmp_path):
    """The line to the model is down at first; then the same store goes on as if it had not been."""
    ask = ScriptedModel.ask

    def unreachable(self, request):
        return replace(ask(self, request), text=None, failure="refused")

    with monkeypatch.context() as patch:
        patch.setattr(ScriptedModel, "ask", unreachable)
        down = discover("--set=expect=[]")
    assert "4 answers failed (4 refused)" in down.out
    assert "4 answers failed (4 refused)" in discover("--set=expect=[]").out
    again = discover("--set=expect=[]", "--retry-failures")
    assert "1 answers failed (1 blocked)" in again.out
    discover("--set=expect=[]", out="fresh")
    assert (tmp_path / "out" / "receipts.jsonl").read_bytes() == (tmp_path / "fresh" / "receipts.jsonl").read_bytes()
