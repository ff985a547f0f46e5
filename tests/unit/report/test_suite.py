"""What reports show of the memory test suite: counts, failures and where, policies, the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product

import pytest

from memory_matrix.report import suite
from memory_matrix.report.model import (
    Report,
    StoreRecord,
    Strategy,
    SuiteOutcome,
    SuiteResult,
    broken_suite,
    failing_suite,
)
from support.tables import table

RESULT = SuiteResult("a", ("pg",), "s", "c", "passed")


def _suite(*results: SuiteResult, **fields: object) -> Report:
    return replace(Report(suite=results), **fields)


def _run(
    fails: Callable[[str, str, str], bool],
    environments: str = "abc",
    servers: Iterable[str] = ("pg13", "pg18"),
    serializers: Iterable[str | None] = (None,),
) -> Report:
    """Run one case in each of the cells; `fails` says in which it does."""
    cells = product(environments, servers, serializers)
    return _suite(
        *(
            SuiteResult(
                environment, (server,), "s", "c", "failed", "message", serializer=serializer
            )
            if fails(environment, server, serializer or "")
            else SuiteResult(environment, (server,), "s", "c", "passed", serializer=serializer)
            for environment, server, serializer in cells
        )
    )


def _words(report: Report, most: int = 9) -> str:
    (trouble,) = suite.troubles(report, "failed")
    (message,) = trouble.messages
    return suite.in_words(message.where, ", ".join, most)


def test_a_failure_in_every_cell_is_everywhere() -> None:
    assert _words(_run(lambda *_: True)) == "everywhere: in a, b, c, on pg13, pg18"


def test_a_failure_in_the_only_cell_names_it() -> None:
    assert _words(_run(lambda *_: True, "a", ("pg13",))) == "in a, on pg13"


@table(
    ("fails", "said"),
    [
        (lambda _, server, __: server == "pg13", "only on pg13"),
        (lambda environment, _, __: environment in "ac", "only in a, c"),
        (
            lambda environment, server, _: (environment, server) == ("b", "pg18"),
            "only in b, on pg18",
        ),
        (lambda _, __, serializer: serializer == "json", "only with json"),
        (lambda a, b, c: (a, b, c) == ("a", "pg13", "json"), "only in a, on pg13, with json"),
    ],
)
def test_a_failure_on_part_of_an_axis_names_that_part_alone(
    fails: Callable[[str, str, str], bool], said: str
) -> None:
    serializers = ("json", "pickle") if "json" in said else (None,)
    assert _words(_run(fails, serializers=serializers)) == said


def test_scattered_failures_are_listed_as_few_areas() -> None:
    report = _run(lambda environment, server, _: server == "pg13" or environment == "a")
    assert _words(report) == "in a, on pg13, pg18; in b, c, on pg13"
    assert _words(report, 1) == "in a, on pg13, pg18; and 2 more cells"


def test_cells_that_were_not_run_do_not_make_a_failure_narrower() -> None:
    failed = replace(RESULT, outcome="failed", reason="m")
    others: tuple[SuiteOutcome, ...] = ("not-offered", "skipped")
    rest = [replace(RESULT, environment=each, outcome=each, reason="r") for each in others]
    (trouble,) = suite.troubles(_suite(failed, *rest), "failed")
    assert (trouble.cells, trouble.ran) == (1, 1)
    assert suite.in_words(trouble.messages[0].where, ", ".join, 9) == "in a, on pg"


def test_the_store_s_own_serializer_has_a_name_beside_others() -> None:
    report = _run(lambda _, __, serializer: not serializer, serializers=(None, "json"))
    assert _words(report) == "only with the store's own"


@pytest.mark.large
def test_areas_hold_every_failing_cell_once_and_no_other() -> None:
    axes = ("abc", "xy", "jk")
    cells = list(product(*axes))
    for number in range(1, 2 ** len(cells)):
        failing = [cell for bit, cell in enumerate(cells) if number >> bit & 1]
        results = [
            SuiteResult(environment, (server,), "s", "c", "failed", "m", serializer)
            if (environment, server, serializer) in failing
            else SuiteResult(environment, (server,), "s", "c", "passed", None, serializer)
            for environment, server, serializer in cells
        ]
        (trouble,) = suite.troubles(_suite(*results), "failed")
        areas = trouble.messages[0].where.areas
        sides = ((area.environments, area.servers, area.serializers) for area in areas)
        found = [
            cell
            for side in sides
            for cell in product(*(own or whole for own, whole in zip(side, axes, strict=True)))
        ]
        assert sorted(found) == failing
        assert sum(area.cells for area in areas) == len(failing)


def test_failures_are_grouped_by_store_and_case_most_frequent_first() -> None:
    results = [
        replace(RESULT, case=case, environment=environment, outcome="failed", reason=reason)
        for case, environment, reason in [
            ("once", "a", "m"), ("twice", "a", "m"), ("twice", "b", "m"),
            ("mixed", "a", "x"), ("mixed", "b", "y"), ("mixed", "c", "y"),
        ]
    ]  # fmt: skip
    found = suite.troubles(_suite(*results), "failed")
    assert [each.case for each in found] == ["mixed", "twice", "once"]
    assert [message.text for message in found[0].messages] == ["y", "x"]
    assert [message.text for message in found[1].messages] == ["m"]


def test_errors_are_no_failures() -> None:
    error = replace(RESULT, outcome="error", reason="e")
    failed = replace(RESULT, case="d", outcome="failed", reason="f")
    report = _suite(RESULT, error, failed)
    assert [each.case for each in suite.troubles(report, "error")] == ["c"]
    assert [each.case for each in suite.troubles(report, "failed")] == ["d"]
    assert broken_suite(report) == (error,)
    assert failing_suite(report) == (failed,)


def test_waived_cases_and_fail_on_never_fail_no_run() -> None:
    failed = replace(RESULT, outcome="failed", reason="f")
    assert failing_suite(_suite(replace(failed, outcome="waived"))) == ()
    assert failing_suite(_suite(failed, fail_on="never")) == ()
    assert broken_suite(_suite(replace(failed, outcome="error"), fail_on="never")) != ()


def test_a_selection_names_servers_and_serializers_only_where_they_differ() -> None:
    (one,) = suite.troubles(_run(lambda *_: True, "ab", ("pg13",)), "failed")
    assert one.terms == (("store", "s"), ("case", "c"), ("environment", "a"))
    every = _run(lambda *_: True, "ab", ("pg13", "pg18"), ("json", "pickle"))
    (many,) = suite.troubles(every, "failed")
    assert many.terms[3:] == (("server", "pg13"), ("serializer", "json"))


def test_excuses_are_merged_by_reason_and_cells() -> None:
    def result(case: str, environment: str, reason: str) -> SuiteResult:
        return SuiteResult(environment, ("pg",), "s", case, "not-offered", reason)

    report = _suite(
        RESULT,
        replace(RESULT, environment="b"),
        *(result(case, each, "policy nul = keep") for case in ("x", "y") for each in "ab"),
        result("z", "a", "policy nul = keep"),
        result("w", "a", "no clock"),
    )
    found = [
        (each.cases, each.reason, len(each.results), suite.in_words(each.where, ", ".join, 9))
        for each in suite.excuses(report, "not-offered")
    ]
    assert found == [
        (("x", "y"), "policy nul = keep", 4, "everywhere: in a, b, on pg"),
        (("z",), "policy nul = keep", 1, "only in a"),
        (("w",), "no clock", 1, "only in a"),
    ]


def test_the_grid_counts_by_store_environment_and_servers() -> None:
    report = _suite(
        RESULT,
        replace(RESULT, store="t"),
        replace(RESULT, case="d", outcome="failed", reason="m"),
        replace(RESULT, servers=("pg", "redis")),
    )
    grid = suite.grid(report, 9)
    assert grid.outcomes == ("passed", "failed")
    assert [(row.store, row.servers, dict(row.counts)) for row in grid.rows] == [
        ("s", ("pg",), {"passed": 1, "failed": 1}),
        ("s", ("pg", "redis"), {"passed": 1}),
        ("t", ("pg",), {"passed": 1}),
    ]


def test_a_long_grid_keeps_the_worst_rows_in_their_order() -> None:
    report = _run(lambda environment, *_: environment in "ceg", "abcdefg", ("pg",))
    grid = suite.grid(report, 2)
    assert [row.environment for row in grid.rows] == ["c", "e"]
    assert suite.left_out(grid) == "5 rows with nothing worse, with 1 failed case, not shown."


def test_equal_policies_are_shared_and_others_compared_line_by_line() -> None:
    report = Report(
        stores=(
            StoreRecord("s", "a", {"conflict": "refuse", "nul": "keep", "order": "call"}),
            StoreRecord("s", "b", {"conflict": "merge", "nul": "keep"}),
            StoreRecord("s", "c", {"conflict": "merge", "nul": "keep", "order": "call"}),
            StoreRecord("s", "d", {}, "unavailable", "no module"),
            StoreRecord("t", "a", {"nul": "clean"}),
        )
    )
    first, second = suite.policies(report)
    assert (first.environments, first.shared) == (("a", "b", "c"), {"nul": "keep"})
    assert [(each.line, each.answers) for each in first.differences] == [
        ("conflict", (("refuse", ("a",)), ("merge", ("b", "c")))),
        ("order", (("call", ("a", "c")), (None, ("b",)))),
    ]
    assert (second.shared, second.differences) == ({"nul": "clean"}, ())


def test_stores_that_could_not_be_had_are_merged_by_reason() -> None:
    records = [StoreRecord("s", each, {}, "unavailable", "no module") for each in "ab"]
    (absence,) = suite.absences(Report(stores=(*records, StoreRecord("s", "c"))))
    assert (absence.store, absence.reason, absence.environments) == ("s", "no module", ("a", "b"))


VERDICTS: list[tuple[dict[SuiteOutcome, int], str]] = [
    ({"passed": 1}, "1 case passed in 1 environment."),
    ({"passed": 3, "not-offered": 2}, "3 cases passed, 2 not offered in 1 environment."),
    (
        {"passed": 391, "failed": 3, "not-offered": 12},
        "3 cases failed, 12 not offered, 391 passed in 1 environment.",
    ),
    ({"failed": 1, "error": 1}, "1 case failed, 1 could not be run in 1 environment."),
    ({"error": 2, "passed": 1}, "2 cases could not be run, 1 passed in 1 environment."),
    ({"waived": 1, "passed": 1}, "1 case passed, 1 waived in 1 environment."),
    ({"waived": 2}, "2 cases waived in 1 environment."),
    ({"skipped": 4}, "Nothing was tested: 4 cases skipped."),
    ({"not-offered": 1, "skipped": 2}, "Nothing was tested: 1 case not offered, 2 skipped."),
    ({}, "Nothing was tested: the report has no cases."),
]


@table(("counts", "said"), VERDICTS)
def test_the_verdict_counts_what_came(counts: dict[SuiteOutcome, int], said: str) -> None:
    results = [replace(RESULT, outcome=each) for each in counts for _ in range(counts[each])]
    assert suite.verdict(_suite(*results)) == said


def test_the_verdict_counts_environments_in_which_something_was_run() -> None:
    idle = replace(RESULT, environment="b", outcome="skipped", reason="r")
    report = _suite(RESULT, idle, replace(RESULT, environment="c"))
    assert suite.verdict(report).endswith("in 2 environments.")


def test_the_strategy_says_what_it_covers() -> None:
    assert suite.strategy(Report()) == ""
    assert suite.strategy(Report(strategy=Strategy("axis-star", 1200, 1, 1))) == (
        "Strategy axis-star: 1 combination, 1 of 1,200 value pairs covered."
    )


def test_the_summary_counts_every_outcome(suite_sample: Report) -> None:
    assert suite_sample.suite_summary() == {
        "cases": 42, "passed": 25, "failed": 6, "error": 2, "not-offered": 6, "waived": 1,
        "skipped": 2,
    }  # fmt: skip
