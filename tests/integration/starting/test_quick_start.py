"""docs/quick-start.md, followed to the letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.act import ROOT
from support.project import Project, in_words
from support.quoted import blocks, not_quoted

pytestmark = pytest.mark.integration

PAGE = ROOT / "docs/quick-start.md"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path, "")
    made.need("3.10", "3.13")
    return made


def test_its_words_lead_from_nothing_to_the_breaks_that_it_shows(project: Project):
    assert [block.split()[1] for block in blocks(PAGE, "sh")] == ["init", "compat", "compat"]
    nothing, found = blocks(PAGE, "text")
    assert project.run("init").code == 0
    first = project.run("compat")
    assert first.code == 0
    assert not_quoted(nothing, first.stdout) == []
    for block in blocks(PAGE, "python"):
        name = block.partition("\n")[0].removeprefix("# ")
        path = project.folder / name
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(f"{before}\n\n{block}", encoding="utf-8")
    (matrix,) = blocks(PAGE, "toml")
    project.write("memory-matrix.toml", matrix)
    done = project.run("compat")
    assert done.code == 1, done.stderr
    breaks = [cell for cell in done.report["cells"] if cell["break"]]
    assert sorted(map(in_words, breaks)) == [
        "changed break backward MM115",
        "unreadable break forward KeyError MM105",
    ]
    assert not_quoted(found, done.stdout) == []
