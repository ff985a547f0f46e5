"""Compare two descriptions and say where they differ. Plain data in, plain data out."""

import collections
import json
import typing

from memory_matrix.worker.parts import MISSING

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
        if _is_reference(left) and _is_reference(right):
            pair = (left[0], right[0])
            if pair not in self._seen:
                self._seen.add(pair)
                self._objects(path, left, right)
        elif not self._same_value(left, right):
            self._report(path, left, right)

    def _same_value(self, left: Node, right: Node) -> bool:
        if type(left) is not type(right):
            return False
        if isinstance(left, list):
            if len(left) == 2 == len(right) and self._across:
                return left[1] == right[1] and _same_type(left[0], right[0])
            return bool(left == right)
        return repr(left) == repr(right)  # 0.0 is not -0.0

    def _objects(self, path: str, left: Node, right: Node) -> None:
        mine, other = self._at(self._left, left), self._at(self._right, right)
        same_type = mine["t"] == other["t"] or (self._across and _same_type(mine["t"], other["t"]))
        if not same_type:
            self._report(path, left, right)
        later = self._facts(path, mine, other)
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

    def _facts(self, path: str, mine: Object, other: Object) -> Pairs:
        parts = ("facts",) if self._across else ("facts", "local")
        return [
            (path + "." + name, _part(mine, part, name), _part(other, part, name))
            for part in parts
            for name in sorted(set(mine.get(part, ())) | set(other.get(part, ())))
        ]

    def _items(self, path: str, mine: Object, other: Object) -> Pairs:
        left, right = mine["items"], other["items"]
        return [
            ("%s[%d]" % (path, index), _item(left, index), _item(right, index))
            for index in range(max(len(left), len(right)))
        ]

    def _entries(self, path: str, mine: Object, other: Object) -> Pairs:
        left = self._by_key(self._left, mine["entries"])
        right = self._by_key(self._right, other["entries"])
        extra = [key for key in right if key not in left]
        later: Pairs = []
        for key, (node, value) in left.items():
            step = path + self._step(self._left, node)
            twin = key if key in right else self._twin(node, right, extra)
            if twin is None:
                later.append((step, value, ABSENT))
                continue
            if twin != key:
                extra.remove(twin)
                self._report_keys(step, node, right[twin][0])
            later.append((step, value, right[twin][1]))
        for key in extra:
            later.append((path + self._step(self._right, right[key][0]), ABSENT, right[key][1]))
        both_ordered = mine.get("ordered") and other.get("ordered")
        if both_ordered and set(left) == set(right) and list(left) != list(right):
            self._add(path, "keys in the order " + _cut(list(left)), _cut(list(right)))
        return later

    def _by_key(
        self, objects: typing.List[Object], entries: typing.List[typing.Any]
    ) -> typing.Dict[str, typing.Any]:
        keyed = {}
        for key, value in entries:
            name = self._canonical(objects, key)
            while name in keyed:  # NaN may be there twice
                name += "'"
            keyed[name] = (key, value)
        return keyed

    def _twin(
        self, node: Node, right: typing.Dict[str, typing.Any], extra: typing.List[str]
    ) -> typing.Optional[str]:
        """Return the key of another type that reads the same, such as "1" for 1."""
        wanted = _plain_text(node)
        for key in extra[:1000]:
            if wanted is not None and _plain_text(right[key][0]) == wanted:
                return key
        return None

    def _members(self, path: str, mine: Object, other: Object) -> Pairs:
        left = self._count(self._left, mine["members"])
        right = self._count(self._right, other["members"])
        for name in left - right:
            self._add(path, "member " + _cut(name), "no such member")
        for name in right - left:
            self._add(path, "no such member", "member " + _cut(name))
        return []

    def _count(
        self, objects: typing.List[Object], members: typing.List[Node]
    ) -> "typing.Counter[str]":
        return collections.Counter(self._canonical(objects, member) for member in members)

    def _fields(self, path: str, mine: Object, other: Object) -> Pairs:
        left, right = mine["fields"], other["fields"]
        later = []
        for name in list(left) + [name for name in right if name not in left]:
            here, there = self._field(mine, name), self._field(other, name)
            if (here is ABSENT) != (there is ABSENT) and self._may_be_absent(mine, other, name):
                continue
            later.append((path + "." + name, here, there))
        return later

    def _field(self, described: Object, name: str) -> Node:
        if name in described["fields"]:
            return described["fields"][name]
        return ABSENT if self._across else described.get("fallback", {}).get(name, ABSENT)

    def _may_be_absent(self, mine: Object, other: Object, name: str) -> bool:
        """Between environments: a default, or what a library keeps for itself."""
        return self._across and (
            name.startswith("_")
            or name in mine.get("default", ())
            or name in other.get("default", ())
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
        self._found.append({"path": path, "expected": expected, "got": got})

    def _at(self, objects: typing.List[Object], reference: Node) -> Object:
        place = reference[0]
        return objects[place] if place < len(objects) else {"t": "<not described>"}

    def _show(self, objects: typing.List[Object], node: Node) -> str:
        if not _is_reference(node):
            return _show_value(node)
        described = self._at(objects, node)
        for part in ("entries", "items", "members"):
            if part in described:
                return "%s of %d" % (described["t"], len(described[part]))
        if "value" in described.get("facts", {}):
            return "%s %s" % (described["t"], self._show(objects, described["facts"]["value"]))
        return str(described["t"])

    def _step(self, objects: typing.List[Object], key: Node) -> str:
        if isinstance(key, str):
            return "." + key if key.isidentifier() else "[%s]" % _cut(json.dumps(key), 60)
        if _is_reference(key):
            return "[%s]" % _cut(self._canonical(objects, key), 60)
        return "[%s]" % _cut(_plain_text(key) or _show_value(key), 60)

    def _canonical(self, objects: typing.List[Object], node: Node, depth: int = 0) -> str:
        """Return a text that is equal for equal keys and members of equal type."""
        if not _is_reference(node):
            return json.dumps(node)
        described = self._at(objects, node)
        if depth > 20:
            return str(described["t"])
        parts = [described["t"]]
        for part in ("items", "members"):
            inner = [self._canonical(objects, item, depth + 1) for item in described.get(part, ())]
            parts.extend(sorted(inner) if part == "members" else inner)
        for part in ("facts", "fields"):
            for name, item in sorted(described.get(part, {}).items()):
                parts.append(name + "=" + self._canonical(objects, item, depth + 1))
        return "(" + ", ".join(parts) + ")"


def _part(described: Object, part: str, name: str) -> Node:
    return described.get(part, {}).get(name, ABSENT)


def _item(items: typing.List[Node], index: int) -> Node:
    return items[index] if index < len(items) else ABSENT


def _is_reference(node: Node) -> bool:
    return isinstance(node, list) and len(node) == 1 and isinstance(node[0], int)


def _same_type(left: str, right: str) -> bool:
    """A class may move between the modules of its package."""
    if left == right:
        return True
    mine, other = left.split("."), right.split(".")
    return mine[-1] == other[-1] and mine[0] == other[0] and len(mine) > 1 < len(other)


def _plain_text(node: Node) -> typing.Optional[str]:
    if node is None or isinstance(node, (bool, int, float)):
        return str(node).lower() if isinstance(node, bool) else str(node)
    if isinstance(node, str):
        return {"True": "true", "False": "false", "null": "None"}.get(node, node)
    if _is_reference(node):
        return None
    return str(node[-1])


def _show_value(node: Node) -> str:
    if node is None:
        return "None"
    if isinstance(node, list):
        return _cut(NOTHING_THERE if node in (ABSENT, MISSING) else " ".join(map(str, node)))
    if isinstance(node, str):
        return "str " + _cut(ascii(node) if not node.isprintable() else repr(node))
    return "%s %s" % (type(node).__name__, _cut(repr(node)))


def _cut(text: typing.Any, most: int = MOST_TEXT) -> str:
    whole: str = text if isinstance(text, str) else ", ".join(map(str, text))
    return whole if len(whole) <= most else whole[:most] + "..."
