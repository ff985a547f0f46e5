"""The sentences that reports share: the verdict, what makes the run fail, how to run one cell.

What comes from payloads, servers or the matrix file is made visible in them.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter

from memory_matrix.report.grouping import Group, breaks, groups
from memory_matrix.report.model import Cell, EnvironmentRecord, Report, SuiteResult, failing
from memory_matrix.report.visible import NAME, counted, listed, visible

_DEFAULT_MATRIX = ("memory-matrix.toml", "pyproject.toml")
_VALUE = 160
"""Characters of a path or a value in a difference."""
_PLAIN = re.compile(r"""[^\s,"']+""")
"""What needs no quotes as the value of a term of --select."""
_GLOB = 200
"""Characters of a value in a command."""


def verdict(report: Report) -> str:
    """Return in one sentence what the run found."""
    total = counted(len(report.cells), "cell")
    if not report.cells:
        return "Nothing was compared: the report has no cells."
    summary = report.summary()
    if summary["skipped"] == summary["cells"]:
        return f"Nothing was compared: {total} skipped."
    if all(cell.own for cell in report.cells):
        return f"Nothing was compared across environments: {total} of a single one."
    if not summary["breaks"]:
        return f"No breaks in {total}."
    if summary["known"] == summary["breaks"]:
        return f"{counted(summary['breaks'], 'break')} in {total}, all known."
    known = f" ({summary['known']:,} known)" if summary["known"] else ""
    return f"{counted(summary['breaks'], 'break')}{known} in {total}: {_what_breaks(report)}."


def _what_breaks(report: Report) -> str:
    worst = groups(breaks(report))[0]
    pairs = Counter((cell.writer, cell.reader) for cell in worst.cells)
    writer, reader = (quoted_name(name) for name in pairs.most_common(1)[0][0])
    verb = "reads another value from" if worst.outcome == "changed" else "cannot read"
    others = len({(cell.writer, cell.reader) for cell in breaks(report)}) - 1
    more = f"; {counted(others, 'other pair')} break{'s' if others == 1 else ''}" if others else ""
    return f"{reader} {verb} memory written by {writer}{more}"


def quoted_name(name: str) -> str:
    """Return `name` in quotes, visible."""
    return f"'{visible(name, NAME)}'"


def consequence(report: Report) -> str:
    """Return in one sentence whether the cells make the run fail, and by what rule."""
    number = len(failing(report))
    rule = f"fail-on = {report.fail_on}"
    if report.fail_on != "never" and len(report.directions) < 3:
        rule += f", directions = {', '.join(report.directions) or 'none'}"
    if not number:
        return f"No cell makes the run fail ({rule})."
    return f"{counted(number, 'cell')} make{'s' if number == 1 else ''} the run fail ({rule})."


def missing(report: Report) -> str:
    """Return in one sentence what could not be had; nothing where all could."""
    parts = [
        counted(number, noun)
        for noun, records in (("environment", report.environments), ("server", report.servers))
        if (number := sum(each.status == "unavailable" for each in records))
    ]
    return f"{' and '.join(parts)} could not be had." if parts else ""


def tally(report: Report) -> str:
    """Return how many cells had each outcome, such as `1,100 ok, 9 unreadable`."""
    summary = report.summary()
    outcomes = [key for key in summary if key not in {"cells", "breaks", "known"}]
    return ", ".join(f"{summary[key]:,} {key}" for key in outcomes if summary[key])


def suite_tally(report: Report) -> str:
    """Return how many cases of the memory test suite had each outcome."""
    counts = Counter(each.outcome for each in report.suite)
    return ", ".join(f"{count:,} {outcome}" for outcome, count in counts.most_common())


def heading(group: Group) -> str:
    """Return a group's title, such as `unreadable, MM102: 12 cells, 3 pairs`."""
    pairs = counted(len({(cell.writer, cell.reader) for cell in group.cells}), "pair")
    cause = f", {visible(group.cause, NAME)}" if group.cause else ""
    return f"{group.outcome}{cause}: {counted(len(group.cells), 'cell')}, {pairs}"


def evidence(cell: Cell) -> str:
    """Return what went wrong in `cell` in one line: its error, or its first difference."""
    if cell.error is not None:
        return (
            f"{cell.error.stage}: {visible(cell.error.type, NAME)}: {visible(cell.error.message)}"
        )
    if not cell.diff:
        return "no details were recorded"
    first = cell.diff[0]
    expected, got = visible(first.expected, _VALUE), visible(first.got, _VALUE)
    return f"{visible(first.path, _VALUE)}: expected {expected}, got {got}"


def other_places(cell: Cell) -> int:
    """Return how many differences `cell` has besides the one that `evidence` shows."""
    return 0 if cell.error is not None else max(0, len(cell.diff) - 1)


def through(cell: Cell, report: Report) -> str:
    """Return the slots that gave back the bytes of `cell`, where other slots did otherwise."""
    what = _identity(cell)
    if not cell.via or sum(_identity(each) == what for each in report.cells) == 1:
        return ""
    return f", through {listed(cell.via, 3, lambda slot: visible(slot, NAME))}"


def _identity(cell: Cell) -> tuple[str, ...]:
    return cell.writer, cell.reader, cell.serializer, cell.payload


def case(result: SuiteResult) -> str:
    """Return one line on a case of the memory test suite."""
    places = (result.environment, *result.servers)
    where = listed(places, 5, lambda name: visible(name, NAME))
    reason = f": {visible(result.reason)}" if result.reason else ""
    store, name = visible(result.store, NAME), visible(result.case, NAME)
    return f"{visible(result.outcome, NAME)}: {store}, {name} ({where}){reason}"


def command(cell: Cell, report: Report) -> str:
    """Return the shell command that runs `cell` alone."""
    config = report.matrix
    given = [] if config is None or config in _DEFAULT_MATRIX else ["-c", _copyable(config)]
    terms = (
        f"{key}={_quoted(_copyable(getattr(cell, key)))}"
        for key in ("writer", "reader", "serializer", "payload")
    )
    return shlex.join(["memory-matrix", "compat", *given, "--select", " ".join(terms)])


def _copyable(text: str) -> str:
    """Return a glob for `text`: what cannot be shown cannot be copied, and is any character."""
    glob = "".join(each if each.isprintable() else "?" for each in text[:_GLOB])
    return glob + "*" * (len(text) > _GLOB)


def _quoted(value: str) -> str:
    """Return `value` as a term of --select takes it, where quotes cannot be escaped."""
    if _PLAIN.fullmatch(value):
        return value
    if '"' in value and "'" not in value:
        return f"'{value}'"
    return '"' + value.replace('"', "?") + '"'


def key_packages(environment: EnvironmentRecord) -> dict[str, str]:
    """Return the versions of the packages that the matrix file asks for."""
    asked = (re.match(r"[A-Za-z0-9._-]+", each) for each in environment.requires)
    names = [re.sub(r"[-_.]+", "-", match[0]).lower() for match in asked if match]
    return {name: environment.packages[name] for name in names if name in environment.packages}
