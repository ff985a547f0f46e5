"""How a glob is matched against the name of an environment, a serializer or a payload."""

from __future__ import annotations

from fnmatch import fnmatchcase


def matches(value: str, pattern: str) -> bool:
    """Return whether `pattern` is a glob that matches `value`, or is equal to it.

    Names hold `[` and `*` themselves where they come from version specifiers.
    """
    return value == pattern or fnmatchcase(value, pattern)
