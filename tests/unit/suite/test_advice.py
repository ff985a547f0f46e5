"""What a failed case says besides its own sentence."""

from __future__ import annotations

from typing import Any, cast

import pytest

from memory_matrix.errors import UsageError
from memory_matrix.stores.loading import check
from memory_matrix.stores.protocol import StoreEnv
from memory_matrix.suite.advice import advice, by_answer
from memory_matrix.suite.memory import Memory
from memory_matrix.suite.outcomes import CaseFailed, CaseSkipped, HarnessError, NotOffered
from support.tables import table

FAILED = CaseFailed("it did not")


class DriverError(Exception):
    """An error that no caller knows."""


class Adapter:
    needs = ("redis",)

    def __init__(self, **declared: Any) -> None:
        self.policy: dict[str, Any] = {}
        vars(self).update(declared)

    def open(self, env: StoreEnv) -> object:
        return object()

    def append(self, store: Any, scope: Any, messages: Any) -> None:
        """Do nothing."""

    def read(self, store: Any, scope: Any) -> list[Any]:
        return []


def memory(**declared: Any) -> Memory:
    """Return a driver of a store that no case of these tests calls."""
    return Memory(check(Adapter(**declared), "store.py:adapter"), StoreEnv(), cast("Any", None))


def test_a_failure_names_the_answers_that_the_case_asked_for_declared_or_not() -> None:
    driver = memory(policy={"nul": "keep"})
    assert driver.policy.nul == "keep"
    assert driver.policy.surrogate == "refuse"

    assert advice(driver, FAILED) == "Judged by its policy: nul: keep, surrogate: refuse."


def test_what_a_case_requires_is_among_them() -> None:
    driver = memory()
    with pytest.raises(NotOffered):
        driver.require_policy(batch="single")

    assert advice(driver, FAILED) == "Judged by its policy: batch: atomic."


def test_answers_of_many_words_are_put_together() -> None:
    driver = memory()
    assert driver.policy.value_kinds["set"] == "refuse"
    assert driver.policy.message_fields == ("role", "text")

    assert advice(driver, FAILED) == "Judged by its policy: value_kinds: refuse."


def test_a_case_that_asked_for_no_answer_says_nothing_more() -> None:
    assert not advice(memory(), FAILED)


def test_an_error_that_callers_do_not_know_says_how_they_would() -> None:
    said = advice(memory(), DriverError("broken"))

    assert "ValueError, TypeError, LookupError" in said
    assert "`refusals`" in said


@table(
    "error",
    [
        RuntimeError("Event loop is closed"),
        RuntimeError("<Lock> is bound to a different event loop"),
        RuntimeError("Task got Future attached to a different loop"),
    ],
)
def test_an_error_of_a_loop_says_that_the_store_is_of_one_loop(error: Exception) -> None:
    said = advice(memory(), error)

    assert 'declare `loops = "one"`' in said
    assert "`refusals`" not in said


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("no")])
def test_an_error_that_callers_know_needs_no_advice(error: Exception) -> None:
    assert not advice(memory(), error)


def test_errors_that_the_adapter_declares_are_known_and_no_others() -> None:
    driver = memory(refusals=[DriverError])

    assert not advice(driver, DriverError("no"))
    assert f"({__name__}.DriverError)" in advice(driver, ValueError("no"))


@table("refusals", ["ValueError", 3, (ValueError, "TypeError"), [int], None])
def test_refusals_that_are_no_exceptions_are_refused(refusals: object) -> None:
    with pytest.raises(UsageError, match=r"^store\.py:adapter: refusals is .* such as "):
        check(Adapter(refusals=refusals), "store.py:adapter")


def test_any_error_at_all_is_no_refusal() -> None:
    with pytest.raises(UsageError, match=r"^store\.py:adapter: refusals has Exception, so that "):
        check(Adapter(refusals=[ValueError, Exception]), "store.py:adapter")


@pytest.mark.parametrize("said", [CaseFailed, NotOffered, CaseSkipped, HarnessError])
def test_what_a_case_says_is_no_refusal(said: type[Exception]) -> None:
    def call() -> None:
        raise said("by the case")

    with pytest.raises(said, match="by the case"):
        memory(refusals=[AssertionError, *said.__mro__[:1]]).attempt(call)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"a": "keep", "b": "keep"}, "keep"),
        ({"a": "text", "b": "refuse", "c": "refuse"}, "text for a, else refuse"),
        (
            {"a": "x", "b": "y", "c": "x", "d": "z", "e": "z", "f": "z"},
            "y for b, x for a and c, else z",
        ),
    ],
)
def test_answers_that_differ_are_told_by_answer(answers: dict[str, str], words: str) -> None:
    assert by_answer(answers) == words
