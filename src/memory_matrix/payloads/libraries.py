"""Values of the libraries that agents keep their memory with, where the environment has them."""

from typing import Any

from memory_matrix.payloads.lacking import Lacking, needs


def payload_pydantic_model() -> Any:
    """A pydantic model with one field left to its default."""
    return _pydantic().Message(role="user", content="hello")


def payload_pydantic_nested() -> Any:
    """Pydantic models inside a pydantic model, in a list and in a dict."""
    models = _pydantic()
    message = models.Message(role="user", content="hello", tokens=2)
    return models.Conversation(title="trip", messages=[message], by_id={"m-1": message})


def payload_pydantic_optional() -> Any:
    """A pydantic model with an optional field given, given as None, and left out."""
    return _pydantic().Profile(name="Ada", nickname=None)


def payload_pydantic_union() -> Any:
    """Digits as text in a pydantic field of int or str (pydantic 1 makes them a number)."""
    return _pydantic().Setting(value="42")


def payload_pydantic_datetime() -> Any:
    """A pydantic model with an aware datetime, given as text (its time zone is the library's)."""
    return _pydantic().Event(at="2026-01-01T12:00:00Z")


def payload_pydantic_url() -> Any:
    """A pydantic model with a URL (its type changed in pydantic 2.0 and 2.10)."""
    return _pydantic().Link(url="https://example.org/docs?page=3")


def payload_pydantic_secret() -> Any:
    """A pydantic model with a secret."""
    return _pydantic().Credentials(key="not-a-secret")


def payload_pydantic_private() -> Any:
    """A pydantic model with a private attribute that was changed (pydantic 1.7 and later)."""
    models = _pydantic()
    if not hasattr(models, "Session"):
        raise Lacking("Needs pydantic 1.7 or later for private attributes.")
    return models.Session(name="s-1").remember("searched")


def payload_pydantic_dataclass() -> Any:
    """A dataclass made by pydantic."""
    return _pydantic().Fact(subject="likes trains")


def payload_attrs_class() -> Any:
    """An attrs class with a default."""
    return _attrs().Message("user")


def payload_attrs_slots() -> Any:
    """An attrs class with slots (the form of its saved state changed in attrs 22.2)."""
    return _attrs().Step("search", "6603")


def payload_attrs_frozen() -> Any:
    """A frozen attrs class, also as a key."""
    fact = _attrs().Fact("likes trains")
    return {"fact": fact, fact: 1}


def payload_attrs_frozen_slots() -> Any:
    """A frozen attrs class with slots."""
    return _attrs().Source("https://example.org/handbook", 3)


def payload_msgspec_struct() -> Any:
    """A msgspec struct with a default."""
    needs("msgspec")
    return needs("memory_matrix.payloads.msgspec_models").Message("user", "hello")


def payload_pandas_frame() -> Any:
    """A pandas frame of texts and scores."""
    return needs("pandas").DataFrame({"text": ["a", "b"], "score": [0.5, 0.25]})


def probe_pandas_frame(value: Any) -> Any:
    """List its columns with their types, its index and its cells."""
    columns = [[name, str(value[name].dtype), value[name].tolist()] for name in value.columns]
    return [columns, value.index.tolist()]


def payload_pandas_timestamp() -> Any:
    """A pandas Timestamp in UTC (its time zone object changed in pandas 2)."""
    return needs("pandas").Timestamp("2026-01-01 12:00:00.000000001", tz="UTC")


def payload_langchain_messages() -> Any:
    """Messages of langchain-core: a question, a tool call, and its result."""
    messages = needs("langchain_core.messages", "langchain-core")
    call = {"name": "search", "args": {"to": "Lyon"}, "id": "call_1"}
    return [
        messages.HumanMessage(content="Find me a train to Lyon.", id="m-1"),
        messages.AIMessage(content="", tool_calls=[call], id="m-2"),
        messages.ToolMessage(content="6603", tool_call_id="call_1", id="m-3"),
    ]


def _pydantic() -> Any:
    needs("pydantic")
    return needs("memory_matrix.payloads.pydantic_models")


def _attrs() -> Any:
    needs("attr", "attrs")
    return needs("memory_matrix.payloads.attrs_models")
