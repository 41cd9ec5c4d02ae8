"""Models of the provider `mockllm` of Inspect AI with a scripted behaviour."""

import json
from types import SimpleNamespace

from tests.loopback_model import BEHAVIOURS


def mocked(behaviour):
    """A model of the provider `mockllm` with a scripted behaviour."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def answer(messages, tools, _choice, _config):
        said = BEHAVIOURS[behaviour](
            SimpleNamespace(
                system=messages[0].text,
                prompt=messages[1].text,
                tools={tool.name: tool.parameters.model_dump(exclude_none=True) for tool in tools},
            )
        )
        if said.calls:
            name, arguments = said.calls[0]
            output = ModelOutput.for_tool_call("mockllm/model", name, json.loads(arguments), content="")
        else:
            output = ModelOutput.from_content("mockllm/model", said.text)
        output.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)  # it would fetch a tokenizer
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)
