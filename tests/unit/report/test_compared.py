"""Reports that were compared with a baseline: what is new comes first, what is fixed is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from memory_matrix.report import markdown, sentences, suite, terminal
from memory_matrix.report.baseline import compare
from memory_matrix.report.grouping import breaks
from memory_matrix.report.model import Cell, Report, SuiteResult
from memory_matrix.report.page import Look

Golden = Callable[[str, str], None]


@pytest.fixture
def found(sample: Report) -> Report:
    """The sample, compared with a run in which other things were wrong."""
    return compare(replace(sample, digest="this"), earlier(sample), "main/report.json")


def earlier(sample: Report) -> Report:
    """A run of another matrix in which some findings were not there, and others were."""
    cells = [cell for cell in sample.cells if cell.outcome != "crashed"]
    cells.append(Cell("next", "gone", "pickle", "chat", (), "crashed", True, None, "sideways"))
    fixed = replace(sample.cells[-1], outcome="unreadable", is_break=True)
    old = [each for each in sample.suite if each.case != "ann_filter_fills_k"]
    return replace(
        sample,
        cells=(*cells[:-2], fixed, cells[-1]),
        suite=tuple(map(_otherwise, old)),
        digest="another",
    )


def _otherwise(result: SuiteResult) -> SuiteResult:
    if result.case == "order_pop_is_last" and result.outcome == "passed":
        return replace(result, outcome="failed", reason="lost one")
    return result


def test_a_compared_report_looks_as_it_did(found: Report, golden: Golden) -> None:
    golden("compared-80.txt", terminal.render(found, Look(80)))


def test_a_compared_report_looks_as_it_did_in_markdown(found: Report, golden: Golden) -> None:
    golden("compared.md", markdown.render(found))


def test_every_break_and_every_failed_case_is_in_one_list(found: Report) -> None:
    listed = [cell for cells in sentences.break_lists(found).values() for cell in cells]
    assert sorted(map(id, listed)) == sorted(map(id, breaks(found)))
    messages = [
        result
        for troubles in suite.trouble_lists(found).values()
        for trouble in troubles
        for message in trouble.messages
        for result in message.results
    ]
    bad = [each for each in found.suite if each.outcome in {"failed", "error"}]
    assert sorted(map(id, messages)) == sorted(map(id, bad))


@pytest.mark.parametrize("render", [terminal.render, markdown.render])
def test_what_is_new_comes_first(found: Report, render: Callable[[Report], str]) -> None:
    text = render(found)
    titles = ["New breaks (1)", "Still broken (3)", "Fixed since the baseline (1)"]
    titles += ["New failed cases (2)", "Cases that still fail (4)"]
    titles += ["Cases fixed since the baseline"]
    places = [text.index(title) for title in titles]
    assert places == sorted(places)


def test_the_verdict_counts_what_changed(found: Report) -> None:
    verdict = sentences.verdict(found)
    assert "5 breaks (1 known) in 14 cells (1 new, 1 fixed, 3 still broken): 'old' can" in verdict
    assert "6 cases failed (2 new, 5 fixed, 4 still failing), " in verdict


def test_the_verdict_names_what_is_new(found: Report) -> None:
    old = [
        replace(cell, new=cell.outcome != "crashed") if cell.is_break else cell
        for cell in found.cells
    ]
    verdict = sentences.verdict(replace(found, cells=tuple(old)))
    assert ": 'next' cannot read memory written by 'old'; " in verdict


def test_the_verdict_of_a_run_without_breaks_says_what_is_fixed(found: Report) -> None:
    fine = [cell for cell in found.cells if not cell.is_break]
    passed = [each for each in found.suite if each.outcome == "passed"]
    report = replace(found, cells=tuple(fine), suite=tuple(passed))
    assert sentences.verdict(report) == (
        "No breaks in 9 cells (1 fixed). 25 cases passed (5 fixed) in 2 environments."
    )


def test_what_became_of_the_rest_is_said(found: Report) -> None:
    said = sentences.comparison(found)
    assert said.startswith("Compared with 'main/report.json'. The baseline is of another matrix: ")
    assert " What became of 1 of its findings is not known: " in said


def test_without_a_baseline_a_run_that_asks_for_new_breaks_says_that_all_are_new(
    sample: Report,
) -> None:
    assert sentences.comparison(sample) == ""
    asking = replace(sample, fail_on="new-breaks")
    note = "There is no baseline (--baseline), so every break and every failed case is new."
    assert sentences.comparison(asking) == note
    assert terminal.render(asking, Look(120)).count("There is no baseline") == 1
    assert markdown.render(asking).count("There is no baseline") == 1


@pytest.mark.parametrize("compat", [True, False])
def test_the_consequence_names_the_rule(found: Report, compat: bool) -> None:
    report = replace(found, fail_on="new-breaks", cells=found.cells if compat else ())
    what = "1 cell and 2 cases make" if compat else "2 cases make"
    assert sentences.consequence(report) == f"{what} the run fail (fail-on = new-breaks)."


def test_hostile_text_stays_text_in_what_is_compared(hostile: Report) -> None:
    fine = replace(
        hostile,
        cells=tuple(replace(cell, outcome="ok") for cell in hostile.cells[:2]),
        suite=tuple(replace(each, outcome="passed") for each in hostile.suite),
    )
    bad = replace(
        hostile,
        cells=tuple(replace(cell, is_break=True) for cell in hostile.cells),
        suite=tuple(replace(each, outcome="failed") for each in hostile.suite),
    )
    report = compare(fine, bad, hostile.cells[0].writer)
    assert report.baseline is not None
    shown = terminal.render(report, Look(120))
    assert "\x1b" not in shown
    assert "Fixed since the baseline" in shown
    assert "Cases fixed since the baseline" in shown
    assert len(markdown.render(report).encode()) <= markdown.LIMIT
