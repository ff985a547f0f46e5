"""Describe a value as plain data that can be kept, sent and compared in another process.

A description is a table: `{"root": NODE, "objects": [OBJECT, ...]}`. A NODE is

- null, true, false, a string, a number: that value, of exactly that type;
- `[index]`: the object at that place of the table (so sharing and cycles need no recursion);
- `[type, text]`: any other value without parts, such as `["decimal.Decimal", "1.50"]`;
- `["class", name]`, `["function", name]`: what is known by its name, whatever its own type;
- `["<missing>"]`: an attribute that the object should have and has not;
- `["<raises>", type]`: an attribute that cannot be read.

An OBJECT has its type under `t` and, of these, what applies: `items` (in order), `members` (of a set),
`entries` (pairs of key and value; `ordered` where their order is part of the value), `fields`
(attributes), `facts` (named parts such as `maxlen`), `local` (facts that mean something within one
environment only, such as bytecode), `fallback` (class attributes that answer where an instance has no
attribute of its own), `default` (names of the fields that hold their declared default) and `properties`
(names that the class answers by code).
"""

import hashlib
import json
import marshal
import typing
import warnings

from memory_matrix.worker import objects, scalars
from memory_matrix.worker.naming import type_name
from memory_matrix.worker.parts import Node, Object, entries, is_reference, items, members

Table = typing.Dict[str, typing.Any]


MOST_OBJECTS = 300000
"""Objects of one value that are described."""

LONGEST_TEXT = 1 << 16
"""Characters of one string that are kept whole; of a longer one its ends and its digest."""

SMALL = 1 << 63

_PLAIN = ("list", "tuple", "dict")

_BYTES = (b'["bytes",', b'["bytearray",', b'["memoryview",')


def describe(value: object) -> Table:
    """Return the description of `value`, whatever the value does when it is looked at.

    Raises:
        TooManyPartsError: it has more than `MOST_OBJECTS`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is deprecated is looked at all the same
        return _Describer().table(value)


def encode(table: Table) -> bytes:
    """Return the one form of `table` that is stored and digested."""
    return json.dumps(table, separators=(",", ":"), sort_keys=True).encode("ascii")


def is_plain(table: Table) -> bool:
    """Say whether a value has nothing but lists, tuples, dicts, text and numbers in it, each once."""
    encoded = encode(table)
    return (
        all(described["t"] in _PLAIN for described in table["objects"])
        and not any(kind in encoded for kind in _BYTES)
        and not _is_shared(table)
    )


def _is_shared(table: Table) -> bool:
    """Say whether any object is there more than once."""
    nodes = [table["root"]]
    for described in table["objects"]:
        nodes.extend(described.get("items", ()))
        for pair in described.get("entries", ()):
            nodes.extend(pair)
    return sum(map(is_reference, nodes)) > len(table["objects"])


def plain_digest(value: typing.Any) -> typing.Optional[str]:
    """Return a digest of a plain value that only equal values of equal types share, or None.

    It means something to one interpreter only. Bytes and what looks like bytes are not told apart.
    What is in a value more than once is written as often, so there may be no end to it.
    """
    try:
        return digest(marshal.dumps(value, 2))
    except (ValueError, MemoryError):
        return None


def digest(data: bytes) -> str:
    """Return the name under which `data` is stored."""
    return hashlib.sha256(data).hexdigest()


class TooManyPartsError(Exception):
    """A value is too large to be compared."""


class _Describer:
    def __init__(self) -> None:
        self._objects: typing.List[Object] = []
        self._places: typing.Dict[int, int] = {}
        self._values: typing.List[object] = []

    def table(self, value: object) -> Table:
        root = self.node(value)
        while len(self._objects) < len(self._values):
            if len(self._objects) >= MOST_OBJECTS:
                text = "it has more than %d parts, too many to be compared" % MOST_OBJECTS
                raise TooManyPartsError(text)
            self._objects.append(self._object(self._values[len(self._objects)]))
        return {"root": root, "objects": self._objects}

    def node(self, value: typing.Any) -> Node:
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is str:
            return value if len(value) <= LONGEST_TEXT else _long_text(value)
        if kind is int:
            small = -SMALL <= value < SMALL
            return value if small else ["int", hex(value)]
        if kind is float:
            finite = value - value == 0.0
            return value if finite else ["float", repr(value)]
        if kind in _CONTAINERS:
            return self._reference(value)
        scalar = self._scalar(kind, value)
        return self._reference(value) if scalar is None else scalar

    def _reference(self, value: object) -> Node:
        place = self._places.get(id(value))
        if place is None:
            place = self._places[id(value)] = len(self._values)
            self._values.append(value)  # kept alive, so that its id stays its own
        return [place]

    def _scalar(self, kind: type, value: typing.Any) -> Node:
        try:
            return scalars.scalar(kind, value)
        except Exception as error:
            return ["<raises>", type_name(type(error))]

    def _object(self, value: object) -> Object:
        kind = type(value)
        described: Object = {"t": type_name(kind)}
        try:
            plain = _CONTAINERS.get(kind)
            if plain is not None:
                plain(self, value, described)
            else:
                objects.describe_into(self, kind, value, described)
        except RecursionError:
            raise
        except Exception as error:
            described["facts"] = {"<raises>": type_name(type(error))}
        return described


def _long_text(text: str) -> Node:
    data = text.encode("utf-8", "surrogatepass")
    kept = text[:200] + "..." + text[-200:]
    return ["str", "%s (%d characters, sha256 %s)" % (kept, len(text), digest(data))]


_CONTAINERS: typing.Dict[type, typing.Callable[[_Describer, typing.Any, Object], None]] = {
    list: items,
    tuple: items,
    dict: entries,
    set: members,
    frozenset: members,
}
