"""The built-in corpus is complete, well named, the same each time, and readable by old Pythons."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memory_matrix.payloads
import memory_matrix.serializers
from memory_matrix.payloads import builtin
from memory_matrix.payloads.lacking import Lacking
from memory_matrix.worker.compare import compare
from memory_matrix.worker.describe import describe
from support.corpus import LARGE, PAYLOADS, SMALL
from support.tables import table

PROBES: dict[str, Callable[[Any], Any]] = {
    name.removeprefix("probe_"): function
    for name, function in vars(builtin).items()
    if name.startswith("probe_")
}
SOURCES = sorted(
    file
    for package in (memory_matrix.payloads, memory_matrix.serializers)
    for file in Path(package.__path__[0]).glob("*.py")
)


def build(name: str) -> Any:
    try:
        return PAYLOADS[name]()
    except Lacking as lacking:
        return pytest.skip(str(lacking))


def test_there_are_at_least_45_payloads() -> None:
    assert len(PAYLOADS) >= 45


def test_no_two_themes_define_the_same_name() -> None:
    defined = [
        name
        for theme in builtin.THEMES
        for name in vars(theme)
        if name.startswith(("payload_", "probe_"))
    ]
    assert len(defined) == len(set(defined)) == len(PAYLOADS) + len(PROBES)


def test_every_module_that_defines_payloads_is_a_theme() -> None:
    defining = {
        file.stem
        for file in SOURCES
        if re.search(r"^def payload_", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert defining == {theme.__name__.rpartition(".")[2] for theme in builtin.THEMES}


def test_every_probe_belongs_to_a_payload() -> None:
    assert PROBES.keys() <= PAYLOADS.keys()


def test_payload_has_a_plain_name_and_one_line_that_says_its_feature() -> None:
    for name, function in PAYLOADS.items():
        assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name)
        assert not inspect.signature(function).parameters, name
        assert re.fullmatch(r"[^\n]+\.", function.__doc__ or ""), name


@table("name", SMALL)
def test_payload_is_equal_each_time_it_is_built(name: str) -> None:
    check_equal_each_time(name)


@pytest.mark.large
@pytest.mark.parametrize("name", LARGE)
def test_large_payload_is_equal_each_time_it_is_built(name: str) -> None:
    check_equal_each_time(name)


def check_equal_each_time(name: str) -> None:
    first, second = build(name), build(name)
    if name in PROBES:
        first, second = PROBES[name](first), PROBES[name](second)
    assert compare(describe(first), describe(second)) == []


@table("name", [name for name in PROBES if name in SMALL])
def test_probe_returns_something_plain_and_changes_nothing(name: str) -> None:
    check_probe(name)


@pytest.mark.large
@pytest.mark.parametrize("name", [name for name in PROBES if name in LARGE])
def test_probe_of_a_large_payload_returns_something_plain_and_changes_nothing(name: str) -> None:
    check_probe(name)


def check_probe(name: str) -> None:
    value = build(name)
    seen = PROBES[name](value)
    assert _is_plain(seen)
    assert compare(describe(seen), describe(PROBES[name](value))) == []


def test_modules_are_written_in_the_syntax_of_python_3_6() -> None:
    for file in SOURCES:
        ast.parse(file.read_text(encoding="utf-8"), str(file), feature_version=(3, 6))


def test_modules_do_without_future_annotations() -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in SOURCES}
    assert [file for file, text in texts.items() if "from __future__" in text] == []


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(item) for pair in value.items() for item in pair)
    if type(value) is list:
        return all(map(_is_plain, value))
    return value is None or type(value) in {str, int, float, bool}
