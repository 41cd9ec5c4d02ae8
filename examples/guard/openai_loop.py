"""A plain loop over an OpenAI-compatible model, which asks a guard before it executes a tool call."""

import json

from openai import OpenAI

from specledger.wings.guard.client import Denied, Guard


def run(client: OpenAI, model: str, task: str, tools: dict, schemas: list, socket: str = "guard/guard.sock") -> str:
    messages = [{"role": "user", "content": task}]
    with Guard(socket) as connection, connection.conversation() as guard:
        guard.say("user", task)
        while True:
            said = client.chat.completions.create(model=model, messages=messages, tools=schemas).choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            if not said.tool_calls:
                return said.content
            for call in said.tool_calls:
                name, arguments = call.function.name, json.loads(call.function.arguments)
                try:
                    content = guard.call(name, arguments, tools[name])
                except Denied as denied:
                    content = f"denied: {denied}"
                messages.append({"role": "tool", "tool_call_id": call.id, "content": str(content)})
