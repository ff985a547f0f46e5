"""What the environments of a new matrix hold: the first of the candidates that can be had."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from memory_matrix.starting.choosing import Chosen, assume, choose_environments
from memory_matrix.starting.locks import Pins
from memory_matrix.starting.project import Project
from memory_matrix.starting.pythons import Pythons

PYTHONS = Pythons(("3.10", "3.12", "3.13"))
NO_LOCK = ("", {})


def project(*requirements: str) -> Project:
    return Project(Path("/x"), requirements=tuple(map(Requirement, requirements)))


def index(
    *, without: Callable[[list[str], str], bool] = lambda *_: False, oldest: Pins | None = None
):
    """Return what answers for the package index; `without` says what cannot be had."""

    def resolve(requirements: tuple[Requirement, ...], python: str, is_oldest: bool) -> Pins | None:
        texts = [str(each) for each in requirements]
        if without(texts, python):
            return None
        return (oldest or {}) if is_oldest else {"x": "1"}

    return resolve


def shown(chosen: Chosen) -> tuple[str, list[str]]:
    return chosen.python, [str(each) for each in chosen.packages]


def test_a_project_without_dependencies_differs_by_python_alone_and_nobody_is_asked():
    def asked(*_: object) -> None:
        pytest.fail("the index was asked")

    found = choose_environments(project(), PYTHONS, NO_LOCK, asked)
    assert [shown(each) for each in found] == [("3.10", []), ("3.13", [])]


def test_production_has_what_the_lock_pins_and_next_what_is_allowed():
    asked = project("pydantic[email]>=2", "msgpack; python_version > '3'", "attrs")
    lock = ("uv.lock", {"pydantic": "2.5.3", "msgpack": "1.0.7", "other": "1"})
    production, following = choose_environments(asked, PYTHONS, lock, index())
    assert shown(production) == (
        "3.10",
        ["pydantic[email]==2.5.3", 'msgpack==1.0.7; python_version > "3"', "attrs"],
    )
    assert production.why == "As pinned in uv.lock."
    assert shown(following) == ("3.13", [str(each) for each in asked.requirements])


def test_what_the_oldest_python_cannot_have_is_taken_on_the_newest():
    lock = ("uv.lock", {"pydantic": "2.5.3"})
    resolve = index(without=lambda _, python: python == "3.10")
    production, _ = choose_environments(project("pydantic"), PYTHONS, lock, resolve)
    assert shown(production) == ("3.13", ["pydantic==2.5.3"])


def test_without_a_lock_production_has_the_oldest_that_is_allowed_where_a_lowest_is_named():
    asked = project("pydantic>=2", "attrs")
    production, _ = choose_environments(
        asked, PYTHONS, NO_LOCK, index(oldest={"pydantic": "2.0.1"})
    )
    assert shown(production) == ("3.10", ["pydantic==2.0.1", "attrs"])
    assert production.why == "The oldest releases that pyproject.toml allows."


def test_what_cannot_be_had_at_its_oldest_is_asked_for_as_it_stands():
    resolve = index(
        without=lambda texts, _: "pydantic==2.0.1" in texts, oldest={"pydantic": "2.0.1"}
    )
    production, _ = choose_environments(project("pydantic>=2"), PYTHONS, NO_LOCK, resolve)
    assert shown(production) == ("3.10", ["pydantic>=2"])


def test_an_exact_pin_is_what_production_has_and_next_has_the_newest():
    production, following = choose_environments(
        project("pydantic==1.10.2"), PYTHONS, NO_LOCK, index()
    )
    assert shown(production) == ("3.10", ["pydantic==1.10.2"])
    assert shown(following) == ("3.13", ["pydantic"])


def test_next_has_the_newest_python_that_its_packages_are_there_for():
    resolve = index(without=lambda _, python: python == "3.13")
    _, following = choose_environments(project("pydantic"), PYTHONS, NO_LOCK, resolve)
    assert following.python == "3.12"


def test_what_cannot_be_had_at_all_is_written_as_it_stands():
    resolve = index(without=lambda *_: True)
    found = choose_environments(project("pydantic>=99"), PYTHONS, NO_LOCK, resolve)
    assert [shown(each) for each in found] == [
        ("3.10", ["pydantic>=99"]),
        ("3.13", ["pydantic>=99"]),
    ]


def test_a_requirement_by_url_is_never_pinned():
    url = "pydantic@ https://example.invalid/pydantic-2.5.3-py3-none-any.whl"
    production, _ = choose_environments(
        project(url), PYTHONS, ("uv.lock", {"pydantic": "2.5.3"}), index()
    )
    assert "https://example.invalid" in shown(production)[1][0]


@pytest.mark.parametrize(
    ("lock", "expected"), [(NO_LOCK, "pydantic>=2"), (("x", {"pydantic": "2.1"}), "pydantic==2.1")]
)
def test_without_an_index_files_are_believed(lock: tuple[str, Pins], expected: str):
    production, following = assume(project("pydantic>=2"), PYTHONS, lock)
    assert shown(production) == ("3.10", [expected])
    assert shown(following) == ("3.13", ["pydantic>=2"])
