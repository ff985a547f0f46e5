"""What the page's script works on says all of the report."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memory_matrix.report import grouping, sentences
from memory_matrix.report.html.data import page_data
from memory_matrix.report.html.lists import cell_lists
from memory_matrix.report.model import OUTCOMES, SUITE_OUTCOMES, Baseline, Cell, Report
from support.tables import table


def _data(report: Report) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(page_data(report, cell_lists(report))))
    return made


def _row(data: dict[str, Any], number: int) -> dict[str, Any]:
    """Return one cell's names and the columns of its kind."""
    cells, kinds = data["cells"], data["kinds"]
    kind = cells["kind"][number]
    return {
        "writer": data["environment"][cells["writer"][number]],
        "reader": data["environment"][cells["reader"][number]],
        "serializer": data["serializer"][cells["serializer"][number]],
        "payload": data["payload"][cells["payload"][number]],
        "via": [data["slot"][each] for each in data["slots"][cells["slots"][number]]],
        **{name: column[kind] for name, column in kinds.items()},
    }


def test_each_cell_is_there_with_all_that_is_known_of_it(sample: Report) -> None:
    data = _data(sample)
    texts = data["texts"]
    for number, cell in enumerate(sample.cells):
        row = _row(data, number)
        assert [row[name] for name in ("writer", "reader", "serializer", "payload")] == [
            cell.writer, cell.reader, cell.serializer, cell.payload,
        ]  # fmt: skip
        assert row["via"] == list(cell.via)
        assert OUTCOMES[row["outcome"]] == cell.outcome
        assert data["marks"][row["mark"]][0] == grouping.mark(cell)
        assert row["broken"] == cell.is_break
        assert _text(texts, row["known"]) == cell.known
        assert (None if row["cause"] == -1 else data["cause"][row["cause"]]) == cell.cause
        assert (None if row["hint"] == -1 else texts[data["hints"][row["hint"]][1]]) == cell.hint
        assert [[texts[each] for each in place] for place in row["places"]] == [
            [each.path, each.expected, each.got] for each in cell.diff
        ]
        if cell.error is not None:
            head = f"{cell.error.stage}: {cell.error.type}"
            assert [texts[each] for each in row["error"]] == [head, cell.error.message]


def _text(texts: list[str], number: int) -> str | None:
    return None if number == -1 else texts[number]


def test_slots_belong_to_their_servers(sample: Report) -> None:
    data = _data(sample)
    owners = {slot: data["server"][data["owner"][n]] for n, slot in enumerate(data["slot"])}
    assert owners == {"redis:8.0/string": "redis:8.0", "pg18/bytea": "pg18", "pg18/jsonb": "pg18"}


@table(
    "name", ["chat", "a b", "it's", 'say "x"', "both ' and \"", "$(touch x)", "\x00", "n" * 300, ""]
)
@table("matrix", [None, "ci/o'clock.toml"])
def test_commands_are_put_together_as_other_reports_have_them(
    name: str, matrix: str | None
) -> None:
    cell = Cell(f"{name}w", f"{name}r", name, f"{name}p")
    report = Report(cells=(cell,), matrix=matrix)
    data = _data(report)
    terms = data["terms"]
    found = " ".join(
        f"{key}={terms[table][data['cells'][key][0]]}"
        for key, table in {
            "writer": "environment", "reader": "environment",
            "serializer": "serializer", "payload": "payload",
        }.items()
    )  # fmt: skip
    assert f"{data['command']} '{found}'" == sentences.command(cell, report)
    assert shlex.split(f"{data['command']} '{found}'")


def test_lists_hold_breaks_known_ones_and_drifted_ones_with_their_cells(sample: Report) -> None:
    lists = cell_lists(sample)
    assert [each.title for each in lists] == ["Breaks (4)", "Known breaks (1)", "Drifted (1)"]
    data = _data(sample)
    groups = [group for groups in data["lists"] for group in groups]
    for number, group in enumerate(groups):
        own = [
            n
            for n, kind in enumerate(data["cells"]["kind"])
            if data["kinds"]["group"][kind] == number
        ]
        assert len(own) == group["cells"]
        assert group["example"] in own


def test_what_is_fixed_is_listed_although_it_is_no_cell_of_the_run(sample: Report) -> None:
    gone = Cell("old", "next", "pickle", "gone", (), "unreadable", True, direction="backward")
    still = tuple(
        replace(cell, new=number % 2 == 0) if cell.is_break else cell
        for number, cell in enumerate(sample.cells)
    )
    report = replace(sample, cells=still, baseline=Baseline("base.json", (gone,)))
    titles = [each.title for each in cell_lists(report)]
    assert titles[:3] == ["New breaks (3)", "Still broken (1)", "Fixed since the baseline (1)"]
    data = _data(report)
    (fixed,) = data["lists"][2]
    assert fixed["example"] == -1
    assert data["payload"][fixed["findings"][0][1][0]] == "gone"


def test_a_new_break_that_is_known_is_counted_where_it_is_listed(sample: Report) -> None:
    cells = tuple(replace(cell, new=True) if cell.is_break else cell for cell in sample.cells)
    data = _data(replace(sample, cells=cells, baseline=Baseline("base.json")))
    assert sum(data["kinds"]["fresh"]) == len({id(c) for c in cells if c.is_break}) - 1


def test_each_result_of_the_suite_is_there(sample: Report) -> None:
    data = _data(sample)
    suite, results = data["suite"], data["suite"]["results"]
    for number, result in enumerate(sample.suite):
        assert suite["stores"][results["store"][number]] == result.store
        assert suite["cases"][results["case"][number]] == result.case
        assert data["environment"][results["environment"][number]] == result.environment
        assert SUITE_OUTCOMES[results["outcome"][number]] == result.outcome
        members = suite["sets"][results["servers"][number]]
        assert [suite["servers"][each] for each in members] == list(result.servers)
        reason = _text(data["texts"], results["reason"][number])
        assert reason == result.reason


def test_failing_cases_say_where_and_how_to_run_them(sample: Report) -> None:
    suite = _data(sample)["suite"]
    assert [each["title"] for each in suite["troubles"]] == [
        "Failed cases (6)",
        "Cases that could not be run (2)",
    ]
    first = suite["troubles"][0]["cases"][0]
    assert first["command"].startswith("memory-matrix suite --select ")
    assert first["cells"] == first["ran"] == 4


@pytest.mark.large
def test_what_is_worst_has_its_texts_when_there_is_no_room_for_all(
    grown: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory_matrix.report.html import texts

    monkeypatch.setattr(texts, "BUDGET", 400)
    report = grown(6)
    own = replace(report.cells[0], outcome="changed", diff=report.cells[-2].diff, hint="h" * 500)
    data = _data(replace(report, cells=(own, *report.cells)))
    assert texts.ELSEWHERE in data["texts"]
    worst = [
        kind
        for kind, mark in enumerate(data["kinds"]["mark"])
        if data["marks"][mark][0] == "unreadable"
    ]
    assert worst
    for kind in worst:
        assert data["texts"][data["kinds"]["error"][kind][1]] == "No module named 'app.old'"
