"""The Markdown report is never too large, and shows hostile text as text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from memory_matrix.report import markdown, markup
from memory_matrix.report.model import Cell, Error, Report
from support.tables import table

Golden = Callable[[str, str], None]
Grown = Callable[..., Report]

OURS = {"h2", "h3", "h4", "p", "ul", "li", "code", "pre", "strong", "details", "summary"} | {
    "table", "thead", "tbody", "tr", "th", "td"
}  # fmt: skip
LINKED = re.compile(r"@\w|#\d|https?://|www\.", re.IGNORECASE)
"""What GitHub makes a link or a mention of, outside of code."""


class _Page(HTMLParser):
    """Collects the elements of a page and the text outside of code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.rows = 0
        self.running: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.rows += tag == "tr"
        self.open.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "code" not in self.open:
            self.running.append(data)


def test_a_report_looks_as_it_did(sample: Report, golden: Golden) -> None:
    golden("sample.md", markdown.render(sample))


@pytest.mark.parametrize("count", [1, 10, pytest.param(40, marks=pytest.mark.large)])
def test_a_matrix_of_any_size_looks_as_it_did(count: int, grown: Grown, golden: Golden) -> None:
    golden(f"environments-{count}.md", markdown.render(grown(count)))


def test_a_report_of_the_suite_looks_as_it_did(suite_sample: Report, golden: Golden) -> None:
    golden("suite.md", markdown.render(suite_sample))


def test_a_report_of_the_suite_says_nothing_about_cells(suite_sample: Report) -> None:
    text = markdown.render(replace(suite_sample, stale_known=("known[0] matches nothing",)))
    for word in ("writer", "breaks", "known[0]", "compared"):
        assert word not in text


@pytest.mark.large
def test_a_large_comparison_leaves_room_for_the_suite(grown: Grown, grown_suite: Grown) -> None:
    report = replace(grown_suite(6), cells=grown(40).cells)
    text = markdown.render(report, limit=40_000)
    assert len(text.encode()) <= 40_000
    assert "#### ✗ unreadable, MM102:" in text
    assert "#### ✗ case" in text


@pytest.mark.large
def test_a_large_suite_leaves_room_for_the_comparison(grown: Grown, grown_suite: Grown) -> None:
    report = replace(grown_suite(20, cases=200), cells=grown(6).cells)
    text = markdown.render(report, limit=20_000)
    assert len(text.encode()) <= 20_000
    assert "#### ✗ unreadable, MM102:" in text
    assert "#### ✗ case" in text


def test_an_empty_report_says_so() -> None:
    assert markdown.render(Report()) == "## Nothing was compared: the report has no cells.\n"


def test_a_report_is_made_of_plain_elements(sample: Report) -> None:
    page = _Page(markdown.render(sample))
    assert page.tags <= OURS
    assert {"table", "details", "pre"} <= page.tags
    assert page.open == []


@pytest.fixture(scope="module")
def rows_of_sample(sample: Report) -> int:
    return _Page(markdown.render(sample)).rows


def test_hostile_text_is_shown_and_never_interpreted(hostile: Report, rows_of_sample: int) -> None:
    text = markdown.render(hostile)
    page = _Page(text)
    assert page.tags <= OURS
    assert page.open == []
    assert [name for name, _ in page.attributes if name != "class"] == []
    assert [each for each in page.running if LINKED.search(each)] == []
    assert all(line.isprintable() for line in text.removesuffix("\n").split("\n"))
    assert len(text) < 100_000
    assert page.rows <= rows_of_sample


@table(
    "text",
    ["a|b", "`", "``x`", "a`b``c", " padded ", "\\", "\\|", "<b>&amp;", "*a*", "", "$x$", "@a"],
)
@table("in_table", [False, True])
def test_code_shows_the_text_as_it_is(text: str, in_table: bool) -> None:
    span = markup.code(text, in_table=in_table)
    source = f"| a |\n|---|\n| {span} |\n" if in_table else f"x {span} y\n"
    html = MarkdownIt("commonmark").enable("table").render(source)
    found = re.findall(r"<code>(.*?)</code>", html)
    shown = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") or "(empty)"
    assert [each.strip() for each in found] == [shown.strip()]


@pytest.mark.parametrize("limit", [4_000, 10_000, 50_000, 1_000_000])
@pytest.mark.large
def test_a_report_is_never_larger_than_the_limit(
    limit: int, grown: Grown, grown_suite: Grown, sample: Report
) -> None:
    every = [sample, grown(20, payloads=25, serializers=4), grown_suite(20, cases=200)]
    every.append(replace(every[1], suite=every[2].suite))
    for report in every:
        assert len(markdown.render(report, limit=limit).encode()) <= limit


@pytest.mark.large
def test_what_is_cut_is_counted(grown: Grown) -> None:
    text = markdown.render(grown(40), limit=4_000)
    for title in ("Environments", r"Breaks \(10,374\)", "Installed packages"):
        assert re.search(rf"### {title}\n(.*\n)*?\n… and \d+ more: see report.json.\n", text)


@pytest.mark.large
def test_a_long_list_of_environments_leaves_room_for_breaks(grown: Grown) -> None:
    report = grown(120, payloads=4)
    text = markdown.render(report)
    assert "… and 20 more: see report.json." in text
    assert "#### ✗ unreadable, MM102:" in text


@pytest.mark.large
def test_a_huge_cause_leaves_room_for_others(grown: Grown) -> None:
    names = [f"payload_{number}_{'x' * 100}" for number in range(60)]
    kinds = [Error("load", f"Error{number}", "m") for number in range(5)]
    cells = tuple(
        Cell(f"w{n % 7}", f"r{n % (5 + k)}", f"s{n % 11}", name, (), "unreadable", True, None,
             "backward", error)
        for k, error in enumerate(kinds)
        for n, name in enumerate(names * 20)
    )  # fmt: skip
    text = markdown.render(Report(cells=cells))
    assert len(re.findall(r"^#### ✗ unreadable: 1,200 cells", text, re.MULTILINE)) == 5


@pytest.mark.large
def test_what_is_cut_leaves_a_whole_page(grown: Grown, grown_suite: Grown) -> None:
    report = replace(grown_suite(6), cells=grown(6, payloads=30, serializers=3).cells)
    for limit in range(4_000, len(markdown.render(report)), 997):
        page = _Page(markdown.render(report, limit=limit))
        assert page.open == []
        assert page.tags <= OURS
