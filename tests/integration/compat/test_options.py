"""What the matrix file's options change: what fails a run, what is expected, what is left out."""

from __future__ import annotations

import pytest

from support.project import Project

pytestmark = pytest.mark.integration


@pytest.fixture
def mixed(project: Project) -> Project:
    """A project with a break, a drift, and, in JSON, something lossy."""
    project.environment("old", app="class Note:\n    pass\n\nlimit = 10\n")
    project.environment("new", app="class Memo:\n    pass\n\nlimit = 20\n")
    project.payloads("""
        import app

        def payload_gone():
            return app.Note() if hasattr(app, "Note") else app.Memo()

        def payload_grown():
            return "up to the limit"

        def probe_grown(_):
            return app.limit

        def payload_pair():
            return (1, 2)
        """)
    return project


@pytest.mark.parametrize(
    ("fail_on", "payload", "code"),
    [
        ("never", "gone", 0),
        ("break", "gone", 1),
        ("break", "grown", 0),
        ("drifted", "grown", 1),
        ("drifted", "pair", 0),
        ("changed", "pair", 1),
    ],
)
def test_fail_on_names_the_mildest_outcome_that_fails_the_run(
    mixed: Project, fail_on: str, payload: str, code: int
) -> None:
    serializer = "json" if payload == "pair" else "pickle"
    mixed.matrix(serializers=[serializer], fail_on=fail_on)

    run = mixed.compat("-q", "--select", f"payload={payload}")

    assert run.code == code
    assert run.report["fail_on"] == fail_on
    assert run.report["summary"]["ok"] < run.report["summary"]["cells"]


def test_the_command_line_has_the_last_word_on_fail_on(mixed: Project) -> None:
    mixed.matrix(fail_on="break")

    run = mixed.compat("-q", "--fail-on", "never")

    assert run.code == 0
    assert run.report["summary"]["breaks"] > 0


def test_directions_restrict_what_fails_a_run_and_not_what_it_reports(project: Project) -> None:
    project.environment("old", app="class Note:\n    pass\n")
    project.environment("new", app="class Note:\n    pass\n\nclass Memo:\n    pass\n")
    project.payloads("""
        import app

        def payload_newest():
            return getattr(app, "Memo", app.Note)()
        """)
    project.matrix(directions=["backward"])

    run = project.compat("-q")

    assert run.says("new", "old", "newest") == "unreadable break forward AttributeError MM103"
    assert run.code == 1, "an old note is no memo either"

    project.matrix(directions=["sideways"])

    assert project.compat("-q").code == 0


def test_known_breaks_do_not_fail_a_run_and_stale_ones_are_told(mixed: Project) -> None:
    mixed.matrix(
        more="""
        [[known]]
        writer = "o*"
        payload = "gone"
        reason = "notes are rewritten at night"

        [[known]]
        reader = "old"
        payload = "gone"
        reason = "nobody rolls back"

        [[known]]
        payload = "pair"
        reason = "fixed long ago"
        """
    )

    run = mixed.compat("-q")

    assert run.code == 0
    assert run.cell("old", "new", "gone")["known"] == "notes are rewritten at night"
    assert run.cell("new", "old", "gone")["known"] == "nobody rolls back"
    assert run.report["summary"]["known"] == run.report["summary"]["breaks"] == 2
    (stale,) = run.report["stale_known"]
    assert "known[2]" in stale
    assert "fixed long ago" in stale


def test_a_known_break_of_a_payload_that_there_is_not_is_refused(mixed: Project) -> None:
    mixed.matrix(more='[[known]]\npayload = "gonne"\nreason = "a slip"\n')

    run = mixed.compat("-q")

    assert run.code == 2
    assert run.error == (
        "known[0].payload: 'gonne' matches no payload of this matrix. Did you mean 'gone'?"
    )


def test_a_serializer_that_one_environment_lacks_is_skipped_there_with_what_to_add(
    project: Project,
) -> None:
    project.environment("old")
    project.environment("new", packages=["msgpack==1.1.2"])
    project.payloads("def payload_text():\n    return 'a'\n")
    project.matrix(serializers=["msgpack", "pickle"])

    run = project.compat("-q")

    assert run.code == 0
    assert run.says("new", "new", "text", serializer="msgpack") == "ok"
    for pair in (("old", "old"), ("new", "old")):
        cell = run.cell(*pair, "text", serializer="msgpack")
        assert cell["outcome"] == "skipped"
        assert 'add "msgpack" to its packages' in cell["error"]["message"]
    assert run.says("old", "new", "text", serializer="pickle") == "ok backward"


def test_a_serializer_that_every_environment_lacks_is_refused(project: Project) -> None:
    project.environment("old")
    project.environment("new")
    project.payloads("def payload_text():\n    return 'a'\n")
    project.matrix(serializers=["pickle", "cbor2"])

    run = project.compat("-q")

    assert run.code == 2
    assert run.error.startswith("compat.serializers: no environment has 'cbor2': ")
    assert 'add "cbor2" to its packages' in run.error


def test_a_selected_cell_is_run_alone_and_judged_as_in_the_whole_run(mixed: Project) -> None:
    mixed.matrix(serializers=["pickle", "json"])

    run = mixed.compat("-q", "--select", "writer=old reader=new serializer=pickle payload=gone")

    assert run.code == 1
    assert run.says("old", "new", "gone") == "unreadable break backward AttributeError MM103"
    assert {(cell["writer"], cell["reader"]) for cell in run.report["cells"]} == {
        ("old", "old"),
        ("old", "new"),
    }
