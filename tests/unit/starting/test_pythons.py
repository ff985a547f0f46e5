"""The Pythons of a new matrix: allowed, and here."""

from __future__ import annotations

from pathlib import Path

from packaging.specifiers import SpecifierSet

from memory_matrix.environments.interpreters import Interpreter
from memory_matrix.starting.pythons import choose_pythons
from support.tables import table


def machine(*versions: str) -> list[Interpreter]:
    return [Interpreter(Path("/x"), version, "cpython", version) for version in versions]


HERE = machine("3.7.1", "3.9.18", "3.10.13", "3.11.2", "3.11.7", "3.13.0", "3.15.0b2")


@table(
    ("allowed", "ends", "noted"),
    [
        ("", ("3.10", "3.13"), ""),
        (">=3.7", ("3.9", "3.13"), "of these this machine has Python 3.9 to 3.13"),
        (">=3.11,<3.14", ("3.11", "3.13"), ""),
        (
            ">=3.11.5,<3.13",
            ("3.11", "3.11"),
            "Python 3.11 and 3.12; of these this machine has Python 3.11",
        ),
        ("==3.10.*", ("3.10", "3.10"), ""),
        (">=3.14", ("3.14", "3.14"), "this machine has none of these"),
        (">=4", ("current", "current"), "allows no Python"),
        ("<3", ("current", "current"), "allows no Python"),
    ],
)
def test_the_oldest_and_the_newest_that_are_allowed_and_here_are_compared(
    allowed: str, ends: tuple[str, str], noted: str
):
    found = choose_pythons(SpecifierSet(allowed), HERE)
    assert (found.oldest, found.newest) == ends
    assert noted in found.note
    assert bool(found.note) == bool(noted)


def test_other_implementations_and_builds_are_not_taken():
    odd = [
        Interpreter(Path("/x"), "3.12.1", "pypy", "a"),
        Interpreter(Path("/x"), "3.13.0", "cpython", "b", free_threaded=True),
    ]
    assert choose_pythons(SpecifierSet(), [*odd, *machine("3.11.7")]).values == ("3.11",)


def test_without_any_it_is_the_one_that_runs_this():
    found = choose_pythons(SpecifierSet(), [])
    assert found.values == ("current",)
    assert "the one that runs memory-matrix" in found.note
