"""Headings over environments whose names begin alike, such as `py310` over its releases."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

Label = tuple[str, str]
"""A heading, and what is left of the name below it."""


def labels(names: Sequence[str]) -> tuple[Label, ...]:
    """Return each name split at its first `-`; nothing unless that puts neighbours under headings.

    All names must split, each heading must be over one run of neighbours, and there must be several
    headings, fewer than names.
    """
    split = [name.partition("-") for name in names]
    headings = [heading for heading, _ in groupby(first for first, _, _ in split)]
    if not all(first and rest for first, _, rest in split):
        return ()
    if len(set(headings)) != len(headings) or not 1 < len(headings) < len(names):
        return ()
    return tuple((first, rest) for first, _, rest in split)
