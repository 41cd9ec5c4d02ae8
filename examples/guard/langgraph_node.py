"""A node of LangGraph that executes tool calls, each of which it asks a guard about before."""

from langchain_core.messages import ToolMessage

from specledger.wings.guard.client import Conversation, Denied


def guarded_tools(tools: dict, guard: Conversation):
    """The node: `graph.add_node("tools", guarded_tools({"send_money": send_money}, guard))`."""

    def node(state: dict) -> dict:
        answers = []
        for call in state["messages"][-1].tool_calls:
            try:
                content = guard.call(call["name"], call["args"], tools[call["name"]])
            except Denied as denied:
                content = f"denied: {denied}"
            answers.append(ToolMessage(str(content), tool_call_id=call["id"]))
        return {"messages": answers}

    return node
