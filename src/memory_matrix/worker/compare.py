"""Compare two descriptions and say where they differ. Plain data in, plain data out."""

import collections
import json
import operator
import typing
import unicodedata

from memory_matrix.worker.canonical import (
    Canonical,
    has_place_for,
    may_be_absent,
    package_and_name,
)
from memory_matrix.worker.parts import MISSING, is_reference
from memory_matrix.worker.scalars import CLASS, FUNCTION

Node = typing.Any
Object = typing.Dict[str, typing.Any]
Table = typing.Dict[str, typing.Any]
Difference = typing.Dict[str, str]
Pairs = typing.List[typing.Tuple[str, Node, Node]]


MOST_DIFFERENCES = 50
"""Differences that are looked for; a value that differs everywhere is not listed to its end."""

MOST_TEXT = 300
"""Characters of a value that are shown."""

ABSENT = ["<absent>"]

NOTHING_THERE = "missing"
"""How a difference shows a part that one side lacks."""


def compare(expected: Table, got: Table, across: bool = False) -> typing.List[Difference]:
    """Return where `got` differs from `expected`, each with `path`, `expected` and `got`.

    `across` compares two environments' own values: a class may have moved within its package, a
    field that holds its default may exist on one side only, and bytecode is not looked at.
    """
    return _Comparison(expected, got, across).differences()


class _Comparison:
    def __init__(self, expected: Table, got: Table, across: bool) -> None:
        self._left = expected["objects"]
        self._right = got["objects"]
        self._left_texts = Canonical(self._left, across)
        self._right_texts = Canonical(self._right, across)
        self._across = across
        self._found: typing.List[Difference] = []
        self._seen: typing.Set[typing.Tuple[int, int]] = set()
        self._todo = [("$", expected["root"], got["root"])]

    def differences(self) -> typing.List[Difference]:
        while self._todo and len(self._found) < MOST_DIFFERENCES:
            path, left, right = self._todo.pop()
            self._nodes(path, left, right)
        return self._found

    def _nodes(self, path: str, left: Node, right: Node) -> None:
        if is_reference(left) and is_reference(right):
            pair = (left[0], right[0])
            if pair not in self._seen:
                self._seen.add(pair)
                self._objects(path, left, right)
        elif not self._same_value(left, right):
            self._report(path, left, right)

    def _alike(self, left: Node, right: Node) -> bool:
        """Say whether nothing remains to be looked at; most of a large value is done with here."""
        return not is_reference(left) and self._same_value(left, right)

    def _same_value(self, left: Node, right: Node) -> bool:
        if type(left) is not type(right):
            return False
        if isinstance(left, list):
            if len(left) == 2 == len(right) and self._across:
                same = _same_type if left[0] in (CLASS, FUNCTION) else operator.eq
                return same(left[1], right[1]) and _same_type(left[0], right[0])
            return bool(left == right)
        return repr(left) == repr(right)  # 0.0 is not -0.0

    def _objects(self, path: str, left: Node, right: Node) -> None:
        mine, other = self._left[left[0]], self._right[right[0]]
        same_type = mine["t"] == other["t"] or (self._across and _same_type(mine["t"], other["t"]))
        if not same_type:
            self._report(path, left, right)
        later = self._facts(path, mine, other, same_type)
        for part, match in (
            ("items", self._items),
            ("entries", self._entries),
            ("members", self._members),
            ("fields", self._fields),
        ):
            if part in mine and part in other:
                later.extend(match(path, mine, other))
            elif same_type and (mine.get(part) or other.get(part)):
                self._report(path, left, right)
        self._todo.extend(reversed(later))

    def _facts(self, path: str, mine: Object, other: Object, same_type: bool) -> Pairs:
        """Pair facts by name; of different types, only those that both have: the rest is no news."""
        parts = ("facts",) if self._across else ("facts", "local")
        join = set.union if same_type else set.intersection
        return [
            (path + "." + name, _part(mine, part, name), _part(other, part, name))
            for part in parts
            for name in sorted(join(set(mine.get(part, ())), set(other.get(part, ()))))
        ]

    def _items(self, path: str, mine: Object, other: Object) -> Pairs:
        left, right = mine["items"], other["items"]
        return [
            ("%s[%d]" % (path, index), _item(left, index), _item(right, index))
            for index in range(max(len(left), len(right)))
            if not self._alike(_item(left, index), _item(right, index))
        ]

    def _entries(self, path: str, mine: Object, other: Object) -> Pairs:
        left = _by_key(self._left_texts, mine["entries"])
        right = _by_key(self._right_texts, other["entries"])
        extra = {key: node for key, (node, _) in right.items() if key not in left}
        alike = _by_plain_text(extra)
        later: Pairs = []
        for key, (node, value) in left.items():
            if key in right and self._alike(value, right[key][1]):
                continue
            step = path + _step(self._left_texts, node)
            twins = [key] if key in right else alike.get(_plain_text(node), [])
            if not twins:
                later.append((step, value, ABSENT))
                continue
            twin = twins.pop()
            if twin in extra:
                self._report_keys(step, node, extra.pop(twin))
            later.append((step, value, right[twin][1]))
        for key, node in extra.items():
            later.append((path + _step(self._right_texts, node), ABSENT, right[key][1]))
        both_ordered = mine.get("ordered") and other.get("ordered")
        if both_ordered and set(left) == set(right) and list(left) != list(right):
            self._add(path, "keys in the order " + _cut(list(left)), _cut(list(right)))
        return later

    def _members(self, path: str, mine: Object, other: Object) -> Pairs:
        left = collections.Counter(map(self._left_texts.text, mine["members"]))
        right = collections.Counter(map(self._right_texts.text, other["members"]))
        for name in left - right:
            self._add(path, "member " + _cut(name), "no such member")
        for name in right - left:
            self._add(path, "no such member", "member " + _cut(name))
        return []

    def _fields(self, path: str, mine: Object, other: Object) -> Pairs:
        left, right = mine["fields"], other["fields"]
        later = []
        for name in list(left) + [name for name in right if name not in left]:
            here, there = self._field(mine, name), self._field(other, name)
            lacking = mine if here is ABSENT else other if there is ABSENT else None
            if lacking is not None and self._may_be_absent(mine, other, lacking, name):
                continue
            later.append((path + "." + name, here, there))
        return later

    def _field(self, described: Object, name: str) -> Node:
        if name in described["fields"]:
            return described["fields"][name]
        return ABSENT if self._across else described.get("fallback", {}).get(name, ABSENT)

    def _may_be_absent(self, mine: Object, other: Object, lacking: Object, name: str) -> bool:
        """Between environments: a default, what a library keeps for itself, or a property instead."""
        return self._across and (
            may_be_absent(mine, name) or may_be_absent(other, name) or has_place_for(lacking, name)
        )

    def _report(self, path: str, left: Node, right: Node) -> None:
        self._add(path, self._show(self._left, left), self._show(self._right, right))

    def _report_keys(self, path: str, left: Node, right: Node) -> None:
        self._add(
            path,
            "key " + self._show(self._left, left),
            "key " + self._show(self._right, right),
        )

    def _add(self, path: str, expected: str, got: str) -> None:
        if len(self._found) < MOST_DIFFERENCES:
            expected, got = _cut_both(expected, got)
            self._found.append({"path": path, "expected": expected, "got": got})

    def _show(self, objects: typing.List[Object], node: Node) -> str:
        if not is_reference(node):
            return _show_value(node)
        described = objects[node[0]]
        for part in ("entries", "items", "members"):
            if part in described:
                return "%s of %d" % (described["t"], len(described[part]))
        if "value" in described.get("facts", {}):
            return "%s %s" % (described["t"], self._show(objects, described["facts"]["value"]))
        return str(described["t"])


