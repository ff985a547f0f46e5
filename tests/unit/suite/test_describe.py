"""What is said of a store: also whether it is another one under a second name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_matrix.suite.describe import describe

CALLS = """
class Store:
    policy = {}
    needs = ("redis",)
    def open(self, env): return {}
    def append(self, store, scope, messages): ...
    def read(self, store, scope): return []

class Other(Store): ...

class Made(Store):
    def __init__(self, size=1): self.size = size

class Slotted:
    __slots__ = ("size",)
    policy, needs = Store.policy, Store.needs
    open, append, read = Store.open, Store.append, Store.read
    def __init__(self, size=1): self.size = size

small, large = Made(1), Made(2)
short, long = Slotted(1), Slotted(2)
plain = Store()
"""


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A folder with stores, in a package and in files; what is loaded of it is forgotten."""
    package = tmp_path / "described_app"
    package.mkdir()
    (package / "__init__.py").write_text("from described_app.memory import Store\n")
    (package / "memory.py").write_text(CALLS)
    (tmp_path / "link.py").symlink_to(package / "memory.py")
    modules, path = dict(sys.modules), sys.path.copy()
    yield tmp_path
    sys.path[:] = path
    for name in sys.modules.keys() - modules.keys():
        del sys.modules[name]


def _same(root: Path, first: str, second: str) -> bool:
    one, other = describe(first, root), describe(second, root)
    assert "error" not in {**one, **other}
    return bool(one["same"] == other["same"])


@pytest.mark.parametrize(
    "second",
    [
        "described_app/memory.py:Store",
        "./described_app/memory.py:Store",
        "described_app:Store",
        "described_app.memory:plain",
        "link.py:Store",
    ],
)
def test_a_store_of_several_spellings_is_one(second: str, root: Path) -> None:
    assert _same(root, "described_app.memory:Store", second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Store", "Other"),
        ("small", "large"),
        ("Made", "small"),
        ("short", "long"),
    ],
)
def test_stores_that_differ_are_not(first: str, second: str, root: Path) -> None:
    module = "described_app.memory"
    assert not _same(root, f"{module}:{first}", f"{module}:{second}")


def test_one_that_was_made_with_something_in_it_is_known_by_its_name(root: Path) -> None:
    assert _same(root, "described_app.memory:small", "./described_app/memory.py:small")


def test_a_module_that_is_interrupted_is_named(root: Path) -> None:
    (root / "interrupted.py").write_text("raise KeyboardInterrupt", encoding="utf-8")

    answer = describe("interrupted.py:Store", root)

    assert answer["error"] == "interrupted.py:Store: the adapter cannot be read: KeyboardInterrupt."
