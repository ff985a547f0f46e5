"""The cases by name, and the page that lists them."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from memory_matrix.stores.policy import Policy
from memory_matrix.suite.catalogue import cases
from memory_matrix.suite.catalogue_page import markdown

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "suite.md"


def test_no_two_cases_have_one_name() -> None:
    names = [case.name for case in cases()]

    assert len(names) == len(set(names))


def test_a_case_says_in_a_sentence_what_must_hold() -> None:
    assert [case for case in cases() if not re.fullmatch(r"\S.+\.", case.text, re.DOTALL)] == []
    assert [case for case in cases() if not re.fullmatch("[A-N]", case.group)] == []


def test_the_page_is_the_one_that_is_made_from_the_cases_and_the_policy() -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert text == markdown(), "run: python -m memory_matrix.suite.catalogue_page docs/suite.md"


def test_the_page_has_every_case_once_and_every_answer_that_can_be_declared() -> None:
    lines = markdown().splitlines()

    for case in cases():
        assert sum(line.startswith(f"- `{case.name}`: ") for line in lines) == 1
    for each in fields(Policy):
        assert sum(line.startswith(f"| `{each.name}` | ") for line in lines) == 1


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "docs/your-store.md"])
def test_a_page_that_says_how_many_cases_there_are_is_right(page: str) -> None:
    said = re.findall(r"\b(\d+) cases\b", (ROOT / page).read_text(encoding="utf-8"))

    assert str(len(cases())) in said
