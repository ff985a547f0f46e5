"""The HTML report in Chromium: what it shows, with filters, by keyboard, for everyone, and safely."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

import support.hostile as hostile_texts
from memory_matrix.report import sentences
from memory_matrix.report.html import render
from memory_matrix.report.model import Baseline, Cell, Report
from support.reports import full_report, grown, grown_suite

pytestmark = pytest.mark.browser

Open = Callable[..., Any]
Expect = Callable[..., Any]


@pytest.fixture(scope="module")
def sample() -> Report:
    """A report with every outcome and every kind of record."""
    return full_report()


# What it shows


def test_fields_show_the_worst_of_a_pair_by_symbol_and_word(opened: Open, sample: Report) -> None:
    report = opened(sample)
    assert report.shown() == "All 14 cells in 4 pairs."
    assert report.field("old", "next").split() == [
        "✗",
        "unreadable",
        "2",
        "of",
        "5",
        "and",
        "1",
        "changed,",
        "1",
        "known,",
        "1",
        "drifted",
    ]
    assert report.field("next", "old").split() == ["✗", "crashed", "1", "of", "2"]
    assert report.field("old", "old").split() == ["!", "own", "failure", "1", "of", "6"]
    assert report.said == []


def test_a_pair_without_cells_says_so(opened: Open) -> None:
    one = Cell("a", "b", "pickle", "p", outcome="ok")
    report = opened(Report(cells=(one,)))
    assert report.field("b", "a") == "no cells"


def test_names_that_begin_alike_stand_under_headings(opened: Open) -> None:
    names = ("py310-old", "py310-new", "py311-old", "py311-new")
    pairs = product(names, names)
    cells = tuple(Cell(*pair, "pickle", "p", outcome="ok") for pair in pairs)
    page = opened(Report(cells=cells)).page
    heads = page.locator("#heatmap thead tr")
    assert heads.first.locator(".heading").all_inner_texts() == ["py310", "py311"]
    assert heads.last.inner_text().split() == ["old", "new", "old", "new"]
    assert page.locator("#heatmap tbody th").last.inner_text().split() == ["py311", "new"]


def test_breaks_stand_by_cause_with_hint_example_and_command(opened: Open, sample: Report) -> None:
    page = opened(sample).page
    group = page.locator("#why .group").nth(1)
    text = group.inner_text()
    assert "MM102" in text
    assert "The bytes name a module that the reader does not have." in text
    assert "No module named 'app.old'" in text
    moved = next(cell for cell in sample.cells if cell.cause == "MM102")
    assert group.locator(".command code").inner_text() == sentences.command(moved, sample)


def test_a_list_of_cells_of_a_cause_is_whole(opened: Open, sample: Report) -> None:
    page = opened(sample).page
    page.get_by_role("button", name="Show all 2 cells").click()
    assert page.locator("#cells-title").inner_text() == "unreadable, MM102"
    assert page.locator("#cells .items details").count() == 2


def test_what_is_new_and_what_is_fixed_can_be_told(opened: Open, sample: Report) -> None:
    cells = tuple(replace(c, new=c.payload == "chat") if c.is_break else c for c in sample.cells)
    gone = Cell("old", "next", "pickle", "gone", (), "unreadable", True, direction="backward")
    report = opened(replace(sample, cells=cells, baseline=Baseline("base.json", (gone,))))
    assert "gone" in report.page.locator("#why .list").nth(2).inner_text()
    report.choose("only", "new")
    assert report.shown() == "3 of 14 cells match."
    assert "2 new" in report.field("old", "next")


def test_packages_are_listed_when_they_are_asked_for(
    opened: Open, sample: Report, expect: Expect
) -> None:
    page = opened(sample).page
    page.get_by_text("3 packages").click()
    expect(page.locator(".packages").first).to_contain_text("pydantic-core 2.14.6")


# The suite


def test_failing_cases_say_where_why_and_how_to_run_them(opened: Open, sample: Report) -> None:
    page = opened(sample).page
    first = page.locator("#troubles .group").first.inner_text()
    assert "batch_all_or_nothing_bad_middle" in first
    assert "everywhere: in old, next, on pg13, pg18" in first
    assert "InFailedSqlTransaction" in first
    assert "memory-matrix suite --select" in first


def test_results_are_filtered_and_counted_by_store_environment_and_servers(
    opened: Open, sample: Report
) -> None:
    report = opened(sample)
    rows = report.page.locator("#stores tbody tr")
    assert rows.count() == 6
    assert rows.first.inner_text().split() == [
        "app/store.py:store",
        "old",
        "pg13",
        "4",
        "2",
        "0",
        "1",
        "0",
        "0",
    ]
    report.choose("case-server", "pg13")
    assert rows.count() == 2
    report.choose("case-outcome", "failed")
    assert report.page.locator("#cases-shown").inner_text() == "4 of 42 results match."
    assert report.page.locator("#troubles .group").count() == 2


def test_a_suite_alone_has_its_part_only(opened: Open) -> None:
    report = opened(grown_suite(3, cases=30))
    assert report.said == []
    assert report.page.locator("#stores tbody tr").count() == 18
    report.page.locator("#all-results summary").click()
    report.page.get_by_role("button", name="Show 50 more of 540 results").click()
    assert report.page.locator("#results tbody tr").count() == 100


# Filters


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [
        ("serializer", "cloudpickle", 1),
        ("outcome", "unreadable", 3),
        ("direction", "forward", 2),
        ("cause", "MM102", 3),
        ("server", "redis:8.0", 11),
        ("only", "breaks", 4),
        ("only", "known", 1),
    ],
)
def test_each_filter_leaves_what_it_says(
    name: str, value: str, left: int, opened: Open, sample: Report
) -> None:
    report = opened(sample)
    report.page.locator(f"select[name={name}]").select_option(value)
    report.expect(f"{left} of 14 cells match.")


def test_payloads_are_searched_for_and_all_is_reset(opened: Open, sample: Report) -> None:
    report = opened(sample)
    report.page.get_by_label("Payload").fill("TOOL")
    report.page.wait_for_url("**payload=TOOL**")
    assert report.shown() == "1 of 14 cells match."
    assert report.field("old", "next").split()[:2] == ["○", "known"]
    assert (
        "None of these match the filters." in report.page.locator("#why .list").first.inner_text()
    )
    report.page.locator("#filters").get_by_role("button", name="Reset").click()
    report.expect("All 14 cells")
    report.page.wait_for_url(lambda url: "=" not in url.partition("#")[2])


def test_a_link_shows_what_was_seen(opened: Open, sample: Report) -> None:
    first = opened(sample)
    first.choose("serializer", "pickle")
    first.choose("only", "breaks")
    fragment = "#" + first.page.url.partition("#")[2]
    second = opened(sample, f"{fragment}&writer=old&reader=next")
    assert second.shown() == first.shown() == "2 of 14 cells match."
    assert second.page.locator("#cells .items details").count() == 1
    second.page.keyboard.press("Escape")
    second.page.wait_for_url(lambda url: "writer" not in url)
    assert "only=breaks" in second.page.url


@pytest.mark.parametrize(
    "fragment",
    ["#outcome=none&writer=x", "#%zz=%", "#=", "#__proto__=x&only=__proto__", "#main", "#nowhere"],
)
def test_any_fragment_leaves_the_page_whole(fragment: str, opened: Open, sample: Report) -> None:
    report = opened(sample, fragment)
    assert report.said == []
    assert report.shown() == "All 14 cells in 4 pairs."


def test_counts_lead_to_what_they_count(opened: Open, sample: Report) -> None:
    report = opened(sample)
    report.page.get_by_role("link", name="3 changed").click()
    report.expect("3 of 14 cells match.")
    assert report.page.locator("select[name=outcome]").input_value() == "changed"


# By keyboard


def test_a_field_is_opened_by_keyboard_and_has_the_focus_again(
    opened: Open, sample: Report, expect: Expect
) -> None:
    page = opened(sample).page
    page.locator("#heatmap [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="old → next")
    text = dialog.inner_text()
    assert "5 cells, worst first." in text
    assert "redis:8.0/string" in text
    assert (
        "memory-matrix compat --select 'writer=old reader=next serializer=pickle payload=chat'"
        in text
    )
    page.keyboard.press("Escape")
    expect(page.locator("#cells[open]")).to_have_count(0)
    expect(page.locator(":focus")).to_have_class("spot mark-unreadable")


def test_one_field_alone_is_a_stop_of_the_tab_key(opened: Open) -> None:
    page = opened(grown(6)).page
    page.locator("#heatmap [tabindex='0']").focus()
    for key in ("End", "ArrowDown", "Control+End", "ArrowRight", "ArrowUp", "Home", "PageDown"):
        page.keyboard.press(key)
        assert page.locator("#heatmap [tabindex='0']").count() == 1
    assert page.evaluate("document.activeElement.closest('tr').rowIndex") == 6
    assert page.evaluate("document.activeElement.closest('td').cellIndex") == 1


def test_a_hint_is_a_link_to_what_its_code_means(
    opened: Open, sample: Report, expect: Expect
) -> None:
    page = opened(sample, "#writer=old&reader=next&only=breaks").page
    page.locator("#cells .hint a").first.click()
    page.wait_for_url("**#MM102")
    expect(page.locator("#MM102")).to_be_focused()
    assert page.locator("#cells[open]").count() == 0
    assert page.locator("select[name=only]").input_value() == "breaks"


def test_a_command_is_copied(opened: Open, sample: Report) -> None:
    page = opened(sample, permissions=["clipboard-read", "clipboard-write"]).page
    page.locator("#why .command button").nth(1).click()
    page.get_by_text("Copied").wait_for()
    moved = next(cell for cell in sample.cells if cell.cause == "MM102")
    assert page.evaluate("navigator.clipboard.readText()") == sentences.command(moved, sample)


def test_a_command_is_selected_where_it_cannot_be_copied(opened: Open, sample: Report) -> None:
    page = opened(sample).page
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    page.locator("#why .command button").first.click()
    page.get_by_text("Press Ctrl+C").wait_for()
    assert page.evaluate("String(getSelection())").startswith("memory-matrix compat --select")


# For everyone


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("fragment", ["", "#writer=old&reader=next"])
def test_axe_finds_nothing(scheme: str, fragment: str, opened: Open, sample: Report) -> None:
    from axe_playwright_python.sync_playwright import Axe

    report = opened(sample, fragment, color_scheme=scheme, bypass_csp=True)
    report.unfold("main details")
    found = Axe().run(report.page).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []


def test_colours_follow_the_system_and_the_button(opened: Open, sample: Report) -> None:
    page = opened(sample, color_scheme="dark").page
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Switch to light colours").click()
    light = page.evaluate(ground)
    assert dark != light
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.evaluate(ground) == light
    assert opened(sample, color_scheme="light").page.evaluate(ground) == light


@pytest.mark.parametrize(
    "report", [full_report(), grown(12), grown_suite(3)], ids=["full", "cells", "suite"]
)
@pytest.mark.parametrize("fragment", ["", "#writer=old&reader=next"])
def test_nothing_is_wider_than_320_pixels(report: Report, fragment: str, opened: Open) -> None:
    narrow = opened(report, fragment, viewport={"width": 320, "height": 640})
    narrow.unfold()
    assert narrow.page.evaluate("document.documentElement.scrollWidth") == 320


def test_without_scripts_there_are_the_verdict_and_the_pairs(opened: Open, sample: Report) -> None:
    page = opened(sample, java_script_enabled=False).page
    text = page.locator("body").inner_text()
    assert "5 breaks (1 known) in 14 cells" in text
    assert page.locator("noscript td").count() == 4
    assert not page.locator("#filters").is_visible()


def test_it_prints_with_everything_unfolded_and_nothing_to_press(
    opened: Open, sample: Report
) -> None:
    page = opened(sample, color_scheme="dark").page
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("#filters").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("main details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("main details[open]").count() == 0
    assert page.pdf().startswith(b"%PDF")


# Safely


MARKER = "window.pwned = true; alert(1)"
ATTACKS = (
    f"<script>{MARKER}</script><img src=x onerror='{MARKER}'><svg/onload='{MARKER}'>",
    f"</script><script>{MARKER}</script><!--<script>",
    f"</style></title></noscript></textarea><script>{MARKER}</script>",
    f"\"'><a href=\"javascript:{MARKER}\" autofocus onfocus='{MARKER}'>x</a>",
    "{{ 7 * 7 }}{% raw %}${alert(1)}",
    *hostile_texts.KINDS,
)


@pytest.mark.parametrize("text", ATTACKS, ids=lambda text: ascii(text[:24]))
def test_hostile_text_is_shown_and_nothing_more(text: str, opened: Open, sample: Report) -> None:
    spoilt: Report = hostile_texts.spoilt(sample, text)
    report = opened(spoilt)
    page = report.page
    report.unfold()
    page.locator("#list").click()
    report.unfold()
    for select in page.locator("select:visible").all():
        assert select.locator("option").count() > 0
    assert page.evaluate("window.pwned") is None
    assert report.said == []
    assert report.requests == [report.path.as_uri()]
    assert page.locator("img, svg, iframe, main script, main style").count() == 0
    assert page.locator("script").count() == 2
    assert not [
        each for each in page.locator("body").inner_text() if each in "\u202e\u2066\x00\x1b"
    ]


def test_a_text_of_a_megabyte_is_cut_and_the_page_keeps_its_width(
    opened: Open, sample: Report
) -> None:
    report = opened(
        hostile_texts.in_one_of_each(sample, hostile_texts.LONG),
        viewport={"width": 320, "height": 640},
    )
    page = report.page
    page.locator("#list").click()
    report.unfold()
    assert "more)" in page.locator("#cells").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_a_page_asks_for_nothing_but_itself(opened: Open, sample: Report) -> None:
    report = opened(sample)
    report.page.locator("#list").click()
    report.page.get_by_role("button", name="Close").click()
    report.page.get_by_role("button", name="Switch to").click()
    assert report.requests == [report.path.as_uri()]
    assert report.said == []


# Large


LARGE = {"many-payloads": (50, 20, 2), "many-pairs": (316, 1, 1)}


@pytest.mark.parametrize("shape", LARGE.values(), ids=LARGE)
def test_100_000_cells_take_less_than_a_second_of_the_page(
    shape: tuple[int, int, int], opened: Open
) -> None:
    environments, payloads, serializers = shape
    report = opened(grown(2))
    large = grown(environments, payloads=payloads, serializers=serializers)
    report.path.write_text(render(large), encoding="utf-8")
    assert report.path.stat().st_size < 3_000_000
    session = report.page.context.new_cdp_session(report.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    report.page.reload()
    report.page.wait_for_selector("html[data-ready]", state="attached")
    metrics = {
        each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]
    }
    assert metrics["TaskDuration"] < 1  # seconds of the processor, whatever else the machine does


def test_the_grid_shows_the_worst_40_environments_and_all_when_asked(opened: Open) -> None:
    page = opened(grown(45, payloads=2)).page
    buttons = page.locator("#left-out").get_by_role("button")  # no search in 2,000 fields
    assert page.locator("#heatmap tbody tr").count() == 40
    buttons.get_by_text("Show all", exact=True).click()
    assert page.locator("#heatmap tbody tr").count() == 45
    buttons.get_by_text("Show the worst only").click()
    assert page.locator("#heatmap tbody tr").count() == 40


def test_long_lists_come_in_pages(opened: Open) -> None:
    page = opened(grown(6, payloads=40)).page
    page.locator("#list").click()
    items = page.locator("#cells .items details")
    assert items.count() == 50
    page.get_by_role("button", name="Show 50 more of 1,440 cells").click()
    assert items.count() == 100
    assert page.evaluate(
        "document.activeElement.closest('details') === document.querySelectorAll('#cells .items > details')[50]"
    )
