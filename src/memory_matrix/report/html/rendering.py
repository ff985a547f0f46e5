"""A report as one HTML page: nothing is fetched, and nothing in the report is run."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from memory_matrix.report import grouping, sentences, suite
from memory_matrix.report.html.data import page_data
from memory_matrix.report.html.lists import cell_lists
from memory_matrix.report.html.packing import MOST_PLAIN, packed, script_json, source_hash
from memory_matrix.report.html.view import view
from memory_matrix.report.model import Report
from memory_matrix.report.visible import NAME, counted, listed, visible

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_TEXT = 2_000
"""Characters of a text that the template shows, unless it is a name."""
MOST_NAMES = 12


def render(report: Report) -> str:
    """Return `report` as a page that needs no other file and no network."""
    from markupsafe import Markup

    lists = cell_lists(report)
    data = script_json(page_data(report, lists))
    is_packed = len(data) > MOST_PLAIN
    script, style = _source("report.js"), _source("report.css")
    # These three are no text of the report's: data that is escaped, and what this package ships.
    trusted = {
        "data": Markup(packed(data) if is_packed else data),  # noqa: S704
        "script": Markup(script),  # noqa: S704
        "style": Markup(style),  # noqa: S704
    }
    template = _environment().get_template("report.html.j2")
    return template.render(
        **view(report, lists),
        **trusted,
        is_packed=is_packed,
        script_source=source_hash(script),
        style_source=source_hash(style),
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("memory_matrix.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"name": _name, "number": "{:,}".format, "counted": counted}
    made.globals |= {
        "sentences": sentences, "suite": suite, "grouping": grouping, "names_of": _names,
    }  # fmt: skip
    return made


def _finalized(value: Any) -> Any:
    """Return what the template puts out: any text visible and cut, unless it is markup already."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return visible(value, MOST_TEXT)
    return value


def _name(text: str) -> str:
    return visible(text, NAME) or "(empty)"


def _names(names: Iterable[str]) -> str:
    return listed(names, MOST_NAMES, _name)


def _source(name: str) -> str:
    return files("memory_matrix.report.html").joinpath("static", name).read_text(encoding="utf-8")
