"""Whatever a report holds, every format says it as text, and is what it claims to be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest
from lxml import etree

from memory_matrix.report.formats import ALWAYS, FORMATS
from memory_matrix.report.model import Report, from_json
from support import hostile
from support.tables import table

HERE = Path(__file__).parent
JUNIT = etree.XMLSchema(etree.parse(HERE / "junit.xsd"))
SARIF = jsonschema.Draft7Validator(json.loads((HERE / "sarif-subset.json").read_text("utf-8")))
COMMAND = re.compile(r"^\s*::", re.MULTILINE)
"""What a GitHub runner takes for a command at the start of a line of a log."""


def _is_plain(text: str) -> bool:
    """Return whether a terminal only shows `text`."""
    return all(line.isprintable() for line in text.removesuffix("\n").split("\n"))


def _check_json(text: str, report: Report) -> None:
    assert text.isascii()
    assert from_json(json.loads(text)) == report


def _check_junit(text: str, report: Report) -> None:
    root = etree.fromstring(text.encode())
    JUNIT.assertValid(root)
    tests = len(list(root.iter("testcase")))
    missing = len(report.environments) + len(report.servers) + len(report.stores)
    assert tests == len(report.cells) + len(report.suite) + missing + len(report.missing)


def _check_sarif(text: str, _: Report) -> None:
    assert text.isascii()
    log = json.loads(text)
    SARIF.validate(log)
    for result in log["runs"][0]["results"]:
        assert _is_plain(result["message"]["text"])
        assert "](" not in result["message"]["text"].replace("\\](", "")
        file = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert urlsplit(file["uri"]).scheme in {"", "file"}
        assert unquote(file["uri"]).startswith("/") <= ("uriBaseId" not in file)


def _check_badge(text: str, _: Report) -> None:
    badge = json.loads(text)
    assert text.isascii()
    assert _is_plain(badge["message"])


def _check_html(text: str, _: Report) -> None:
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "<svg/onload" not in text
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)


def _check_plain(text: str, _: Report) -> None:
    assert _is_plain(text)


CHECKS: dict[str, Callable[[str, Report], None]] = {
    "terminal": _check_plain,
    "markdown": _check_plain,
    "json": _check_json,
    "junit": _check_junit,
    "sarif": _check_sarif,
    "badge": _check_badge,
    "html": _check_html,
}


def _written(name: str, report: Report) -> str:
    text = "".join(FORMATS[name].pieces(report))
    text.encode()  # raises where it cannot be written
    return text


@table("name", list(FORMATS))
def test_hostile_text_is_text_in_every_format(name: str, spoilt: Report) -> None:
    text = _written(name, spoilt)
    CHECKS[name](text, spoilt)
    if name != "terminal":  # a line of it may begin with anything: a step's log is guarded
        assert not COMMAND.search(text)


@pytest.mark.large
@table("name", list(FORMATS))
def test_long_text_is_text_in_every_format(name: str, sample: Report) -> None:
    report = hostile.in_one_of_each(sample, hostile.LONG)
    text = _written(name, report)
    CHECKS[name](text, report)
    if name not in {"json", "html"}:  # json holds everything
        assert len(text) < 100_000


@table("name", list(FORMATS))
def test_every_format_of_an_empty_report_is_whole(name: str) -> None:
    CHECKS[name](_written(name, Report()), Report())


@table("name", list(FORMATS))
def test_a_format_says_the_same_each_time(name: str, sample: Report) -> None:
    assert _written(name, sample) == _written(name, sample)


def test_every_format_has_a_file_of_its_own() -> None:
    assert len({each.file for each in FORMATS.values()}) == len(FORMATS)
    assert set(ALWAYS) <= set(FORMATS)


def test_every_format_is_tried_with_hostile_text() -> None:
    assert set(FORMATS) <= set(CHECKS)


def test_the_page_on_reports_lists_every_format_with_its_file() -> None:
    page = (HERE.parents[2] / "docs" / "report.md").read_text("utf-8")
    for name, each in FORMATS.items():
        assert f"| `{name}` | `{each.file}` | " in page