def _by_key(
    texts: Canonical, entries: typing.List[typing.Any]
) -> typing.Dict[str, typing.Tuple[Node, Node]]:
    keyed: typing.Dict[str, typing.Tuple[Node, Node]] = {}
    for key, value in entries:
        name = texts.text(key)
        while name in keyed:  # NaN may be there twice
            name += "'"
        keyed[name] = (key, value)
    return keyed


def _by_plain_text(
    nodes: typing.Dict[str, Node],
) -> typing.Dict[typing.Optional[str], typing.List[str]]:
    """Return which keys read the same whatever their type, such as "1" and 1."""
    alike: typing.Dict[typing.Optional[str], typing.List[str]] = {}
    for key, node in reversed(list(nodes.items())):
        if not is_reference(node):
            alike.setdefault(_plain_text(node), []).append(key)
    return alike


def _step(texts: Canonical, key: Node) -> str:
    if isinstance(key, str):
        return "." + key if key.isidentifier() else "[%s]" % _cut(json.dumps(key), 60)
    if is_reference(key):
        return "[%s]" % _cut(texts.text(key), 60)
    return "[%s]" % _cut(_plain_text(key) or _show_value(key), 60)


def _part(described: Object, part: str, name: str) -> Node:
    return described.get(part, {}).get(name, ABSENT)


def _item(items: typing.List[Node], index: int) -> Node:
    return items[index] if index < len(items) else ABSENT


def _same_type(left: str, right: str) -> bool:
    """A class may move between the modules of its package."""
    return package_and_name(left) == package_and_name(right)


def _plain_text(node: Node) -> typing.Optional[str]:
    if node is None or isinstance(node, (bool, int, float)):
        return str(node).lower() if isinstance(node, bool) else str(node)
    if isinstance(node, str):
        return {"True": "true", "False": "false", "null": "None"}.get(node, node)
    if is_reference(node):
        return None
    return str(node[-1])


def _show_value(node: Node) -> str:
    if node is None:
        return "None"
    if isinstance(node, list):
        return NOTHING_THERE if node in (ABSENT, MISSING) else " ".join(map(str, node))
    if isinstance(node, str):
        plain = node.isprintable() and unicodedata.normalize("NFC", node) == node
        return "str " + (repr(node) if plain else ascii(node))
    return "%s %r" % (type(node).__name__, node)


def _cut_both(left: str, right: str) -> typing.Tuple[str, str]:
    """Cut two texts to a bearable length, so that what differs can be seen."""
    if left[:MOST_TEXT] != right[:MOST_TEXT]:
        return _cut(left), _cut(right)
    length = min(len(left), len(right))
    same = next((place for place in range(length) if left[place] != right[place]), length)
    return _cut_to(left, same), _cut_to(right, same)


def _cut_to(text: str, place: int) -> str:
    """Keep the type, and what is around `place`."""
    if len(text) <= MOST_TEXT:
        return text
    kind = text.partition(" ")[0]
    return "%s ...%s" % (kind, _cut(text[max(len(kind), place - 40) :]))


def _cut(text: typing.Any, most: int = MOST_TEXT) -> str:
    whole: str = text if isinstance(text, str) else ", ".join(map(str, text))
    return whole if len(whole) <= most else whole[:most] + "..."
