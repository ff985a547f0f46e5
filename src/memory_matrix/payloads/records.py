"""Dataclasses of every kind."""

import sys
from typing import Any

from memory_matrix.payloads.lacking import Lacking, needs, needs_python


def payload_dataclass() -> Any:
    """A plain dataclass."""
    return _models().Message("user", "hello")


def payload_dataclass_frozen() -> Any:
    """A frozen dataclass, also as a member of a set."""
    fact = _models().Fact("likes trains", 0.9)
    return {"fact": fact, "known": {fact}}


def payload_dataclass_defaults() -> Any:
    """A dataclass left to its defaults, with a field that only the object sets."""
    settings = _models().Settings()
    settings.runs = 3
    return settings


def payload_dataclass_nested() -> Any:
    """Dataclasses inside a dataclass, in a list and in a dict."""
    models = _models()
    messages = [models.Message("user", "hello"), models.Message("assistant", "hi")]
    return models.Thread("trip", messages, {"train": models.Fact("likes trains", 0.9)})


def payload_dataclass_slots() -> Any:
    """A dataclass with slots (Python 3.10 and later)."""
    if sys.version_info >= (3, 10):
        return _models().Step("search", "6603")
    raise needs_python("3.10", "dataclasses with slots")


def payload_dataclass_frozen_slots() -> Any:
    """A frozen dataclass with slots (Python 3.10 and later)."""
    if sys.version_info >= (3, 10):
        return _models().Source("https://example.org/handbook", 3)
    raise needs_python("3.10", "dataclasses with slots")


def _models() -> Any:
    try:
        needs("dataclasses")
    except Lacking:
        raise needs_python("3.7", "dataclasses") from None
    return needs("memory_matrix.payloads.dataclass_models")
