"""What is printed where: terminals, pipes, files, and nobody at all."""

from __future__ import annotations

import errno
import json
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from support.project import COMMAND, LONGEST, VALKEY, Project

pytestmark = pytest.mark.integration

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
CONTROL = re.compile(r"\x1b")


@pytest.fixture
def project(project: Project) -> Project:
    """A small project with a break."""
    project.servers = VALKEY
    project.environment("old", app="class Note:\n    pass\n")
    project.environment("new", app="class Memo:\n    pass\n")
    project.payloads("""
        import app

        def payload_note():
            return app.Note()
        """)
    project.matrix()
    return project


def on_terminal(project: Project, *arguments: str, **environ: str) -> tuple[int, str]:
    """Run the command line on a terminal; return its exit code and all that was shown."""
    main, terminal = pty.openpty()
    try:
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=project.folder,
            env=project.variables({"TERM": "xterm-256color", **environ}),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
        os.close(terminal)
        shown = b"".join(iter(lambda: _read(main), b""))
        return process.wait(LONGEST), shown.decode()
    finally:
        os.close(main)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError as error:
        if error.errno != errno.EIO:  # how Linux says that nobody has the terminal open any more
            raise
        return b""


def test_a_terminal_gets_colours_and_bars_that_are_gone_in_the_end(project: Project) -> None:
    code, shown = on_terminal(project, "compat")

    assert code == 1
    assert COLOUR.search(shown)
    assert "━" in shown
    assert shown.rstrip().splitlines()[-1].startswith("Report: ")


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"])
def test_a_terminal_that_wants_no_colours_gets_none(
    project: Project, environ: dict[str, str]
) -> None:
    project.compat("-q")

    code, shown = on_terminal(project, "report", **environ)

    assert code == 0
    assert "AttributeError" in shown
    assert not COLOUR.search(shown)


def test_what_is_no_terminal_gets_plain_text_the_report_alone_on_standard_output(
    project: Project,
) -> None:
    run = project.compat()

    assert run.code == 1
    assert not CONTROL.search(run.stdout + run.stderr)
    *phases, verdict, report = (line.partition(":")[0] for line in run.stderr.splitlines())
    assert phases == ["Environments", "Starting servers", "Writing", "Storing", "Reading"]
    assert (verdict, report) == ("1 break in 3 cells", "Report")
    assert "Starting servers" not in run.stdout
    assert run.stdout == project.run("report").stdout


def test_quiet_shows_the_report_and_nothing_else(project: Project) -> None:
    run = project.compat("-q")

    assert run.stderr == ""
    assert "AttributeError" in run.stdout


def test_every_format_of_a_saved_report_goes_to_standard_output(project: Project) -> None:
    report = project.compat("-q").report

    assert json.loads(project.run("report", "--format", "json").stdout) == report
    saved = (project.folder / "memory-matrix-report" / "report.md").read_text()
    assert project.run("report", "--format", "markdown").stdout == saved


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["plan"], ["plan", "--json"], ["compat", "-q"], ["compat", "--help"]],
    ids=" ".join,
)
def test_nobody_who_reads_is_no_error_and_costs_no_report(
    project: Project, arguments: list[str]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as nobody:
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=project.folder,
            env=project.variables(),
            stdout=nobody,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert (done.returncode, done.stderr) == (141, "")
    report = project.folder / "memory-matrix-report" / "report.json"
    assert report.exists() == (arguments == ["compat", "-q"])


@pytest.mark.parametrize("variable", ["", "true"])
def test_an_error_that_nobody_reads_is_no_finding(project: Project, variable: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as nobody:
        done = subprocess.run(
            [*COMMAND, "compat", "-c", "missing.toml"],
            cwd=project.folder,
            env=project.variables({"GITHUB_ACTIONS": variable}),
            stderr=nobody,
            check=False,
        )

    assert done.returncode == 2


def test_standard_streams_that_are_closed_are_no_error(project: Project) -> None:
    command = " ".join([*COMMAND, "compat", "-q"])

    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {command} <&- >&- 2>&-"],
        cwd=project.folder,
        env=project.variables(),
        check=False,
    )

    assert done.returncode == 1
    assert (project.folder / "memory-matrix-report" / "report.json").exists()


def test_a_disk_that_is_full_under_standard_output_is_told_and_costs_no_report(
    project: Project,
) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full")
    with full.open("w") as stream:
        done = subprocess.run(
            [*COMMAND, "compat", "-q"],
            cwd=project.folder,
            env=project.variables(),
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.returncode == 4
    assert ": No space left on device: make room for " in done.stderr
    assert done.stderr.endswith(" and for what is printed.\n")
    assert len(done.stderr.splitlines()) == 1
    assert (project.folder / "memory-matrix-report" / "report.json").exists()
