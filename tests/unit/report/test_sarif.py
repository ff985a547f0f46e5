"""SARIF is what GitHub takes: worst first, each break known again in the next run, nothing a link."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memory_matrix.compat.hints import load_hints
from memory_matrix.report import sarif
from memory_matrix.report.model import (
    Cell,
    EnvironmentRecord,
    Error,
    MissingPart,
    Report,
    SuiteResult,
)
from support.tables import table

SCHEMA = json.loads(Path(__file__).with_name("sarif-subset.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
OK = Cell("old", "next", "pickle", "chat", ("redis/string",), "ok", direction="backward")
RAISED = Error("load", "KeyError", "'ts'")
BREAK = replace(OK, outcome="unreadable", is_break=True, error=RAISED, cause="MM102", hint="Do it.")
FAILED = SuiteResult("next", ("pg17",), "app.py:store", "order_is_kept", "failed", "got 2 of 3")


def _run(report: Report, prefix: str = "", **options: Any) -> dict[str, Any]:
    log = json.loads("".join(sarif.render(report, prefix, **options)))
    VALIDATOR.validate(log)
    run: dict[str, Any] = log["runs"][0]
    for result in run["results"]:
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
    return run


def _results(report: Report, prefix: str = "", **options: Any) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = _run(report, prefix, **options)["results"]
    return results


def _place(report: Report, prefix: str = "") -> tuple[str, int, str | None]:
    (result,) = _results(report, prefix)
    place = result["locations"][0]["physicalLocation"]
    file = place["artifactLocation"]
    return file["uri"], place["region"]["startLine"], file.get("uriBaseId")


def test_a_report_looks_as_it_did(sample: Report, golden: Callable[[str, str], None]) -> None:
    located = replace(
        sample, locations={"chat": "payloads.py:12", "app/store.py:store": "app/store.py:34"}
    )
    golden("sample.sarif", "".join(sarif.render(located)))


def test_an_empty_report_has_no_results() -> None:
    assert _results(Report()) == []


def test_breaks_and_failed_cases_are_results_and_nothing_else(sample: Report) -> None:
    breaks = sum(cell.is_break and cell.known is None for cell in sample.cells)
    failed = sum(result.outcome == "failed" for result in sample.suite)
    assert len(_results(sample)) == breaks + failed


@table(
    ("report", "level"),
    [
        (Report(cells=(BREAK,)), "error"),
        (Report(cells=(replace(BREAK, outcome="changed"),)), "error"),
        (Report(cells=(BREAK,), fail_on="never"), "error"),
        (Report(cells=(BREAK,), directions=("forward",)), "note"),
        (Report(cells=(replace(BREAK, new=False),), fail_on="new-breaks"), "note"),
        (Report(cells=(replace(BREAK, new=True),), fail_on="new-breaks"), "error"),
        (Report(cells=(replace(OK, outcome="drifted"),), fail_on="drifted"), "warning"),
        (Report(cells=(replace(OK, outcome="unwritable"),), fail_on="changed"), "warning"),
        (Report(suite=(FAILED,)), "error"),
        (Report(suite=(replace(FAILED, new=False),), fail_on="new-breaks"), "note"),
    ],
)
def test_the_level_says_whether_it_fails_the_run(report: Report, level: str) -> None:
    assert [each["level"] for each in _results(report)] == [level]


@pytest.mark.parametrize("new", [True, False, None])
def test_the_baseline_is_told(new: bool | None) -> None:
    (result,) = _results(Report(cells=(replace(BREAK, new=new),)))
    assert result.get("baselineState") == {True: "new", False: "unchanged", None: None}[new]


def test_every_hint_is_a_rule_with_its_help() -> None:
    hints = load_hints().all
    cells = tuple(replace(BREAK, cause=hint.code, payload=hint.code) for hint in hints)
    rules = {each["id"]: each for each in _run(Report(cells=cells))["tool"]["driver"]["rules"]}
    page = (Path(__file__).parents[3] / "docs" / "hints.md").read_text("utf-8")
    for hint in hints:
        rule = rules[hint.code]
        assert rule["shortDescription"]["text"] == hint.title
        assert hint.advice in rule["help"]["markdown"]
        address, _, anchor = rule["helpUri"].partition("#")
        assert address.endswith("/docs/hints.md")
        assert anchor.startswith(f"{hint.code.lower()}-")
        assert f"### {hint.code}: {hint.title}\n" in page


def test_a_break_without_a_cause_has_its_outcome_as_rule() -> None:
    (rule,) = _run(Report(cells=(replace(BREAK, cause=None),)))["tool"]["driver"]["rules"]
    assert rule["id"] == "unreadable"
    assert "raised" in rule["fullDescription"]["text"]
    assert "Do it." in rule["help"]["text"]


def test_a_failed_case_is_a_rule_that_says_what_must_hold() -> None:
    results = (replace(FAILED, case="text_ascii_round_trip"), replace(FAILED, case="of_tomorrow"))
    known, unknown = _run(Report(suite=results))["tool"]["driver"]["rules"]
    assert known["id"] == "text_ascii_round_trip"
    assert "read back equal" in known["help"]["text"]
    assert unknown["id"] == "of_tomorrow"


def test_a_message_says_what_broke_and_how_to_run_it_alone() -> None:
    (result,) = _results(Report(cells=(BREAK,)))
    first, *others = result["message"]["text"].split("\n")
    assert first == "next cannot read chat of old, written with pickle."
    assert "unreadable, backward, MM102: load: KeyError: 'ts'" in others
    assert "Run it alone: memory-matrix compat --select 'writer=old reader=next" in others[-1]
    (result,) = _results(Report(suite=(FAILED,)))
    assert result["message"]["text"].startswith("app.py:store fails order_is_kept in next on pg17.")


def test_a_result_is_known_again_whatever_else_changes() -> None:
    def prints(report: Report) -> dict[str, str]:
        return {
            each["message"]["text"].partition("\n")[0]: each["partialFingerprints"][
                "primaryLocationLineHash"
            ]
            for each in _results(report)
        }

    others = [replace(BREAK, payload=f"p{number}") for number in range(5)]
    before = prints(Report(cells=(BREAK, *others), suite=(FAILED,), version="1.0"))
    moved = replace(BREAK, via=("pg/bytea",), error=Error("load", "E", "now says more"), hint=None)
    after = prints(
        Report(
            cells=(*reversed(others), moved),
            suite=(replace(FAILED, reason="got 1"),),
            locations={"chat": "payloads.py:99"},
            version="2.0",
        )
    )
    assert after == before
    assert len(set(before.values())) == 7


def test_no_two_results_are_taken_for_one() -> None:
    cells = (
        BREAK,
        replace(BREAK, via=("pg/jsonb",)),
        replace(BREAK, via=("pg/jsonb",), outcome="changed"),
    )
    results = (FAILED, replace(FAILED, serializer="json"), replace(FAILED, servers=("pg13",)))
    found = _results(Report(cells=cells, suite=results))
    assert len({each["partialFingerprints"]["primaryLocationLineHash"] for each in found}) == 6


@table(
    ("location", "file", "line"),
    [
        ("payloads.py:12", "payloads.py", 12),
        ("app/mein ordner/größe.py:7", "app/mein%20ordner/gr%C3%B6%C3%9Fe.py", 7),
        ("payloads.py", "payloads.py", 1),
        ("a:b.py:3", "a%3Ab.py", 3),
        ("payloads.py:0", "payloads.py%3A0", 1),
        ("payloads.py:99999999999", "payloads.py%3A99999999999", 1),
        ("payloads.py:²", "payloads.py%3A%C2%B2", 1),
        ("./x/../payloads.py:2", "payloads.py", 2),
    ],
)
def test_a_payload_is_shown_where_it_is_defined(location: str, file: str, line: int) -> None:
    report = Report(cells=(BREAK,), locations={"chat": location})
    assert _place(report) == (file, line, "%SRCROOT%")


def test_what_is_built_in_is_shown_at_the_matrix_file() -> None:
    assert _place(Report(cells=(BREAK,), matrix="ci/m.toml")) == ("ci/m.toml", 1, "%SRCROOT%")
    assert _place(Report(suite=(FAILED,), matrix="m.toml")) == ("m.toml", 1, "%SRCROOT%")
    assert _place(Report(cells=(BREAK,))) == ("memory-matrix.toml", 1, "%SRCROOT%")


def test_a_store_is_shown_where_its_adapter_is() -> None:
    report = Report(suite=(FAILED,), locations={FAILED.store: "app/memory.py:34"})
    assert _place(report) == ("app/memory.py", 34, "%SRCROOT%")


@pytest.mark.parametrize("path", ["/etc/memory-matrix.toml", "//host/memory-matrix.toml"])
def test_an_absolute_path_stays_one(path: str) -> None:
    uri, _, base = _place(Report(cells=(BREAK,), matrix=path), "services/agent")
    assert uri == f"file:///{path.lstrip('/')}"
    assert base is None


def test_paths_lead_from_the_repository() -> None:
    report = Report(cells=(BREAK,), locations={"chat": "tests/payloads.py:3"})
    assert _place(report, "services/agent")[0] == "services/agent/tests/payloads.py"
    outside = Report(cells=(BREAK,), matrix="../memory-matrix.toml")
    assert _place(outside, "services/agent")[0] == "services/memory-matrix.toml"


def test_the_prefix_is_that_of_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "services" / "agent"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert sarif.checkout_prefix() == "services/agent"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder))
    assert sarif.checkout_prefix() == "."
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "elsewhere"))
    assert sarif.checkout_prefix() == ""
    monkeypatch.delenv("GITHUB_WORKSPACE")
    assert sarif.checkout_prefix() == ""


def test_the_worst_comes_first() -> None:
    outcomes = ["changed", "crashed", "unreadable"]
    cells = tuple(replace(BREAK, outcome=each, payload=each, cause=None) for each in outcomes)
    report = Report(cells=cells, suite=(FAILED,))
    rules = [each["ruleId"] for each in _results(report)]
    assert rules == ["crashed", "unreadable", "order_is_kept", "changed"]


def test_what_has_no_room_is_counted_and_every_kind_is_there() -> None:
    many = [replace(BREAK, writer=f"w{number}") for number in range(50)]
    rare = replace(BREAK, payload="rare", outcome="changed", cause="MM201")
    run = _run(Report(cells=(*many, rare), suite=(FAILED,)), most=10)
    assert len(run["results"]) == 10
    assert {each["ruleId"] for each in run["results"]} == {"MM102", "MM201", "order_is_kept"}
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("42 more results are left out")


def test_what_was_not_run_is_no_success() -> None:
    lost = Report(
        environments=(EnvironmentRecord("far", "3.15", {}, "unavailable", "no 3.15"),),
        missing=(MissingPart("compat", "next", "2/4"),),
        cells=(OK,),
    )
    (invocation,) = _run(lost)["invocations"]
    assert not invocation["executionSuccessful"]
    texts = [each["message"]["text"] for each in invocation["toolExecutionNotifications"]]
    assert texts == [
        "far: no 3.15",
        "compat: next: it was planned, and no report tells of it (shard 2/4)",
    ]
    assert _run(Report(cells=(OK,)))["invocations"] == [{"executionSuccessful": True}]


@pytest.mark.parametrize(
    "text", ["[x](javascript:alert(1))", "\\[x](y)", "![i](https://e.example)"]
)
def test_nothing_in_a_message_is_a_link(text: str) -> None:
    cell = replace(BREAK, payload=text, error=Error("load", "E", text))
    (result,) = _results(Report(cells=(cell,)))
    message = result["message"]["text"]
    assert "](" not in message.replace("\\](", "")


def test_brackets_of_no_link_stay_as_they_are() -> None:
    cell = replace(BREAK, error=Error("load", "KeyError", "$.a[0] of [1, 2]"))
    (result,) = _results(Report(cells=(cell,)))
    assert "$.a[0] of [1, 2]" in result["message"]["text"]
