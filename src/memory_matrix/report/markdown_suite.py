"""The memory test suite's part of the report as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap

from memory_matrix.report import sentences, suite
from memory_matrix.report.markup import (
    Section,
    code,
    code_list,
    folded,
    listing,
    prose,
    table_code,
    table_code_list,
)
from memory_matrix.report.model import Report, SuiteOutcome
from memory_matrix.report.suite import (
    Excuse,
    Grid,
    Message,
    Policy,
    PolicyDifference,
    Row,
    Trouble,
    Where,
)

MOST_ROWS = 200
"""Rows of the grid."""
MOST_MESSAGES = 3
"""Messages of one failing case that are not folded away."""
MOST_FOLDED = 4_000
"""Bytes of the messages of one failing case that are folded away."""
MOST_ITEMS = 10
"""Items of other lists that are not folded away."""
MOST_AREAS = 6
MESSAGE = 1000
"""Characters of a message."""


def sections(report: Report) -> Iterator[Section]:
    """Yield what the memory test suite found; nothing where it was not asked for."""
    if not suite.asked_for(report):
        return
    yield _grid(report, suite.grid(report, MOST_ROWS))
    for title, troubles in suite.trouble_lists(report).items():
        yield Section(title, [_trouble(report, each) for each in troubles])
    yield _fixed(report)
    yield _excuses(report, "waived", "Waived cases", MOST_ITEMS)
    stale = [code(each, MESSAGE) for each in report.stale_waivers]
    yield listing(suite.STALE, stale)
    yield _excuses(report, "skipped", "Cases that were not run", MOST_ITEMS)
    yield _absences(report)
    policies = suite.policies(report)
    yield _differences(policies)
    yield _excuses(report, "not-offered", "Cases that are not offered", 0)
    yield _policies(policies)


def _grid(report: Report, grid: Grid) -> Section:
    title = "Memory test suite"
    facts = " ".join(filter(None, (f"{suite.tally(report)}.", suite.strategy(report))))
    if not grid.rows:
        return Section(title, [f"{prose(facts)}\n"])
    heads = ("store", "environment", "servers", *grid.outcomes)
    columns = (
        f"{prose(facts)}\n\n| {' | '.join(heads)} |\n|---|---|---{'|---' * len(grid.outcomes)}|\n"
    )
    rows = [
        f"| {table_code(row.store)} | {table_code(row.environment)}"
        f" | {table_code_list(row.servers)}{''.join(_count(row, each) for each in grid.outcomes)} |\n"
        for row in grid.rows
    ]
    if grid.left_out:
        rows.append(f"\n… and {suite.left_out(grid)}\n")
    meanings = (f"- **{each}**: {prose(suite.MEANINGS[each])}\n" for each in grid.outcomes)
    return Section(title, [*rows, "\n" + "".join(meanings)], columns)


def _count(row: Row, outcome: SuiteOutcome) -> str:
    count = f"{row.counts[outcome]:,}"
    bad = outcome in suite.TROUBLES and row.counts[outcome]
    return f" | **{count}**" if bad else f" | {count}"


def _trouble(report: Report, trouble: Trouble) -> str:
    symbol = suite.SYMBOLS[trouble.outcome]
    return (
        f"#### {symbol} {prose(suite.heading(trouble))}\n\n"
        f"{folded(trouble.messages, MOST_MESSAGES, _message, MOST_FOLDED)}\n"
        f"```sh\n{sentences.suite_command(trouble, report)}\n```\n\n"
    )


def _message(message: Message) -> str:
    return f"{_where(message.where)}: {code(message.text, MESSAGE)}"


def _where(where: Where) -> str:
    return suite.in_words(where, code_list, MOST_AREAS)


def _excuses(report: Report, outcome: SuiteOutcome, title: str, most: int) -> Section:
    excuses = suite.excuses(report, outcome)
    title = f"{title} ({report.suite_summary()[outcome]:,})"
    return Section(title, [folded(excuses, most, _excuse)] if excuses else [])


def _fixed(report: Report) -> Section:
    fixed = suite.fixed(report)
    title = f"{suite.FIXED} ({sum(len(each.results) for each in fixed):,})"
    return Section(title, [folded(fixed, MOST_ITEMS, _cases)] if fixed else [])


def _excuse(excuse: Excuse) -> str:
    return f"{_cases(excuse)}: {code(excuse.reason, MESSAGE)}"


def _cases(excuse: Excuse) -> str:
    where = "" if excuse.where.extent == "everywhere" else f", {_where(excuse.where)}"
    return f"{code(excuse.store)}: {code_list(excuse.cases)}{where}"


def _absences(report: Report) -> Section:
    lines = [
        f"{code(each.store)} in {code_list(each.environments)}: {code(each.reason, MESSAGE)}"
        for each in suite.absences(report)
    ]
    return listing("Stores that could not be had", lines)


def _differences(policies: Sequence[Policy]) -> Section:
    lines = [
        f"{code(policy.store)}: {_difference(each)}"
        for policy in policies
        for each in policy.differences
    ]
    return listing("Policies that differ between environments", lines)


def _difference(difference: PolicyDifference) -> str:
    answers = (
        f"{'not declared' if answer is None else code(answer)} in {code_list(environments)}"
        for answer, environments in difference.answers
    )
    return f"{code(difference.line)}: {'; '.join(answers)}"


def _policies(policies: Sequence[Policy]) -> Section:
    shared = [policy for policy in policies if policy.shared]
    return Section("Policies", [folded(shared, 0, _policy)] if shared else [])


def _policy(policy: Policy) -> str:
    return f"{code(policy.store)}: {', '.join(starmap(_declared, policy.shared.items()))}"


def _declared(line: str, answer: str) -> str:
    return f"{code(line)} = {code(answer)}"
