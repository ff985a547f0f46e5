"""Runs against an earlier run: only what is new fails, and what is fixed is said."""

from __future__ import annotations

import json
import subprocess

import pytest

from support.project import VALKEY, Project, Run

pytestmark = pytest.mark.integration

PAYLOADS = """
    import app

    def payload_chat():
        return app.chat()

    def payload_note():
        return app.note()
    """


@pytest.fixture
def project(project: Project) -> Project:
    """A project whose reader has lost the class of its notes."""
    project.servers = VALKEY
    project.environ["GITHUB_SHA"] = ""
    project.payloads(PAYLOADS)
    project.environment("old", app=module(chat="Chat", note="Note"))
    project.environment("next", app=module(chat="Chat", note="Memo"))
    project.matrix(fail_on="new-breaks")
    return project


def module(**classes: str) -> str:
    """Return an app whose functions build objects of these classes."""
    return "".join(
        f"class {name}:\n    pass\n\ndef {function}():\n    return {name}()\n\n"
        for function, name in classes.items()
    )


def keep(project: Project, run: Run) -> str:
    """Keep the report of `run` as a baseline, and return where."""
    assert run.written is not None
    (project.folder / "main.json").write_bytes(run.written)
    return "main.json"


def new(run: Run) -> dict[str, bool | None]:
    return {each["payload"]: each["new"] for each in run.cells(writer="old", reader="next")}


def test_only_new_breaks_fail_a_run_that_has_a_baseline(project: Project) -> None:
    first = project.compat("--history", "history.jsonl")
    assert first.code == 1
    assert new(first) == {"chat": None, "note": None}
    assert "There is no baseline (--baseline), so every break" in first.stdout
    baseline = keep(project, first)

    second = project.compat("--baseline", baseline, "--history", "history.jsonl")
    assert second.code == 0
    assert new(second) == {"chat": None, "note": False}
    assert "(0 new, 0 fixed, 2 still broken)" in second.stdout
    assert "makes the run fail (fail-on = new-breaks)." in second.stdout

    project.write("release1/app.py", module(chat="Talk", note="Note"))
    third = project.compat(
        "--baseline", baseline, "--history", "history.jsonl", GITHUB_SHA="c0ffee"
    )
    assert third.code == 1
    assert new(third) == {"chat": True, "note": None}
    assert "(2 new, 2 fixed, 0 still broken)" in third.stdout
    assert "Fixed since the baseline (2)" in third.stdout

    lines = (project.folder / "history.jsonl").read_text().splitlines()
    kept = [json.loads(line) for line in lines]
    assert [(each["breaks"], each["new"], each["fixed"]) for each in kept] == [
        (2, None, None),
        (2, 0, 0),
        (2, 2, 2),
    ]
    assert [each["commit"] for each in kept] == [None, None, "c0ffee"]
    assert all(each["digest"] == kept[0]["digest"] for each in kept)


def test_a_matrix_that_grew_is_compared_with_what_it_was(project: Project) -> None:
    baseline = keep(project, project.compat("--fail-on", "never"))
    project.environment("later", app=module(chat="Chat", note="Note"))
    project.matrix(fail_on="new-breaks")
    run = project.compat("--baseline", baseline)
    assert run.code == 1
    assert [
        (each["reader"], each["new"]) for each in run.cells(writer="next") if each["break"]
    ] == [
        ("old", False),
        ("later", True),
    ]
    assert "The baseline is of another matrix: " in run.stdout


def test_the_folder_that_a_run_overwrites_can_be_its_baseline(project: Project) -> None:
    project.compat()
    run = project.compat("--baseline", "memory-matrix-report")
    assert run.code == 0
    assert new(run) == {"chat": None, "note": False}


def test_the_commit_is_that_of_the_checkout(project: Project) -> None:
    git = ["git", "-C", str(project.folder), "-c", "user.name=a", "-c", "user.email=a@b.example"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    done = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    project.compat("--fail-on", "never")
    assert project.run("report", "--history", "history.jsonl").code == 0
    (line,) = (project.folder / "history.jsonl").read_text().splitlines()
    assert json.loads(line)["commit"] == done.stdout.strip()


def test_cases_of_the_suite_are_compared(project: Project) -> None:
    only = ("suite", "--store", "memory_matrix.stores:RedisStore")
    select = ("--select", "case=text_ascii_round_trip environment=next")
    report = project.run(*only, *select).report
    (result,) = report["suite"]
    report["suite"] = [{**result, "outcome": "failed", "reason": "lost one"}]
    (project.folder / "main.json").write_text(json.dumps(report))

    run = project.run(*only, *select, "--baseline", "main.json")

    assert run.code == 0
    assert "1 case passed (1 fixed) in 1 environment." in run.stdout
    assert "Cases fixed since the baseline (1)" in run.stdout
