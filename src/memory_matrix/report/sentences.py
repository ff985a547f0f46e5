"""The sentences that reports share: the verdict, what makes the run fail, how to run one cell.

What comes from payloads, servers or the matrix file is made visible in them.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable

from memory_matrix.report import suite
from memory_matrix.report.baseline import cell_changes
from memory_matrix.report.grouping import Group, breaks, groups, unavailable
from memory_matrix.report.model import (
    Cell,
    Difference,
    EnvironmentRecord,
    MissingPart,
    Report,
    Untested,
    failing,
    failing_suite,
)
from memory_matrix.report.suite import Trouble
from memory_matrix.report.visible import NAME, counted, listed, visible

_DEFAULT_MATRIX = ("memory-matrix.toml", "pyproject.toml")
_VALUE = 160
"""Characters of a path or a value in a difference."""
_PLAIN = re.compile(r"""[^\s,"']+""")
"""What needs no quotes as the value of a term of --select."""
_GLOB = 200
"""Characters of a value in a command."""


def verdict(report: Report) -> str:
    """Return in one line what the run found, in cells and in cases of the memory test suite."""
    parts = [f"Incomplete: {_counted_missing(report)} missing."] if report.missing else []
    parts += filter(None, [not_tested(report)])
    if report.cells or not suite.asked_for(report):
        parts.append(_compat_verdict(report))
    if suite.asked_for(report):
        parts.append(suite.verdict(report))
    return " ".join(parts)


def not_tested(report: Report) -> str:
    """Return in one sentence what was to be tested and could not; nothing where all could."""
    found = Counter(each.what for each in report.untested)
    parts = [counted(number, what) for what, number in found.items()]
    return f"Not tested: {' and '.join(parts)}." if parts else ""


def not_tested_part(each: Untested) -> str:
    """Return in one sentence why it was not tested."""
    why = (
        "no environment could write it"
        if each.what == "payload"
        else "it can read nothing of what was written"
    )
    return f"{each.what} {quoted_name(each.name)}: {why}: {visible(each.reason)}"


def _compat_verdict(report: Report) -> str:
    total = counted(len(report.cells), "cell")
    if not report.cells:
        return "Nothing was compared: the report has no cells."
    summary = report.summary()
    if summary["skipped"] == summary["cells"]:
        return f"Nothing was compared: {total} skipped."
    if all(cell.own for cell in report.cells):
        return f"Nothing was compared across environments: {total} of a single one."
    changes = cell_changes(report)
    fixed = suite.only_fixed(changes)
    if not summary["breaks"]:
        return f"No breaks in {total}{fixed}."
    number = counted(summary["breaks"], "break")
    if summary["known"] == summary["breaks"]:
        return f"{number} in {total}, all known{fixed}."
    known = f" ({summary['known']:,} known)" if summary["known"] else ""
    changed = suite.changed(changes, "still broken")
    return f"{number}{known} in {total}{changed}: {_what_breaks(report)}."


def _what_breaks(report: Report) -> str:
    lists = break_lists(report)
    worst = groups(next(filter(None, lists.values())))[0]
    pairs = Counter((cell.writer, cell.reader) for cell in worst.cells)
    writer, reader = (quoted_name(name) for name in pairs.most_common(1)[0][0])
    verb = "reads another value from" if worst.outcome == "changed" else "cannot read"
    others = len({(cell.writer, cell.reader) for cell in breaks(report)}) - 1
    more = f"; {counted(others, 'other pair')} break{'s' if others == 1 else ''}" if others else ""
    return f"{reader} {verb} memory written by {writer}{more}"


def break_lists(report: Report) -> dict[str, tuple[Cell, ...]]:
    """Return the breaks that no `[[known]]` entry expects by the titles of their lists, new ones
    first where there is a baseline."""
    cells = breaks(report)
    if report.baseline is None:
        return {f"Breaks ({len(cells):,})": cells}
    new = tuple(cell for cell in cells if cell.new is not False)
    still = tuple(cell for cell in cells if cell.new is False)
    return {f"New breaks ({len(new):,})": new, f"Still broken ({len(still):,})": still}


def comparison(report: Report) -> str:
    """Return what the run was compared with, and what that does not tell; nothing where no baseline
    was asked for."""
    baseline = report.baseline
    if baseline is None:
        if report.fail_on != "new-breaks":
            return ""
        return "There is no baseline (--baseline), so every break and every failed case is new."
    parts = [f"Compared with '{visible(baseline.source)}'.", *map(visible, baseline.notes)]
    if baseline.gone:
        parts.append(
            f"What became of {baseline.gone:,} of its findings is not known: not run again, or failing"
            " even where they were written."
        )
    return " ".join(parts)


def quoted_name(name: str) -> str:
    """Return `name` in quotes, visible."""
    return f"'{visible(name, NAME)}'"


def is_bad(report: Report) -> bool:
    """Return whether the verdict is bad news."""
    return (
        bool(report.missing)
        or bool(breaks(report))
        or any(each.outcome in {"failed", "error"} for each in report.suite)
    )


