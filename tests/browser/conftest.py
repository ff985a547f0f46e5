"""Chromium, and reports opened in it."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory_matrix.report.html import render
from memory_matrix.report.model import Report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

UNFOLD = """which => Promise.all([...document.querySelectorAll(`:is(${which}):not([open])`)].map(
  (each) => new Promise((filled) => {
    each.addEventListener("toggle", filled, { once: true });
    each.open = true;
  }))).then(() => {})"""


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium; a skip that says so where there is none, or, if it is required, a failure."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is not None and importlib.util.find_spec("playwright") is not None:
        return found
    lacking = "no Chromium on this machine" if found is None else "playwright is not installed"
    if os.environ.get("MEMORY_MATRIX_REQUIRE_BROWSER"):
        pytest.fail(f"{lacking}, and MEMORY_MATRIX_REQUIRE_BROWSER is set")
    pytest.skip(lacking)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A browser for the tests of one module: its event loop is in no other's way."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium)
        yield started
        started.close()


@dataclass
class Opened:
    """A report in a tab, and what happened in it that must not."""

    page: Page
    path: Path
    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """Errors, dialogs and messages of the console."""

    def dismiss(self, dialog: Dialog) -> None:
        """Note that a dialog came up, and let it go."""
        self.said.append(dialog.message)
        dialog.dismiss()

    def shown(self) -> str:
        """Return how many cells the page says that it shows."""
        return self.page.locator("#shown").inner_text()

    def expect(self, start: str) -> None:
        """Wait until the page says that it shows this."""
        from playwright.sync_api import expect

        expect(self.page.locator("#shown")).to_contain_text(start)

    def choose(self, name: str, value: str) -> None:
        """Set a filter, and wait until the address, and so the page, follows."""
        self.page.locator(f"select[name={name}]").select_option(value)
        self.page.wait_for_url(f"**{name}={value}**")

    def unfold(self, which: str = "details") -> None:
        """Open all that is folded, and wait until it is filled, which follows a task later."""
        self.page.evaluate(UNFOLD, which)

    def field(self, writer: str, reader: str) -> str:
        """Return the text of the field of a pair."""
        heads = self.page.locator("#heatmap thead tr").last.locator("th").all_inner_texts()
        row = self.page.locator("#heatmap tbody tr").filter(
            has=self.page.get_by_role("rowheader", name=writer, exact=True)
        )
        return row.locator("td").nth(heads.index(reader) - 1).inner_text()


@pytest.fixture(scope="session")
def expect(chromium: str) -> Callable[..., Any]:
    """Playwright's: waits for what a page comes to in a task after the one that a test began."""
    from playwright.sync_api import expect

    return expect


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Open a report in a tab of its own; `context` has more of what the tab is to be."""
    contexts = []

    def opens(report: Report, fragment: str = "", **context: Any) -> Opened:
        path = tmp_path / "report.html"
        path.write_text(render(report), encoding="utf-8")
        contexts.append(browser.new_context(**{"reduced_motion": "reduce", **context}))
        found = Opened(contexts[-1].new_page(), path)
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.on("pageerror", lambda error: found.said.append(str(error)))
        found.page.on("console", lambda message: found.said.append(message.text))
        found.page.on("dialog", found.dismiss)
        found.page.goto(f"{path.as_uri()}{fragment}")
        if context.get("java_script_enabled", True):
            found.page.wait_for_selector("html[data-ready]", state="attached")
        return found

    yield opens
    for each in contexts:
        each.close()
