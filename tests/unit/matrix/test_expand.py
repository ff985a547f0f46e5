"""Axes become environments: their order, names, ages, and what is taken out."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import EnvironmentSpec, Matrix
from support.tables import table

from .conftest import ReadText


def names(matrix: Matrix) -> list[str]:
    return [each.name for each in matrix.environments]


def test_the_first_axis_turns_slowest_and_values_keep_their_order(read_text: ReadText) -> None:
    matrix = read_text(
        '[axes]\napp = ["git:v1", "."]\npython = ["3.13", "3.10"]\n'
        '[axes.packages]\nmsgpack = ["==1.*"]\n'
    )

    assert names(matrix) == [
        "py3.13-app@v1",
        "py3.13-app@.",
        "py3.10-app@v1",
        "py3.10-app@.",
    ]
    assert matrix.environments[1] == EnvironmentSpec(
        name="py3.13-app@.",
        python="3.13",
        packages=("msgpack==1.*",),
        app=".",
        coordinates=(("python", 0), ("app", 1), ("msgpack", 0)),
        values=(("python", "3.13"), ("app", "."), ("msgpack", "==1.*")),
    )


@table(
    ("axes", "expected"),
    [
        ('python = ["3.12"]', ["py3.12"]),
        ('python = ["current", "3.13t", "3.15-dev"]', ["current", "py3.13t", "py3.15-dev"]),
        ('python = ["/a/bin/python3", "~/b/python3"]', ["python3", "python3#2"]),
        ('packages = {pydantic = ["==1.10.*", "*"]}', ["pydantic==1.10.*", "pydantic"]),
        ('packages = {pydantic = [">= 2, < 3"]}', ["pydantic>=2,<3"]),
        ('app = [".", "git:."]', ["app@.", "app@.#2"]),
        (
            'python = ["3.12"]\npackages = {A_b = ["<1", ">1"], c = ["==1"]}',
            ["py3.12-a-b<1", "py3.12-a-b>1"],
        ),
    ],
)
def test_names_are_short_and_unique(read_text: ReadText, axes: str, expected: list[str]) -> None:
    assert names(read_text(f"[axes]\n{axes}\n")) == expected


def test_any_version_is_a_requirement_without_a_specifier(read_text: ReadText) -> None:
    matrix = read_text('[axes.packages]\nmsgpack = ["==1.0.8", "*"]\norjson = [""]\n')

    assert [each.packages for each in matrix.environments] == [
        ("msgpack==1.0.8", "orjson"),
        ("msgpack", "orjson"),
    ]
    assert matrix.environments[1].values == (("msgpack", "*"), ("orjson", "*"))


EXCLUDING = """
[axes]
python = ["3.10", "3.12"]
packages = {Pydantic = ["==1.10.*", ">=2,<3"], msgpack = ["<1", ">=1"]}
"""


def test_an_entry_takes_out_what_has_all_its_values(read_text: ReadText) -> None:
    matrix = read_text(
        EXCLUDING
        + '[[exclude]]\npython = "3.12"\npydantic = "==1.10.*"\n[[exclude]]\nMsgPack = "<1"\n'
    )

    assert names(matrix) == [
        "py3.10-pydantic==1.10.*",
        "py3.10-pydantic>=2,<3",
        "py3.12-pydantic>=2,<3",
    ]
    assert [(each.name, each.by) for each in matrix.excluded] == [
        ("py3.10-pydantic==1.10.*-msgpack<1", "exclude[1]"),
        ("py3.10-pydantic>=2,<3-msgpack<1", "exclude[1]"),
        ("py3.12-pydantic==1.10.*-msgpack<1", "exclude[0]"),
        ("py3.12-pydantic==1.10.*-msgpack>=1", "exclude[0]"),
        ("py3.12-pydantic>=2,<3-msgpack<1", "exclude[1]"),
    ]


def test_an_entry_may_write_a_specifier_in_another_way(read_text: ReadText) -> None:
    matrix = read_text(EXCLUDING + '[[exclude]]\nPYDANTIC = "<3, >=2"\n')

    assert len(matrix.environments) == 4


def test_all_combinations_may_be_excluded_where_there_are_named_ones(read_text: ReadText) -> None:
    matrix = read_text(
        '[[environment]]\nname = "a"\n[axes]\npython = ["3.12"]\n[[exclude]]\npython = "3.12"\n'
    )

    assert names(matrix) == ["a"]


def many(count: int) -> str:
    values = ", ".join(f'"=={number}"' for number in range(count))
    return f"[axes.packages]\na = [{values}]\nb = [{values}]\n"


def processor_seconds(read_text: ReadText, text: str) -> float:
    started = time.process_time()
    read_text(text)
    return time.process_time() - started


@pytest.mark.large
def test_ten_thousand_combinations_are_read_in_time_that_grows_with_their_number(
    read_text: ReadText,
) -> None:
    known = '[[known]]\nwriter = "a==9-*"\nreader = "*b==9"\nreason = "x"\n'
    seconds = [processor_seconds(read_text, many(side) + known) for side in (25, 50, 100)]

    assert len(read_text(many(100)).environments) == 10_000
    assert all(later < 8 * sooner + 0.2 for sooner, later in pairwise(seconds))


def test_many_entries_cost_what_they_take_out(read_text: ReadText) -> None:
    entries = "".join(f'[[exclude]]\na = "=={number}"\n' for number in range(99))

    assert len(read_text(many(100) + entries).environments) == 100


@pytest.mark.large
def test_misspelling_among_ten_thousand_names_is_answered(read_text: ReadText) -> None:
    with pytest.raises(UsageError, match="and 9990 more"):
        read_text(many(100) + '[[known]]\nwriter = "nobody"\nreason = "x"\n')
