"""The job summary: what was found first, the rest folded away or pointed to, never too large."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from memory_matrix.github import summary
from memory_matrix.github.summary import Pointer
from memory_matrix.report.model import (
    Cell,
    EnvironmentRecord,
    Error,
    Report,
    ServerRecord,
    SuiteResult,
)
from support import hostile
from support.tables import table

HERE = Pointer("memory-matrix-report")
OURS = {"h1", "h2", "h3", "h4", "p", "ul", "li", "code", "pre", "strong", "details", "summary"} | {
    "table", "thead", "tbody", "tr", "th", "td"
}  # fmt: skip


def grown(environments: int, payloads: int = 4) -> Report:
    """Return a report in which every second payload breaks, each for a cause of its own."""
    names = [f"py3.{number}" for number in range(environments)]
    return Report(
        environments=tuple(EnvironmentRecord(name, "3.12.1", {"pydantic": "2.9"}) for name in names),
        servers=(ServerRecord("pg17", "postgres", "17.2", "image:x"),),
        cells=tuple(
            Cell(writer, reader, "pickle", f"p{number}", (), "unreadable", True, None, "backward",
                 Error("load", f"Error{number}", "x"))
            if number % 2 and writer != reader
            else Cell(writer, reader, "pickle", f"p{number}", (), "ok")
            for writer, reader, number in product(names, names, range(payloads))
        ),
        suite=tuple(
            SuiteResult(name, ("pg17",), "store", f"case{number}", "failed", "got 2", group="C")
            for name, number in product(names[:3], range(20))
        ),
    )  # fmt: skip


def headings(text: str) -> list[str]:
    """Return the titles of sections, folded ones too."""
    found = re.findall(r"^(?:#+ |<details><summary>)(.+?)(?:</summary>)?$", text, re.MULTILINE)
    return [each for each in found if not each[0].isdigit() and each[0] not in "✗!"]


def test_what_was_found_comes_before_what_was_compared() -> None:
    text = summary.render(grown(3), HERE)

    assert text.startswith("## 12 breaks in 36 cells: ")
    assert headings(text) == [
        "Who reads whom",
        "Breaks (12)",
        "Memory test suite",
        "Failed cases (60)",
        "Failed cases (60): 10 more",
        "Environments",
        "Servers",
        "Installed packages",
    ]


def test_many_causes_are_folded_away_after_the_worst() -> None:
    text = summary.render(grown(3, payloads=60), HERE)

    shown, folded = text.split("<details><summary>Breaks (180): 20 more</summary>")
    assert shown.count("#### ✗ unreadable: ") == 10
    assert folded.partition("</details>")[0].count("#### ✗ unreadable: ") == 20


def test_the_title_stands_above_the_verdict() -> None:
    text = summary.render(grown(2), HERE, title="Nightly <b>*run*</b>")

    assert text.startswith("# Nightly &lt;b&gt;\\*run\\*&lt;/b&gt;\n\n## 4 breaks in 16 cells")


def test_the_end_points_to_the_report_and_to_the_artifact() -> None:
    environ = {
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "a/b",
        "GITHUB_RUN_ID": "7",
    }
    pointer = Pointer.of(Path("out"), "my report", environ)

    assert summary.render(Report(), HERE).endswith("in the folder `memory-matrix-report`.\n")
    assert summary.render(Report(), pointer).endswith(
        "in the folder `out` and in the [artifact](https://github.com/a/b/actions/runs/7#artifacts)"
        " `my report` of this run.\n"
    )
    assert (
        Pointer.of(Path("out"), "my report", {})
        .in_markdown()
        .endswith("and in the artifact `my report` of this run.\n")
    )


@table("limit", [4_000, 8_000, 20_000, 100_000])
@table("report", [grown(2), grown(8, payloads=30)])
def test_it_has_room_in_any_limit_and_stays_whole(report: Report, limit: int) -> None:
    text = summary.render(report, HERE, title="y" * 1000, limit=limit)

    assert len(text.encode()) <= limit
    assert text.count("<details>") == text.count("</details>")
    assert text.endswith("`memory-matrix-report`.\n")


SOME = ("\x1b[31mred\x1b[0m", "line\nend\r\n\n# heading\n- item", "\ud800 lone \udfff", "")
"""What the stage `unit` tries."""


@pytest.mark.parametrize(
    "text",
    [
        hostile.LONG[:200_000],
        *(
            each if each in SOME else pytest.param(each, marks=pytest.mark.large)
            for each in hostile.TEXTS
        ),
    ],
    ids=lambda text: ascii(text[:20]),
)
def test_hostile_text_is_only_shown(text: str) -> None:
    pointer = Pointer(f"x{text}", f"y{text}", "https://github.com/a/b/actions/runs/7#artifacts")
    shown = summary.render(hostile.spoilt(grown(2), text), pointer, title=text)

    assert len(shown.encode()) < 100_000
    assert all(character.isprintable() or character == "\n" for character in shown)
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(shown)
    tags = set(re.findall(r"<(\w+)", html))
    assert tags - {"a"} <= OURS
    assert html.count("<a ") == 1
    assert html.count("<details>") == html.count("</details>")


def test_summaries_of_a_step_share_its_room(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    assert summary.room_in(path) == summary.LIMIT

    summary.append(path, "one \ud800 é")
    summary.append(path, "two")

    assert path.read_text(encoding="utf-8") == "one \\ud800 é\ntwo\n"
    assert summary.room_in(path) == summary.LIMIT - path.stat().st_size


def test_an_environment_more_than_shown_stays_a_row_of_a_table() -> None:
    report = replace(grown(2), suite=())
    many = tuple(replace(report.environments[0], name=f"e{number}") for number in range(60))
    text = summary.render(replace(report, environments=many), HERE)

    assert text.count("| name | Python | packages | variables |") == 1
    assert text.count("\n| `e") >= 60
