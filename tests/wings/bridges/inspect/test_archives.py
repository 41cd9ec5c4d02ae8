"""Archives that Inspect AI writes are read by its package; `make inspect` installs it and runs these tests."""

import pytest

from specledger.wings.trajectories.model import Call, Result
from specledger.wings.trajectories.reading import read_logs

inspect_ai = pytest.importorskip("inspect_ai", reason="the extra `inspect` is not installed; `make inspect` does so")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of the other package are not ours


@pytest.mark.parametrize("form", ["eval", "json"])
def test_a_log_of_a_task_is_read(tmp_path, form):
    from inspect_ai import Task, eval  # noqa: A004 - its name
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import tool

    @tool
    def lookup():
        async def execute(name: str):
            """Looks a person up.

            Args:
                name: The person.
            """
            return f"{name} is 42."

        return execute

    outputs = [
        ModelOutput.for_tool_call("mockllm/model", "lookup", {"name": "Ann"}, tool_call_id="call_1"),
        ModelOutput.from_content("mockllm/model", "She is 42."),
    ]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)  # it would fetch a tokenizer
    task = Task(dataset=[Sample(input="How old is Ann?")], solver=[use_tools(lookup()), generate()])
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    (log,) = eval(task, model=model, log_dir=str(tmp_path), log_format=form, display="none")
    assert log.status == "success", log.error
    (file,) = tmp_path.glob(f"*.{form}")
    from specledger.wings.trajectories.formats.names import reader_named

    (trajectory,) = read_logs([file], None if form == "eval" else reader_named("inspect-eval"))
    assert [entry for entry in trajectory.entries if isinstance(entry, Call | Result)] == [
        Call("call_1", "lookup", {"name": "Ann"}, 1),
        Result("call_1", "Ann is 42."),
    ]
