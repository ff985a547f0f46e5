"""The report for a terminal: what broke, where, why, and what to do, at a glance."""

from __future__ import annotations

import codecs
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from memory_matrix.report import grouping, sentences, terminal_suite
from memory_matrix.report.grouping import SYMBOLS, Flow, Grid, Group, Limit, Mark
from memory_matrix.report.model import Cell, EnvironmentRecord, Report
from memory_matrix.report.page import (
    MOST_ITEMS,
    MOST_NAMES,
    Look,
    Page,
    Part,
    columns,
    fitted,
    padded,
)
from memory_matrix.report.visible import NAME, counted, visible

MOST_ENVIRONMENTS = 20
"""Environments that the grid and the list of environments show; the rest are counted."""
MOST_LINES = 60
"""Lines of breaks without `verbose`."""
MOST_FINDINGS = 3
"""Findings of one cause without `verbose`."""
MOST_FLOWS = 2
"""Flows of one finding without `verbose`."""

_LETTERS: Mapping[Mark, str] = {
    "crashed": "X",
    "unreadable": "U",
    "changed": "C",
    "known": "K",
    "drifted": "D",
    "own failure": "F",
    "lossy": "L",
    "unwritable": "W",
    "unstorable": "S",
    "ok": ".",
    "skipped": "-",
}
"""What stands for a mark where there is no room for its word."""

_STYLES: Mapping[Mark, str] = {
    "crashed": "bold red",
    "unreadable": "bold red",
    "changed": "red",
    "known": "yellow",
    "drifted": "yellow",
    "own failure": "magenta",
    "lossy": "cyan",
    "unwritable": "cyan",
    "unstorable": "cyan",
    "ok": "green",
    "skipped": "dim",
}

_CORNER = "writer ↓ reader →"


def show(report: Report, *, verbose: bool = False, stream: TextIO | None = None) -> None:
    """Print the report to `stream` (standard output), in colour where that is a terminal."""
    stream = sys.stdout if stream is None else stream
    stream.write(render(report, look_of(stream, verbose=verbose)))


def look_of(stream: TextIO, *, verbose: bool = False) -> Look:
    """Return what `stream` can show. `NO_COLOR` and `TERM=dumb` mean no colour."""
    colour = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    width = shutil.get_terminal_size((100, 24)).columns
    return Look(max(40, width), colour, not _is_unicode(stream.encoding), verbose)


def _is_unicode(encoding: str | None) -> bool:
    try:
        return codecs.lookup(encoding or "ascii").name.startswith("utf")
    except LookupError:
        return False


def render(report: Report, look: Look | None = None) -> str:
    """Return the report as text, with ANSI colours where `look` has them."""
    page = Page(look or Look())
    grid = grouping.grid(report, _most_environments(page.look))
    table = _table(page.look, grid)
    _add_head(page, report)
    _add_environments(page, report, grid, numbered=table.numbered)
    _add_servers(page, report)
    _add_table(page, grid, table)
    for title, cells in sentences.break_lists(report).items():
        _add_groups(page, report, cells, title)
    _add_fixed(page, report)
    _add_known(page, report)
    _add_drifted(page, report)
    _add_limits(page, report)
    _add_skips(page, report)
    _add_unavailable(page, report)
    if report.cells:
        _add_problems(page, report)
    terminal_suite.add(page, report)
    return page.text()


def _most_environments(look: Look) -> int:
    """Return how many environments have room in the grid."""
    room = (look.width - len(_CORNER)) // 3
    return min(room, look.most(MOST_ENVIRONMENTS))


def _add_head(page: Page, report: Report) -> None:
    good, bad = sentences.is_good(report), sentences.is_bad(report)
    page.add((sentences.verdict(report), "bold red" if bad else "bold green" if good else "bold"))
    if report.cells:
        page.add(f"{sentences.tally(report)}.")
    if report.cells or report.suite:
        page.add(sentences.consequence(report))
    if comparison := sentences.comparison(report):
        page.add(comparison)
    if sentences.missing(report):
        page.add((sentences.missing(report), "yellow"))
    if report.missing:
        _add_missing(page, report)
    page.listing("Not tested", [sentences.not_tested_part(each) for each in report.untested])


def _add_missing(page: Page, report: Report) -> None:
    page.title(f"Missing ({len(report.missing):,})")
    page.add(sentences.lost_shards(report), indent=2)
    most = page.look.most(MOST_ENVIRONMENTS)
    for each in report.missing[:most]:
        page.add((sentences.missing_part(each), "red"), indent=2)
    page.rest(max(0, len(report.missing) - most), "part")


def _add_environments(page: Page, report: Report, grid: Grid, *, numbered: bool) -> None:
    records = {each.name: each for each in grouping.ready(report)}
    shown = [(n, records[name]) for n, name in enumerate(grid.names, 1) if name in records]
    if not shown:
        return
    page.title(f"Environments ({len(records)})")
    width = max(columns(page.look.show(each.name, NAME)) for _, each in shown)
    for number, each in shown:
        label = f"{number:>2} " if numbered else ""
        name = padded(page.look.show(each.name, NAME), min(width, 30))
        page.add(f"{label}{name}  ", _described(page.look, each), indent=2)
    page.rest(len(records) - len(shown), "environment")


