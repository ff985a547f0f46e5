"""Every text in a workflow command arrives as it is, and as nothing else."""

from __future__ import annotations

from memory_matrix.github import commands
from memory_matrix.github.commands import Annotation
from support import hostile
from support.runner import Command, obeyed
from support.tables import table


def test_an_annotation_is_one_line_of_what_is_known() -> None:
    assert str(Annotation("error", "broken")) == "::error::broken"
    assert (
        str(Annotation("warning", "a: b, 100%\nc", "x: y, 1%", "a,b.py", 12))
        == "::warning file=a%2Cb.py,line=12,title=x%3A y%2C 1%25::a: b, 100%25%0Ac"
    )


def test_groups_and_masks_are_commands() -> None:
    assert commands.group("Building: 50%") == "::group::Building: 50%25"
    assert commands.endgroup() == "::endgroup::"
    assert commands.add_mask("p%ss\nword") == "::add-mask::p%25ss%0Aword"


@table("text", hostile.TEXTS)
def test_any_text_in_any_field_arrives_whole(text: str) -> None:
    line = str(Annotation("error", f"m{text}.", f"t{text}.", f"f{text}.", 3))

    expected = {"file": f"f{text}.", "line": "3", "title": f"t{text}."}
    assert obeyed(line) == [Command("error", f"m{text}.", expected)]
