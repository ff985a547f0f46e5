"""The suite's cells are those that stores need, in as few processes as can run them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from memory_matrix.matrix.model import DEFAULT_STORES, Matrix
from memory_matrix.matrix.select import narrow, parse
from memory_matrix.matrix.suite import (
    REFERENCE_STORES,
    StoreNeeds,
    Suite,
    SuiteCell,
    SuiteProcess,
    plan_suite,
)
from support.tables import table

from .conftest import ReadText

SERVERS = """
[servers]
postgres = ["postgres:16", "postgres:17", "postgres:18"]
redis = ["redis:7.0", "redis:8.0"]
"""
TEXT = '[axes]\npython = ["3.12", "3.13"]\n' + SERVERS

POSTGRES = StoreNeeds(("postgres",))
REDIS = StoreNeeds(("redis",))
BOTH = StoreNeeds(("redis", "postgres"))
NEITHER = StoreNeeds()


@pytest.fixture
def matrix(read_text: ReadText) -> Matrix:
    return read_text(TEXT)


def servers(process: SuiteProcess) -> tuple[str | None, str | None]:
    return tuple(each and each.name for each in (process.postgres, process.redis))


def shown(suite: Suite) -> list[tuple[str, str | None, str | None, list[str]]]:
    """Return the processes, each with the stores of its cells."""
    return [
        (each.environment.name, *servers(each), [cell.store for cell in each.cells])
        for each in suite.processes
    ]


def check(matrix: Matrix, stores: Mapping[str, StoreNeeds], suite: Suite) -> None:
    """Check what holds of any plan: each cell once, with the servers that it needs at hand."""
    assert len(set(suite.cells)) == len(suite.cells)
    places = [(each.environment.name, each.postgres, each.redis) for each in suite.processes]
    assert len(set(places)) == len(places)
    for environment in {cell.environment.name for cell in suite.cells}:
        own = [cell for cell in suite.cells if cell.environment.name == environment]
        assert sum(place[0] == environment for place in places) == fewest(own)
    for process in suite.processes:
        assert process.cells
        for cell in process.cells:
            assert cell.environment == process.environment
            assert {each.kind for each in cell.servers} == set(stores[cell.store].needs)
            assert set(cell.servers) <= {process.postgres, process.redis}


def fewest(cells: Sequence[SuiteCell]) -> int:
    """Return how many processes the cells of one environment need: each has one server of a kind."""
    pairs = {cell.servers for cell in cells if len(cell.servers) == 2}
    apart = {cell.servers[0] for cell in cells if len(cell.servers) == 1} - {
        server for pair in pairs for server in pair
    }
    return max(1, len(pairs) + max(Counter(server.kind for server in apart).values(), default=0))


def test_stores_that_need_one_kind_share_a_process_with_those_of_the_other(matrix: Matrix) -> None:
    stores = {"P": POSTGRES, "R": REDIS}

    suite = plan_suite(matrix, stores)

    check(matrix, stores, suite)
    assert shown(suite) == [
        (python, *each)
        for python in ("py3.12", "py3.13")
        for each in (
            ("postgres:16", "redis:7.0", ["P", "R"]),
            ("postgres:17", "redis:8.0", ["P", "R"]),
            ("postgres:18", None, ["P"]),
        )
    ]


def test_a_store_that_needs_one_kind_never_runs_twice_on_one_server(matrix: Matrix) -> None:
    stores = {"B": BOTH, "P": POSTGRES, "R": REDIS, "N": NEITHER}

    suite = plan_suite(matrix, stores)

    check(matrix, stores, suite)
    assert Counter(cell.store for cell in suite.cells) == {"B": 12, "P": 6, "R": 4, "N": 2}
    assert len(suite.processes) == 12  # one for each pair of servers, and no more


def test_what_needs_no_server_joins_a_process_or_has_one_of_its_own(matrix: Matrix) -> None:
    assert shown(plan_suite(matrix, {"R": REDIS, "N": NEITHER}))[0] == (
        ("py3.12", None, "redis:7.0", ["R", "N"])
    )
    assert shown(plan_suite(matrix, {"N": NEITHER})) == [
        ("py3.12", None, None, ["N"]),
        ("py3.13", None, None, ["N"]),
    ]


def test_servers_without_a_pair_share_processes_of_their_own(read_text: ReadText) -> None:
    matrix = read_text(TEXT + '[suite]\nstrategy = "axis-star"\n')
    stores = {"B": BOTH, "P": POSTGRES, "R": REDIS}

    suite = plan_suite(matrix, stores)

    check(matrix, stores, suite)
    assert [servers(each) for each in suite.processes if each.environment.python == "3.13"] == [
        ("postgres:16", "redis:8.0"),
        ("postgres:17", "redis:8.0"),
        ("postgres:18", "redis:7.0"),
        ("postgres:18", "redis:8.0"),
    ]


def test_serializers_are_for_stores_that_take_one(read_text: ReadText) -> None:
    matrix = read_text(TEXT + '[suite]\nserializers = ["json", "pickle"]\n')
    stores = {"P": StoreNeeds(("postgres",), takes_serializer=True), "R": REDIS}

    suite = plan_suite(matrix, stores)

    check(matrix, stores, suite)
    assert Counter((cell.store, cell.serializer) for cell in suite.cells) == {
        ("P", "json"): 6,
        ("P", "pickle"): 6,
        ("R", None): 4,
    }
    assert len(suite.processes) == 6


def test_without_serializers_each_store_keeps_its_own(matrix: Matrix) -> None:
    suite = plan_suite(matrix, REFERENCE_STORES)

    assert {cell.serializer for cell in suite.cells} == {None}
    assert list(REFERENCE_STORES) == list(DEFAULT_STORES)


def test_a_store_whose_servers_the_matrix_lacks_is_named(read_text: ReadText) -> None:
    matrix = read_text('[axes]\npython = ["3.12"]\n[servers]\nredis = ["redis:8.0"]\n')

    suite = plan_suite(matrix, {"P": POSTGRES, "B": BOTH, "R": REDIS})

    assert suite.unserved == {"P": ("postgres",), "B": ("postgres",)}
    assert {cell.store for cell in suite.cells} == {"R"}


def test_a_package_called_like_a_kind_of_server_is_an_axis_of_its_own(read_text: ReadText) -> None:
    matrix = read_text(
        '[axes.packages]\nredis = ["==6.*", "==7.*"]\npostgres = ["==1.*", "==2.*"]\n' + SERVERS
    )

    suite = plan_suite(matrix, {"B": BOTH})

    assert len(suite.cells) == 4 * 6
    assert suite.pairs == 2 * 2 + 4 * (3 + 2) + 3 * 2


@pytest.mark.parametrize("strategy", ["pairwise", "axis-star"])
def test_each_store_goes_through_the_strategy_on_its_own_axes(
    read_text: ReadText, strategy: str
) -> None:
    text = (
        '[axes]\npython = ["3.11", "3.12", "3.13"]\n[axes.packages]\na = ["==1", "==2"]\n'
        f'{SERVERS}[suite]\nstrategy = "{strategy}"\nserializers = ["json", "pickle"]\n'
    )
    stores = {
        "P": StoreNeeds(("postgres",), takes_serializer=True),
        "Q": StoreNeeds(("postgres",), takes_serializer=True),
        "B": BOTH,
    }

    suite = plan_suite(read_text(text), stores)

    check(read_text(text), stores, suite)
    count = Counter(cell.store for cell in suite.cells)
    assert count["P"] == count["Q"] < 3 * 2 * 3 * 2
    assert count["B"] < 3 * 2 * 3 * 2
    assert suite.pairs == 3 * 2 + (3 + 2) * (3 + 2) + 3 * 2 + (3 + 2 + 3) * 2
    assert (suite.covered == suite.pairs) is (strategy == "pairwise")


@table("strategy", ["full", "pairwise", "axis-star"])
@table("seed", range(6))
def test_any_stores_run_in_as_few_processes_as_can_be(
    read_text: ReadText, seed: int, strategy: str
) -> None:
    chance = random.Random(seed)
    values = {axis: chance.randint(1, 4) for axis in ("a", "b", "postgres", "redis")}
    lists = {axis: [f"=={each}" for each in range(values[axis])] for axis in "ab"}
    servers = {
        kind: [f"{kind}:{each}" for each in range(values[kind])] for kind in ("postgres", "redis")
    }
    matrix = read_text(
        f"[axes.packages]\na = {lists['a']}\nb = {lists['b']}\n"
        f"[servers]\npostgres = {servers['postgres']}\nredis = {servers['redis']}\n"
        f'[suite]\nstrategy = "{strategy}"\nserializers = ["json", "pickle"]\n'
    )
    kinds = chance.choices([POSTGRES, REDIS, BOTH, NEITHER], k=5)
    stores = {
        f"store{number}": replace(each, takes_serializer=chance.random() < 0.5)
        for number, each in enumerate(kinds)
    }

    suite = plan_suite(matrix, stores)

    check(matrix, stores, suite)
    assert {cell.store for cell in suite.cells} == set(stores)
    assert suite.covered == suite.pairs or strategy == "axis-star"


def test_a_pair_is_covered_only_where_every_store_that_can_have_it_does(
    read_text: ReadText,
) -> None:
    text = '[axes]\npython = ["3.12", "3.13"]\n[suite]\nstrategy = "axis-star"\n'
    matrix = read_text(
        text
        + '[servers]\npostgres = ["postgres:17", "postgres:18"]\nredis = ["redis:7", "redis:8"]'
    )

    # Each star leaves out (3.12, the older server).
    assert (alone := plan_suite(matrix, {"P": POSTGRES})).covered == alone.pairs - 1 == 3
    both = plan_suite(matrix, {"P": POSTGRES, "R": REDIS})
    assert (both.covered, both.pairs) == (6, 8)


def test_named_environments_are_compared_by_name(read_text: ReadText) -> None:
    environments = "".join(f'[[environment]]\nname = "{each}"\n' for each in ("old", "new"))
    matrix = read_text(environments + SERVERS + '[suite]\nstrategy = "axis-star"\n')

    suite = plan_suite(matrix, {"P": POSTGRES})

    assert [(each.environment.name, *servers(each)) for each in suite.processes] == [
        ("old", "postgres:18", None),
        ("new", "postgres:16", None),
        ("new", "postgres:17", None),
        ("new", "postgres:18", None),
    ]


def test_the_newest_value_is_the_last_of_its_axis_whatever_is_excluded(read_text: ReadText) -> None:
    matrix = read_text(
        '[axes]\npython = ["3.10", "3.11", "3.12"]\n[axes.packages]\na = ["==1", "==2"]\n'
        '[[exclude]]\npython = "3.10"\na = "==1"\n[suite]\nstrategy = "axis-star"\n'
    )

    suite = plan_suite(matrix, {"N": NEITHER})

    assert [each.environment.name for each in suite.processes] == [
        "py3.10-a==2",
        "py3.11-a==2",
        "py3.12-a==1",
        "py3.12-a==2",
    ]


@table(
    ("expression", "count"),
    [
        ("python=3.13", {"P": 6, "R": 2, "B": 6}),
        ("store=P,store=B", {"P": 12, "B": 12}),
        ("server=postgres:17", {"P": 4, "B": 4}),
        ("server=redis:*", {"R": 4, "B": 12}),
        ("server=postgres:17,server=redis:8.0", {"P": 4, "R": 2, "B": 2}),
        ("serializer=json", {"P": 6}),
        ("server=redis:8.0 serializer=json", {}),
        ("case=vec_*", {"P": 12, "R": 4, "B": 12}),
    ],
)
def test_a_selection_leaves_the_cells_that_have_what_it_names(
    read_text: ReadText, expression: str, count: dict[str, int]
) -> None:
    stores = {
        "app:P": StoreNeeds(("postgres",), takes_serializer=True),
        "app:R": REDIS,
        "app:B": BOTH,
    }
    selection = parse(expression)
    matrix = narrow(
        read_text(TEXT + f'[suite]\nstores = {list(stores)}\nserializers = ["json", "pickle"]\n'),
        selection,
        "suite",
    )
    left = {store: stores[store] for store in matrix.suite.stores}

    suite = plan_suite(matrix, left, selection)

    check(matrix, left, suite)
    assert Counter(cell.store.removeprefix("app:") for cell in suite.cells) == count


@pytest.mark.parametrize("strategy", ["full", "pairwise", "axis-star"])
def test_a_cell_selected_by_all_that_it_has_is_run_alone(
    read_text: ReadText, strategy: str
) -> None:
    text = TEXT + f'[suite]\nstrategy = "{strategy}"\nstores = ["app:B", "app:P"]\n'
    selection = parse("environment=py3.12 store=app:B server=postgres:16 server=redis:7.0")
    matrix = narrow(read_text(text), selection, "suite")

    (cell,) = plan_suite(matrix, {"app:B": BOTH}, selection).cells

    assert cell == SuiteCell(matrix.environments[0], matrix.servers, "app:B")


def test_a_file_with_nothing_but_the_suite_runs_it_in_this_python(read_text: ReadText) -> None:
    matrix = read_text('[suite]\nstrategy = "pairwise"\n')

    assert [(each.name, each.python) for each in matrix.environments] == [("current", "current")]
    assert {each.environment.name for each in plan_suite(matrix, REFERENCE_STORES).cells} == {
        "current"
    }


def test_environments_that_are_excluded_are_not_made_up_for(read_text: ReadText) -> None:
    matrix = read_text('[axes]\npython = ["3.11", "3.12"]\n[[exclude]]\npython = "3.11"\n[suite]\n')

    assert [each.name for each in matrix.environments] == ["py3.12"]
