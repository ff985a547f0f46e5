"""The report as SARIF 2.1.0, for GitHub code scanning and editors: one result for each break.

Where there are more than a viewer takes, every kind is there before any comes twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from memory_matrix.report import grouping
from memory_matrix.report.json_pieces import list_pieces
from memory_matrix.report.markup import prose
from memory_matrix.report.model import Cell, Report, SuiteResult
from memory_matrix.report.standing import (
    Standings,
    cell_lines,
    location,
    requirements,
    result_lines,
)
from memory_matrix.report.visible import NAME, visible

if TYPE_CHECKING:
    from memory_matrix.compat.hints import Hint

MOST = 5000
"""Results that GitHub stores of a run."""

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
HOME = "https://github.com/memory-matrix/memory-matrix"
ROOT = "%SRCROOT%"
"""What stands for the folder that paths are relative to."""
DEFAULT_MATRIX = "memory-matrix.toml"
_LONGEST_PATH = 4096

Level = Literal["error", "warning", "note"]

_RANKS: Mapping[str, int] = {"crashed": 0, "unreadable": 1, "failed": 2, "changed": 3}
"""Outcomes of cells and cases, worst first."""
_OTHERS = len(_RANKS)
_LEVELS: tuple[Level, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class _Finding:
    """A break or a failed case, and the rule that it breaks."""

    rule: str
    level: Level
    item: Cell | SuiteResult

    @property
    def subject(self) -> str:
        """The payload or the store that it is about."""
        return self.item.payload if isinstance(self.item, Cell) else self.item.store

    @property
    def rank(self) -> tuple[int, int]:
        """A key that sorts the worst first."""
        return _LEVELS.index(self.level), _RANKS.get(self.item.outcome, _OTHERS)

    def lines(self, report: Report) -> Iterator[str]:
        """Yield what is known of it, in lines."""
        if isinstance(self.item, Cell):
            return cell_lines(self.item, report)
        return result_lines(self.item, report)


def checkout_prefix() -> str:
    """Return what leads from the repository's folder to this one, on GitHub; else nothing."""
    workspace, here = os.environ.get("GITHUB_WORKSPACE"), Path.cwd()
    if not workspace or not here.is_relative_to(Path(workspace).resolve()):
        return ""
    return here.relative_to(Path(workspace).resolve()).as_posix()


def render(report: Report, prefix: str = "", *, most: int = MOST) -> Iterator[str]:
    """Yield SARIF of the breaks that no `[[known]]` entry expects, and of failed cases, worst first.

    What fails the run is an error (a drifted or own cell: a warning), what `fail-on` or `directions`
    let pass is a note. Paths get `prefix`; `most` results are there, and it says how many are not.
    """
    every = list(_findings(report))
    kept = _kept(every, most)
    rules = {rule: number for number, rule in enumerate(grouping.unique(f.rule for f in kept))}
    yield f'{{\n"$schema": {json.dumps(SCHEMA)},\n"version": "2.1.0",\n"runs": [{{\n'
    yield '"tool": {"driver": {"name": "memory-matrix",'
    yield f' "informationUri": {json.dumps(HOME)}, "version": {json.dumps(_version(report))},'
    yield '\n"rules": '
    yield from list_pieces(_rules(kept))
    yield '}},\n"columnKind": "unicodeCodePoints",\n"originalUriBaseIds": '
    yield json.dumps({ROOT: {"description": {"text": "The folder of the repository."}}})
    yield ',\n"invocations": '
    yield json.dumps([_invocation(report, len(every) - len(kept))])
    yield ',\n"results": '
    yield from list_pieces(_results(kept, rules, report, prefix))
    yield "\n}]\n}\n"


def _version(report: Report) -> str:
    return visible(report.version, NAME) or "unknown"


def _findings(report: Report) -> Iterator[_Finding]:
    standings = Standings(report)
    for cell in report.cells:
        held = standings.of_cell(cell) == "failed"
        if held or (cell.is_break and cell.known is None):
            rule = visible(cell.cause or cell.outcome, NAME)
            serious: Level = "error" if cell.is_break else "warning"
            yield _Finding(rule, serious if held else "note", cell)
    for result in report.suite:
        if result.outcome == "failed":
            held = standings.of_result(result) == "failed"
            yield _Finding(visible(result.case, NAME), "error" if held else "note", result)


def _kept(every: Sequence[_Finding], most: int) -> list[_Finding]:
    """Return the worst `most`, where the second of a kind comes after the first of all others."""
    seen: Counter[tuple[str, str]] = Counter()
    turns = []
    for finding in every:
        kind = (finding.rule, finding.subject)
        seen[kind] += 1
        turns.append(seen[kind])
    order = sorted(range(len(every)), key=lambda number: (turns[number], every[number].rank))
    return sorted((every[number] for number in sorted(order[:most])), key=lambda each: each.rank)


def _invocation(report: Report, left_out: int) -> dict[str, Any]:
    """Return what could not be had, and what is not there for want of room."""
    lacking = [each for each in requirements(report) if each.reason is not None]
    notes = [
        _notification("error", f"{visible(each.name, 2 * NAME)}: {visible(each.reason or '')}")
        for each in lacking
    ]
    if left_out:
        text = f"{left_out:,} more results are left out: see report.json, or report.html."
        notes.append(_notification("warning", text))
    invocation: dict[str, Any] = {"executionSuccessful": not lacking}
    return {**invocation, "toolExecutionNotifications": notes} if notes else invocation


