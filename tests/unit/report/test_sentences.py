"""The sentences that every report shares."""

from __future__ import annotations

import shlex
from dataclasses import replace

from memory_matrix.matrix import select
from memory_matrix.report import markdown, sentences
from memory_matrix.report.model import (
    Cell,
    Difference,
    EnvironmentRecord,
    Error,
    Report,
    StoreRecord,
    Strategy,
    SuiteResult,
)
from memory_matrix.report.suite import troubles
from support.tables import table

BREAK = Cell(
    "a", "b", "json", "x", (), "unreadable", True, None, "backward", Error("load", "E", "m")
)


def _report(*cells: Cell, **fields: object) -> Report:
    return replace(Report(cells=cells), **fields)


def test_nothing_compared_is_no_success() -> None:
    assert sentences.verdict(Report()) == "Nothing was compared: the report has no cells."


def test_a_good_run_says_so() -> None:
    assert (
        sentences.verdict(_report(Cell("a", "b", "json", "x", (), "ok"))) == "No breaks in 1 cell."
    )


def test_the_worst_pair_is_named() -> None:
    changed = replace(BREAK, writer="c", outcome="changed", error=None)
    many = [replace(changed, payload=f"p{number}") for number in range(5)]
    assert sentences.verdict(_report(BREAK, *many)) == (
        "6 breaks in 6 cells: 'b' cannot read memory written by 'a'; 1 other pair breaks."
    )
    assert sentences.verdict(_report(*many)) == (
        "5 breaks in 5 cells: 'b' reads another value from memory written by 'c'."
    )


def test_known_breaks_are_told_apart() -> None:
    known = replace(BREAK, known="expected")
    assert sentences.verdict(_report(known)) == "1 break in 1 cell, all known."
    assert sentences.verdict(_report(known, BREAK)).startswith("2 breaks (1 known) in 2 cells: ")


@table(
    ("fields", "said"),
    [
        ({}, "1 cell makes the run fail (fail-on = break)."),
        ({"fail_on": "never"}, "No cell makes the run fail (fail-on = never)."),
        (
            {"directions": ("forward",)},
            "No cell makes the run fail (fail-on = break, directions = forward).",
        ),
        ({"directions": ()}, "No cell makes the run fail (fail-on = break, directions = none)."),
    ],
)
def test_what_fails_the_run_is_said_with_the_rule(fields: dict[str, object], said: str) -> None:
    assert sentences.consequence(_report(BREAK, **fields)) == said


def test_what_could_not_be_had_is_counted(sample: Report) -> None:
    assert sentences.missing(sample) == "1 environment, 1 server and 1 store could not be had."
    assert (
        sentences.missing(replace(sample, stores=()))
        == "1 environment and 1 server could not be had."
    )
    assert sentences.missing(Report()) == ""


def test_evidence_is_the_error_or_the_first_difference() -> None:
    assert sentences.evidence(BREAK) == "load: E: m"
    diff = (Difference("$.a", "int 1", "str '1'"), Difference("$.b", "int 2", "str '2'"))
    cell = replace(BREAK, error=None, diff=diff)
    assert sentences.evidence(cell) == "$.a: expected int 1, got str '1'"
    assert sentences.other_places(cell) == 1
    assert sentences.evidence(replace(cell, diff=())) == "no details were recorded"


def test_a_huge_difference_still_shows_both_sides() -> None:
    cell = replace(BREAK, error=None, diff=(Difference("$", "x" * 1_000_000, "y" * 1_000_000),))
    assert "expected xxx" in sentences.evidence(cell)
    assert "got yyy" in sentences.evidence(cell)
    assert len(sentences.evidence(cell)) < 500


def test_slots_are_named_only_where_they_differ() -> None:
    one = replace(BREAK, via=("redis/string",))
    other = replace(BREAK, via=("pg/jsonb",))
    assert sentences.through(one, _report(one)) == ""
    assert sentences.through(one, _report(one, other)) == ", through redis/string"


CASE = SuiteResult("a", ("pg",), "s", "c", "passed")
FAILED = replace(CASE, case="d", outcome="failed", reason="m")


def test_the_verdict_covers_cells_and_cases() -> None:
    ok = Cell("a", "b", "json", "x", (), "ok")
    passed = "1 case passed in 1 environment."
    assert sentences.verdict(_report(suite=(CASE,))) == passed
    assert sentences.verdict(_report(ok, suite=(CASE,))) == f"No breaks in 1 cell. {passed}"
    assert sentences.verdict(_report(ok)) == "No breaks in 1 cell."


STRATEGY = Strategy("full", 0, 0, 0)
SKIPPED = replace(CASE, outcome="skipped", reason="r")


@table(
    "report",
    [
        Report(),
        Report(strategy=STRATEGY),
        Report(stores=(StoreRecord("s", "a"),)),
        Report(suite=(SKIPPED, replace(SKIPPED, outcome="not-offered"))),
        Report(suite=(replace(SKIPPED, outcome="waived"),)),
        Report(cells=(Cell("a", "b", "json", "x", (), "skipped"),)),
        Report(cells=(Cell("a", "b", "json", "x", (), "ok"),), strategy=STRATEGY),
        Report(cells=(Cell("a", "b", "json", "x", (), "ok"),), suite=(SKIPPED,)),
    ],
)
def test_a_run_in_which_nothing_ran_never_reads_as_passed(report: Report) -> None:
    said = sentences.verdict(report)
    assert "Nothing was" in said or "1 case waived" in said
    assert "passed" not in said
    assert not sentences.is_good(report)


