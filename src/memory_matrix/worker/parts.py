"""The parts that a description lists: items, entries and members, for whatever type has them."""

import typing

from memory_matrix.worker.naming import stable_text

Node = typing.Any
Object = typing.Dict[str, typing.Any]
Describer = typing.Any
"""What turns a part into its node."""

DEEPEST_ORDER = 8
"""Levels within a set's member that decide on its place; deeper ones are only compared."""

MISSING = ["<missing>"]
"""The node of an attribute that the object should have and has not."""


def is_reference(node: Node) -> bool:
    """Say whether `node` stands for an object of its table."""
    return isinstance(node, list) and len(node) == 1 and isinstance(node[0], int)


def items(describer: Describer, value: typing.Any, described: Object) -> None:
    """Put the items of a sequence into `described`."""
    node = describer.node
    described["items"] = [node(item) for item in value]


def entries(describer: Describer, value: typing.Any, described: Object) -> None:
    """Put the keys and values of a mapping into `described`."""
    node = describer.node
    described["entries"] = [[node(key), node(value)] for key, value in value.items()]


def members(describer: Describer, value: typing.Any, described: Object) -> None:
    """Put the members of a set into `described`, in an order that does not depend on hashes."""
    node = describer.node
    described["members"] = [node(member) for member in sorted(value, key=_order)]


def _order(member: object, deep: int = 0) -> str:
    if deep > DEEPEST_ORDER:
        return type(member).__name__
    if isinstance(member, tuple):
        return "tuple:" + ",".join(_order(item, deep + 1) for item in member)
    if isinstance(member, frozenset):
        return "frozenset:" + ",".join(sorted(_order(item, deep + 1) for item in member))
    try:
        return type(member).__name__ + ":" + stable_text(repr(member))
    except Exception:
        return type(member).__name__
