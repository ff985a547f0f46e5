"""The report as JUnit XML, in the dialect that Jenkins, GitLab, Surefire and pytest share.

A test suite for each reader, with a class for each writer; one for each store and environment, with
a class for each set of servers; and one of what the matrix asks for. So a viewer opens a part at a
time, and no test has the class and name of another.

A cell has no time of its own, since bytes are read once for all who wrote them. Surefire wants one of
each test all the same: it is 0, and the time of all that a reader read is that of its test suite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from memory_matrix.report import sentences
from memory_matrix.report.grouping import by
from memory_matrix.report.model import Cell, EnvironmentRecord, Report, SuiteResult
from memory_matrix.report.standing import (
    Requirement,
    Standing,
    Standings,
    cell_lines,
    requirements,
    result_lines,
)
from memory_matrix.report.visible import NAME, visible

_TAGS: Mapping[Standing, str] = {"failed": "failure", "error": "error", "excused": "skipped"}
_LONGEST = 1e9
"""Seconds; no time that is told is longer."""


@dataclass(frozen=True)
class _Test:
    """One test, as it is written down."""

    classname: str
    name: str
    seconds: float = 0.0
    kind: str = ""
    """What stands as the type of a failure."""
    message: str = ""
    lines: Iterable[str] = ()


@dataclass(frozen=True)
class _TestSuite:
    """Some cells, cases or requirements, and how each becomes a test."""

    name: str
    items: Sequence[Any]
    standing: Callable[[Any], Standing]
    test: Callable[[Any, Standing], _Test]
    seconds: float | None = None
    """How long all of it took; None where nobody knows."""
    properties: Mapping[str, str] = field(default_factory=dict)


class _Labels:
    """Gives each text a short name of its own, in which nothing is interpreted."""

    def __init__(self, *, dots: bool = True) -> None:
        self._dots = dots
        self._labels: dict[str, str] = {}
        self._taken: set[str] = set()

    def __call__(self, text: str) -> str:
        if text not in self._labels:
            label = visible(text, NAME) or "(empty)"
            # What stands before a dot in a class name is taken for its package.
            self._labels[text] = _distinct(
                label if self._dots else label.replace(".", "_"), self._taken
            )
        return self._labels[text]


def _distinct(name: str, taken: set[str]) -> str:
    """Return `name`, with a number where it is among `taken`, and add that to them."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name} ({number})"
    taken.add(found)
    return found


def render(report: Report) -> Iterator[str]:
    """Yield the XML of the report, test by test.

    What is no break, and neither `ok`, is skipped, with the reason: never passed.
    """
    suites = list(_suites(report))
    counts = [Counter(map(each.standing, each.items)) for each in suites]
    total = sum(counts, Counter())
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="memory-matrix"'
    yield f"{_counted(total)}{_time(_sum(each.seconds or 0.0 for each in suites))}>\n"
    for suite, count in zip(suites, counts, strict=True):
        yield from _suite_pieces(suite, count)
    yield "</testsuites>\n"


def _suites(report: Report) -> Iterator[_TestSuite]:
    standings, names, classes = Standings(report), _Labels(), _Labels(dots=False)
    environments = {each.name: each for each in report.environments}
    builds = {
        name: each.seconds["build"]
        for name, each in environments.items()
        if "build" in each.seconds
    }
    if required := tuple(requirements(report)):

        def of_requirement(requirement: Requirement, _: Standing) -> _Test:
            return _test_of_requirement(requirement, builds)

        yield _TestSuite(
            "matrix", required, _standing_of_requirement, of_requirement, _sum(builds.values())
        )
    for reader, cells in by(report.cells, lambda cell: cell.reader).items():

        def of_cell(cell: Cell, standing: Standing) -> _Test:
            excuse = standings.excuse(cell) if standing == "excused" else ""
            return _test_of_cell(cell, report, excuse, classes)

        of_reader = environments.get(reader)
        seconds = None if of_reader is None else of_reader.seconds.get("read")
        name = f"compat: {names(reader)} reads"
        yield _TestSuite(name, cells, standings.of_cell, of_cell, seconds, _facts(of_reader))
    for (store, environment), results in by(report.suite, _place).items():

        def of_result(result: SuiteResult, standing: Standing) -> _Test:
            excuse = standings.excuse_result(result) if standing == "excused" else ""
            return _test_of_result(result, report, excuse, classes)

        facts = _facts(environments.get(environment))
        seconds = _sum(each.seconds for each in results)
        name = f"suite: {names(store)} in {names(environment)}"
        yield _TestSuite(name, results, standings.of_result, of_result, seconds, facts)


