"""The report says where the user's payloads are defined, for annotations and alerts."""

from __future__ import annotations

import pytest

from support.project import Project

pytestmark = pytest.mark.integration


def test_payloads_of_the_user_have_a_place_and_built_in_ones_none(project: Project) -> None:
    project.environment("only")
    project.payloads("""
        def payload_first():
            return 1


        def payload_second():
            return 2
        """)
    project.matrix(serializers=["json"], payloads=["builtin", "payloads.py"])
    run = project.run("compat", "--also", "sarif", "--also", "junit")
    places = run.report["locations"]
    assert set(places) == {"first", "second"}
    lines = [int(place.removeprefix("payloads.py:")) for place in places.values()]
    assert lines[1] - lines[0] == 4
    folder = project.folder / "memory-matrix-report"
    assert {"report.sarif", "report.junit.xml"} <= {path.name for path in folder.iterdir()}


APP = """
import os

if os.environ.get("BAD"):
    raise RuntimeError("no setting")
"""


@pytest.fixture
def importing(project: Project) -> Project:
    """A project whose payloads import its app, which raises where BAD is set."""
    project.write("payloads.py", "import app\n\n\ndef payload_one():\n    return [1]\n")
    return project


def test_an_error_of_the_app_is_at_the_import_in_the_payloads_file(importing: Project) -> None:
    importing.environment("bad", env={"BAD": "1"}, app=APP)
    importing.matrix(serializers=["json"])
    run = importing.run(
        "compat", "-q", GITHUB_ACTIONS="true", GITHUB_WORKSPACE=str(importing.folder)
    )

    assert run.code == 2
    (error,) = (line for line in run.stderr.splitlines() if line.startswith("::error"))
    assert "file=payloads.py,line=1," in error
    assert "payloads.py: line 1 (release0/app.py:5): no environment can import" in error


def test_where_one_environment_can_import_it_the_payload_has_its_place_and_the_reason_too(
    importing: Project,
) -> None:
    importing.environment("good", app=APP)
    importing.environment("bad", env={"BAD": "1"}, app=APP)
    importing.matrix(serializers=["json"])
    run = importing.run("compat", "-q")

    (record,) = run.report["payloads"]
    assert record["reason"] == "payloads.py: line 1 (release1/app.py:5): RuntimeError: no setting"
    assert run.report["locations"] == {"one": "payloads.py:4"}
