"""What breaks between releases of Python alone, without a package."""

from __future__ import annotations

import pytest

from support.project import Project

pytestmark = pytest.mark.integration


def test_what_python_39_brought_cannot_be_read_by_python_38(project: Project) -> None:
    project.environment("older", python="3.8")
    project.environment("newer", python="3.9")
    project.payloads("""
        import datetime

        def payload_reminder():
            import zoneinfo
            zone = zoneinfo.ZoneInfo("Asia/Tokyo")
            return {"at": datetime.datetime(2031, 5, 6, 7, tzinfo=zone)}

        def payload_signature():
            return {"returns": dict[str, int]}

        def payload_offset():
            east = datetime.timezone(datetime.timedelta(hours=9))
            return {"at": datetime.datetime(2031, 5, 6, 7, tzinfo=east)}
        """)
    project.matrix(serializers=["pickle:4"])

    run = project.compat("-q")

    assert run.code == 1
    assert (
        run.says("newer", "older", "reminder")
        == "unreadable break forward ModuleNotFoundError MM102"
    )
    assert (
        run.says("newer", "older", "signature") == "unreadable break forward AttributeError MM103"
    )
    assert run.says("newer", "newer", "reminder") == "ok"
    assert run.says("newer", "older", "offset") == "ok forward"
    assert run.says("older", "newer", "offset") == "ok backward"


def test_what_python_311_changed_breaks_in_either_direction(project: Project) -> None:
    for name, python in (("older", "3.10"), ("newer", "3.11")):
        project.environment(
            name,
            python=python,
            packages=["cloudpickle==3.1.2"],
            app="""
                from enum import StrEnum

                class Mood(StrEnum):
                    CALM = "calm"
                """,
        )
    project.payloads("""
        import asyncio

        def payload_mood():
            import app
            return [app.Mood.CALM]

        def payload_failure():
            return {"error": asyncio.TimeoutError("no answer")}

        def payload_scorer():
            return lambda text, weight=2: len(text) * weight

        def probe_scorer(scorer):
            return scorer("abc")
        """)
    project.matrix(serializers=["cloudpickle", "pickle"])

    run = project.compat("-q")

    def says(writer: str, reader: str, payload: str, serializer: str = "pickle") -> str:
        return run.says(writer, reader, payload, serializer=serializer)

    assert run.code == 1
    assert says("newer", "older", "mood") == "unreadable break forward ImportError MM103"
    assert says("newer", "older", "failure").startswith("changed break forward")
    assert says("older", "newer", "failure") == "drifted backward MM301"
    for pair, direction in ((("older", "newer"), "backward"), (("newer", "older"), "forward")):
        found = says(*pair, "scorer", "cloudpickle").split()
        assert found[1:3] == ["break", direction]
        assert found[-1] in {"MM106", "MM601"}
    assert says("newer", "newer", "scorer", "cloudpickle") == "ok"
    assert says("newer", "newer", "scorer").startswith("unwritable")
