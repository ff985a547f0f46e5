"""The calls that an adapter may have, with what each of them is given. `protocol` says what they do."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

CALLS: Mapping[str, tuple[str, ...]] = {
    "open": ("env",),
    # conversations
    "append": ("store", "scope", "messages"),
    "read": ("store", "scope"),
    "replace": ("store", "scope", "messages"),
    "pop": ("store", "scope"),
    "delete_message": ("store", "scope", "which"),
    "clear": ("store", "scope"),
    "count": ("store", "scope"),
    "list_sessions": ("store", "scope"),
    "load": ("store", "scope"),
    "append_with": ("store", "handle", "messages"),
    # records
    "put": ("store", "scope", "record"),
    "put_many": ("store", "scope", "records"),
    "get": ("store", "scope", "id"),
    "update": ("store", "scope", "id"),
    "delete": ("store", "scope", "id"),
    "delete_where": ("store", "scope", "filter"),
    "delete_all": ("store", "scope"),
    "list_records": ("store", "scope"),
    "list_namespaces": ("store", "scope", "prefix"),
    "search": ("store", "scope", "query", "k"),
    # state
    "set_state": ("store", "handle", "delta"),
    "get_state": ("store", "scope"),
    # a look from outside
    "setup": ("store",),
    "close": ("store",),
    "raw_keys": ("store", "scope"),
    "raw_rows": ("store", "scope"),
    "expire_now": ("store", "scope"),
    "corrupt": ("store", "scope", "index"),
    "tables": ("store",),
    "indexes": ("store",),
    "store_clock": ("store", "now"),
    "client": ("env",),
    "open_with": ("env", "client"),
    "client_works": ("client",),
    "close_client": ("client",),
    "ddl": ("env",),
    "older": ("env",),
}
"""What each call is given by position; what else it can be given is an option, by name."""


def problem(adapter: Any) -> str | None:
    """Return in one sentence what is wrong with the calls of `adapter`, or None."""
    for name, given in CALLS.items():
        call = getattr(adapter, name, None)
        if call is not None and (wrong := _wrong(name, call, given)):
            return wrong
    return next(filter(None, (_misspelt(adapter, name) for name in _own_calls(adapter))), None)


def _wrong(name: str, call: Any, given: tuple[str, ...]) -> str | None:
    shown = f"{name}({', '.join(given)})"
    if not callable(call):
        return f"the adapter's `{name}` is {call!r:.60}; it should be a function, {shown}."
    try:
        inspect.signature(call).bind(*given)
    except ValueError:  # a callable that does not tell what it takes
        return None
    except TypeError as error:
        return f"the adapter's `{name}` cannot be called as {shown}: {error}."
    return None


def _own_calls(adapter: Any) -> list[str]:
    return [
        name
        for name in dir(adapter)
        if not name.startswith("_")
        and name not in CALLS
        and inspect.isroutine(_quiet(adapter, name))
    ]


def _quiet(adapter: Any, name: str) -> Any:
    return inspect.getattr_static(type(adapter), name, None)


def _misspelt(adapter: Any, name: str) -> str | None:
    """Say of a call that the suite would never make whether it is a known one with a slip."""
    close = get_close_matches(name, CALLS, n=1, cutoff=0.85)
    if not close or hasattr(adapter, close[0]):
        return None
    return f"the adapter has `{name}`, which is no call of the protocol. Did you mean `{close[0]}`?"
