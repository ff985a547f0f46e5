"""What several machines had, made into one record each; parts made into one report."""

from __future__ import annotations

import pytest

from memory_matrix.report.merging import (
    merged_environments,
    merged_servers,
    otherwise,
    parts_of,
    put_together,
    strictest,
)
from memory_matrix.report.model import (
    Cell,
    EnvironmentRecord,
    MissingPart,
    Report,
    ServerRecord,
    StoreRecord,
)
from support.tables import table

OLD = EnvironmentRecord("old", "3.11.7", {"attrs": "23.1.0", "msgpack": "1.0.7"})
DOWN = EnvironmentRecord("old", "3.11", status="unavailable", reason="no index")
COMPAT = Report(cells=(Cell("a", "a", "json", "x", (), "ok"),), fail_on="changed", merged=("c",))
SUITE = Report(stores=(StoreRecord("s", "a"),), fail_on="break", merged=("s",))


@table(
    ("other", "said"),
    [
        (OLD, ""),
        (EnvironmentRecord("old", "3.11.9", OLD.packages), ""),
        (EnvironmentRecord("old", "3.12.1", OLD.packages), "Python 3.11.7, then 3.12.1"),
        (
            EnvironmentRecord("old", "3.11.7", {"attrs": "23.2.0", "numpy": "2.0"}),
            "attrs 23.1.0, then 23.2.0; msgpack 1.0.7, then absent; numpy absent, then 2.0",
        ),
    ],
)
def test_what_machines_had_otherwise_is_named(other: EnvironmentRecord, said: str) -> None:
    assert otherwise(OLD, other) == said


def test_long_differences_are_counted() -> None:
    many = EnvironmentRecord("old", "3.11.7", {f"p{number}": "1" for number in range(9)})

    assert otherwise(EnvironmentRecord("old", "3.11.7"), many).endswith("then 1 and 4 more")


@pytest.mark.parametrize("records", [(OLD, DOWN), (DOWN, OLD)])
def test_what_one_machine_had_not_could_not_be_had(records: tuple[EnvironmentRecord, ...]) -> None:
    assert merged_environments(records, ["old"]) == (DOWN,)


def test_other_packages_on_another_machine_are_said() -> None:
    other = EnvironmentRecord("old", "3.11.7", {"attrs": "23.2.0", "msgpack": "1.0.7"})

    (merged,) = merged_environments((OLD, OLD, other), ["old"])

    assert merged.status == "unavailable"
    assert "attrs 23.1.0, then 23.2.0" in (merged.reason or "")


def test_records_are_in_the_order_of_the_matrix_and_each_once() -> None:
    records = [EnvironmentRecord(name, "3.12.1") for name in "cabacz"]

    assert [each.name for each in merged_environments(records, list("abc"))] == ["a", "b", "c", "z"]


def test_a_server_is_named_with_all_versions_that_machines_had() -> None:
    records = [
        ServerRecord("pg", "postgres", each, "image:pg") for each in ("17.2", "17.3", "17.2", None)
    ]

    assert [each.version for each in merged_servers(records, ["pg"])] == ["17.2, 17.3"]


@table(
    ("rules", "expected"),
    [
        (["never"], "never"),
        (["never", "new-breaks"], "new-breaks"),
        (["break", "new-breaks", "never"], "break"),
        (["drifted", "changed", "break"], "changed"),
    ],
)
def test_the_strictest_rule_holds(rules: list[object], expected: str) -> None:
    assert strictest(rules) == expected  # type: ignore[arg-type]


def test_parts_are_told_by_what_a_report_has() -> None:
    assert parts_of(COMPAT) == {"compat"}
    assert parts_of(SUITE) == {"suite"}
    assert parts_of(Report()) == {"compat"}
    assert parts_of(Report(cells=COMPAT.cells, stores=SUITE.stores)) == {"compat", "suite"}


def test_both_parts_become_one_report() -> None:
    report = put_together({"suite": SUITE, "compat": COMPAT}, ["compat", "suite"], Report())

    assert (report.cells, report.stores) == (COMPAT.cells, SUITE.stores)
    assert report.merged == ("c", "s")
    assert report.fail_on == "changed"
    assert report.missing == ()


def test_a_report_of_both_parts_stays_as_it_is() -> None:
    both = Report(cells=COMPAT.cells, stores=SUITE.stores, environments=(OLD,), merged=("run",))

    assert put_together({"compat": both, "suite": both}, [], Report()) == both


@pytest.mark.parametrize("there", [{}, {"compat": COMPAT}])
def test_what_is_expected_and_not_there_is_missing(there: dict[str, Report]) -> None:
    report = put_together(there, ["suite", "compat"], Report())  # type: ignore[arg-type]

    parts = [part for part in ("compat", "suite") if part not in there]
    assert report.missing == tuple(MissingPart(part, "all of it", "?/?") for part in parts)  # type: ignore[arg-type]
