"""Texts that are equal for equal keys and members, so that these can be found in another table."""

import hashlib
import json
import typing

from memory_matrix.worker.parts import Node, Object, is_reference
from memory_matrix.worker.scalars import CLASS, FUNCTION

LONGEST_TEXT = 1000
"""Characters of a text that are kept whole; of a longer one its start and its digest."""


class Canonical:
    """The texts of one table's nodes. They tell types apart, and do not depend on sharing.

    `across` is for tables of two environments: a class may have moved within its package, and what
    a field holds by default, or a library for itself, may be there on one side only.
    """

    def __init__(self, objects: typing.Sequence[Object], across: bool) -> None:
        self._objects = objects
        self._across = across
        self._texts: typing.Dict[int, str] = {}
        self._open: typing.List[int] = []
        self._opened: typing.Dict[int, int] = {}
        self._lowest: typing.Dict[int, int] = {}

    def text(self, node: Node) -> str:
        """Return the text of `node`."""
        if is_reference(node) and node[0] not in self._texts:
            self._visit(node[0])
        return self._known(node)

    def _visit(self, root: int) -> None:
        """Name all that `root` leads to: Tarjan's walk, without recursion, however deep it is.

        What refers to each other is named together, and only after all else that it leads to.
        """
        path = [(root, self._open_up(root))]
        while path:
            place, children = path[-1]
            for child in children:
                if child not in self._opened:
                    path.append((child, self._open_up(child)))
                    break
                if child not in self._texts:
                    self._lowest[place] = min(self._lowest[place], self._lowest[child])
            else:
                path.pop()
                self._close(place)
                if path:
                    parent = path[-1][0]
                    self._lowest[parent] = min(self._lowest[parent], self._lowest[place])

    def _open_up(self, place: int) -> typing.Iterator[int]:
        self._opened[place] = self._lowest[place] = len(self._open)
        self._open.append(place)
        parts = self._parts(self._objects[place])
        return (part[0] for part in parts if is_reference(part))

    def _close(self, place: int) -> None:
        start = self._opened[place]
        if self._lowest[place] < start:
            return
        group = self._open[start:]
        del self._open[start:]
        if len(group) > 1 or [place] in self._parts(self._objects[place]):
            self._name_cycle(group)
        else:
            self._texts[place] = _shortened(self._compose(self._objects[place]))

    def _name_cycle(self, group: typing.Sequence[int]) -> None:
        """Tell apart objects that refer to each other by looking further until that shows no more."""
        names = dict.fromkeys(group, "")
        told_apart = 0
        while len(set(names.values())) > told_apart:
            told_apart = len(set(names.values()))
            self._texts.update(names)
            names = {place: _digest(self._compose(self._objects[place])) for place in group}
        for place in group:
            self._texts[place] = "(%s, %s)" % (self._objects[place]["t"], names[place])

    def _known(self, node: Node) -> str:
        if not isinstance(node, list):
            return json.dumps(node)
        if is_reference(node):
            return self._texts[node[0]]
        if self._across:
            movable = len(node) if node[0] in (CLASS, FUNCTION) else 1
            node = list(map(package_and_name, node[:movable])) + node[movable:]
        return json.dumps(node)

    def _parts(self, described: Object) -> typing.Iterator[Node]:
        for part in ("items", "members"):
            for node in described.get(part, ()):
                yield node
        for pair in described.get("entries", ()):
            for node in pair:
                yield node
        for part in ("facts", "fields"):
            for node in described.get(part, {}).values():
                yield node

    def _compose(self, described: Object) -> str:
        kind = described["t"]
        parts = [package_and_name(kind) if self._across else kind]
        parts.extend(map(self._known, described.get("items", ())))
        parts.extend(sorted(map(self._known, described.get("members", ()))))
        entries = [
            "%s: %s" % (self._known(key), self._known(value))
            for key, value in described.get("entries", ())
        ]
        parts.extend(entries if described.get("ordered") else sorted(entries))
        parts.extend(self._named_parts(described))
        return "(" + ", ".join(parts) + ")"

    def _named_parts(self, described: Object) -> typing.Iterator[str]:
        for part in ("facts", "fields"):
            for name, node in sorted(described.get(part, {}).items()):
                ignored = part == "fields" and self._across and may_be_absent(described, name)
                if not ignored:
                    yield name + "=" + self._known(node)


def has_place_for(described: Object, name: str) -> bool:
    """Say whether an object without a field of that name still answers to it."""
    return name in described.get("properties", ())


def may_be_absent(described: Object, name: str) -> bool:
    """Say whether another environment may lack a field: it holds its default, or is private."""
    return name.startswith("_") or name in described.get("default", ())


def package_and_name(kind: str) -> str:
    """Return a class's name without the modules between, which it may move among."""
    if "[" in kind or "." not in kind:
        return kind
    return kind.partition(".")[0] + "." + kind.rpartition(".")[2]


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return "%s... %s" % (text[:LONGEST_TEXT], _digest(text))


def _digest(text: str) -> str:
    return "sha256 " + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
