"""Conversation history, tool calls, summaries, and how large they get."""

from typing import Any


def payload_conversation() -> Any:
    """Conversation history with the roles system, user and assistant."""
    return [
        {"role": "system", "content": "You are a helpful travel agent."},
        {"role": "user", "content": "Find me a train to Lyon."},
        {"role": "assistant", "content": "The 9:04 arrives at 11:02. Shall I book it?"},
        {"role": "user", "content": "Yes, please."},
    ]


def payload_multimodal_parts() -> Any:
    """A message of several parts, with an image as bytes."""
    return {
        "role": "user",
        "content": [
            {"type": "text", "text": "What is in this picture?"},
            {"type": "image", "media_type": "image/png", "data": b"\x89PNG\r\n\x1a\n\x00\xff"},
        ],
    }


def payload_tool_calls() -> Any:
    """A tool call with nested arguments, and its result."""
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "name": "search_trains",
                    "arguments": {"to": "Lyon", "via": ["Dijon"], "limits": {"price": 59.5}},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": {"trains": [6603, 6607], "ok": True}},
    ]


def payload_tool_arguments_text() -> Any:
    """Tool arguments kept as JSON text inside the message, with quotes and escapes."""
    return {
        "name": "write_file",
        "arguments": '{"path": "a\\\\b", "text": "say \\"hi\\"\\n</done>"}',
    }


def payload_token_counts() -> Any:
    """Token counts and costs beside a message."""
    return {"usage": {"input": 1024, "output": 0, "total": 1024, "cost": 0.00315, "cached": False}}


def payload_summary_empty() -> Any:
    """A summary that is still empty text."""
    return {"thread": "t-1", "summary": ""}


def payload_summary_1mb() -> Any:
    """A summary of one megabyte."""
    sentence = "The user prefers trains over planes and travels on Fridays. "
    return {"thread": "t-1", "summary": (sentence * (2**20 // len(sentence) + 1))[: 2**20]}


def payload_messages_10000() -> Any:
    """A history of 10,000 short messages."""
    return [{"user": "message {}".format(number)} for number in range(10000)]


def payload_none_everywhere() -> Any:
    """None as a value at every level of a record."""
    return {"summary": None, "messages": [None, {"content": None}], "metadata": {"tags": [None]}}


def payload_empty_containers() -> Any:
    """Empty lists and dicts nested in one another."""
    return {"messages": [], "metadata": {}, "threads": [[], {}, [[]], {"tools": {}}]}
