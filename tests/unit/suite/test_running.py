"""What is said of a case that did not pass, whatever its store raised."""

from __future__ import annotations

import pytest

from memory_matrix.suite.running import reason_of


class UntoldError(Exception):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise SystemExit(3)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no\n such  id"), "builtins.ValueError: no such id"),
        (MemoryError(), "builtins.MemoryError"),
        (UntoldError(), f"{__name__}.UntoldError: (its text cannot be had: SystemExit)"),
    ],
)
def test_an_error_is_told_by_its_class_and_its_text(error: Exception, said: str) -> None:
    assert reason_of(error) == said


def test_a_text_without_an_end_is_cut_short() -> None:
    assert len(reason_of(ValueError("x" * 10_000_000))) < 10_000
