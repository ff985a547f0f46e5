"""The report as Markdown, for a job summary or a file: worst first, and never too large to post."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from memory_matrix.report import grouping, sentences
from memory_matrix.report.grouping import Finding, Flow, Grid, Group, Limit
from memory_matrix.report.model import Cell, EnvironmentRecord, Report, ServerRecord
from memory_matrix.report.visible import NAME, counted, listed, visible

LIMIT = 1_000_000
"""Bytes; GitHub takes a job summary of 1 MiB."""
MOST_ENVIRONMENTS = 40
"""Environments that the grid shows."""
MOST_NAMES = 12
MOST_FLOWS = 6
MOST_FINDINGS = 3
"""Findings of one cause that are not folded away."""
MOST_FOLDED = 50_000
"""Bytes of the findings of one cause that are folded away."""
MOST_ROWS = 100
"""Environments that are listed."""
MOST_PACKAGES = 400
_CUT_ROOM = 120
"""Bytes kept in each section for saying how much of it was cut."""


@dataclass(frozen=True)
class Section:
    """A heading and items that each make sense alone, so that any of them may be cut."""

    title: str
    items: Sequence[str]
    columns: str = ""
    """The head of a table, where the items are its rows."""

    @property
    def head(self) -> str:
        """What stands before the first item."""
        return f"\n### {self.title}\n\n{self.columns}"


def render(report: Report, *, limit: int = LIMIT) -> str:
    """Return the report as GitHub-flavoured Markdown of at most `limit` bytes.

    What does not fit is cut from the end of each section and counted; at least 4,000 bytes are
    needed for the verdict.
    """
    sections = [section for section in _sections(report) if section.items]
    head = _head(report)
    return head + "".join(_fitted(sections, limit - len(head.encode())))


def code(text: str, limit: int = NAME, *, in_table: bool = False) -> str:
    """Return `text` as a code span: nothing in it is interpreted, linked or notified."""
    shown = visible(text, limit) or "(empty)"
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    padding = " " if shown.startswith(("`", " ")) or shown.endswith(("`", " ")) else ""
    span = f"{fence}{padding}{shown}{padding}{fence}"
    return span.replace("|", r"\|") if in_table else span


def prose(text: str, limit: int = 1000) -> str:
    """Return `text` as running text in which nothing is markup, a link or a mention.

    Not for the start of a line, where also `-`, `#`, `1.` and the like are markup.
    """
    escaped = re.sub(r"([\\`*_\[\]|~$])", r"\\\1", visible(text, limit))
    escaped = escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"(@|#|:(?=//)|www)", r"\1<!-- -->", escaped, flags=re.IGNORECASE)


def _fitted(sections: Sequence[Section], room: int) -> Iterator[str]:
    room -= _CUT_ROOM * len(sections)
    for section in sections:
        kept, size = _fitting(section, room)
        room -= size
        yield section.head + "".join(section.items[:kept]) if kept else f"\n### {section.title}\n"
        if kept < len(section.items):
            yield f"\n… and {len(section.items) - kept:,} more: see report.json.\n"


def _fitting(section: Section, room: int) -> tuple[int, int]:
    """Return how many items of `section` have room, and the bytes that it takes with them."""
    size = len(section.head.encode())
    for number, item in enumerate(section.items):
        grown = size + len(item.encode())
        if grown > room:
            return number, size if number else 0
        size = grown
    return len(section.items), size


def _head(report: Report) -> str:
    facts = [sentences.missing(report)]
    if report.cells:
        facts = [f"{sentences.tally(report)}.", sentences.consequence(report), *facts]
    text = " ".join(filter(None, facts))
    return f"## {prose(sentences.verdict(report))}\n" + (f"\n{prose(text)}\n" if text else "")


def _sections(report: Report) -> Iterator[Section]:
    grid = grouping.grid(report, MOST_ENVIRONMENTS)
    yield _environments(report)
    yield _servers(report)
    yield Section("Who reads whom", [_grid(grid)] if grid.entries else [])
    breaks = grouping.breaks(report)
    yield _groups(report, breaks, f"Breaks ({len(breaks):,})")
    yield _known(report)
    drifted = [cell for cell in report.cells if cell.outcome == "drifted"]
    yield _groups(report, drifted, f"Drifted ({len(drifted):,})")
    for title, outcomes in grouping.LIMITS.items():
        yield _limits(report, title, outcomes)
    yield _list("Skipped", _skips(report))
    yield _list("Could not be had", _unavailable(report))
    yield _list("Payloads that were not written", _problems(report))
    yield _list(
        "Known breaks that break no more", [code(each, 1000) for each in report.stale_known]
    )
    yield _suite(report)
    yield _packages(report)


def _environments(report: Report) -> Section:
    records = grouping.ready(report)
    rows = [_environment(each) for each in records[:MOST_ROWS]]
    if len(records) > MOST_ROWS:
        rows.append(f"\n… and {len(records) - MOST_ROWS:,} more: see report.json.\n")
    columns = "| name | Python | packages | variables |\n|---|---|---|---|\n"
    return Section("Environments", rows, columns)


def _environment(environment: EnvironmentRecord) -> str:
    packages = sentences.key_packages(environment)
    named = _cells(f"{name} {version}" for name, version in packages.items())
    others = len(environment.packages) - len(packages)
    rest = counted(others, "other package" if named else "package") if others else ""
    variables = [f"{name}={value}" for name, value in environment.env.items()]
    return (
        f"| {_cell(environment.name)} | {_cell(environment.python)} | {', '.join(filter(None, (named, rest)))}"
        f" | {_cells(variables)} |\n"
    )


def _servers(report: Report) -> Section:
    columns = "| name | kind | version | source |\n|---|---|---|---|\n"
    rows = [
        f"| {_cell(each.name)} | {each.kind} | {_cell(each.version or 'unknown')}"
        f" | {_cell(each.source)} |\n"
        for each in report.servers
        if each.status == "ready"
    ]
    return Section("Servers", rows, columns)


def _grid(grid: Grid) -> str:
    lines = [
        f"| writer ↓ reader → | {' | '.join(map(_cell, grid.names))} |",
        "|---" * (len(grid.names) + 1) + "|",
    ]
    for writer in grid.names:
        words = (_word(grid, writer, reader) for reader in grid.names)
        lines.append(f"| {_cell(writer)} | {' | '.join(words)} |")
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
    """Return the first findings as a list, and below it the others, folded away."""
    lines = [f"- {_finding(each)}\n" for each in grouping.findings(cells)]
    shown, others = lines[:MOST_FINDINGS], lines[MOST_FINDINGS:]
    if not others:
        return "".join(shown)
    sizes = accumulate(len(line.encode()) for line in others)
    folded = [line for line, size in zip(others, sizes, strict=True) if size <= MOST_FOLDED]
    rest = len(others) - len(folded)
    more = f"- … and {rest:,} more: see report.json.\n" if rest else ""
    summary = f"\n<details><summary>{len(others):,} more</summary>\n\n"
    return f"{''.join(shown)}{summary}{''.join(folded)}{more}\n</details>\n"


def _finding(finding: Finding) -> str:
    flows = "; ".join(map(_flow, finding.flows[:MOST_FLOWS]))
    pairs = sum(flow.pairs for flow in finding.flows[MOST_FLOWS:])
    more = f"; and {counted(pairs, 'more pair')}" if pairs else ""
    return f"{_names(finding.serializers)}: {_names(finding.payloads)}: {flows}{more}"


def _flow(flow: Flow) -> str:
    direction = f" ({', '.join(flow.directions)})" if flow.directions else ""
    return f"{_names(flow.writers)} → {_names(flow.readers)}{direction}"


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
    causes = f", {_cells(limit.causes)}" if limit.causes else ""
    return (
        f"| {_cell(limit.serializer)} | {limit.outcome}{causes} | {_cells(limit.payloads)}"
        f" | {_cells(limit.environments) or 'all'} | {_cell(line, 1000)} |\n"
    )


def _skips(report: Report) -> list[str]:
    return [
        f"{counted(each.cells, 'cell')} ({_names(each.environments)}; {_names(each.serializers)};"
        f" {_names(each.payloads)}): {code(each.reason, 400)}"
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
        f"{_names(each.payloads)} {each.status} in {_names(each.environments)}:"
        f" {code(each.reason, 400)}"
        for each in grouping.problems(report.payloads)
    ]


def _suite(report: Report) -> Section:
    lines = [f"- {code(sentences.case(each), 1000)}\n" for each in grouping.suite_trouble(report)]
    title = f"Memory test suite: {prose(sentences.suite_tally(report))}"
    return Section(title, lines or ["No case failed.\n"] if report.suite else [])


def _packages(report: Report) -> Section:
    lines = [
        f"<details><summary>{counted(len(each.packages), 'package')}</summary>\n\n"
        f"{code(each.name)}: {_names(_versions(each), MOST_PACKAGES)}\n\n</details>\n\n"
        for each in grouping.ready(report)
        if each.packages
    ]
    return Section("Installed packages", lines)


def _versions(environment: EnvironmentRecord) -> list[str]:
    return [f"{name} {version}" for name, version in environment.packages.items()]


def _list(title: str, lines: Sequence[str]) -> Section:
    return Section(title, [f"- {line}\n" for line in lines])


def _names(names: Iterable[str], most: int = MOST_NAMES, show: Callable[[str], str] = code) -> str:
    return listed(names, most, show)


def _cells(names: Iterable[str]) -> str:
    return _names(names, show=_cell)


def _cell(text: str, limit: int = NAME) -> str:
    return code(text, limit, in_table=True)
