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
