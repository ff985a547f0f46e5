"""What breaks when only the app's own release differs between writer and reader."""

from __future__ import annotations

import pytest

from support.project import Project

pytestmark = pytest.mark.integration


def test_a_class_that_moved_was_renamed_or_removed_cannot_be_read_by_the_other_release(
    project: Project,
) -> None:
    plain = "class {}:\n    def __init__(self, text):\n        self.text = text\n"
    project.environment(
        "old",
        app={
            "ledger.py": plain.format("Entry"),
            "tools.py": plain.format("Invocation"),
            "drafts.py": plain.format("Draft"),
        },
    )
    project.environment(
        "new",
        app={
            "storage/__init__.py": "",
            "storage/ledger.py": plain.format("Entry"),
            "tools.py": plain.format("Call"),
            "drafts.py": "",
        },
    )
    project.payloads("""
        def payload_moved():
            try:
                from ledger import Entry
            except ImportError:
                from storage.ledger import Entry
            return Entry("rent")

        def payload_renamed():
            import tools
            return getattr(tools, "Invocation", getattr(tools, "Call", None))("f")

        def payload_removed():
            import drafts
            return drafts.Draft("hello")
        """)
    project.matrix()

    run = project.compat("-q")

    assert run.code == 1
    assert {each: run.says("old", "new", each) for each in ("moved", "renamed", "removed")} == {
        "moved": "unreadable break backward ModuleNotFoundError MM102",
        "renamed": "unreadable break backward AttributeError MM103",
        "removed": "unreadable break backward AttributeError MM103",
    }
    assert {each: run.says("new", "old", each) for each in ("moved", "renamed")} == {
        "moved": "unreadable break forward ModuleNotFoundError MM102",
        "renamed": "unreadable break forward AttributeError MM103",
    }
    assert {run.says("old", "old", each) for each in ("moved", "renamed", "removed")} == {"ok"}
    assert run.says("new", "new", "removed") == "skipped Skipped"
    assert not run.cells(writer="new", reader="old", payload="removed")


def test_fields_that_a_later_release_added_are_missing_on_what_the_older_one_wrote(
    project: Project,
) -> None:
    release = """
        from dataclasses import dataclass, field

        class Plain:
            def __init__(self):
                self.text = "a"
                {self}

        class Slotted:
            __slots__ = ("text", "tags")
            def __init__(self):
                self.text = "a"
                {self}

        @dataclass
        class Record:
            text: str
            {factory}

        @dataclass
        class Defaulted:
            text: str
            {default}
        """
    project.environment("old", app=release.format(self="", factory="", default=""))
    project.environment(
        "new",
        app=release.format(
            self="self.tags = []",
            factory="tags: list = field(default_factory=list)",
            default="score: float = 0.0",
        ),
    )
    project.payloads("""
        import app

        def payload_plain():
            return app.Plain()

        def payload_slotted():
            return app.Slotted()

        def payload_record():
            return app.Record("a")

        def payload_defaulted():
            return app.Defaulted("a")
        """)
    project.matrix()

    run = project.compat("-q")

    assert run.code == 1
    for payload in ("plain", "slotted", "record"):
        assert run.says("old", "new", payload) == "changed break backward MM104"
        (difference,) = run.cell("old", "new", payload)["diff"]
        assert difference == {"path": "$.tags", "expected": "list of 0", "got": "missing"}
    for payload in ("plain", "slotted", "record"):
        assert run.says("new", "old", payload) == "changed break forward MM215"
    # Every use of the loaded object finds a default that the class itself has.
    assert run.says("old", "new", "defaulted") == "ok backward"


def test_fields_that_are_restored_by_position_change_places(project: Project) -> None:
    release = """
        from dataclasses import dataclass

        @dataclass
        class Turn:
            __slots__ = {fields}
            speaker: str
            said: str

            def __getstate__(self):
                return [getattr(self, name) for name in self.__slots__]

            def __setstate__(self, state):
                for name, value in zip(self.__slots__, state):
                    setattr(self, name, value)
        """
    project.environment("old", app=release.format(fields=("speaker", "said")))
    project.environment("new", app=release.format(fields=("said", "speaker")))
    project.payloads("""
        import app

        def payload_turn():
            return app.Turn(speaker="assistant", said="good morning")

        def payload_palindrome():
            return app.Turn(speaker="echo", said="echo")
        """)
    project.matrix()

    run = project.compat("-q")

    assert run.says("old", "new", "turn") == "changed break backward MM212"
    assert run.says("new", "old", "turn") == "changed break forward MM212"
    assert {each["path"] for each in run.cell("old", "new", "turn")["diff"]} == {
        "$.speaker",
        "$.said",
    }
    assert run.says("old", "new", "palindrome") == "ok backward"


def test_a_field_that_the_reader_drops_without_a_word_is_lost(project: Project) -> None:
    release = """
        import json

        FIELDS = {fields}

        class Fact:
            def __init__(self, **values):
                self.__dict__.update({{name: values.get(name, "") for name in FIELDS}})

        class codec:
            @staticmethod
            def dumps(value):
                return json.dumps(vars(value))

            @staticmethod
            def loads(text):
                known = {{name: item for name, item in json.loads(text).items() if name in FIELDS}}
                return Fact(**known)
        """
    project.environment("old", app=release.format(fields=("text",)))
    project.environment("new", app=release.format(fields=("text", "source")))
    project.payloads("""
        import app

        def payload_fact():
            return app.Fact(text="it rains", source="radio")
        """)
    project.matrix(serializers=["app:codec"])

    run = project.compat("-q")

    assert run.code == 1
    # What `old` builds has no place for the source either; it is lost all the same.
    forward = run.cell("new", "old", "fact")
    assert (forward["outcome"], forward["direction"], forward["break"]) == (
        "changed",
        "forward",
        True,
    )
    assert forward["diff"] == [
        {"path": "$.source", "expected": "str 'radio'", "got": "missing"},
    ]


def test_a_codec_of_the_project_is_taken_from_each_environments_own_release(
    project: Project,
) -> None:
    release = """
        import json

        class Codec:
            def dumps(self, value):
                return {write}

            def loads(self, data):
                return {read}

        codec = Codec()
        """
    versioned = {"write": '"2" + json.dumps(value)', "read": "json.loads(data[1:])"}
    bare = {"write": "json.dumps(value)", "read": "json.loads(data)"}
    project.environment("old", app={"codec.py": release.format(**bare)})
    project.environment("new", app={"codec.py": release.format(**versioned)})
    project.write("shared/marked.py", release.format(write='b"\\xff1"', read="[data[1:].decode()]"))
    project.payloads("""
        def payload_words():
            return ["1"]
        """)
    project.matrix(serializers=["codec:codec", "shared/marked.py:codec"])

    run = project.compat("-q")

    assert run.code == 1
    assert run.says("old", "new", "words", serializer="codec:codec").startswith(
        "unreadable break backward json.decoder.JSONDecodeError"
    )
    assert run.says("new", "old", "words", serializer="codec:codec").startswith(
        "changed break forward"
    ) or run.says("new", "old", "words", serializer="codec:codec").startswith(
        "unreadable break forward"
    )
    assert run.says("new", "new", "words", serializer="codec:codec") == "ok"
    (same,) = {
        run.says(writer, reader, "words", serializer="shared/marked.py:codec").partition(" ")[0]
        for writer in ("old", "new")
        for reader in ("old", "new")
    }
    assert same == "ok"
