"""Reports to render: one with something of every kind, and generated ones of any size."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import support.hostile as hostile_texts
from memory_matrix.report.model import Report
from support import reports


def _texts(*more: str) -> list[Any]:
    """Return hostile texts: few of each kind for the stage `unit`, all for the stage `servers`."""
    others = (each for each in hostile_texts.TEXTS if each not in hostile_texts.KINDS)
    large = (pytest.param(each, marks=pytest.mark.large) for each in (*others, *more))
    return [*hostile_texts.KINDS, *large]


@pytest.fixture(params=_texts(hostile_texts.LONG[:200_000]), ids=lambda text: ascii(text[:20]))
def hostile(request: pytest.FixtureRequest) -> Report:
    """A report in which every text that can come from outside is hostile."""
    return _hostile(request.param)


@functools.cache
def _hostile(text: str) -> Report:
    found: Report = hostile_texts.spoilt(reports.full_report(), text)
    return found


@pytest.fixture(params=_texts(), ids=lambda text: ascii(text[:20]))
def hostile_text(request: pytest.FixtureRequest) -> str:
    """A hostile text that is not long."""
    text: str = request.param
    return text


@pytest.fixture
def spoilt(hostile_text: str) -> Report:
    """A report in which every text that can come from outside is `hostile_text`."""
    return _hostile(hostile_text)


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with a file of `golden/`; with UPDATE_GOLDEN=1 write the file instead."""

    def check(name: str, text: str) -> None:
        path = Path(__file__).with_name("golden") / name
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(scope="session")
def sample() -> Report:
    """A report with every outcome and every kind of record."""
    return reports.full_report()


@pytest.fixture
def suite_sample(sample: Report) -> Report:
    """A report of the memory test suite alone."""
    return replace(sample, cells=(), payloads=(), stale_known=())


@pytest.fixture
def grown() -> Callable[..., Report]:
    """Make a report of `environments` squared where releases 2 apart break."""
    return reports.grown


@pytest.fixture
def grown_suite() -> Callable[..., Report]:
    """Make a report of the suite in which every third case fails in some cells or everywhere."""
    return reports.grown_suite