def _described(look: Look, environment: EnvironmentRecord) -> str:
    asked = sentences.key_packages(environment)
    packages = environment.packages if look.verbose else asked
    parts = [f"Python {visible(environment.python, NAME)}"]
    named = [f"{name} {version}" for name, version in packages.items()]
    named += [f"{name}={value}" for name, value in environment.env.items()]
    if named:
        parts.append(look.names(named, MOST_NAMES))
    unnamed = len(environment.packages) - len(packages)
    if unnamed:
        parts.append(counted(unnamed, "other package" if packages else "package"))
    return ", ".join(parts)


def _add_servers(page: Page, report: Report) -> None:
    servers = [each for each in report.servers if each.status == "ready"]
    if not servers:
        return
    page.title(f"Servers ({len(servers)})")
    for each in servers:
        name, version = (
            visible(each.name, NAME),
            visible(each.version or "of unknown version", NAME),
        )
        source = "" if each.source == each.name else f", from {visible(each.source, NAME)}"
        page.add(f"{name}  {each.kind} {version}{source}", indent=2)


@dataclass(frozen=True)
class _Table:
    """The grid laid out: lines of styled parts, and whether columns are numbers."""

    rows: tuple[tuple[Part, ...], ...]
    numbered: bool


def _table(look: Look, grid: Grid) -> _Table:
    """Return the grid with words where they fit, otherwise with numbers and letters."""
    names = [look.show(name, NAME) for name in grid.names]
    corner = look.show(_CORNER)
    body = [[_word(look, grid, writer, reader) for reader in grid.names] for writer in grid.names]
    widths = [
        max(map(columns, (head, *(row[n][0] for row in body)))) for n, head in enumerate(names)
    ]
    first = max(map(columns, (corner, *names)))
    if first + sum(width + 2 for width in widths) <= look.width:
        lines = zip([corner, *names], [[(name, "bold") for name in names], *body], strict=True)
        return _Table(tuple(_row(head, first, line, widths) for head, line in lines), False)
    return _numbered_table(look, grid, names)


def _numbered_table(look: Look, grid: Grid, names: list[str]) -> _Table:
    width = len(str(len(names)))
    room = max(len(_CORNER), look.width - (width + 1) * len(names))
    heads = [fitted(f"{n:>{width}} {name}", room, look) for n, name in enumerate(names, 1)]
    letters = [[_letter(grid, writer, reader) for reader in grid.names] for writer in grid.names]
    numbers = [(str(number), "bold") for number in range(1, len(names) + 1)]
    first = max(map(columns, (look.show(_CORNER), *heads)))
    lines = zip([look.show(_CORNER), *heads], [numbers, *letters], strict=True)
    return _Table(
        tuple(_row(head, first, line, [width] * len(names), 1) for head, line in lines), True
    )


def _row(
    head: str, first: int, parts: Sequence[tuple[str, str]], widths: Sequence[int], gap: int = 2
) -> tuple[Part, ...]:
    filled = (
        (" " * gap + padded(part[0], width), part[1])
        for part, width in zip(parts, widths, strict=True)
    )
    return (padded(head, first), *filled)


def _word(look: Look, grid: Grid, writer: str, reader: str) -> tuple[str, str]:
    entry = grid.entries.get((writer, reader))
    if entry is None:
        return "", ""
    count = "" if entry.mark in {"ok", "skipped"} else f" {entry.count:,}"
    return look.show(f"{SYMBOLS[entry.mark]} {entry.mark}{count}"), _STYLES[entry.mark]


def _letter(grid: Grid, writer: str, reader: str) -> tuple[str, str]:
    entry = grid.entries.get((writer, reader))
    return ("", "") if entry is None else (_LETTERS[entry.mark], _STYLES[entry.mark])


def _add_table(page: Page, grid: Grid, table: _Table) -> None:
    if not grid.entries:
        return
    page.add()
    for row in table.rows:
        page.add(*row, wrap=False)
    if grid.left_out:
        page.add(f"… and {grouping.left_out(grid)}")
    page.add()
    marks = {entry.mark for entry in grid.entries.values()}
    for mark, meaning in grouping.MEANINGS.items():
        if mark in marks:
            symbol = _LETTERS[mark] if table.numbered else SYMBOLS[mark]
            page.add((f"{symbol} {mark}", _STYLES[mark]), f": {meaning}", indent=2)


def _add_drifted(page: Page, report: Report) -> None:
    cells = [cell for cell in report.cells if cell.outcome == "drifted"]
    title = f"Drifted ({len(cells):,}): writer and reader mean different things by the payload"
    _add_groups(page, report, cells, title)


def _add_groups(page: Page, report: Report, cells: Sequence[Cell], title: str) -> None:
    """Add causes, worst first, as long as there is room for a whole one."""
    groups = grouping.groups(cells)
    if groups:
        page.title(title)
        page.blocks("cause", groups, lambda group: _add_group(page, report, group), MOST_LINES)