def _place(result: SuiteResult) -> tuple[str, str]:
    return result.store, result.environment


def _facts(environment: EnvironmentRecord | None) -> dict[str, str]:
    """Return what a viewer shows of an environment: its Python, and packages that were asked for."""
    if environment is None:
        return {}
    return {"python": environment.python, **sentences.key_packages(environment)}


def _standing_of_requirement(requirement: Requirement) -> Standing:
    return "passed" if requirement.reason is None else "error"


def _test_of_requirement(requirement: Requirement, builds: Mapping[str, float]) -> _Test:
    lines = [visible(requirement.reason or "", 1000)]
    return _Test(
        f"matrix.{requirement.kind}",
        visible(requirement.name, 2 * NAME),
        builds.get(requirement.name, 0.0) if requirement.kind == "environments" else 0.0,
        kind="lost" if requirement.kind == "parts" else "unavailable",
        message=lines[0],
        lines=lines,
    )


def _test_of_cell(cell: Cell, report: Report, excuse: str, classes: _Labels) -> _Test:
    classname = f"compat.{classes(cell.reader)}.from {classes(cell.writer)}"
    name = f"{visible(cell.payload, NAME)}, {visible(cell.serializer, NAME)}"
    if excuse or cell.outcome == "ok":
        return _Test(classname, name, message=excuse)
    return _Test(
        classname,
        name,
        kind=cell.outcome,
        message=sentences.evidence(cell),
        lines=_with_place(cell_lines(cell, report), cell.payload, report),
    )


def _test_of_result(result: SuiteResult, report: Report, excuse: str, classes: _Labels) -> _Test:
    where = [", ".join(map(classes, result.servers)) or "no server"]
    if result.serializer is not None:
        where.append(f"with {classes(result.serializer)}")
    parts = ("suite", classes(result.store), classes(result.environment), " ".join(where))
    return _Test(
        ".".join(parts),
        visible(result.case, NAME),
        _bounded(result.seconds),
        kind=result.outcome,
        message=excuse or visible(result.reason or ""),
        lines=() if excuse else _with_place(result_lines(result, report), result.store, report),
    )


def _with_place(lines: Iterable[str], name: str, report: Report) -> Iterator[str]:
    yield from lines
    if name in report.locations:
        yield f"Defined at {visible(report.locations[name])}"


def _suite_pieces(suite: _TestSuite, count: Mapping[Standing, int]) -> Iterator[str]:
    skipped = f' skipped="{count["excused"]}"'
    yield f"<testsuite{_attribute('name', suite.name)}{_counted(count)}{skipped}"
    yield f"{'' if suite.seconds is None else _time(suite.seconds)}>\n"
    if suite.properties:
        yield "<properties>\n"
        for key, value in suite.properties.items():
            name, shown = _attribute("name", visible(key, NAME)), visible(value, NAME)
            yield f"<property{name}{_attribute('value', shown)}/>\n"
        yield "</properties>\n"
    taken: set[str] = set()
    for item in suite.items:
        standing = suite.standing(item)
        yield _test_element(suite.test(item, standing), standing, taken)
    yield "</testsuite>\n"


def _counted(count: Mapping[Standing, int]) -> str:
    tests = sum(count.values())
    return f' tests="{tests}" failures="{count["failed"]}" errors="{count["error"]}"'


def _test_element(test: _Test, standing: Standing, taken: set[str]) -> str:
    # The same payload comes again where servers gave back other bytes.
    name = _distinct(f"{test.classname}\n{test.name}", taken).partition("\n")[2]
    names = f"{_attribute('classname', test.classname)}{_attribute('name', name)}"
    start = f"<testcase{names}{_time(test.seconds)}"
    if standing == "passed":
        return f"{start}/>\n"
    tag = _TAGS[standing]
    kind = "" if tag == "skipped" else _attribute("type", test.kind)
    text = escape("\n".join(test.lines), quote=False)
    end = f">{text}</{tag}>" if text else "/>"
    return f"{start}><{tag}{kind}{_attribute('message', test.message)}{end}</testcase>\n"


def _attribute(name: str, value: str) -> str:
    shown = escape(value, quote=False).replace('"', "&quot;")
    return f' {name}="{shown}"'


def _time(seconds: float) -> str:
    return f' time="{_bounded(seconds):.3f}"'


def _sum(seconds: Iterable[float]) -> float:
    return sum(map(_bounded, seconds), 0.0)


def _bounded(seconds: float) -> float:
    return min(max(0.0, seconds), _LONGEST)  # in this order NaN is 0
