"""Objects of the standard library that agents keep: identifiers, paths, patterns, types."""

import ipaddress
import pathlib
import re
import sys
import types
import uuid
from typing import Any, Dict, List, Optional

from memory_matrix.payloads.lacking import needs_python


def payload_uuid() -> Any:
    """A UUID, as a value and as a key."""
    thread = uuid.UUID("12345678-1234-5678-1234-567812345678")
    return {"thread": thread, thread: 1}


def payload_path_posix() -> Any:
    """A POSIX path (its class moved to another module in Python 3.13)."""
    return pathlib.PurePosixPath("/memory/threads/t-1.json")


def payload_path_windows() -> Any:
    """A Windows path with a drive."""
    return pathlib.PureWindowsPath("C:\\memory\\t-1.json")


def payload_regex() -> Any:
    """A compiled regular expression with flags."""
    return re.compile(r"(?P<hour>\d+):(\d+)\s*(AM|PM)", re.IGNORECASE | re.MULTILINE)


def probe_regex(value: Any) -> Any:
    """Match with it."""
    match = value.search("arrives at 11:02 pm")
    return [value.pattern, value.flags, match and [list(match.groups()), match.group("hour")]]


def payload_ip_addresses() -> Any:
    """IP addresses, a network and an interface."""
    return [
        ipaddress.ip_address("192.0.2.1"),
        ipaddress.ip_address("2001:db8::1"),
        ipaddress.ip_network("192.0.2.0/24"),
        ipaddress.ip_interface("192.0.2.1/24"),
    ]


def payload_range() -> Any:
    """A range with a step."""
    return range(10, 0, -3)


def payload_slice() -> Any:
    """A slice, as a window over the history."""
    return slice(-10, None, 2)


def payload_simple_namespace() -> Any:
    """A types.SimpleNamespace as loose settings."""
    return types.SimpleNamespace(model="small", retries=3)


def payload_mapping_proxy() -> Any:
    """A read-only view of a dict."""
    return types.MappingProxyType({"model": "small"})


def payload_ellipsis() -> Any:
    """Ellipsis as a marker for "not given"."""
    return {"limit": ...}


def payload_generic_alias() -> Any:
    """The type list[int] as a tool's schema (Python 3.9 and later)."""
    if sys.version_info >= (3, 9):
        return list[int]
    raise needs_python("3.9", "list[int]")


def payload_typing_alias() -> Any:
    """Types of the typing module as a tool's schema."""
    return {"matches": List[int], "filters": Dict[str, List[str]]}


def payload_typing_optional() -> Any:
    """The type Optional[int] as a tool's schema (its class changed in Python 3.9 and 3.14)."""
    return Optional[int]


def probe_typing_optional(value: Any) -> Any:
    """Name what it stands for."""
    return [each.__name__ for each in value.__args__]


def payload_union_type() -> Any:
    """The type int | None as a tool's schema (Python 3.10 and later)."""
    if sys.version_info >= (3, 10):
        return int | None
    raise needs_python("3.10", "int | None")