def _add_group(page: Page, report: Report, group: Group) -> None:
    mark = grouping.mark(group.cells[0])
    page.add((f"{SYMBOLS[mark]} {sentences.heading(group)}", _STYLES[mark]))
    if group.hint:
        page.add(visible(group.hint, 1000), indent=2)
    _add_findings(page, group.cells)
    example = group.cells[0]
    page.add("e.g. ", _where(example, report), ": ", _evidence(example), indent=2)
    page.add(("$ " + sentences.command(example, report), "dim"), indent=2, wrap=False)


def _add_findings(page: Page, cells: Sequence[Cell], indent: int = 2) -> None:
    findings = grouping.findings(cells)
    most = page.look.most(MOST_FINDINGS)
    for finding in findings[:most]:
        what = f"{page.look.names(finding.serializers)}: {page.look.names(finding.payloads)}"
        page.add((what, "bold"), f": {_flows(page.look, finding.flows)}", indent=indent)
    page.rest(len(findings) - most, indent=indent)


def _flows(look: Look, flows: Sequence[Flow]) -> str:
    most = look.most(MOST_FLOWS)
    pairs = sum(flow.pairs for flow in flows[most:])
    more = f"; and {counted(pairs, 'more pair')}" if pairs else ""
    return "; ".join(_flow(look, flow) for flow in flows[:most]) + more


def _flow(look: Look, flow: Flow) -> str:
    direction = f" ({', '.join(flow.directions)})" if flow.directions else ""
    return f"{look.names(flow.writers, 3)} → {look.names(flow.readers, 3)}{direction}"


def _where(cell: Cell, report: Report) -> str:
    names = (cell.writer, cell.reader, cell.serializer, cell.payload)
    writer, reader, serializer, payload = (visible(name, NAME) for name in names)
    return f"{writer} → {reader}, {serializer}, {payload}{sentences.through(cell, report)}"


def _evidence(cell: Cell) -> str:
    others = sentences.other_places(cell)
    return sentences.evidence(cell) + (f" ({counted(others, 'other place')})" if others else "")


def _add_fixed(page: Page, report: Report) -> None:
    fixed = () if report.baseline is None else report.baseline.fixed
    if fixed:
        page.title(f"{grouping.FIXED} ({len(fixed):,})")
        _add_findings(page, fixed)


def _add_known(page: Page, report: Report) -> None:
    known = grouping.known_breaks(report)
    if not known:
        return
    page.title(f"Known breaks ({report.summary()['known']:,})")
    most = page.look.most(MOST_ITEMS)
    for each in known[:most]:
        page.add(f"{visible(each.reason)} ({counted(len(each.cells), 'cell')})", indent=2)
        _add_findings(page, each.cells, indent=4)
    page.rest(len(known) - most)


def _add_limits(page: Page, report: Report) -> None:
    for title, outcomes in grouping.LIMITS.items():
        limits = grouping.limits(report, outcomes, by_cause=page.look.verbose)
        if not limits:
            continue
        page.title(title)
        most = page.look.most(MOST_ITEMS)
        for limit in limits[:most]:
            _add_limit(page, limit, report)
        page.rest(len(limits) - most)


def _add_limit(page: Page, limit: Limit, report: Report) -> None:
    look, example = page.look, limit.example
    causes = f" ({look.names(limit.causes, 3)})" if limit.causes else ""
    where = f" in {look.names(limit.environments)}" if limit.environments else ""
    payloads = counted(len(limit.payloads), "payload")
    title = f"{look.show(limit.serializer, NAME)}: {payloads} {limit.outcome}{where}{causes}: "
    page.add((title, "bold"), look.names(limit.payloads), indent=2)
    if look.verbose and example.hint:
        page.add(visible(example.hint, 1000), indent=4)
    through = sentences.through(example, report)
    page.add(f"e.g. {visible(example.payload, NAME)}{through}: {_evidence(example)}", indent=4)


def _add_skips(page: Page, report: Report) -> None:
    lines = [
        f"{counted(each.cells, 'cell')} ({page.look.names(each.environments, 3)};"
        f" {page.look.names(each.serializers, 3)}; {page.look.names(each.payloads, 3)}):"
        f" {visible(each.reason)}"
        for each in grouping.skips(report)
    ]
    page.listing("Skipped", lines)


def _add_problems(page: Page, report: Report) -> None:
    lines = [
        f"{page.look.names(each.payloads)} {each.status} in {page.look.names(each.environments)}:"
        f" {visible(each.reason)}"
        for each in grouping.problems(report.payloads)
    ]
    page.listing("Payloads that were not written", lines)
    page.listing(grouping.STALE, [visible(each) for each in report.stale_known])


def _add_unavailable(page: Page, report: Report) -> None:
    for noun, records in (("Environments", report.environments), ("Servers", report.servers)):
        lines = [
            f"{visible(each.name, NAME)}: {visible(each.reason or 'no reason was given', 1000)}"
            for each in records
            if each.status == "unavailable"
        ]
        page.listing(f"{noun} that could not be had", lines)
