"""The page is whole without anything else, says the verdict first, and takes any text for text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from memory_matrix.report import sentences
from memory_matrix.report.html import render, rendering
from memory_matrix.report.html.packing import source_hash
from memory_matrix.report.html.view import verdict
from memory_matrix.report.model import Baseline, Cell, MissingPart, Report, SuiteResult
from support.tables import table

VOID = {"meta", "input", "br"}
STATIC = Path(rendering.__file__).with_name("static")


class Page(HTMLParser):
    """The elements of a page, and the texts in those that matter."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open[-1]][-1] += data


def _policy(page: Page) -> str:
    (policy,) = (
        a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    return policy


def _check(text: str) -> Page:
    """Check what holds of every page, and return it."""
    page = Page(text)
    assert page.open == []
    assert text.startswith("<!doctype html>\n")
    data, script = page.texts["script"]
    (style,) = page.texts["style"]
    assert _policy(page) == (
        f"default-src 'none'; script-src {source_hash(script)}; style-src {source_hash(style)};"
        " base-uri 'none'; form-action 'none'"
    )
    assert data.isascii()
    names = {name for _, attributes in page.tags for name in attributes}
    assert not {
        each for each in names if each.startswith("on") or each in {"src", "style", "action"}
    }
    links = {a["href"] for _, a in page.tags if "href" in a}
    assert all(each and each.startswith("#") for each in links)
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    return page


def test_a_page_is_one_file_that_fetches_nothing(sample: Report) -> None:
    page = _check(render(sample))
    assert not {"link", "img", "iframe", "object", "embed", "base", "form "} & {
        t for t, _ in page.tags
    }


def test_the_verdict_comes_first(sample: Report) -> None:
    page = _check(render(replace(sample, suite=(), stores=(), strategy=None)))
    report = replace(sample, suite=(), stores=(), strategy=None)
    assert page.texts["h1"] == [sentences.verdict(report)]
    assert page.texts["title"] == [f"Fails: {sentences.verdict(report)}"]


@pytest.mark.parametrize("spare", ["_", "é"])
def test_small_data_stands_there_as_it_is(sample: Report, spare: str) -> None:
    page = _check(render(replace(sample, matrix=spare)))
    assert json.loads(page.texts["script"][0])["cells"]["kind"]


@pytest.mark.large
def test_large_data_is_packed(grown: Callable[..., Report]) -> None:
    page = _check(render(grown(20, payloads=60)))
    (kind,) = (a["type"] for tag, a in page.tags if a.get("id") == "data")
    assert kind == "text/plain"


def test_any_text_is_only_text(hostile: Report) -> None:
    text = render(hostile)
    _check(text)
    text.encode()  # raises where it cannot be written
    assert not re.search(
        r"[^\n\x20-\x7e\xa0-\U0010ffff]|[\u200b-\u200f\u2028-\u202e\u2060-\u206f]", text
    )
    assert len(text) < 600_000


@pytest.mark.parametrize("report", [Report(), Report(cells=(Cell("a", "b", "pickle", "p"),))])
def test_a_report_of_next_to_nothing_has_a_page(report: Report) -> None:
    page = _check(render(report))
    assert page.texts["h1"] == [sentences.verdict(report)]


def test_a_report_of_the_suite_alone_has_no_grid(suite_sample: Report) -> None:
    page = _check(render(suite_sample))
    ids = {a.get("id") for _, a in page.tags}
    assert "heatmap" not in ids
    assert {"stores", "troubles", "results"} <= ids


OK = Cell("a", "a", "pickle", "p", outcome="ok")
BREAK = Cell("a", "b", "pickle", "p", outcome="unreadable", is_break=True, direction="backward")
PASSED = SuiteResult("a", (), "s", "c", "passed")


@table(
    ("report", "kind", "word"),
    [
        (Report(cells=(OK,)), "passes", "Passes"),
        (Report(cells=(BREAK,)), "fails", "Fails"),
        (Report(cells=(BREAK,), fail_on="never"), "passes", "Passes"),
        (Report(cells=(replace(BREAK, known="so"),)), "passes", "Passes"),
        (Report(suite=(PASSED,)), "passes", "Passes"),
        (Report(suite=(PASSED, replace(PASSED, outcome="failed"))), "fails", "Fails"),
        (Report(suite=(PASSED, replace(PASSED, outcome="error"))), "unsure", "Incomplete"),
        (Report(cells=(replace(OK, outcome="skipped"),)), "unsure", "Nothing was run"),
        (Report(), "unsure", "Nothing was run"),
        (Report(cells=(OK,), missing=(MissingPart("read", "b", "2/3"),)), "fails", "Fails"),
    ],
)
def test_how_the_run_ended_is_one_word(report: Report, kind: str, word: str) -> None:
    found = verdict(report)
    assert (found.kind, found.word) == (kind, word)


def test_what_is_missing_is_loud(sample: Report) -> None:
    missing = (MissingPart("read", "next", "2/3"),)
    text = render(replace(sample, missing=missing, shard="1/3"))
    head = text[: text.index("</header>")]
    assert "1 part of the matrix missing" in head
    assert "read: next (shard 2/3)" in head
    assert "This is shard 1/3 of the matrix alone." in head
    assert "There is no Python 3.15 here." in head


def test_what_it_was_compared_with_is_said(sample: Report) -> None:
    text = render(replace(sample, baseline=Baseline("main/report.json", gone=3)))
    assert "Compared with &#39;main/report.json&#39;." in text


def test_without_scripts_there_is_the_worst_of_each_pair(sample: Report) -> None:
    text = render(sample)
    plain = text[text.index("<noscript>") : text.index("</noscript>")]
    assert plain.count("<td>") == 4
    assert "unreadable" in plain


def test_a_code_is_a_place_that_can_be_linked_to(sample: Report) -> None:
    page = _check(render(sample))
    assert {"MM102", "MM201"} <= {a.get("id") for _, a in page.tags}


def test_a_cause_that_is_no_code_becomes_no_id(sample: Report) -> None:
    cells = tuple(
        replace(cell, cause=cause, hint=f"hint {cause}")
        for cell, cause in zip(
            sample.cells, ("main", "MM1 x", "data", "", None, "MM102"), strict=False
        )
    )
    page = _check(render(replace(sample, cells=cells)))
    assert "MM102" in {a.get("id") for _, a in page.tags}


def test_the_script_makes_no_markup_and_evaluates_nothing() -> None:
    script = (STATIC / "report.js").read_text(encoding="utf-8")
    forbidden = r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|fetch\(|XMLHttp|</script|<!--"
    assert not re.search(forbidden, script)


def test_nothing_shipped_ends_its_own_element() -> None:
    assert "</" not in (STATIC / "report.css").read_text(encoding="utf-8")


@pytest.mark.large
def test_100_000_cells_are_a_page_of_less_than_3_mb(grown: Callable[..., Report]) -> None:
    report = grown(50, payloads=20, serializers=2)
    assert len(report.cells) == 100_000
    assert len(_check(render(report)).texts["script"][0]) < 3_000_000


@pytest.mark.large
def test_100_000_environments_pairs_are_a_page_of_less_than_3_mb(
    grown: Callable[..., Report],
) -> None:
    assert len(render(grown(316, payloads=1)).encode()) < 3_000_000


@pytest.mark.large
def test_a_suite_of_many_results_is_a_page_of_less_than_3_mb(
    grown_suite: Callable[..., Report],
) -> None:
    report = grown_suite(30, cases=200)
    assert len(report.suite) == 36_000
    assert len(render(report).encode()) < 3_000_000
