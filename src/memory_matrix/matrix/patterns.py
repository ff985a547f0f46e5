"""How a glob is matched against the name of an environment, a serializer, a payload or a store."""

from __future__ import annotations

from fnmatch import fnmatchcase


def matches(value: str, pattern: str) -> bool:
    """Return whether `pattern` is a glob that matches `value`, or is equal to it.

    Names hold `[` and `*` themselves where they come from version specifiers.
    """
    return value == pattern or fnmatchcase(value, pattern)


def matches_store(store: str, pattern: str) -> bool:
    """Return whether `pattern` matches `store`, given as `module:object`, or the object's name alone."""
    return matches(store, pattern) or matches(store.rpartition(":")[2], pattern)
