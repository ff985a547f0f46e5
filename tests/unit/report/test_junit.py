"""JUnit XML is valid for CI servers, names each test once, and passes nothing that was not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lxml import etree

from memory_matrix.report import junit
from memory_matrix.report.model import (
    Cell,
    Difference,
    EnvironmentRecord,
    Error,
    MissingPart,
    Report,
    ServerRecord,
    StoreRecord,
    SuiteResult,
)
from support.tables import table

Grown = Callable[..., Report]

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).with_name("junit.xsd")))
OK = Cell("old", "next", "pickle", "chat", ("redis/string",), "ok", direction="backward")
RAISED = Error("load", "KeyError", "'ts'")
BREAK = replace(OK, outcome="unreadable", is_break=True, error=RAISED, cause="MM102", hint="Do it.")
FAILED = SuiteResult("next", ("pg17",), "app.py:store", "order_is_kept", "failed", "got 2 of 3")


def _parsed(report: Report) -> etree._Element:
    root = etree.fromstring("".join(junit.render(report)).encode())
    SCHEMA.assertValid(root)
    return root


def _only(report: Report) -> tuple[str, etree._Element]:
    """Return what became of the only test of `report`, and the element that says so."""
    (test,) = _parsed(report).iter("testcase")
    return (test[0].tag, test[0]) if len(test) else ("passed", test)


def test_a_report_looks_as_it_did(sample: Report, golden: Callable[[str, str], None]) -> None:
    golden("sample.junit.xml", "".join(junit.render(sample)))


def test_a_report_is_valid(sample: Report, suite_sample: Report, grown: Grown) -> None:
    for report in (sample, suite_sample, grown(5), Report()):
        _parsed(report)


def test_each_cell_and_case_is_a_test(sample: Report) -> None:
    counts = Counter(
        test.get("classname").partition(".")[0] for test in _parsed(sample).iter("testcase")
    )
    assert counts["compat"] == len(sample.cells)
    assert counts["suite"] == len(sample.suite)


def test_the_counts_are_those_of_the_tests(sample: Report) -> None:
    root = _parsed(sample)
    for element in (root, *root.iter("testsuite")):
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            found = len(list(element.iter(tag)))
            assert int(element.get(name, found)) == found
        assert int(element.get("tests")) == len(list(element.iter("testcase")))


CELLS: list[tuple[Cell, str, str]] = [
    (OK, "passed", ""),
    (BREAK, "failure", "load: KeyError: 'ts'"),
    (replace(BREAK, outcome="crashed"), "failure", "KeyError"),
    (replace(BREAK, outcome="changed", error=None), "failure", "no details"),
    (replace(BREAK, known="ticket 7"), "skipped", "known: ticket 7"),
    (replace(OK, outcome="drifted"), "skipped", "drifted, no break"),
    (replace(BREAK, is_break=False), "skipped", "own failure, no break: load: KeyError"),
    (replace(OK, outcome="changed"), "skipped", "lossy, no break"),
    (replace(OK, outcome="unwritable", error=RAISED), "skipped", "unwritable, no break"),
    (replace(OK, outcome="unstorable", error=RAISED), "skipped", "unstorable, no break"),
    (replace(OK, outcome="skipped", error=RAISED), "skipped", "not run: 'ts'"),
    (replace(OK, outcome="skipped"), "skipped", "not run: no reason was given"),
]


@table(("cell", "tag", "message"), CELLS)
def test_a_cell_fails_as_it_fails_the_run(cell: Cell, tag: str, message: str) -> None:
    found, element = _only(Report(cells=(cell,)))
    assert found == tag
    assert message in element.get("message", "")


RULES: list[tuple[dict[str, object], Cell, str]] = [
    ({"fail_on": "drifted"}, replace(OK, outcome="drifted"), "failure"),
    ({"fail_on": "changed"}, replace(OK, outcome="unwritable"), "failure"),
    ({"fail_on": "changed"}, replace(OK, outcome="skipped"), "skipped"),
    ({"fail_on": "never"}, BREAK, "failure"),
    ({"fail_on": "never"}, replace(BREAK, known="k"), "skipped"),
    ({"fail_on": "never", "directions": ("forward",)}, BREAK, "skipped"),
    ({"directions": ("forward",)}, BREAK, "skipped"),
    ({"fail_on": "new-breaks"}, BREAK, "failure"),
    ({"fail_on": "new-breaks"}, replace(BREAK, new=True), "failure"),
    ({"fail_on": "new-breaks"}, replace(BREAK, new=False), "skipped"),
    ({"fail_on": "break"}, replace(BREAK, new=False), "failure"),
]


@table(("rules", "cell", "tag"), RULES)
def test_the_rules_of_the_run_hold(rules: dict[str, object], cell: Cell, tag: str) -> None:
    assert _only(Report(cells=(cell,), **rules))[0] == tag  # type: ignore[arg-type]


@table(
    ("outcome", "tag"),
    [
        ("passed", "passed"),
        ("failed", "failure"),
        ("error", "error"),
        ("not-offered", "skipped"),
        ("waived", "skipped"),
        ("skipped", "skipped"),
    ],
)
def test_only_a_case_that_passed_is_passed(outcome: str, tag: str) -> None:
    found, element = _only(Report(suite=(replace(FAILED, outcome=outcome),)))
    assert found == tag
    if tag != "passed":
        assert "got 2 of 3" in element.get("message")


def test_an_old_failure_is_skipped_where_only_new_ones_count() -> None:
    report = Report(suite=(replace(FAILED, new=False),), fail_on="new-breaks")
    assert _only(report)[0] == "skipped"


@table(
    "part",
    [
        {"environments": (EnvironmentRecord("x", "3.9", {}, "unavailable", "no 3.9"),)},
        {"servers": (ServerRecord("x", "redis", None, "image:r", "unavailable", "no Docker"),)},
        {"stores": (StoreRecord("x", "next", {}, "unavailable", "no module"),)},
        {"missing": (MissingPart("compat", "x", "2/4"),)},
    ],
)
def test_what_could_not_be_had_is_an_error(part: dict[str, object]) -> None:
    tag, element = _only(Report(**part))  # type: ignore[arg-type]
    assert tag == "error"
    assert element.getparent().get("name").endswith(("x", "x in next"))
    assert element.text


def test_a_failure_says_all_that_a_person_needs() -> None:
    diff = tuple(Difference(f"$[{number}]", "int 1", "str '1'") for number in range(30))
    cell = replace(BREAK, outcome="changed", error=None, diff=diff)
    report = Report(cells=(cell,), locations={"chat": "payloads.py:12"})
    text = _only(report)[1].text
    assert "changed, backward, MM102: $[0]: expected int 1, got str '1'" in text
    assert "$[9]" in text
    assert "$[10]" not in text
    assert "20 other places" in text
    assert "Do it." in text
    assert "Defined at payloads.py:12" in text
    assert "memory-matrix compat --select 'writer=old reader=next" in text


def test_a_failed_case_says_how_to_run_it_alone() -> None:
    result = replace(FAILED, servers=("pg17", "redis:8.0"), serializer="json")
    text = _only(Report(suite=(result,)))[1].text
    assert "memory-matrix suite --select 'store=app.py:store case=order_is_kept" in text
    assert "serializer=json server=pg17 server=redis:8.0'" in text


LONG = "x" * 200


@table(
    ("one", "other"),
    [
        ("py3.1", "py3_1"),
        (f"{LONG}a", f"{LONG}b"),
        ("a\x00", "a\\x00"),
        ("", "(empty)"),
        ("a", "a (2)"),
    ],
)
@table("place", ["writer", "reader", "serializer", "payload"])
def test_names_that_look_alike_stay_apart(one: str, other: str, place: str) -> None:
    cells = tuple(replace(OK, **{place: name}) for name in (one, other, f"{one} (2)"))
    assert len(list(_parsed(Report(cells=cells)).iter("testcase"))) == 3


def test_the_bytes_of_another_slot_are_a_test_of_their_own() -> None:
    cells = (OK, replace(BREAK, via=("pg17/jsonb",)))
    tests = list(_parsed(Report(cells=cells)).iter("testcase"))
    assert [test.get("name") for test in tests] == ["chat, pickle", "chat, pickle (2)"]
    assert "through pg17/jsonb" in tests[1][0].text


def test_places_that_look_alike_stay_apart() -> None:
    results = (
        replace(FAILED, environment="a", servers=("b", "c")),
        replace(FAILED, environment="a", servers=("b, c",)),
        replace(FAILED, environment="a.b", servers=("c",)),
        replace(FAILED, environment="a", servers=("c",), serializer="json"),
    )
    assert len(list(_parsed(Report(suite=results)).iter("testcase"))) == 4


@table("seconds", [0.0, -1.0, 0.0004, 1e308, 1.5])
def test_any_time_is_a_time(seconds: float) -> None:
    results = tuple(replace(FAILED, case=str(number), seconds=seconds) for number in range(20))
    _parsed(Report(suite=results))


def test_a_reader_has_the_time_that_it_read_and_an_environment_that_of_its_build() -> None:
    report = Report(
        environments=(
            EnvironmentRecord("old", "3.11.7", seconds={"build": 8.0, "write": 1.0, "read": 0.5}),
            EnvironmentRecord("next", "3.13.0", seconds={"build": 4.0, "read": 2.25}),
            EnvironmentRecord("lost", "3.15", status="unavailable", reason="no Python 3.15"),
        ),
        cells=(OK, replace(OK, payload="more"), replace(OK, reader="old")),
    )
    root = _parsed(report)
    times = {each.get("name"): each.get("time") for each in root}
    builds = {each.get("name"): each.get("time") for each in root[0]}

    assert times == {
        "matrix": "12.000",
        "compat: next reads": "2.250",
        "compat: old reads": "0.500",
    }
    assert builds == {"old": "8.000", "next": "4.000", "lost": "0.000"}
    assert root.get("time") == "14.750"


def test_a_time_that_nobody_knows_is_not_told() -> None:
    report = Report(environments=(EnvironmentRecord("next", "3.13.0"),), cells=(OK,))
    assert _parsed(report)[1].get("time") is None
    assert _parsed(replace(report, environments=()))[0].get("time") is None


@table("seconds", [-1.0, 1e308, float("nan"), float("inf")])
def test_any_time_of_an_environment_is_a_time(seconds: float) -> None:
    took = {"build": seconds, "read": seconds}
    _parsed(Report(environments=(EnvironmentRecord("next", "3", seconds=took),), cells=(OK,)))


def test_times_add_up() -> None:
    results = tuple(replace(FAILED, case=str(number), seconds=0.25) for number in range(4))
    root = _parsed(Report(suite=results))
    assert {root.get("time"), root[0].get("time")} == {"1.000"}
    assert {test.get("time") for test in root.iter("testcase")} == {"0.250"}
