"""Comparing what two environments mean: a class may move, a default may be new, nothing else may."""

from __future__ import annotations

import dataclasses
import types
from typing import Any

import pytest

from memory_matrix.worker.compare import compare
from memory_matrix.worker.describe import describe
from support.tables import table


def across(writers: object, readers: object) -> list[dict[str, str]]:
    return compare(describe(writers), describe(readers), across=True)


def release(module: str, source: str) -> Any:
    """Return the names that one release of an app defines in `module`."""
    namespace: dict[str, Any] = {"__name__": module, "dataclasses": dataclasses}
    # dataclasses look for the module of a class
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, module, types.ModuleType(module))
        exec(source, namespace)
    return types.SimpleNamespace(**namespace)


CLASS = "@dataclasses.dataclass(frozen=True)\nclass Note:\n    text: str\n"
OLD = release("app.models", CLASS)
MOVED = release("app.memory.notes", CLASS)
OTHER = release("shop.models", CLASS)
RENAMED = release("app.models", CLASS.replace("Note", "Remark"))
NEW_DEFAULT = release("app.models", CLASS + "    pinned: bool = False\n")
NEW_REQUIRED = release("app.models", CLASS + "    source: str\n")
NEW_PRIVATE = release("app.models", CLASS + "    _version: int = 2\n")
PLAIN = "class Note:\n    def __init__(self, **fields):\n        self.__dict__.update(fields)\n"
FUNCTION = "def tool():\n    return 1\n"


@table(
    ("writers", "readers"),
    [
        (OLD.Note("a"), MOVED.Note("a")),
        ({OLD.Note("a")}, {MOVED.Note("a")}),
        ({OLD.Note("a"): 1}, {MOVED.Note("a"): 1}),
        (OLD.Note, MOVED.Note),
        ({OLD.Note: 1}, {MOVED.Note: 1}),
        (OLD.Note("a"), NEW_DEFAULT.Note("a")),
        (NEW_DEFAULT.Note("a"), OLD.Note("a")),
        ({OLD.Note("a")}, {NEW_DEFAULT.Note("a")}),
        ({OLD.Note("a"): 1}, {NEW_DEFAULT.Note("a"): 1}),
        (OLD.Note("a"), NEW_PRIVATE.Note("a")),
        (NEW_PRIVATE.Note("a"), OLD.Note("a")),
        (
            release("app", PLAIN).Note(a=1),
            release("app", PLAIN).Note(a=1, b=None, c=[], d=0, e="", f=False),
        ),
        (release("app", PLAIN).Note(a=1), release("app", PLAIN).Note(a=1, _seen=3)),
        (
            release("app", FUNCTION).tool,
            release("app.tools", FUNCTION.replace("return 1", "return 1 + 0 * 2")).tool,
        ),
    ],
)
def test_what_a_release_may_change_is_no_difference(writers: object, readers: object) -> None:
    assert across(writers, readers) == []


@table(
    ("writers", "readers", "path", "expected", "got"),
    [
        (OLD.Note("a"), OTHER.Note("a"), "$", "app.models.Note", "shop.models.Note"),
        (OLD.Note, OTHER.Note, "$", "class app.models.Note", "class shop.models.Note"),
        (OLD.Note("a"), RENAMED.Remark("a"), "$", "app.models.Note", "app.models.Remark"),
        (OLD.Note("a"), MOVED.Note("b"), "$.text", "str 'a'", "str 'b'"),
        ({OLD.Note("a")}, {MOVED.Note("b")}, "$", "member (app.Note", "no such member"),
        (OLD.Note("a"), {"text": "a"}, "$", "app.models.Note", "dict of 1"),
        (OLD.Note("a"), NEW_DEFAULT.Note("a", True), "$.pinned", "missing", "bool True"),
        (NEW_DEFAULT.Note("a", True), OLD.Note("a"), "$.pinned", "bool True", "missing"),
        ({OLD.Note("a")}, {NEW_DEFAULT.Note("a", True)}, "$", "member (", "no such member"),
        (NEW_DEFAULT.Note("a"), NEW_DEFAULT.Note("a", True), "$.pinned", "bool False", "bool True"),
        (OLD.Note("a"), NEW_REQUIRED.Note("a", "mail"), "$.source", "missing", "str 'mail'"),
        (NEW_REQUIRED.Note("a", "mail"), OLD.Note("a"), "$.source", "str 'mail'", "missing"),
        (release("app", PLAIN).Note(a=1), release("app", PLAIN).Note(), "$.a", "int 1", "missing"),
        (
            release("app", PLAIN).Note(_a=1),
            release("app", PLAIN).Note(_a=2),
            "$._a",
            "int 1",
            "int 2",
        ),
        ({"a": 1}, {}, "$.a", "int 1", "missing"),
        ({"a": None}, {}, "$.a", "None", "missing"),
        ([None], [], "$[0]", "None", "missing"),
        ((1,), [1], "$", "tuple of 1", "list of 1"),
        (
            release("app", FUNCTION).tool,
            release("shop", FUNCTION).tool,
            "$.name",
            "function app.tool",
            "function shop.tool",
        ),
    ],
)
def test_everything_else_is_a_difference(
    writers: object, readers: object, path: str, expected: str, got: str
) -> None:
    first = across(writers, readers)[0]
    assert first["path"] == path
    assert first["expected"].startswith(expected)
    assert first["got"].startswith(got)


def test_within_one_environment_neither_a_move_nor_a_default_is_allowed() -> None:
    def within(expected: object, got: object) -> list[dict[str, str]]:
        return compare(describe(expected), describe(got))

    assert within(OLD.Note("a"), MOVED.Note("a"))
    assert within({OLD.Note("a")}, {MOVED.Note("a")})
    assert within(OLD.Note("a"), NEW_PRIVATE.Note("a"))
    assert within(release("app", FUNCTION).tool, release("app", FUNCTION.replace("1", "2")).tool)


def test_bytecode_says_nothing_across_environments() -> None:
    old, new = (release("app", FUNCTION.replace("1", number)).tool for number in "12")
    assert across(old, new) == []


def test_a_default_of_an_enum_or_of_a_factory_may_be_new() -> None:
    source = (
        "import enum\n"
        "class Level(enum.Enum):\n    LOW = 1\n"
        f"{CLASS}    level: Level = Level.LOW\n"
        "    tags: list = dataclasses.field(default_factory=list)\n"
    )
    new = release("app.models", source)
    assert across(OLD.Note("a"), new.Note("a")) == []
    assert across(OLD.Note("a"), new.Note("a", tags=["x"]))[0]["path"] == "$.tags"
