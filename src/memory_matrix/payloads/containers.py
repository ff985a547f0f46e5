"""Containers of the standard library, and keys that are no text."""

from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from typing import Any

DEPTH = 100
"""Deep enough to matter, yet within the default recursion limit of serializers in plain Python."""


def payload_tuple() -> Any:
    """A tuple, and tuples in a list and in a dict, which must not become lists."""
    return ("user", [("a", 1), ["a", 1]], {"span": (0, 12)}, ())


def payload_key_tuple() -> Any:
    """Tuples as keys."""
    return {("thread", 1): "a", ("thread", 2): "b"}


def payload_key_int() -> Any:
    """Whole numbers as keys."""
    return {0: "first", 1: "second", -7: "other"}


def payload_key_bool() -> Any:
    """Booleans as keys."""
    return {True: "seen", False: "unseen"}


def payload_key_none() -> Any:
    """None as a key."""
    return {None: "no thread", "t-1": "a thread"}


def payload_key_bytes() -> Any:
    """Bytes as keys."""
    return {b"\x00id": 1, b"id": 2}


def payload_key_float() -> Any:
    """Floats as keys."""
    return {0.5: "half", 1e-7: "little"}


def payload_set() -> Any:
    """Sets of tags and of tuples."""
    return {"tags": {"vip", "beta", "eu"}, "edges": {(1, 2), (2, 3)}, "none": set()}


def payload_frozenset() -> Any:
    """A frozenset, also as a key."""
    return {frozenset({"a", "b"}): frozenset({1, 2, 3})}


def payload_deque() -> Any:
    """A deque with a maximum length: the window of the last messages."""
    return deque(["one", "two", "three"], maxlen=3)


def payload_ordered_dict() -> Any:
    """An OrderedDict with a key moved to its end."""
    value = OrderedDict([("a", 1), ("b", 2), ("c", 3)])
    value.move_to_end("a")
    return value


def payload_default_dict() -> Any:
    """A defaultdict with its factory."""
    return defaultdict(list, {"t-1": ["hello"]})


def payload_counter() -> Any:
    """A Counter of tool uses, with a zero and a negative count."""
    return Counter({"search": 3, "book": 0, "refund": -1})


def payload_chain_map() -> Any:
    """A ChainMap of session state over defaults."""
    return ChainMap({"model": "large"}, {"model": "small", "temperature": 0.2})


def payload_dict_order() -> Any:
    """A dict of 1,000 keys whose order is not the sorted one."""
    return {"key-{}".format(number * 7919 % 1000): number for number in range(1000)}


def payload_deep_nesting() -> Any:
    """Lists and dicts nested 100 deep."""
    value: Any = "bottom"
    for level in range(DEPTH):
        value = [value] if level % 2 else {"child": value}
    return value
