"""How cells are judged: what counts as a break, and what does not."""

from __future__ import annotations

import pytest

from support.project import Project

pytestmark = pytest.mark.integration


def test_what_a_format_cannot_keep_is_lossy_in_every_reader_and_no_break(project: Project) -> None:
    project.environment("old")
    project.environment("new")
    project.payloads("""
        def payload_pairs():
            return {"pair": ("a", 1)}

        def payload_counts():
            return {7: "seven"}

        def payload_text():
            return {"seven": ["a", 1]}
        """)
    project.matrix(serializers=["json"])

    run = project.compat("-q")

    assert run.code == 0
    assert run.report["summary"]["breaks"] == 0
    assert run.says("old", "old", "pairs") == "changed MM201"
    assert run.says("old", "new", "pairs") == "changed backward MM201"
    assert run.says("old", "new", "counts") == "changed backward MM202"
    assert run.says("new", "old", "text") == "ok forward"


def test_what_only_one_slot_refuses_is_unstorable_there_alone(project: Project) -> None:
    project.environment("old")
    project.environment("new")
    project.payloads("""
        def payload_score():
            return {"score": float("nan")}
        """)
    project.matrix(serializers=["json"])

    run = project.compat("-q")

    assert run.code == 0
    refused, kept = sorted(
        run.cells(writer="old", reader="old"), key=lambda cell: cell["outcome"], reverse=True
    )
    assert (refused["outcome"], refused["break"], refused["cause"]) == (
        "unstorable",
        False,
        "MM503",
    )
    assert [each.rpartition("/")[2] for each in refused["via"]] == ["jsonb"]
    assert refused["error"]["stage"] == "store"
    assert kept["outcome"] == "ok"
    assert sorted(each.rpartition("/")[2] for each in kept["via"]) == ["bytea", "string"]
    assert [cell["outcome"] for cell in run.cells(writer="old", reader="new")] == ["ok"]


def test_a_cell_that_fails_just_as_the_writers_own_cell_does_is_no_break(project: Project) -> None:
    release = """
        class Fussy:
            def __init__(self):
                self.text = "a"

            def __setstate__(self, state):
                raise {error}
        """
    project.environment("old", app=release.format(error='KeyError("text")'))
    project.environment("same", app=release.format(error='KeyError("text")'))
    project.environment("new", app=release.format(error='PermissionError("read only")'))
    project.payloads("""
        import app

        def payload_fussy():
            return app.Fussy()
        """)
    project.matrix()

    run = project.compat("-q")

    assert run.code == 1
    assert run.says("old", "old", "fussy") == "unreadable KeyError MM105"
    assert run.says("old", "same", "fussy") == "unreadable backward KeyError MM105"
    assert run.says("old", "new", "fussy") == "unreadable break backward PermissionError MM100"
    assert run.says("new", "same", "fussy") == "unreadable break forward KeyError MM105"


def test_a_reader_that_cannot_build_the_payload_is_held_to_what_the_writer_meant(
    project: Project,
) -> None:
    project.environment("old", app="def build():\n    return {'when': (2030, 1)}\n")
    project.environment("new", app="def build():\n    raise RuntimeError('no clock here')\n")
    project.payloads("""
        import app

        def payload_plan():
            return app.build()
        """)
    project.matrix(serializers=["pickle", "json"])

    run = project.compat("-q")

    assert run.code == 0
    assert run.says("old", "new", "plan", serializer="pickle") == "ok backward"
    assert run.says("old", "new", "plan", serializer="json") == "changed backward MM201"
    (problem,) = run.report["payloads"]
    assert (problem["environment"], problem["payload"]) == ("new", "plan")
    assert problem["reason"] == "payloads.py:4: RuntimeError: no clock here"


