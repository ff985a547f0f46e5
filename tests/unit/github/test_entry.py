"""The action's entry: one line for each wrong input, and outputs whatever comes of the command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memory_matrix import cli
from memory_matrix.errors import MemoryMatrixError
from memory_matrix.github import artifacts, entry
from memory_matrix.github.inputs import PREFIX
from memory_matrix.report import files
from memory_matrix.report.model import Cell, Report

from .conftest import Step

REPORT = Report(cells=(Cell("old", "next", "json", "a", (), "unreadable", True, None, "backward"),))
Main = Callable[[Sequence[str]], int]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set inputs; `fail_on` is the input fail-on."""

    def give(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"{PREFIX}{name.upper()}", value)

    return give


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> Callable[[Main], list[list[str]]]:
    """Put another command line in the place of the real one, and return what it is called with."""
    called: list[list[str]] = []

    def replace(main: Main) -> list[list[str]]:
        def call(arguments: Sequence[str]) -> int:
            called.append(list(arguments))
            return main(arguments)

        monkeypatch.setattr(cli, "main", call)
        return called

    return replace


def test_wrong_inputs_are_a_line_each_and_nothing_is_run(
    step: Step, given: Callable[..., None], replaced: Callable[[Main], list[list[str]]]
) -> None:
    called = replaced(lambda _: 0)
    given(command="plan", strict="perhaps", shard="9/3", report_dir=".hidden")

    assert entry.main() == 2

    errors = step.commands("error")
    assert [each.message.partition(":")[0] for each in errors] == [
        "input shard", "input strict", "input report-dir",
    ]  # fmt: skip
    assert called == []
    assert step.written() == {
        "result": "error",
        "has-work": "false",
        "has-compat": "false",
        "has-suite": "false",
        **dict.fromkeys(
            ("matrix", "write-matrix", "read-matrix", "suite-matrix"), '{"include": []}'
        ),
    }


@pytest.mark.parametrize(("code", "result"), [(0, "pass"), (1, "fail"), (3, "error")])
def test_outputs_and_exit_code_are_those_of_the_command(
    step: Step,
    given: Callable[..., None],
    replaced: Callable[[Main], list[list[str]]],
    code: int,
    result: str,
) -> None:
    def main(_: Sequence[str]) -> int:
        files.write(REPORT, Path("out"))
        return code

    (step.workspace / "app").mkdir()
    called = replaced(main)
    given(command="compat", working_directory="app", report_dir="out")

    assert entry.main() == code

    assert called == [["compat", "--report-dir=out"]]
    written = step.written()
    assert (written["result"], written["breaks"]) == (result, "1")
    assert written["json-path"] == str(step.workspace / "app/out/report.json")


def test_outputs_are_written_also_when_the_command_is_interrupted(
    step: Step, replaced: Callable[[Main], list[list[str]]]
) -> None:
    def main(_: Sequence[str]) -> int:
        raise KeyboardInterrupt

    files.write(REPORT, Path("memory-matrix-report"))
    replaced(main)

    with pytest.raises(KeyboardInterrupt):
        entry.main()

    assert step.written() == {"result": "error"}


