"""The names that are read off the modules of the cases are those that importing them gives."""

from __future__ import annotations

from memory_matrix.suite.case_names import case_names
from memory_matrix.suite.catalogue import cases


def test_the_names_are_those_of_the_imported_cases_in_the_same_order() -> None:
    named = [(each.name, each.group, each.module) for each in case_names()]

    assert named == [(each.name, each.group, each.module) for each in cases()]
