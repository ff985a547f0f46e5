"""One report of a run's two parts."""

from __future__ import annotations

from memory_matrix.report.joining import joined
from memory_matrix.report.model import (
    Cell,
    EnvironmentRecord,
    Report,
    ServerRecord,
    StoreRecord,
    Strategy,
    SuiteResult,
)

OK = Cell("a", "a", "json", "x", (), "ok")
PASSED = SuiteResult("a", ("redis",), "store", "case", "passed")
REDIS = ServerRecord("redis", "redis", "8.0", "image:redis:8.0")
POSTGRES = ServerRecord("pg17", "postgres", "17.2", "image:pg17")


def test_both_parts_are_in_it() -> None:
    compat = Report(
        environments=(EnvironmentRecord("a", "3.11.7"),), cells=(OK,), servers=(POSTGRES,)
    )
    suite = Report(
        environments=(EnvironmentRecord("a", "3.11.7"),),
        servers=(POSTGRES, REDIS),
        suite=(PASSED,),
        stores=(StoreRecord("store", "a"),),
        strategy=Strategy("full", 1, 1, 1),
        stale_waivers=("old",),
    )

    report = joined(compat, suite)

    assert report.cells == (OK,)
    assert report.suite == (PASSED,)
    assert report.servers == (POSTGRES, REDIS)
    assert (report.stores, report.strategy) == (suite.stores, suite.strategy)
    assert report.stale_waivers == ("old",)


def test_what_the_suite_had_otherwise_is_named() -> None:
    compat = Report(environments=(EnvironmentRecord("a", "3.11.7", {"redis": "5.2", "x": "1"}),))
    suite = Report(
        environments=(EnvironmentRecord("a", "3.11.7", {"redis": "8.1", "x": "1", "pytest": "9"}),)
    )

    (environment,) = joined(compat, suite).environments

    assert environment.packages == {"redis": "5.2", "x": "1"}
    assert environment.suite_packages == {"redis": "8.1", "pytest": "9"}


def test_an_environment_that_one_part_could_not_have_is_missing() -> None:
    old = EnvironmentRecord("old", "3.8.18")
    too_old = EnvironmentRecord("old", "3.8", status="unavailable", reason="too old")
    compat = Report(environments=(EnvironmentRecord("a", "3.11.7"), old))
    suite = Report(environments=(EnvironmentRecord("a", "3.11.7"), too_old))

    found = {each.name: each.status for each in joined(compat, suite).environments}

    assert found == {"a": "ready", "old": "unavailable"}