def test_what_a_probe_raises_on_a_loaded_value_makes_it_unreadable_in_use(
    project: Project,
) -> None:
    release = """
        class Profile:
            def __init__(self):
                self.name = "Ada"
                {more}

            def greeting(self):
                return "Hello " + self.name{use}
        """
    project.environment("old", app=release.format(more="", use=""))
    project.environment(
        "new", app=release.format(more="self._title = 'Dr '", use=".join([self._title, ''])")
    )
    project.payloads("""
        import app

        def payload_profile():
            return app.Profile()

        def probe_profile(profile):
            return profile.greeting()
        """)
    project.matrix()

    run = project.compat("-q")

    assert run.code == 1
    assert run.says("old", "new", "profile") == "unreadable break backward AttributeError MM104"
    assert run.cell("old", "new", "profile")["error"]["stage"] == "use"
    # The older release uses what the later one wrote without trouble, as it uses its own.
    assert run.says("new", "old", "profile") == "drifted forward MM301"


def test_what_a_reader_invents_on_each_load_is_found(project: Project) -> None:
    release = """
        import itertools

        COUNTER = itertools.count()

        class Message:
            def __init__(self, text):
                self.text = text
                self.number = "first"

            def __setstate__(self, state):
                self.__dict__.update(state)
                {more}
        """
    project.environment("old", app=release.format(more=""))
    project.environment("new", app=release.format(more="self.number = 'no %d' % next(COUNTER)"))
    project.payloads("""
        import app

        def payload_message():
            return app.Message("hi")

        def probe_message(message):
            return message.text if message.number == "first" else message.number
        """)
    project.matrix()

    run = project.compat("-q")

    assert run.code == 1
    assert run.says("old", "new", "message").startswith("changed break backward")


def test_a_value_that_loads_but_cannot_be_dumped_again_is_unreadable_in_use(
    project: Project,
) -> None:
    release = """
        class Handle:
            def __init__(self):
                self.path = "notes.txt"
                self._saved = {saved}

            def __eq__(self, other):
                return self.path == other.path

            __hash__ = None

            def __getstate__(self):
                return {state}

            def __setstate__(self, state):
                self.path = state["path"]
        """
    project.environment("old", app=release.format(saved="1", state='{"path": self.path}'))
    project.environment(
        "new", app=release.format(saved="1", state='{"path": self.path, "saved": self._saved}')
    )
    project.payloads("""
        import app

        def payload_handle():
            return app.Handle()

        def probe_handle(handle):
            return handle.path
        """)
    project.matrix()

    run = project.compat("-q")

    assert run.says("old", "new", "handle") == "unreadable break backward AttributeError MM104"
    error = run.cell("old", "new", "handle")["error"]
    assert error["stage"] == "use"
    assert error["message"].startswith("it loads, but cannot be dumped again: ")


def test_a_payload_that_is_another_value_each_time_is_said_so_and_its_cells_are_skipped(
    project: Project,
) -> None:
    project.environment("old")
    project.environment("new")
    project.payloads("""
        import uuid

        def payload_ticket():
            return {"id": str(uuid.uuid4())}

        def payload_text():
            return "fine"
        """)
    project.matrix()

    run = project.compat("-q")

    assert run.code == 2  # nothing breaks, and nothing of the ticket was tried
    assert "payload 'ticket': no environment could write it: another value each time" in run.stderr
    assert {cell["outcome"] for cell in run.cells(payload="ticket")} == {"skipped"}
    assert {cell["outcome"] for cell in run.cells(payload="text")} == {"ok"}
    assert [each["status"] for each in run.report["payloads"]] == ["unstable", "unstable"]
    assert run.report["payloads"][0]["reason"].startswith(
        "another value each time it is built: $.id is str "
    )


def test_variables_of_one_environment_change_what_it_writes_and_are_named(
    project: Project,
) -> None:
    app = """
        import os

        def build():
            return {"mode": os.environ.get("RECALL_MODE", "none")}
        """
    project.environment("old", app=app, env={"RECALL_MODE": "fast"})
    project.environment("new", app=app)
    project.payloads("""
        import app

        def payload_settings():
            return app.build()
        """)
    project.matrix()

    run = project.compat("-q", RECALL_MODE="slow")

    assert run.environment("old")["env"] == {"RECALL_MODE": "fast"}
    assert run.environment("new")["env"] == {}
    (difference,) = run.cell("old", "new", "settings")["diff"]
    assert difference == {
        "path": "$.mode",
        "expected": "str 'slow'",
        "got": "str 'fast'",
    }
