"""The memory test suite's part of the report for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_matrix.report import sentences, suite
from memory_matrix.report.model import Report, SuiteOutcome
from memory_matrix.report.page import Page, Part, columns, padded
from memory_matrix.report.suite import Excuse, Grid, PolicyDifference, Row, Trouble, Where
from memory_matrix.report.visible import NAME, visible

MOST_ROWS = 20
"""Rows of the grid without `verbose`."""
MOST_LINES = 60
"""Lines of failing cases without `verbose`."""
MOST_MESSAGES = 3
"""Messages of one failing case without `verbose`."""
MOST_AREAS = 3
MOST_WHERE = 4
"""Names in saying where something happens, without `verbose`."""
MESSAGE = 1000
"""Characters of a message."""

_STYLES: Mapping[SuiteOutcome, str] = {
    "passed": "green",
    "failed": "bold red",
    "error": "magenta",
    "not-offered": "cyan",
    "waived": "yellow",
    "skipped": "dim",
}


def add(page: Page, report: Report) -> None:
    """Add what the memory test suite found; nothing where it was not asked for."""
    if not suite.asked_for(report):
        return
    page.title(f"Memory test suite: {suite.tally(report)}")
    if strategy := suite.strategy(report):
        page.add(strategy)
    _add_grid(page, suite.grid(report, page.look.most(MOST_ROWS)))
    for title, troubles in suite.trouble_lists(report).items():
        _add_troubles(page, report, troubles, title)
    _add_fixed(page, report)
    _add_excuses(page, report, "waived", "Waived cases")
    page.listing(suite.STALE, list(map(visible, report.stale_waivers)))
    _add_excuses(page, report, "skipped", "Cases that were not run")
    if page.look.verbose:
        _add_excuses(page, report, "not-offered", "Cases that are not offered")
    _add_absences(page, report)
    _add_policies(page, report)


def _add_grid(page: Page, grid: Grid) -> None:
    if not grid.rows:
        return
    page.add()
    labels = [_label(page, row) for row in grid.rows]
    first = max(map(columns, labels))
    widths = {each: _width(grid, each) for each in grid.outcomes}
    as_table = 2 + first + sum(widths.values()) <= page.look.width
    if as_table:
        heads = ((f"{each:>{width}}", "bold") for each, width in widths.items())
        page.add(" " * (2 + first), *heads, wrap=False)
    store = None
    for row, label in zip(grid.rows, labels, strict=True):
        if row.store != store:
            page.add((visible(row.store, NAME), "bold"))
        store = row.store
        if as_table:
            page.add(padded(label, first), *_counts(row, widths), indent=2, wrap=False)
        else:
            page.add(f"{label}: ", *_counted(row, grid.outcomes), indent=2)
    if grid.left_out:
        page.add(f"… and {suite.left_out(grid)}")
    page.add()
    for outcome in grid.outcomes:
        page.add((outcome, _STYLES[outcome]), f": {suite.MEANINGS[outcome]}", indent=2)


def _label(page: Page, row: Row) -> str:
    return page.look.show(
        ", ".join(visible(name, NAME) for name in (row.environment, *row.servers))
    )


def _width(grid: Grid, outcome: SuiteOutcome) -> int:
    """Return the columns of the counts of `outcome`, with the gap in front of them."""
    return 2 + max(len(outcome), *(len(f"{row.counts[outcome]:,}") for row in grid.rows))


def _counts(row: Row, widths: Mapping[SuiteOutcome, int]) -> list[Part]:
    return [
        (f"{row.counts[each]:>{width},}", _STYLES[each] if row.counts[each] else "dim")
        for each, width in widths.items()
    ]


def _counted(row: Row, outcomes: Sequence[SuiteOutcome]) -> list[Part]:
    found = [each for each in outcomes if row.counts[each]]
    return [
        (f"{', ' if number else ''}{row.counts[each]:,} {each}", _STYLES[each])
        for number, each in enumerate(found)
    ]


def _add_troubles(page: Page, report: Report, troubles: Sequence[Trouble], title: str) -> None:
    if troubles:
        page.title(title)
        page.blocks("case", troubles, lambda each: _add_trouble(page, report, each), MOST_LINES)


def _add_trouble(page: Page, report: Report, trouble: Trouble) -> None:
    heading = f"{suite.SYMBOLS[trouble.outcome]} {suite.heading(trouble)}"
    page.add((heading, _STYLES[trouble.outcome]))
    most = page.look.most(MOST_MESSAGES)
    for message in trouble.messages[:most]:
        where = _where(page, message.where)
        page.add((where, "bold"), f": {visible(message.text, MESSAGE)}", indent=2)
    page.rest(len(trouble.messages) - most, "message")
    page.add(("$ " + sentences.suite_command(trouble, report), "dim"), indent=2, wrap=False)


def _where(page: Page, where: Where) -> str:
    return suite.in_words(
        where, lambda names: page.look.names(names, MOST_WHERE), page.look.most(MOST_AREAS)
    )


def _add_excuses(page: Page, report: Report, outcome: SuiteOutcome, title: str) -> None:
    excuses = suite.excuses(report, outcome)
    if excuses:
        page.title(f"{title} ({report.suite_summary()[outcome]:,})")
        page.items(excuses, lambda each: _excuse(page, each))


def _add_fixed(page: Page, report: Report) -> None:
    fixed = suite.fixed(report)
    if fixed:
        page.title(f"{suite.FIXED} ({sum(len(each.results) for each in fixed):,})")
        page.items(fixed, lambda each: _cases(page, each))


def _excuse(page: Page, excuse: Excuse) -> str:
    return f"{_cases(page, excuse)}: {visible(excuse.reason, MESSAGE)}"


def _cases(page: Page, excuse: Excuse) -> str:
    where = "" if excuse.where.extent == "everywhere" else f", {_where(page, excuse.where)}"
    return f"{visible(excuse.store, NAME)}: {page.look.names(excuse.cases)}{where}"


def _add_absences(page: Page, report: Report) -> None:
    lines = [
        f"{visible(each.store, NAME)} in {page.look.names(each.environments)}:"
        f" {visible(each.reason, MESSAGE)}"
        for each in suite.absences(report)
    ]
    page.listing("Stores that could not be had", lines)


def _add_policies(page: Page, report: Report) -> None:
    policies = suite.policies(report)
    lines = [
        f"{visible(policy.store, NAME)}: {_difference(page, each)}"
        for policy in policies
        for each in policy.differences
    ]
    page.listing("Policies that differ between environments", lines)
    if page.look.verbose:
        shared = [
            f"{visible(each.store, NAME)}: {page.look.names(_declared(each.shared))}"
            for each in policies
            if each.shared
        ]
        page.listing("Policies", shared)


def _declared(policy: Mapping[str, str]) -> list[str]:
    return [f"{visible(line, NAME)} = {visible(answer, NAME)}" for line, answer in policy.items()]


def _difference(page: Page, difference: PolicyDifference) -> str:
    answers = (
        f"{'not declared' if answer is None else visible(answer, NAME)}"
        f" in {page.look.names(environments, MOST_WHERE)}"
        for answer, environments in difference.answers
    )
    return f"{visible(difference.line, NAME)}: {'; '.join(answers)}"
