"""Texts that try to be something else than text, and reports that are full of them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from memory_matrix.report.model import (
    Cell,
    EnvironmentRecord,
    Report,
    StoreRecord,
    Strategy,
    SuiteResult,
)

TEXTS = (
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "[red]markup[/red]",
    "\u202egnp.exe",
    "nul\x00 bell\x07 back\x08",
    "line\nend\r\n\n# heading\n- item",
    "a\u2028b\u2029c\x85d\x0be\x0cf",
    "| pipe | `tick` ``` ~~~",
    "<script>alert(1)</script><img src=x onerror=y>",
    "</script><!--<script>",
    "'\"><svg/onload=alert(1)>",
    "</details></summary><!-- comment -->",
    "]]> <![CDATA[ <?xml version='1.0'?> <!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]> &y;",
    "&lt;b&gt; &amp;amp; &#0; &#x1b;",
    "@octocat #1 [link](https://a.example) ![i](https://b.example) www.c.example",
    "[run](javascript:alert(1)) {0} {1} \\[x\\](command:evil)",
    "**bold** _under_ $math$ \\",
    "::error file=a.py,line=1::forged%0A::set-output name=result::pass",
    "\n::error::forged\r\n##[error]forged\n::add-mask::a",
    "%0A%0D%25 %s %(x)s {x} ${X} $(touch x) `touch x`",
    "../../etc/passwd:1",
    "file:///etc/passwd:7",
    "\ud800 lone \udfff",
    "\ufffe\uffff\ufeff",
    "e\u0301\u200b\u200d\u2066x\u2069",
    "\U0001f600",
    '"\\',
    "",
    " ",
)
"""Each kind of trouble alone."""

KINDS = (
    (
        "\x1b[31mred\x1b[0m \x1b]0;title\x07 nul\x00 back\x08 [red]markup[/red]"
        "\n::error::forged\r\n##[error]forged\n# heading\n- item\u2028b\x85c\x0bd\x0ce"
    ),
    "::error file=a.py,line=1::forged%0A::set-output name=result::pass",
    (
        "| pipe | `tick` ``` ~~~ **bold** _under_ $math$ \\ @octocat #1 [l](https://a.example) www.c.example"
        " <script>alert(1)</script><img src=x onerror=y>'\"><svg/onload=alert(1)></details>&#x1b;<!-- x"
        " ]]> <![CDATA[ <?xml version='1.0'?> <!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]> &y;"
    ),
    "\ud800 lone \udfff \ufffe\uffff\ufeff \u202egnp.exe e\u0301\u200b\u200d\u2066x \U0001f600",
    "",
)
"""Few, with everything in them: what the stage `unit` tries."""

LONG = "y" * 1_000_000

KEPT = frozenset(
    {"outcome", "direction", "stage", "status", "kind", "part", "fail_on", "directions", "is_break"}
)
"""Fields that hold one of a few words."""


def spoilt(value: Any, text: str) -> Any:
    """Return a report, or a part of one, with `text` in the place of every free text.

    What tells one thing from another keeps its own text after `text`.
    """
    if isinstance(value, tuple):
        return tuple(spoilt(item, text) for item in value)
    if isinstance(value, dict):
        return {f"{text}{key}": text for key in value}
    if isinstance(value, str):
        return text
    if not is_dataclass(value) or isinstance(value, type | Strategy):
        return value
    changed = {
        each.name: spoilt(getattr(value, each.name), text)
        for each in fields(value)
        if each.name not in KEPT
    }
    for name in _names(value):
        changed[name] = f"{text}{getattr(value, name)}"
    return replace(value, **changed)


def _names(value: object) -> tuple[str, ...]:
    """Return the fields that tell `value` from others of its kind."""
    return {
        Cell: ("writer", "reader"),
        EnvironmentRecord: ("name",),
        StoreRecord: ("name", "environment"),
        SuiteResult: ("environment", "store", "case"),
    }.get(type(value), ())


def in_one_of_each(report: Report, text: str) -> Report:
    """Return `report` with `text` in every free text of one record of each kind: for long texts."""
    last = {
        name: (*getattr(report, name)[:-1], *spoilt(getattr(report, name)[-1:], text))
        for name in ("environments", "servers", "cells", "suite", "payloads", "stores")
    }
    return replace(report, **last)
