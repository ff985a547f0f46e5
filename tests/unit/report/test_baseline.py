"""What is new, fixed or still so: nothing is lost, and nothing is called fixed that was not run."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from memory_matrix.report.baseline import Changes, cell_changes, compare, suite_changes
from memory_matrix.report.model import (
    Baseline,
    Cell,
    EnvironmentRecord,
    MissingPart,
    Outcome,
    Report,
    ServerRecord,
    SuiteOutcome,
    SuiteResult,
    failing,
    failing_suite,
    from_json,
    to_json,
)
from support.tables import table

CELL = Cell("old", "next", "pickle", "chat", ("pg/bytea", "redis/string"), direction="backward")
BROKEN = replace(CELL, outcome="unreadable", is_break=True)
KNOWN = replace(BROKEN, known="migrated by a script")
OK = replace(CELL, outcome="ok")
CASE = SuiteResult("old", ("pg", "redis"), "store", "case", "passed")
FAILED = replace(CASE, outcome="failed", reason="lost one")


def seeded(test: Callable[[int], None]) -> Callable[[range], None]:
    """Try a test with reports of a few seeds, and in the stage of large tests of many."""
    many = pytest.param(range(2, 40), marks=pytest.mark.large)

    @pytest.mark.parametrize("seeds", [range(2), many], ids=["few", "many"])
    def tries_every_seed(seeds: range) -> None:
        table("seed", seeds)(test)()

    return tries_every_seed


def cells(*every: Cell) -> Report:
    return Report(cells=every)


def suite(*every: SuiteResult) -> Report:
    return Report(suite=every)


def compared(report: Report, earlier: Report) -> tuple[Report, Baseline]:
    found = compare(report, earlier, "main.json")
    assert found.baseline is not None
    return found, found.baseline


def test_a_break_that_the_baseline_had_not_is_new() -> None:
    found, baseline = compared(cells(BROKEN), cells(OK))
    assert found.cells == (replace(BROKEN, new=True),)
    assert baseline == Baseline("main.json")


def test_a_break_that_the_baseline_had_too_is_not_new() -> None:
    found, baseline = compared(cells(BROKEN), cells(BROKEN))
    assert found.cells == (replace(BROKEN, new=False),)
    assert baseline == Baseline("main.json")


@table(
    "other",
    [
        replace(BROKEN, outcome="crashed"),
        replace(BROKEN, cause="MM103"),
        replace(BROKEN, direction="sideways"),
        replace(BROKEN, via=("other/string",)),
        replace(BROKEN, via=()),
    ],
)
def test_a_break_that_breaks_in_another_way_is_not_new(other: Cell) -> None:
    found, baseline = compared(cells(other), cells(BROKEN))
    assert found.cells[0].new is False
    assert not baseline.fixed


@table("key", ["writer", "reader", "serializer", "payload"])
def test_a_break_of_another_name_is_another_break(key: str) -> None:
    found, baseline = compared(cells(replace(BROKEN, **{key: "other"})), cells(BROKEN))
    assert found.cells[0].new is True
    assert (baseline.fixed, baseline.gone) == ((), 1)


@pytest.mark.parametrize("outcome", ["ok", "changed", "drifted"])
def test_what_is_read_again_is_fixed(outcome: Outcome) -> None:
    _, baseline = compared(cells(replace(CELL, outcome=outcome)), cells(replace(BROKEN, new=True)))
    assert (baseline.fixed, baseline.gone) == ((BROKEN,), 0)


@table("outcome", [None, "skipped", "unwritable", "unstorable", "unreadable", "crashed"])
def test_what_was_not_read_again_is_gone_and_not_fixed(outcome: Outcome | None) -> None:
    now = cells() if outcome is None else cells(replace(CELL, outcome=outcome))
    _, baseline = compared(now, cells(BROKEN))
    assert (baseline.fixed, baseline.gone) == ((), 1)


def test_slots_tell_apart_where_servers_gave_back_several_kinds_of_bytes() -> None:
    bytea, jsonb = replace(CELL, via=("pg/bytea",)), replace(CELL, via=("pg/jsonb",))
    broken = {"outcome": "changed", "is_break": True}
    before = cells(replace(bytea, **broken), replace(jsonb, outcome="ok"))
    now = cells(replace(bytea, outcome="ok"), replace(jsonb, **broken))
    found, baseline = compared(now, before)
    assert [cell.new for cell in found.cells] == [None, True]
    assert [cell.via for cell in baseline.fixed] == [("pg/bytea",)]


def test_bytes_that_come_apart_are_fixed_only_where_all_of_them_are_read() -> None:
    parts = [replace(OK, via=(slot,)) for slot in BROKEN.via]
    _, baseline = compared(cells(*parts), cells(BROKEN))
    assert baseline.fixed == (BROKEN,)
    _, baseline = compared(cells(parts[0], replace(parts[1], outcome="unstorable")), cells(BROKEN))
    assert (baseline.fixed, baseline.gone) == ((), 1)
    found, baseline = compared(cells(parts[0], replace(BROKEN, via=BROKEN.via[1:])), cells(BROKEN))
    assert [cell.new for cell in found.cells] == [None, False]
    assert (baseline.fixed, baseline.gone) == ((), 0)


@table(
    ("before", "now", "new"),
    [(KNOWN, KNOWN, False), (BROKEN, KNOWN, False), (KNOWN, BROKEN, True), (OK, KNOWN, True)],
)
def test_what_only_the_baseline_excused_is_new(before: Cell, now: Cell, new: bool) -> None:
    found, baseline = compared(cells(now), cells(before))
    assert found.cells == (replace(now, new=new),)
    assert not baseline.fixed


def test_known_breaks_are_not_among_the_changes() -> None:
    other = replace(BROKEN, payload="other")
    found, _ = compared(cells(KNOWN, other), cells(KNOWN, other))
    assert cell_changes(found) == Changes(new=0, fixed=0, still=1)


def test_own_cells_are_never_new() -> None:
    own = replace(CELL, reader="old", outcome="changed", direction=None, new=True)
    found, _ = compared(cells(own), cells())
    assert found.cells[0].new is None


@table(
    ("before", "now", "new", "fixed", "gone"),
    [
        ("passed", "failed", True, 0, 0),
        ("failed", "failed", False, 0, 0),
        ("waived", "failed", True, 0, 0),
        ("error", "failed", True, 0, 0),
        ("failed", "passed", None, 1, 0),
        ("failed", "waived", None, 0, 0),
        ("failed", "error", None, 0, 1),
        ("failed", "skipped", None, 0, 1),
        ("failed", "not-offered", None, 0, 1),
        ("waived", "passed", None, 0, 0),
    ],
)
def test_cases_are_compared(
    before: SuiteOutcome, now: SuiteOutcome, new: bool | None, fixed: int, gone: int
) -> None:
    earlier = suite(replace(CASE, outcome=before))
    found, baseline = compared(suite(replace(CASE, outcome=now)), earlier)
    assert found.suite == (replace(CASE, outcome=now, new=new),)
    assert (len(baseline.fixed_suite), baseline.gone) == (fixed, gone)


def test_the_order_of_servers_does_not_matter() -> None:
    found, _ = compared(suite(replace(FAILED, servers=("redis", "pg"))), suite(FAILED))
    assert found.suite[0].new is False


@table(
    "change",
    [
        {"environment": "other"},
        {"servers": ("pg",)},
        {"store": "other"},
        {"case": "other"},
        {"serializer": "json"},
    ],
)
def test_a_case_of_another_name_is_another_case(change: dict[str, object]) -> None:
    found, baseline = compared(suite(replace(FAILED, **change)), suite(FAILED))
    assert found.suite[0].new is True
    assert (baseline.fixed_suite, baseline.gone) == ((), 1)


def test_only_new_findings_fail_a_run_that_asks_for_new_breaks() -> None:
    other, case = replace(BROKEN, payload="other"), replace(FAILED, case="other")
    report = Report(cells=(BROKEN, other), suite=(FAILED, case), fail_on="new-breaks")
    assert (failing(report), failing_suite(report)) == (report.cells, report.suite)
    found, _ = compared(report, Report(cells=(BROKEN,), suite=(FAILED,)))
    assert failing(found) == (replace(other, new=True),)
    assert failing_suite(found) == (replace(case, new=True),)


def test_no_changes_are_told_without_a_baseline() -> None:
    report = Report(cells=(BROKEN,), suite=(FAILED,))
    assert cell_changes(report) is None
    assert suite_changes(report) is None


def test_a_second_comparison_forgets_the_first() -> None:
    first, _ = compared(Report(cells=(BROKEN,), suite=(FAILED,)), Report())
    again, _ = compared(first, Report(cells=(BROKEN,), suite=(FAILED,)))
    assert (again.cells[0].new, again.suite[0].new) == (False, False)
    assert compared(again, first)[0] == again


def test_a_baseline_of_another_matrix_says_so() -> None:
    def notes(now: str, before: str, **had: Any) -> tuple[str, ...]:
        return compared(Report(digest=now), Report(digest=before, **had))[1].notes

    assert notes("a", "a", cells=(BROKEN,)) == notes("", "a", cells=(BROKEN,)) == ()
    assert notes("a", "", cells=(BROKEN,)) == ()
    assert "another matrix" in " ".join(notes("a", "b", cells=(BROKEN,)))
    assert "another matrix" in " ".join(notes("a", "b", suite=(FAILED,)))


def test_a_matrix_that_only_excuses_something_else_is_the_same_one() -> None:
    then = Report(digest="a", cells=(BROKEN,), suite=(FAILED,))
    now = Report(
        digest="b",
        cells=(replace(BROKEN, known="reason"),),
        suite=(replace(FAILED, outcome="waived"),),
    )
    assert compared(now, then)[1].notes == ()


def test_a_baseline_that_is_not_whole_says_so() -> None:
    earlier = Report(
        environments=(EnvironmentRecord("far", "3.15", {}, "unavailable", "none"),),
        servers=(ServerRecord("pg", "postgres", None, "image:x", "unavailable", "none"),),
        missing=(MissingPart("compat", "next", "2/3"), MissingPart("compat", "old", "2/3")),
        shard="1/3",
    )
    both = replace(earlier, missing=(), shard=None)
    assert compared(both, both)[1].notes == ()
    _, baseline = compared(Report(), earlier)
    assert baseline.notes == (
        "The baseline lacks 1 environment, 1 server, 2 parts: what broke there counts as new.",
        "The baseline is shard 1/3 alone: what broke elsewhere counts as new.",
    )


OUTCOMES: tuple[Outcome, ...] = ("ok", "changed", "drifted", "unreadable", "crashed", "skipped")
CASES: tuple[SuiteOutcome, ...] = ("passed", "failed", "error", "not-offered", "waived", "skipped")


def any_report(dice: random.Random) -> Report:
    names = [f"e{number}" for number in range(4)]
    pairs = product(names, names, ("json", "pickle"), ("a", "b"))
    return Report(
        cells=tuple(cell for pair in pairs for cell in any_cells(dice, pair)),
        suite=tuple(
            SuiteResult(name, (server,), "store", case, dice.choice(CASES))
            for name, server, case in product(names, ("pg", "redis"), "abc")
            if dice.random() < 0.8
        ),
    )


def any_cells(dice: random.Random, pair: tuple[str, str, str, str]) -> list[Cell]:
    slots = dice.choice([[()], [("s", "t")], [("s",), ("t",)], [("s", "t"), ("u",)], []])
    return [any_cell(dice, pair, via) for via in slots]


def any_cell(dice: random.Random, pair: tuple[str, str, str, str], via: tuple[str, ...]) -> Cell:
    outcome = dice.choice(OUTCOMES)
    may = pair[0] != pair[1] and outcome in {"changed", "unreadable", "crashed"}
    is_break = may and dice.random() < 0.8
    known = "known" if is_break and dice.random() < 0.3 else None
    return Cell(*pair, via, outcome, is_break, known)


@seeded
def test_every_finding_is_new_or_still_there(seed: int) -> None:
    dice = random.Random(seed)
    report, earlier = any_report(dice), any_report(dice)
    found, _ = compared(report, earlier)
    broken = [cell for cell in report.cells if cell.is_break and cell.known is None]
    failed = [each for each in report.suite if each.outcome == "failed"]
    changes, cases = cell_changes(found), suite_changes(found)
    assert changes is not None
    assert cases is not None
    assert changes.new + changes.still == len(broken)
    assert cases.new + cases.still == len(failed)
    assert all((cell.new is not None) == cell.is_break for cell in found.cells)
    assert all((each.new is not None) == (each.outcome == "failed") for each in found.suite)
    assert [replace(cell, new=None) for cell in found.cells] == list(report.cells)
    assert [replace(each, new=None) for each in found.suite] == list(report.suite)


@seeded
def test_every_finding_of_the_baseline_is_fixed_or_gone_or_still_there(seed: int) -> None:
    dice = random.Random(seed)
    report, earlier = any_report(dice), any_report(dice)
    _, baseline = compared(report, earlier)
    broken = [cell for cell in earlier.cells if cell.is_break]
    failed = [each for each in earlier.suite if each.outcome == "failed"]
    assert set(baseline.fixed) <= set(broken)
    assert set(baseline.fixed_suite) <= set(failed)
    fixed = len(baseline.fixed) + len(baseline.fixed_suite)
    assert fixed + baseline.gone <= len(broken) + len(failed)


@seeded
def test_a_run_compared_with_itself_has_nothing_new_and_nothing_fixed(seed: int) -> None:
    report = any_report(random.Random(seed))
    found, baseline = compared(report, report)
    assert not any(each.new for each in (*found.cells, *found.suite))
    assert baseline == Baseline("main.json")


@seeded
def test_against_an_empty_baseline_everything_is_new(seed: int) -> None:
    found, baseline = compared(any_report(random.Random(seed)), Report())
    assert all(cell.new for cell in found.cells if cell.is_break)
    assert baseline == Baseline("main.json")


@seeded
def test_a_comparison_is_written_and_read_again_as_it_is(seed: int) -> None:
    dice = random.Random(seed)
    found, _ = compared(any_report(dice), any_report(dice))
    assert from_json(to_json(found)) == found