def test_good_news_are_those_of_all_that_was_run() -> None:
    ok = Cell("a", "b", "json", "x", (), "ok")
    assert sentences.is_good(_report(ok))
    assert sentences.is_good(_report(suite=(CASE,)))
    assert sentences.is_good(_report(ok, suite=(CASE,)))
    for bad in (_report(BREAK, suite=(CASE,)), _report(ok, suite=(CASE, FAILED))):
        assert sentences.is_bad(bad)
        assert not sentences.is_good(bad)
    assert sentences.is_bad(_report(suite=(replace(FAILED, outcome="error"),)))


@table(
    ("cells", "cases", "said"),
    [
        ((), (FAILED,), "1 case makes the run fail."),
        ((), (CASE,), "No case makes the run fail."),
        ((BREAK,), (FAILED, FAILED), "1 cell and 2 cases make the run fail (fail-on = break)."),
        ((BREAK,), (CASE,), "1 cell makes the run fail (fail-on = break)."),
        ((replace(BREAK, known="r"),), (CASE,), "Nothing makes the run fail (fail-on = break)."),
    ],
)
def test_cells_and_cases_fail_the_run_together(
    cells: tuple[Cell, ...], cases: tuple[SuiteResult, ...], said: str
) -> None:
    assert sentences.consequence(_report(*cells, suite=cases)) == said


NAMES = [
    "next",
    "py3.10-pydantic==1.10.*",
    "two words",
    "a,b",
    "it's",
    'say "hi"',
    """both ' and " """,
    "$(touch x)",
    "`id`; rm -rf ~",
    "back\\slash\\",
    "[abc]",
    "Grüße 日本",
    "new\nline",
    "\x1b[31m\u202e",
    "\ud800",
    "long" * 1000,
    "#comment",
]


@table("name", NAMES)
def test_the_command_selects_just_that_cell(name: str) -> None:
    cell = replace(BREAK, writer=name, payload=name)
    text = sentences.command(cell, _report(cell))
    assert text.isprintable()
    words = shlex.split(text)
    assert words[:3] == ["memory-matrix", "compat", "--select"]
    selection = select.parse(words[3])
    assert selection.allows("writer", name)
    assert selection.allows("payload", name)
    assert selection.allows("reader", "b")
    assert not selection.allows("payload", "another")
    assert not selection.allows("reader", "a")


@table("name", NAMES)
def test_the_command_selects_just_that_case(name: str) -> None:
    result = SuiteResult(name, (name,), name, name, "failed", "m", name)
    others = (replace(result, servers=("other",)), replace(result, serializer="other"))
    report = _report(suite=(result, *others))
    (trouble,) = troubles(report, "failed")
    text = sentences.suite_command(trouble, report)
    assert text.isprintable()
    words = shlex.split(text)
    assert words[:3] == ["memory-matrix", "suite", "--select"]
    selection = select.parse(words[3])
    for key in ("store", "case", "environment", "server", "serializer"):
        assert selection.allows(key, name)
        assert not selection.allows(key, "another")


def test_the_command_names_a_matrix_file_that_is_not_found_by_itself() -> None:
    assert " -c 'my matrix.toml' " in sentences.command(BREAK, _report(matrix="my matrix.toml"))
    for found in (None, "memory-matrix.toml", "pyproject.toml"):
        assert " -c " not in sentences.command(BREAK, _report(matrix=found))


def test_the_command_of_a_case_names_stores_and_servers_that_no_matrix_file_names() -> None:
    result = SuiteResult("a", ("pg",), "mine.py:Store", "c", "failed", "m")
    report = _report(
        suite=(result,), given=("--store", "mine.py:Store", "--postgres", "postgresql://h/my db")
    )
    (trouble,) = troubles(report, "failed")
    words = shlex.split(sentences.suite_command(trouble, report))
    assert words[:-2] == ["memory-matrix", "suite", *report.given]


def test_key_packages_are_those_asked_for() -> None:
    installed = {"pydantic": "2.5", "typing-extensions": "4", "idna": "3"}
    requires = ("Pydantic[email]>=2", "typing_extensions", "./app", "lost==1")
    record = EnvironmentRecord("a", "3.12.1", installed, requires=requires)
    assert sentences.key_packages(record) == {"pydantic": "2.5", "typing-extensions": "4"}


def test_a_run_that_compared_nothing_is_not_called_fine() -> None:
    own = Cell("a", "a", "json", "x", (), "ok")
    skipped = Cell("a", "b", "json", "x", (), "skipped")

    assert (
        sentences.verdict(_report(own))
        == "Nothing was compared across environments: 1 cell of a single one."
    )
    assert sentences.verdict(_report(skipped)) == "Nothing was compared: 1 cell skipped."


def test_a_report_says_when_it_was_made_and_of_what() -> None:
    report = Report(time="2026-03-01T12:00:00Z", commit="c0ffee" * 7)

    assert sentences.made(report) == "Run ended 2026-03-01 12:00:00 UTC, at commit c0ffeec0ffee."
    assert sentences.made(replace(report, commit=None)) == "Run ended 2026-03-01 12:00:00 UTC."
    assert sentences.made(Report()) == ""
    assert sentences.made(report) in markdown.head(report)
