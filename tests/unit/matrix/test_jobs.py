"""The jobs of GitHub Actions that a matrix is packed into."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from memory_matrix.matrix.jobs import Job, Wanted, plan_jobs
from memory_matrix.matrix.model import Matrix
from memory_matrix.matrix.packing import Seconds
from memory_matrix.matrix.select import PARTS, narrow, narrow_parts, parse
from support.tables import table

ReadText = Callable[[str], Matrix]

THREE = "".join(f'[[environment]]\nname = "{name}"\n' for name in "abc")
WITH_SUITE = f"{THREE}[suite]\n"


def names(jobs: tuple[Job, ...]) -> list[str]:
    return [job.name for job in jobs]


def test_there_are_as_many_jobs_as_there_is_work(read_text: ReadText) -> None:
    jobs = plan_jobs(read_text(f'{WITH_SUITE}[servers]\nredis = ["redis:8"]'), parse(""))

    assert names(jobs.write) == [f"compat write {n}/3: {name}" for n, name in enumerate("abc", 1)]
    assert names(jobs.read) == [f"compat read {n}/3: {name}" for n, name in enumerate("abc", 1)]
    assert names(jobs.suite) == [
        f"suite {n}/3: {name} on redis:8" for n, name in enumerate("abc", 1)
    ]
    assert names(jobs.everything) == ["compat", *names(jobs.suite)]


def test_there_are_no_more_jobs_than_are_allowed(read_text: ReadText) -> None:
    jobs = plan_jobs(read_text(WITH_SUITE), parse(""), 2)

    assert [job.shard for job in jobs.write] == ["1/2", "2/2"]
    assert [job.artifact for job in jobs.read] == ["read-1-of-2", "read-2-of-2"]
    assert [(job.command, job.shard) for job in jobs.everything] == [
        ("compat", ""),
        ("suite", "1/1"),
    ]


def test_one_job_runs_everything(read_text: ReadText) -> None:
    jobs = plan_jobs(read_text(WITH_SUITE), parse(""), 1)

    assert [(job.command, job.shard) for job in jobs.everything] == [("run", "")]


def test_what_took_long_has_a_job_of_its_own(read_text: ReadText) -> None:
    took = Seconds(write={"a": 1, "b": 9, "c": 1}, read={"a": 9, "b": 1, "c": 1})

    jobs = plan_jobs(read_text(THREE), parse(""), 2, took)

    assert {job.units for job in jobs.write} == {("b",), ("a", "c")}
    assert {job.units for job in jobs.read} == {("a",), ("b", "c")}


def test_what_a_store_needs_that_is_not_loaded_is_not_guessed_too_high(read_text: ReadText) -> None:
    text = (
        f'{THREE}[suite]\nstores = ["app.store:Store"]\n[servers]\nredis = ["redis:7", "redis:8"]'
    )

    jobs = plan_jobs(read_text(text), parse(""))

    assert names(jobs.suite) == ["suite 1/3", "suite 2/3", "suite 3/3"]
    selected = plan_jobs(read_text(text), parse("server=redis:8"))
    assert len(selected.suite) == 3


def test_a_store_without_a_server_has_a_job_that_says_so(read_text: ReadText) -> None:
    text = f'{THREE}[suite]\nstores = ["memory_matrix.stores:PostgresStore"]\n[servers]\nredis = ["redis:8"]'

    assert len(plan_jobs(read_text(text), parse("")).suite) == 1


def test_a_selection_that_leaves_compat_nothing_leaves_it_no_jobs(read_text: ReadText) -> None:
    text = f'{THREE}[compat]\nserializers = ["json"]\n[suite]\nserializers = ["pickle"]'

    outputs = plan_jobs(read_text(text), parse("serializer=pickle")).outputs()

    assert (outputs["has-work"], outputs["has-compat"], outputs["has-suite"]) == (True, False, True)
    assert outputs["write-matrix"] == {"include": []}


def test_a_serializer_that_the_suite_has_not_leaves_it_no_jobs_whatever_its_stores(
    read_text: ReadText,
) -> None:
    text = f'{THREE}[compat]\nserializers = ["json"]\n[suite]\nstores = ["app.store:Store"]'

    jobs = plan_jobs(read_text(text), parse("serializer=json"))

    assert (len(jobs.write), len(jobs.suite)) == (3, 0)


@table(
    "select",
    [
        "case=ttl_*",
        "store=RedisStore",
        "payload=tool_* writer=a",
        "payload=tool_* case=ttl_* environment=b,environment=c",
        "serializer=json",
        "serializer=pickle",
        "server=valkey* reader=c case=ttl_*",
        "'case=a,b' \"payload=it's\"",
        "",
    ],
)
@table("most", [1, 20])
def test_each_job_is_told_of_the_selection_what_its_command_takes(
    read_text: ReadText, select: str, most: int
) -> None:
    text = f'{THREE}[compat]\nserializers = ["json"]\n[suite]\nserializers = ["pickle"]'
    matrix = read_text(text)

    jobs = plan_jobs(matrix, parse(select), most)

    assert jobs.everything
    for job in (*jobs.everything, *jobs.write, *jobs.read, *jobs.suite):
        only = parse(job.entry()["only"])
        if job.command == "run":
            assert narrow_parts(matrix, only) == narrow_parts(matrix, parse(select))
        else:
            part = next(each for each in PARTS if job.command.startswith(each))
            assert narrow(matrix, only, part) == narrow_parts(matrix, parse(select))[part]
            assert only == parse(select).about(part)


def test_a_matrix_of_any_size_and_any_names_fits_github(read_text: ReadText) -> None:
    axes = "".join(f"a{number} = {[f'=={each}' for each in range(10)]}\n" for number in range(3))
    outputs: dict[str, Any] = plan_jobs(
        read_text(f"[axes.packages]\n{axes}[suite]\n"), parse(""), 256
    ).outputs()

    matrices = {name: value for name, value in outputs.items() if name.endswith("matrix")}
    assert {len(value["include"]) for value in matrices.values()} == {256}
    assert len(json.dumps(outputs)) < 1_000_000
    assert all(len(job["name"]) <= 100 for value in matrices.values() for job in value["include"])


@table("unit", ["line\nend", "\x1b[31mred", "\u202egnp", "𝄞" * 200, "y" * 200])
def test_a_name_is_one_short_line(unit: str) -> None:
    job = Job("suite", "256/256", "suite-256-of-256", (unit,) * 3)

    assert job.name.isprintable()
    assert job.name.startswith("suite 256/256")
    assert len(json.dumps(job.entry())) * 256 * 4 < 1_000_000


@table(
    ("text", "wanted", "commands"),
    [
        (THREE, "run", {"compat"}),
        (THREE, "suite", {"suite"}),
        (WITH_SUITE, "run", {"compat", "suite"}),
        (WITH_SUITE, "compat", {"compat"}),
        (WITH_SUITE, "suite", {"suite"}),
    ],
)
def test_the_jobs_are_those_of_one_command(
    read_text: ReadText, text: str, wanted: Wanted, commands: set[str]
) -> None:
    jobs = plan_jobs(read_text(text), parse(""), wanted=wanted)

    assert {job.command for job in jobs.everything} == commands
    assert jobs.outputs()["has-compat"] is ("compat" in commands) is bool(jobs.read)
    assert jobs.outputs()["has-suite"] is ("suite" in commands)
