"""Passwords in URLs are told to the runner, and to nobody else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memory_matrix.github import masks
from support.tables import table

from .conftest import Step


@table(
    ("url", "secrets"),
    [
        ("postgresql://app:hunter22@db.example/app", ("hunter22",)),
        ("redis://:hunter22@cache.example:6379/0", ("hunter22",)),
        ("postgresql://app:a%2Fb%40c@db/app", ("a%2Fb%40c", "a/b@c")),
        ("postgresql://db/app?user=x&password=hunter22", ("hunter22",)),
        ("postgresql://db/app?sslpassword=hunter22&sslmode=require", ("hunter22",)),
        ("postgresql://app:hunter22@one:1,two:2/app", ("hunter22",)),
        ("postgresql://postgres:postgres@localhost/postgres", ()),
        ("postgresql://root:postgres@localhost/x", ()),
        ("postgresql://app:app@localhost/x", ()),
        ("postgresql://root:shop@localhost/shop", ()),
        ("redis://:abc@localhost", ()),
        ("redis://localhost", ()),
        ("image:redis:8.0", ()),
        ("bin:/usr/bin/redis-server", ()),
        ("", ()),
    ],
)
def test_passwords_that_are_secret_are_found(url: str, secrets: tuple[str, ...]) -> None:
    assert masks.secrets_in(url) == secrets


def test_each_is_masked_once(step: Step) -> None:
    url = "postgresql://app:hunter22@db/app"
    masks.mask([url, "image:redis:8.0", url, "redis://:other333@cache"])

    found = [(each.name, each.message) for each in step.commands()]
    assert found == [("add-mask", "hunter22"), ("add-mask", "other333")]


def test_a_password_is_never_written_to_a_file(
    step: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "log.txt"
    with kept.open("w") as file:
        monkeypatch.setattr(sys, "stderr", file)
        masks.mask(["redis://:hunter22@cache"])

    assert kept.read_text() == ""


def test_outside_github_nothing_is_said(step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS")
    masks.mask(["redis://:hunter22@cache"])

    assert step.commands() == []