def is_good(report: Report) -> bool:
    """Return whether the verdict is good news: something was run, and nothing went wrong."""
    parts = []
    if report.cells:
        parts.append(any(cell.outcome != "skipped" for cell in report.cells))
    if suite.asked_for(report):
        parts.append(any(each.outcome == "passed" for each in report.suite))
    return bool(parts) and all(parts) and not is_bad(report) and not report.untested


def consequence(report: Report) -> str:
    """Return in one sentence whether something makes the run fail, and by what rule."""
    numbers = {"cell": len(failing(report)), "case": len(failing_suite(report))}
    found = [counted(number, noun) for noun, number in numbers.items() if number]
    if found:
        verb = "makes" if sum(numbers.values()) == 1 else "make"
        return f"{' and '.join(found)} {verb} the run fail{_rule(report)}."
    nothing = (
        "Nothing" if report.suite and report.cells else "No case" if report.suite else "No cell"
    )
    return f"{nothing} makes the run fail{_rule(report)}."


def _rule(report: Report) -> str:
    if report.suite and not report.cells and report.fail_on not in {"never", "new-breaks"}:
        return ""  # every failed case does
    rule = f"fail-on = {report.fail_on}"
    if report.cells and report.fail_on != "never" and len(report.directions) < 3:
        rule += f", directions = {', '.join(report.directions) or 'none'}"
    return f" ({rule})"


def lost_shards(report: Report) -> str:
    """Return in one sentence that shards did not report; nothing where all did."""
    if not report.missing:
        return ""
    return f"{_counted_missing(report)} missing: no shard reported what was planned."


def _counted_missing(report: Report) -> str:
    verb = "is" if len(report.missing) == 1 else "are"
    return f"{counted(len(report.missing), 'part')} of the matrix {verb}"


def missing_part(part: MissingPart) -> str:
    """Return what is missing, such as `compat: next as reader (shard 2/3)`."""
    return f"{part.part}: {visible(part.name, NAME)} (shard {visible(part.shard, NAME)})"


def missing(report: Report) -> str:
    """Return in one sentence what could not be had; nothing where all could."""
    parts = [counted(len(names), noun) for noun, names in unavailable(report).items() if names]
    text = " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
    return f"{text} could not be had." if text else ""


def made(report: Report) -> str:
    """Return in one sentence when the run was, and at which commit; nothing where nobody knows."""
    if report.time is None:
        return ""
    when = report.time.replace("T", " ").removesuffix("Z")
    at = f", at commit {visible(report.commit[:12])}" if report.commit else ""
    return f"Run ended {visible(when, NAME)} UTC{at}."


def tally(report: Report) -> str:
    """Return how many cells had each outcome, such as `1,100 ok, 9 unreadable`."""
    summary = report.summary()
    outcomes = [key for key in summary if key not in {"cells", "breaks", "known"}]
    return ", ".join(f"{summary[key]:,} {key}" for key in outcomes if summary[key])


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
    return difference(cell.diff[0])


def difference(each: Difference) -> str:
    """Return in one line what was expected in one place, and what came."""
    expected, got = visible(each.expected, _VALUE), visible(each.got, _VALUE)
    return f"{visible(each.path, _VALUE)}: expected {expected}, got {got}"


def other_places(cell: Cell) -> int:
    """Return how many differences `cell` has besides the one that `evidence` shows."""
    return 0 if cell.error is not None else max(0, len(cell.diff) - 1)


def through(cell: Cell, report: Report) -> str:
    """Return the slots that gave back the bytes of `cell`, where other slots did otherwise."""
    if not cell.via or cell.identity not in report.split:
        return ""
    return f", through {listed(cell.via, 3, lambda slot: visible(slot, NAME))}"


def command(cell: Cell, report: Report) -> str:
    """Return the shell command that runs `cell` alone."""
    keys = ("writer", "reader", "serializer", "payload")
    return _command("compat", [(key, getattr(cell, key)) for key in keys], report)


def suite_command(trouble: Trouble, report: Report) -> str:
    """Return the shell command that runs one of the cells of `trouble` alone."""
    return case_command(trouble.terms, report)


def case_command(terms: Iterable[tuple[str, str]], report: Report) -> str:
    """Return the shell command that runs the part of the suite that `terms` select."""
    return _command("suite", terms, report, *map(_copyable, report.given))


def _command(name: str, terms: Iterable[tuple[str, str]], report: Report, *given: str) -> str:
    select = " ".join(f"{key}={select_value(value)}" for key, value in terms)
    return shlex.join([*command_words(name, report), *given, "--select", select])


def command_words(name: str, report: Report) -> tuple[str, ...]:
    """Return the words of the command `name` on the matrix file of `report`."""
    config = report.matrix
    named = () if config is None or config in _DEFAULT_MATRIX else ("-c", _copyable(config))
    return ("memory-matrix", name, *named)


def select_value(value: str) -> str:
    """Return `value` as a term of --select takes it, not yet quoted for a shell."""
    return _quoted(_copyable(value))


def _copyable(text: str) -> str:
    """Return a glob for `text`: what cannot be shown cannot be copied, and is any character."""
    if len(text) <= _GLOB and text.isprintable():
        return text
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
