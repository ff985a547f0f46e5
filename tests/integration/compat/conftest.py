"""Projects whose runs use servers that run already: starting them takes longer than most runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_matrix.environments.cache import default_cache
from memory_matrix.matrix.model import ServerSource
from memory_matrix.matrix.sources import EMBEDDED
from memory_matrix.servers import Server, start_all
from support.project import Project


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The table `[servers]` of a Postgres and a Redis that this session started."""
    sources = [
        ServerSource(kind, "wheel", each.removeprefix("wheel:"), kind)
        for kind, all_of_it in EMBEDDED.items()
        for each in all_of_it
    ]
    folder = tmp_path_factory.mktemp("servers")
    with start_all(sources, folder=folder, cache=default_cache(), strict=True) as started:
        urls = {each.source.kind: each.url for each in started if isinstance(each, Server)}
        yield "\n".join(["[servers]", *(f'{kind} = ["{url}"]' for kind, url in urls.items())])


@pytest.fixture
def project(tmp_path: Path, running: str) -> Project:
    """A new project, whose matrix uses the servers of this session."""
    return Project(tmp_path, running)
