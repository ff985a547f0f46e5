"""What breaks between releases of packages: one run that has a few of the best known."""

from __future__ import annotations

import pytest

from support.project import Project

pytestmark = pytest.mark.integration


def test_packages_that_changed_how_they_save_their_state_break(project: Project) -> None:
    project.environment(
        "old",
        python="3.11",
        packages=["attrs==21.4.0", "cbor2==5.4.6", "numpy==1.25.2", "pydantic==1.10.26"],
    )
    project.environment(
        "new",
        python="3.11",
        packages=["attrs==22.2.0", "cbor2==6.3.0", "numpy==2.4.6", "pydantic==2.14.4"],
    )
    project.write(
        "models.py",
        """
        import attr
        import pydantic

        class Preference(pydantic.BaseModel):
            topic: str
            weight: float = 1.0

        @attr.s(slots=True, auto_attribs=True)
        class Step:
            tool: str
            tokens: int
        """,
    )
    project.payloads("""
        import datetime
        import models
        import numpy

        def payload_preference():
            return models.Preference(topic="tea")

        def payload_step():
            return models.Step(tool="search", tokens=12)

        def payload_vector():
            return numpy.linspace(0, 1, 5)

        def payload_birthday():
            return {"on": datetime.date(1999, 12, 31)}
        """)
    project.matrix(serializers=["pickle", "cbor2"])

    run = project.compat("-q")

    def says(writer: str, reader: str, payload: str, serializer: str = "pickle") -> str:
        return run.says(writer, reader, payload, serializer=serializer)

    assert run.code == 1
    assert says("old", "new", "preference") == "changed break backward MM115"
    assert says("new", "old", "preference") == "unreadable break forward KeyError MM105"
    assert says("old", "new", "step") == "changed break backward MM104"
    assert says("new", "old", "step").startswith("changed break forward")
    assert says("old", "new", "vector") == "ok backward"
    assert says("new", "old", "vector") == "unreadable break forward ModuleNotFoundError MM102"
    assert says("new", "old", "birthday", "cbor2") == "changed break forward MM111"
    assert says("new", "old", "birthday") == "ok forward"
    assert says("old", "old", "birthday", "cbor2").startswith("unwritable")
    assert run.environment("old")["packages"]["attrs"] == "21.4.0"