def _notification(level: Level, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": _plain(text)}}


def _results(
    findings: Iterable[_Finding], rules: Mapping[str, int], report: Report, prefix: str
) -> Iterator[dict[str, Any]]:
    taken: set[str] = set()
    for finding in findings:
        item = finding.item
        lines = (_sentence(item), *finding.lines(report))
        result: dict[str, Any] = {
            "ruleId": finding.rule,
            "ruleIndex": rules[finding.rule],
            "level": finding.level,
            "message": {"text": _plain("\n".join(lines))},
            "locations": [_location(finding.subject, report, prefix)],
            "partialFingerprints": {"primaryLocationLineHash": _fingerprint(item, taken)},
        }
        if item.new is not None:
            result["baselineState"] = "new" if item.new else "unchanged"
        yield result


def _sentence(item: Cell | SuiteResult) -> str:
    """Return in one sentence what broke where: viewers show it alone in lists."""
    if isinstance(item, SuiteResult):
        servers = ", ".join(visible(name, NAME) for name in item.servers)
        where = f"{visible(item.environment, NAME)}{f' on {servers}' if servers else ''}"
        return f"{visible(item.store, NAME)} fails {visible(item.case, NAME)} in {where}."
    names = (item.reader, item.payload, item.writer, item.serializer)
    reader, payload, writer, serializer = (visible(name, NAME) for name in names)
    return f"{reader} {_does(item)} {payload} of {writer}, written with {serializer}."


def _does(cell: Cell) -> str:
    if cell.outcome in {"changed", "drifted"}:
        return "reads another value than"
    return "crashes on" if cell.outcome == "crashed" else "cannot read"


def _fingerprint(item: Cell | SuiteResult, taken: set[str]) -> str:
    """Return what tells a result from every other one, and is the same in every run.

    It has the name that GitHub goes by: with its own, made of a line's text, all breaks of a payload
    would be one. The bytes of a second slot are told apart by the slot.
    """
    if isinstance(item, Cell):
        parts = [item.writer, item.reader, item.serializer, item.payload]
        found = _digest(parts)
        if found in taken:
            found = _digest([*parts, *item.via])
    else:
        where = [item.environment, *item.servers]
        found = _digest([item.store, item.case, item.serializer, *where])
    number = 1
    unique = f"{found}:{number}"
    while unique in taken:
        number += 1
        unique = f"{found}:{number}"
    taken.update((found, unique))
    return unique


def _digest(parts: Sequence[str | None]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _location(name: str, report: Report, prefix: str) -> dict[str, Any]:
    file, line = location(name, report)
    artifact = _artifact(file or DEFAULT_MATRIX, prefix)
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": line}}}


def _artifact(file: str, prefix: str) -> dict[str, str]:
    """Return `file` as a URI, relative to the repository unless it is an absolute path."""
    path = file[:_LONGEST_PATH].replace(os.sep, "/")
    if path.startswith("/"):
        return {"uri": f"file://{_quoted(posixpath.normpath(path).replace('//', '/'))}"}
    return {"uri": _quoted(posixpath.normpath(posixpath.join(prefix, path))), "uriBaseId": ROOT}


def _quoted(path: str) -> str:
    return quote(path, errors="backslashreplace")


def _plain(text: str) -> str:
    """Return `text` as a message in which nothing is a link."""
    return re.sub(r"([\\\[\]])", r"\\\1", text) if "](" in text else text


# Rules


def _rules(findings: Iterable[_Finding]) -> Iterator[dict[str, Any]]:
    """Yield each rule that `findings` break once, in their order."""
    firsts: dict[str, _Finding] = {}
    for finding in findings:
        firsts.setdefault(finding.rule, finding)
    hints = _hints()
    for rule, finding in firsts.items():
        item = finding.item
        about = _about_cell(item, hints) if isinstance(item, Cell) else _about_case(item)
        yield {
            "id": rule,
            "shortDescription": {"text": about.title},
            "fullDescription": {"text": about.text},
            "helpUri": f"{HOME}/blob/main/docs/{about.page}",
            "help": {"text": about.text, "markdown": about.markdown},
            "defaultConfiguration": {"level": finding.level},
            "properties": {"tags": ["memory", about.tag], "precision": "very-high"},
        }


@dataclass(frozen=True)
class _About:
    """What a rule says of itself."""

    title: str
    text: str
    markdown: str
    page: str
    tag: str


def _hints() -> dict[str | None, Hint]:
    from memory_matrix.compat.hints import load_hints

    return {each.code: each for each in load_hints().all}


def _about_cell(cell: Cell, hints: Mapping[str | None, Hint]) -> _About:
    if hint := hints.get(cell.cause):
        markdown = f"{hint.cause}\n\n**What to do:** {hint.advice}\n"
        page = f"hints.md#{_anchor(f'{hint.code}: {hint.title}')}"
        return _About(hint.title, hint.text, markdown, page, "compatibility")
    mark = grouping.mark(cell)
    text = f"{cell.outcome}: {grouping.MEANINGS[mark]}."
    more = visible(cell.hint or "", 1000)
    whole = " ".join(filter(None, (text, more)))
    return _About(text, whole, prose(whole), "report.md#outcomes", "compatibility")


def _about_case(result: SuiteResult) -> _About:
    from memory_matrix.suite.catalogue import cases

    known = {each.name: " ".join(each.text.split()) for each in cases()}
    name = visible(result.case, NAME)
    text = known.get(result.case, "A case of the memory test suite.")
    return _About(name, text, prose(text), "suite.md#the-cases", "stores")


def _anchor(title: str) -> str:
    """Return what GitHub makes of a heading in the address of its page."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
