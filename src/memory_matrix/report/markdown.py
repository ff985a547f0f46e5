"""The report as Markdown, for a job summary or a file: worst first, and never too large to post."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memory_matrix.report import grouping, markdown_suite, sentences
from memory_matrix.report.grouping import Finding, Flow, Grid, Group, Limit
from memory_matrix.report.markup import (
    Section,
    code,
    code_list,
    fitted,
    folded,
    listing,
    prose,
    size,
    table_code,
    table_code_list,
)
from memory_matrix.report.model import Cell, EnvironmentRecord, Report, ServerRecord
from memory_matrix.report.visible import NAME, counted, visible

LIMIT = 1_000_000
"""Bytes; GitHub takes a job summary of 1 MiB."""
MOST_ENVIRONMENTS = 40
"""Environments that the grid shows."""
MOST_FLOWS = 6
MOST_FINDINGS = 3
"""Findings of one cause that are not folded away."""
MOST_ROWS = 100
"""Environments that are listed."""
MOST_PACKAGES = 400


def render(report: Report, *, limit: int = LIMIT) -> str:
    """Return the report as GitHub-flavoured Markdown of at most `limit` bytes.

    What does not fit is cut from the end of each section and counted; at least 4,000 bytes are
    needed for the verdict.
    """
    top = head(report)
    compat, suite, packages = sections(report)
    room = limit - len(top.encode())
    first = fitted(compat, room - min(size(suite), room // 2))
    rest = fitted([*suite, *packages], room - len(first.encode()))
    return top + first + rest


def sections(report: Report) -> tuple[list[Section], list[Section], list[Section]]:
    """Return what there is to say of compat, of the suite, and of what was installed."""
    compat, suite, packages = (
        [section for section in sections if section.items]
        for sections in (_compat(report), markdown_suite.sections(report), [_packages(report)])
    )
    return compat, suite, packages


def head(report: Report) -> str:
    """Return the verdict as a heading, and the facts below it."""
    facts = [f"{sentences.tally(report)}."] if report.cells else []
    if report.cells or report.suite:
        facts.append(sentences.consequence(report))
    facts.append(sentences.comparison(report))
    facts.append(sentences.missing(report))
    facts.append(sentences.lost_shards(report))
    facts.append(sentences.made(report))
    text = " ".join(filter(None, facts))
    return f"## {prose(sentences.verdict(report))}\n" + (f"\n{prose(text)}\n" if text else "")


def _compat(report: Report) -> Iterator[Section]:
    grid = grouping.grid(report, MOST_ENVIRONMENTS)
    yield listing("Missing", [code(sentences.missing_part(each), 400) for each in report.missing])
    yield listing(
        "Not tested", [code(sentences.not_tested_part(each), 400) for each in report.untested]
    )
    yield _environments(report)
    yield _servers(report)
    yield Section("Who reads whom", [_grid(grid)] if grid.entries else [])
    for title, cells in sentences.break_lists(report).items():
        yield _groups(report, cells, title)
    yield _fixed(report)
    yield _known(report)
    drifted = [cell for cell in report.cells if cell.outcome == "drifted"]
    yield _groups(report, drifted, f"Drifted ({len(drifted):,})")
    for title, outcomes in grouping.LIMITS.items():
        yield _limits(report, title, outcomes)
    yield listing("Skipped", _skips(report))
    yield listing("Could not be had", _unavailable(report))
    if report.cells:
        yield listing("Payloads that were not written", _problems(report))
        stale = [code(each, 1000) for each in report.stale_known]
        yield listing(grouping.STALE, stale)


def _environments(report: Report) -> Section:
    records = grouping.ready(report)
    rows = [_environment(each) for each in records[:MOST_ROWS]]
    if len(records) > MOST_ROWS:
        rows.append(f"\n… and {len(records) - MOST_ROWS:,} more: see report.json.\n")
    columns = "| name | Python | packages | variables |\n|---|---|---|---|\n"
    return Section("Environments", rows, columns, aside=True)


def _environment(environment: EnvironmentRecord) -> str:
    packages = sentences.key_packages(environment)
    named = table_code_list(f"{name} {version}" for name, version in packages.items())
    others = len(environment.packages) - len(packages)
    rest = counted(others, "other package" if named else "package") if others else ""
    variables = [f"{name}={value}" for name, value in environment.env.items()]
    return (
        f"| {table_code(environment.name)} | {table_code(environment.python)} | {', '.join(filter(None, (named, rest)))}"
        f" | {table_code_list(variables)} |\n"
    )


def _servers(report: Report) -> Section:
    columns = "| name | kind | version | source |\n|---|---|---|---|\n"
    rows = [
        f"| {table_code(each.name)} | {each.kind} | {table_code(each.version or 'unknown')}"
        f" | {table_code(each.source)} |\n"
        for each in report.servers
        if each.status == "ready"
    ]
    return Section("Servers", rows, columns, aside=True)


def _grid(grid: Grid) -> str:
    lines = [
        f"| writer ↓ reader → | {' | '.join(map(table_code, grid.names))} |",
        "|---" * (len(grid.names) + 1) + "|",
    ]
    for writer in grid.names:
        words = (_word(grid, writer, reader) for reader in grid.names)
        lines.append(f"| {table_code(writer)} | {' | '.join(words)} |")
    if grid.left_out:
        lines += ["", f"… and {grouping.left_out(grid)}"]
    marks = {entry.mark for entry in grid.entries.values()}
    lines.append("")
    lines += [
        f"- **{mark}**: {prose(meaning)}"
        for mark, meaning in grouping.MEANINGS.items()
        if mark in marks
    ]
    return "\n".join(lines) + "\n"


def _word(grid: Grid, writer: str, reader: str) -> str:
    entry = grid.entries.get((writer, reader))
    if entry is None:
        return ""
    if entry.mark in {"ok", "skipped"}:
        return f"{grouping.SYMBOLS[entry.mark]} {entry.mark}"
    word = f"{grouping.SYMBOLS[entry.mark]} {entry.mark} {entry.count:,}".replace("~", r"\~")
    return f"**{word}**" if entry.mark in {"crashed", "unreadable", "changed"} else word


def _groups(report: Report, cells: Sequence[Cell], title: str) -> Section:
    groups = grouping.groups(cells)
    return Section(title, [_group(report, each) for each in groups])


def _group(report: Report, group: Group) -> str:
    example = group.cells[0]
    symbol = grouping.SYMBOLS[grouping.mark(example)]
    parts = [f"#### {symbol} {prose(sentences.heading(group))}\n"]
    if group.hint:
        parts.append(f"Hint: {prose(group.hint)}\n")
    parts.append(_findings(group.cells))
    through = prose(sentences.through(example, report))
    parts.append(f"For example {_where(example)}{through}:\n")
    parts.append(f"{_details(example)}\n")
    parts.append(f"```sh\n{sentences.command(example, report)}\n```\n\n")
    return "\n".join(parts)


def _where(cell: Cell) -> str:
    names = (cell.writer, cell.reader, cell.serializer, cell.payload)
    writer, reader, serializer, payload = map(code, names)
    return f"{writer} → {reader}, {serializer}, {payload}"


def _details(cell: Cell) -> str:
    others = sentences.other_places(cell)
    more = f" ({counted(others, 'other place')})" if others else ""
    return code(sentences.evidence(cell), 1000) + more


def _findings(cells: Iterable[Cell]) -> str:
    return folded(grouping.findings(cells), MOST_FINDINGS, _finding)


def _finding(finding: Finding) -> str:
    flows = "; ".join(map(_flow, finding.flows[:MOST_FLOWS]))
    pairs = sum(flow.pairs for flow in finding.flows[MOST_FLOWS:])
    more = f"; and {counted(pairs, 'more pair')}" if pairs else ""
    return f"{code_list(finding.serializers)}: {code_list(finding.payloads)}: {flows}{more}"


def _flow(flow: Flow) -> str:
    direction = f" ({', '.join(flow.directions)})" if flow.directions else ""
    return f"{code_list(flow.writers)} → {code_list(flow.readers)}{direction}"


def _fixed(report: Report) -> Section:
    fixed = () if report.baseline is None else report.baseline.fixed
    title = f"{grouping.FIXED} ({len(fixed):,})"
    return Section(title, [f"{_findings(fixed)}\n"] if fixed else [])


def _known(report: Report) -> Section:
    items = [
        f"{code(each.reason, 400)} ({counted(len(each.cells), 'cell')}):\n\n{_findings(each.cells)}\n"
        for each in grouping.known_breaks(report)
    ]
    return Section(f"Known breaks ({report.summary()['known']:,})", items)


def _limits(report: Report, title: str, outcomes: frozenset[str]) -> Section:
    rows = [_limit(each, report) for each in grouping.limits(report, outcomes, by_cause=True)]
    columns = "| serializer | outcome | payloads | environments | for example |\n"
    return Section(title, rows, f"{columns}|---|---|---|---|---|\n")


def _limit(limit: Limit, report: Report) -> str:
    example = limit.example
    through = sentences.through(example, report)
    line = f"{visible(example.payload, NAME)}{through}: {sentences.evidence(example)}"
    causes = f", {table_code_list(limit.causes)}" if limit.causes else ""
    return (
        f"| {table_code(limit.serializer)} | {limit.outcome}{causes} | {table_code_list(limit.payloads)}"
        f" | {table_code_list(limit.environments) or 'all'} | {table_code(line, 1000)} |\n"
    )


def _skips(report: Report) -> list[str]:
    return [
        f"{counted(each.cells, 'cell')} ({code_list(each.environments)}; {code_list(each.serializers)};"
        f" {code_list(each.payloads)}): {code(each.reason, 400)}"
        for each in grouping.skips(report)
    ]


def _unavailable(report: Report) -> list[str]:
    records: list[EnvironmentRecord | ServerRecord] = [*report.environments, *report.servers]
    return [
        f"{code(each.name)}: {code(each.reason or 'no reason was given', 1000)}"
        for each in records
        if each.status == "unavailable"
    ]


def _problems(report: Report) -> list[str]:
    return [
        f"{code_list(each.payloads)} {each.status} in {code_list(each.environments)}:"
        f" {code(each.reason, 400)}"
        for each in grouping.problems(report.payloads)
    ]


def _packages(report: Report) -> Section:
    lines = [
        f"<details><summary>{counted(len(each.packages), 'package')}</summary>\n\n"
        f"{code(each.name)}: {code_list(_versions(each), MOST_PACKAGES)}\n\n</details>\n\n"
        for each in grouping.ready(report)
        if each.packages
    ]
    return Section("Installed packages", lines, aside=True)


def _versions(environment: EnvironmentRecord) -> list[str]:
    added = environment.suite_packages.items()
    return [
        *(f"{name} {version}" for name, version in environment.packages.items()),
        *(f"{name} {version} (for the suite)" for name, version in added),
    ]
