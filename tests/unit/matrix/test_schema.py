"""The JSON Schema and the reader come from one declaration, and agree."""

from __future__ import annotations

import copy
import datetime as dt
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from memory_matrix.errors import UsageError
from memory_matrix.matrix.build import build, problems
from memory_matrix.matrix.model import CompatOptions, Matrix, SuiteOptions
from memory_matrix.matrix.read import QUICK, read
from memory_matrix.matrix.schema import PATH, text
from support.tables import table

from .conftest import EXAMPLE, Write, table_of

MATRICES = Path(__file__).parents[3] / "matrix"
SCHEMA = json.loads(PATH.read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=FormatChecker())


def as_json(value: Any) -> Any:
    """Return TOML's value as an editor gives it to the schema."""
    return json.loads(json.dumps(value, default=dt.date.isoformat))


def test_the_schema_is_fresh() -> None:
    assert PATH.read_text(encoding="utf-8") == text()


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@table("path", [EXAMPLE, QUICK, *sorted(MATRICES.glob("*.toml"))])
def test_what_is_shipped_is_valid(path: Path) -> None:
    VALIDATOR.validate(as_json(table_of(path)))


@pytest.mark.parametrize(
    ("table", "defaults"), [("compat", CompatOptions()), ("suite", SuiteOptions())]
)
def test_defaults_are_those_of_the_reader(table: str, defaults: object) -> None:
    shown = SCHEMA["properties"][table]["properties"]
    options = [key for key in shown if key != "waiver"]

    assert {key: shown[key]["default"] for key in options} == as_json(
        {key: getattr(defaults, key.replace("-", "_")) for key in options}
    )


def test_every_key_is_described() -> None:
    described = [key for key, schema in SCHEMA["properties"].items() if schema.get("description")]

    assert described == list(SCHEMA["properties"])


# Mutating the example: only matrices and sentences may come out, and the schema must agree.

VALUES: tuple[Any, ...] = (
    *(True, False, 0, -1, 3.1, 10**400, float("nan"), float("inf"), "", " ", ".", "*"),
    *([], {}, [[]], [{}], {"": {}}, ["3.12"], [3.12], [1, 1], {"a": "b"}, {"a": ["=="]}),
    *("pickle", "json", "==1", ">=2,<", "a\x00b", "\x1b[2J", "\ud7ff\U0001f600", "-", "x" * 3000),
    *("current", "3.31", "git:", "git:-x", "image:", "wheel:", "bin:", "bin:/", "redis://", "://"),
    *("postgres://u:p@h:x", "redis://[", "a:b", "a.py:b", "payloads.py", "..", "/", "~nobody/x"),
    *(dt.date(2026, 1, 1), dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc), dt.time(1, 2)),
)
SHAPE = re.compile(
    r"no such key|^[^;]* is (a string|a number|a list|a table|true or false)[;:,][^;]* it must be"
)
"""Sentences on what the schema knows too: keys and types."""

WORDS = (
    *("axes", "python", "packages", "environment", "name", "env", "servers", "until", "", "a.b"),
    *("suite", "waiver", "store", "strategy", "serializers"),
)


def spots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in `value`, with each of its keys or numbers."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from spots(value[key])


def any_value(chance: random.Random) -> Any:
    return copy.deepcopy(chance.choice(VALUES))


def replace_value(chance: random.Random, parent: Any, key: Any) -> None:
    parent[key] = any_value(chance)


def remove(_: random.Random, parent: Any, key: Any) -> None:
    del parent[key]


def rename(chance: random.Random, parent: Any, key: Any) -> None:
    if isinstance(parent, dict):
        parent[chance.choice(WORDS)] = parent.pop(key)
    else:
        parent.append(parent[key])


def add(chance: random.Random, parent: Any, _: Any) -> None:
    if isinstance(parent, dict):
        parent[chance.choice(WORDS)] = any_value(chance)
    else:
        parent.insert(0, any_value(chance))


MUTATIONS: tuple[Callable[[random.Random, Any, Any], None], ...] = (
    replace_value,
    remove,
    rename,
    add,
)


SUITE = {
    "serializers": ["pickle"],
    "strategy": "pairwise",
    "timeout": 5,
    "waiver": [
        {
            "store": "PostgresStore",
            "case": "vec_*",
            "environment": "next",
            "server": "pg17",
            "reason": "issue 7",
            "until": "2026-12-31",
        }
    ],
}


def mutated(chance: random.Random) -> dict[str, Any]:
    table = table_of(EXAMPLE)
    table["suite"] |= copy.deepcopy(SUITE)
    for _ in range(chance.randint(1, 4)):
        places = list(spots(table))
        if places:
            chance.choice(MUTATIONS)(chance, *chance.choice(places))
    return table


def has_moment(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(has_moment(parent[key]) for parent, key in spots(value))
    return isinstance(value, dt.date | dt.time)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.large
def test_any_table_is_a_matrix_or_has_sentences_and_the_schema_agrees(
    folder: Path, seed: int
) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        table = mutated(chance)
        found = problems(table, folder)
        if not found:
            assert isinstance(build(table, folder, None), Matrix)
        assert all(each.sentence.isprintable() and len(each.sentence) < 2000 for each in found)
        if has_moment(table):
            continue  # JSON has no dates
        plain = as_json(table)
        by_shape = [each for each in found if SHAPE.search(each.sentence)]
        if by_shape:
            assert not VALIDATOR.is_valid(plain), by_shape
        if not VALIDATOR.is_valid(plain):
            assert found, table


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.large) for seed in range(3, 8))]
)
def test_any_text_is_a_matrix_or_a_usage_error(write: Write, seed: int) -> None:
    chance = random.Random(seed)
    example = EXAMPLE.read_text()
    for _ in range(60):
        characters = list(example)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(characters))
            characters[at : at + chance.randint(0, 3)] = chance.choice("\"\n[]={}#,.1 \x00\x7f'\\")
        path = write("".join(characters))
        try:
            outcome: Matrix | UsageError = read(path)
        except UsageError as error:
            outcome = error
        assert isinstance(outcome, Matrix) or str(outcome).startswith(str(path))
