"""Archives that Inspect AI writes are read by its package; `make inspect` installs it and runs these tests."""

import pytest

from specledger.wings.trajectories.model import Call, Finding, Message, Result, Speaker
from specledger.wings.trajectories.readers import inspect_archive
from specledger.wings.trajectories.reading import read_logs

inspect_ai = pytest.importorskip("inspect_ai", reason="the extra `inspect` is not installed; `make inspect` does so")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of the other package are not ours


def lookup():
    """A tool that looks a person up, and fails for one of them."""
    from inspect_ai.tool import tool

    @tool
    def lookup():
        async def execute(name: str):
            """Looks a person up.

            Args:
                name: The person.
            """
            if name == "nobody":
                raise RuntimeError("no such person")
            return f"{name} is 42."

        return execute

    return lookup()


def model(*outputs):
    """A model that gives these answers: a text, or the id, the name and the arguments of a call."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    answers = [
        ModelOutput.from_content("mockllm/model", output)
        if isinstance(output, str)
        else ModelOutput.for_tool_call("mockllm/model", output[1], output[2], content="", tool_call_id=output[0])
        for output in outputs
    ]
    for output in answers:
        output.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)  # it would fetch a tokenizer
    return get_model("mockllm/model", custom_outputs=answers, memoize=False)


def logged(folder, solver, *outputs, form="eval", **options):
    """The trajectories of the log of a task whose model gives these answers."""
    from inspect_ai import Task, eval  # noqa: A004 - its name
    from inspect_ai.dataset import Sample

    task = Task(dataset=[Sample(input="How old is Ann?")], solver=solver)
    (log,) = eval(task, model=model(*outputs), log_dir=str(folder), log_format=form, display="none", **options)
    assert log.status == "success", log.error
    (file,) = folder.glob(f"*.{form}")
    return list(read_logs([file]))


def calls(trajectory):
    read = [entry for entry in trajectory.entries if isinstance(entry, Call | Result)]
    return [(entry.id, entry.actor, entry.parent) if isinstance(entry, Call) else entry.call for entry in read]


@pytest.mark.parametrize("form", ["eval", "json"])
def test_a_log_of_a_task_is_read(tmp_path, form):
    from inspect_ai.solver import generate, use_tools

    said = ("call_1", "lookup", {"name": "Ann"}), "She is 42."
    (trajectory,) = logged(tmp_path, [use_tools(lookup()), generate()], *said, form=form)
    assert [entry for entry in trajectory.entries if isinstance(entry, Call | Result)] == [
        Call("call_1", "lookup", {"name": "Ann"}, 1),
        Result("call_1", "Ann is 42."),
    ]


HELPED = [("h1", "lookup", {"name": "Ann"}), ("h2", "submit", {"answer": "42"})]


@pytest.mark.parametrize("form", ["eval", "json"])
@pytest.mark.parametrize("way", ["as a tool", "handed over"])
def test_what_a_subagent_did_is_read_from_the_events(tmp_path, form, way):
    """Its results are no messages of the user, as whom a conversation that was handed over brings them back."""
    from inspect_ai.agent import as_tool, handoff, react

    helper = react(name="helper", description="Helps.", tools=[lookup()], model=model(*HELPED))
    tool = as_tool(helper) if way == "as a tool" else handoff(helper)
    asked = ("m1", "helper", {"input": "Ann"}) if way == "as a tool" else ("m1", "transfer_to_helper", {})
    (trajectory,) = logged(tmp_path, react(tools=[tool]), asked, ("m2", "submit", {"answer": "42"}), form=form)
    inner = [("h1", "m1", "m1"), "h1", ("h2", "m1", "m1"), "h2"]
    assert calls(trajectory) == [("m1", "", ""), *inner, "m1", ("m2", "", ""), "m2"]
    said = [entry.text for entry in trajectory.entries if isinstance(entry, Message) and entry.speaker is Speaker.USER]
    assert said == ["How old is Ann?", *["The helper agent has completed its work."] * (way == "handed over")]


def test_an_attempt_that_failed_is_a_trajectory(tmp_path):
    from inspect_ai.solver import generate, use_tools

    said = ("c1", "lookup", {"name": "nobody"}), ("c2", "lookup", {"name": "Ann"}), "She is 42."
    first, last = logged(tmp_path, [use_tools(lookup()), generate()], *said, retry_on_error=1)
    assert first.id == f"{last.id}, attempt 1"
    assert [entry.code for entry in first.entries if isinstance(entry, Finding)] == ["E_LOG_FAILED", "E_LOG_NO_RESULT"]
    assert (calls(first), calls(last)) == ([("c1", "", "")], [("c2", "", ""), "c2"])


def test_epochs_are_trajectories_and_a_limit_ends_one(tmp_path):
    from inspect_ai.solver import generate, use_tools

    said = [(f"c{number}", "lookup", {"name": "Ann"}) for number in range(6)]
    solver = [use_tools(lookup()), generate()]
    read = logged(tmp_path, solver, *said, epochs=2, message_limit=4, max_samples=1)
    assert len({trajectory.id for trajectory in read}) == 2
    assert all(len(calls(trajectory)) in (2, 3) for trajectory in read)


def epochs(folder):
    """An archive of three samples."""
    from inspect_ai.solver import generate, use_tools

    said = [answer for _ in range(3) for answer in (("c", "lookup", {"name": "Ann"}), "She is 42.")]
    logged(folder, [use_tools(lookup()), generate()], *said, epochs=3, max_samples=1)
    (file,) = folder.glob("*.eval")
    return file


def test_samples_of_an_archive_are_read_one_by_one(tmp_path, monkeypatch):
    """Each is bounded, not all together; one that is too large is a finding, and the others are read."""
    file = epochs(tmp_path)
    sizes = inspect_archive._sizes(file)
    largest = max(sizes.values())
    assert sum(sizes.values()) > largest + sum(sizes[name] for name in sizes if not name.startswith("samples/"))
    monkeypatch.setattr(inspect_archive, "MAX_DOCUMENT", sum(sizes.values()) - 1)
    assert len(list(read_logs([file]))) == 3
    large = next(name for name in sizes if name.startswith("samples/"))
    monkeypatch.setattr(inspect_archive, "_sizes", lambda path: {**sizes, large: 1 << 40})
    read = list(read_logs([file]))
    told = [entry for trajectory in read for entry in trajectory.entries if isinstance(entry, Finding)]
    assert [finding.code for finding in told] == ["E_LOG_SIZE"]
    assert "a sample of 1099511627776 bytes" in told[0].message
    assert sum(len(calls(trajectory)) == 2 for trajectory in read) == 2


def test_that_an_evaluation_did_not_end_is_told_once(tmp_path):
    from inspect_ai.log import read_eval_log, write_eval_log

    log = read_eval_log(str(epochs(tmp_path)))
    log.status = "cancelled"
    write_eval_log(log, str(tmp_path / "cancelled.eval"))
    read = list(read_logs([tmp_path / "cancelled.eval"]))
    assert sum(len(calls(trajectory)) == 2 for trajectory in read) == 3
    told = [entry.code for trajectory in read for entry in trajectory.entries if isinstance(entry, Finding)]
    assert told == ["E_LOG_FAILED"]
