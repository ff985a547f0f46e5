"""A digest is the same wherever the matrix file stands, and another one where it asks for something else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memory_matrix.matrix.digest import digest, excuses
from memory_matrix.matrix.read import builtin_quick, read
from memory_matrix.matrix.select import narrow, parse
from support.tables import table

MATRIX = """
[[environment]]
name = "old"
python = "3.11"
packages = ["attrs==23.1.0"]
path = ["old"]
env = {MODE = "legacy"}

[[environment]]
name = "new"

[compat]
serializers = ["pickle", "app/codec.py:codec"]
payloads = ["payloads.py"]
timeout = 5

[[known]]
payload = "note"
reason = "ticket 1"

[servers]
postgres = ["postgresql://me:secret@db.example/memory"]
redis = ["bin:redis-server"]

[suite]
stores = ["memory_matrix.stores:RedisStore"]

[[suite.waiver]]
case = "ttl_*"
reason = "ticket 2"
until = 2030-01-01
"""


EXCUSES = (
    ('payload = "note"', 'payload = "no*"'),
    ("ticket 1", "ticket 3"),
    ('[[known]]\npayload = "note"\nreason = "ticket 1"\n', ""),
    ("[servers]", '[[known]]\nwriter = "old"\nreason = "ticket 4"\n\n[servers]'),
    ('case = "ttl_*"', 'case = "text_*"'),
    ("2030-01-01", "2031-01-01"),
)
"""What changes that which is excused, and nothing that is run."""


def digest_in(folder: Path, text: str = MATRIX) -> str:
    (folder / "old").mkdir(parents=True, exist_ok=True)
    (folder / "app").mkdir(exist_ok=True)
    for name in ("app/codec.py", "payloads.py", "redis-server"):
        (folder / name).touch()
    (folder / "memory-matrix.toml").write_text(text)
    return digest(read(folder / "memory-matrix.toml"))


def excuses_in(folder: Path, text: str = MATRIX) -> str:
    digest_in(folder, text)
    return excuses(read(folder / "memory-matrix.toml"))


def test_it_is_the_same_in_every_folder(tmp_path: Path) -> None:
    assert digest_in(tmp_path / "a") == digest_in(tmp_path / "deeper" / "b")


@table(
    ("old", "new"),
    [
        ("me:secret@", "me:other@"),
        ("[compat]", '[compat]\nfail-on = "never"'),
        ("[compat]", '[compat]\ndirections = ["forward"]'),
        *EXCUSES,
        ("\n\n", "\n# a comment\n\n"),
    ],
)
def test_what_changes_no_work_changes_no_digest(tmp_path: Path, old: str, new: str) -> None:
    assert digest_in(tmp_path, MATRIX.replace(old, new, 1)) == digest_in(tmp_path)


@table(
    ("old", "new"),
    [
        ('name = "new"', 'name = "newer"'),
        ('"3.11"', '"3.12"'),
        ("23.1.0", "23.2.0"),
        ('path = ["old"]', 'path = ["app"]'),
        ("legacy", "modern"),
        ('"pickle", ', '"pickle", "json", '),
        ("timeout = 5", "timeout = 6"),
        ("db.example", "db2.example"),
        ('"bin:redis-server"', '"image:redis:8.0"'),
        ("RedisStore", "PostgresStore"),
        ("[suite]", '[suite]\nstrategy = "pairwise"'),
    ],
)
def test_what_changes_the_work_changes_the_digest(tmp_path: Path, old: str, new: str) -> None:
    assert old in MATRIX
    assert digest_in(tmp_path, MATRIX.replace(old, new, 1)) != digest_in(tmp_path)


@table(("old", "new"), EXCUSES)
def test_what_is_excused_has_a_digest_of_its_own(tmp_path: Path, old: str, new: str) -> None:
    assert old in MATRIX
    assert excuses_in(tmp_path, MATRIX.replace(old, new, 1)) != excuses_in(tmp_path)


@pytest.mark.parametrize(
    ("old", "new"), [('"3.11"', '"3.12"'), ("RedisStore", "PostgresStore"), ("timeout = 5", "")]
)
def test_what_is_run_makes_no_difference_to_what_is_excused(
    tmp_path: Path, old: str, new: str
) -> None:
    assert excuses_in(tmp_path, MATRIX.replace(old, new, 1)) == excuses_in(tmp_path / "b")


def test_no_two_environments_may_change_places(tmp_path: Path) -> None:
    matrix = builtin_quick(tmp_path)
    turned = replace(matrix, environments=matrix.environments[::-1])

    assert digest(turned) != digest(matrix)


def test_a_part_has_the_digest_of_the_whole(tmp_path: Path) -> None:
    whole = digest_in(tmp_path)
    matrix = read(tmp_path / "memory-matrix.toml")
    matrix = replace(matrix, whole=whole, excuses=excuses(matrix))
    part = narrow(matrix, parse("environment=old payload=other"))

    assert digest(part) == whole
    assert not part.known
    assert excuses(part) == excuses_in(tmp_path)