@pytest.mark.parametrize("error", [RuntimeError("x"), ValueError("x"), OSError(28, "No space")])
def test_a_defect_never_ends_as_a_finding_does(
    step: Step,
    given: Callable[..., None],
    replaced: Callable[[Main], list[list[str]]],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    def fails(*_: object) -> int:
        raise error

    replaced(fails)
    assert entry.main() == MemoryMatrixError.exit_code
    monkeypatch.setattr(artifacts.Source, "of", fails)
    given(baseline="artifact:x")
    assert entry.main() == MemoryMatrixError.exit_code

    assert len(step.commands("error")) == 2
    assert step.written() == {"result": "error"}


def test_what_the_command_starts_sees_no_inputs(
    step: Step, given: Callable[..., None], replaced: Callable[[Main], list[list[str]]]
) -> None:
    seen: list[str] = []
    replaced(lambda _: seen.extend(os.environ) or 0)
    given(token="t0ken", postgres="postgresql://app:hunter22@db/app", command="suite")

    assert entry.main() == 0

    assert not [name for name in seen if name.startswith(PREFIX)]
    assert [each.message for each in step.commands("add-mask")] == ["hunter22"]


def test_a_password_is_masked_before_anything_else_is_said(
    step: Step, given: Callable[..., None]
) -> None:
    given(redis="redis://:hunter22@cache", fail_on="x")

    assert entry.main() == 2

    assert [each.name for each in step.commands()] == ["add-mask", "error"]


@pytest.mark.parametrize("args", ["--help", "-h", "-vh"])
def test_asking_for_help_is_no_pass(args: str, step: Step, given: Callable[..., None]) -> None:
    given(args=args)

    assert entry.main() == 2
    (error,) = step.commands()
    assert "nothing was run" in error.message
    assert step.written() == {"result": "error"}


def test_a_wrong_command_line_in_args_is_one_error(step: Step, given: Callable[..., None]) -> None:
    given(args="--nonsense\n::error::x")

    assert entry.main() == 2

    (error,) = step.commands()
    assert error.name == "error"
    assert "--nonsense" in error.message
    assert step.written() == {"result": "error"}


def test_everything_is_printed_in_order_to_one_stream(
    step: Step, replaced: Callable[[Main], list[list[str]]], capsys: pytest.CaptureFixture[str]
) -> None:
    def main(_: Sequence[str]) -> int:
        for number in range(3):
            print(f"out {number}")
            print(f"err {number}", file=sys.stderr)
        return 0

    replaced(main)
    entry.main()

    output, errors = capsys.readouterr()
    assert output.splitlines() == ["out 0", "err 0", "out 1", "err 1", "out 2", "err 2"]
    assert errors == ""


def test_a_baseline_of_an_artifact_is_there_while_the_command_runs(
    step: Step,
    given: Callable[..., None],
    replaced: Callable[[Main], list[list[str]]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def fetch(_: artifacts.Source, name: str, folder: Path) -> Path:
        folder.mkdir()
        return files.write(REPORT, folder)[0]

    def main(arguments: Sequence[str]) -> int:
        return 0 if Path(arguments[-1].partition("=")[2]).is_file() else 4

    monkeypatch.setattr(artifacts, "fetch", fetch)
    monkeypatch.setenv("GITHUB_REPOSITORY", "a/b")
    monkeypatch.setenv("GITHUB_RUN_ID", "7")
    called = replaced(main)
    given(baseline="artifact:nightly")

    assert entry.main() == 0

    assert called[0][-1].startswith("--baseline=")
    assert "artifact-nightly" in called[0][-1]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_no_baseline_yet_is_a_notice(
    step: Step,
    given: Callable[..., None],
    replaced: Callable[[Main], list[list[str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(artifacts, "fetch", lambda *_: None)
    monkeypatch.setenv("GITHUB_REPOSITORY", "a/b")
    monkeypatch.setenv("GITHUB_RUN_ID", "7")
    called = replaced(lambda _: 0)
    given(baseline="artifact:nightly")

    assert entry.main() == 0

    (notice,) = step.commands("notice")
    assert notice.message == (
        "There is no baseline yet: no successful run of this workflow on the default branch has an"
        " artifact 'nightly'."
    )
    assert called == [["run", "--report-dir=memory-matrix-report"]]


def test_a_baseline_that_cannot_be_had_ends_the_run(
    step: Step,
    given: Callable[..., None],
    replaced: Callable[[Main], list[list[str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fetch(*_: object) -> Path:
        raise MemoryMatrixError("the token may not read it")

    monkeypatch.setattr(artifacts, "fetch", fetch)
    monkeypatch.setenv("GITHUB_REPOSITORY", "a/b")
    monkeypatch.setenv("GITHUB_RUN_ID", "7")
    called = replaced(lambda _: 0)
    given(baseline="artifact:nightly")

    assert entry.main() == 4
    assert called == []
    assert [each.message for each in step.commands("error")] == ["the token may not read it"]
    assert step.written() == {"result": "error"}


def test_outside_a_workflow_an_artifact_is_an_error(step: Step, given: Callable[..., None]) -> None:
    given(baseline="artifact:nightly")

    assert entry.main() == 2
    assert "GITHUB_REPOSITORY" in step.commands("error")[0].message


@pytest.mark.parametrize("place", ["", "missing/output"])
def test_outputs_that_cannot_be_written_are_a_warning(
    step: Step,
    replaced: Callable[[Main], list[list[str]]],
    monkeypatch: pytest.MonkeyPatch,
    place: str,
) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", place)
    replaced(lambda _: 1)

    assert entry.main() == 1
    assert [each.name for each in step.commands()] == ["warning"]
