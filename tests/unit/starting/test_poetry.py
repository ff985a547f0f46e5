"""Constraints of Poetry's, as pip writes them."""

from __future__ import annotations

from memory_matrix.starting.poetry import requirements, specifier
from support.tables import table


@table(
    ("constraint", "expected"),
    [
        ("*", ""),
        ("^1.2.3", ">=1.2.3,<2"),
        ("^1.2", ">=1.2,<2"),
        ("^1", ">=1,<2"),
        ("^0.2.3", ">=0.2.3,<0.3"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("^0.0", ">=0.0,<0.1"),
        ("^0", ">=0,<1"),
        ("~1.2.3", ">=1.2.3,<1.3"),
        ("~1.2", ">=1.2,<1.3"),
        ("~1", ">=1,<2"),
        ("~=1.2", "~=1.2"),
        ("1.2.*", "==1.2.*"),
        ("1.0.0rc1", "==1.0.0rc1"),
        (">=1.2, !=1.3.0, ^1.2", ">=1.2,!=1.3.0,>=1.2,<2"),
        ("^1 || ^2", "^1 || ^2"),
    ],
)
def test_a_constraint_allows_what_it_allowed(constraint: str, expected: str):
    assert specifier(constraint) == expected


def test_python_is_no_requirement_and_what_has_no_version_is_named_alone():
    found = requirements({"Python": "^3.11", "a": {"path": "../a"}, "b": {"extras": ["x", "y"]}})
    assert list(found) == ["a", "b[x,y]"]
