"""Kinds of real releases that once were judged wrongly."""

from __future__ import annotations

import pytest

from memory_matrix.compat.hints import load_hints
from memory_matrix.compat.judging import Evidence, Finding, judge, same_way
from memory_matrix.compat.model import Meaning, ReadKey, ReadResult, Reads, Variant, Writes, Written
from memory_matrix.matrix.model import EnvironmentSpec
from memory_matrix.report.model import Difference, Error
from support.tables import table

BUILT = {"one": Meaning("built", expected="value")}
TOO_NEW = Error("load", "ValueError", "unsupported pickle protocol: 5")


def test_an_interpreter_that_cannot_write_a_protocol_still_fails_to_read_it() -> None:
    lacking = Error("dump", "Lacking", "Needs pickle protocol 5.")
    evidence = Evidence(
        {name: EnvironmentSpec(name, "3.8") for name in ("old", "new")},
        ["pickle:5"],
        {
            "old": Writes("old", BUILT, {("one", "pickle:5"): Written("skipped", error=lacking)}),
            "new": Writes("new", BUILT, {("one", "pickle:5"): Written("written", "blob")}),
        },
        {"blob": [Variant((), "blob")]},
        {
            name: Reads(name, {ReadKey("pickle:5", "one", "blob", text=False): result})
            for name, result in {
                "old": ReadResult("unreadable", TOO_NEW),
                "new": ReadResult("loaded", differences={"value": ()}),
            }.items()
        },
        lambda *_: (),
    )
    cells = {(each.writer, each.reader): each for each in judge(evidence, (), load_hints())}
    assert cells["old", "old"].outcome == "skipped"
    assert cells["old", "old"].error == Error("dump", "Skipped", "Needs pickle protocol 5.")
    assert ("old", "new") not in cells
    assert (cells["new", "old"].outcome, cells["new", "old"].is_break) == ("unreadable", True)
    assert cells["new", "new"].outcome == "ok"


def made_up(name: str, *, path: str = "$.id", varies: str = "$.id") -> Finding:
    found = Difference(path, "str 'n1'", f"str {name!r}")
    return Finding("changed", diff=(found,), varies=frozenset({varies}))


@table(
    ("own", "same"),
    [
        (made_up("b"), True),
        (made_up("b", varies="$.at"), False),
        (Finding("changed", diff=(Difference("$.id", "str 'n1'", "None"),)), False),
        (made_up("a", varies="$.at"), True),
    ],
)
def test_what_every_load_makes_up_anew_is_the_same_way_wherever_it_does(
    own: Finding, same: bool
) -> None:
    assert same_way(made_up("a"), own, lambda _: None) is same


@pytest.mark.parametrize(
    ("difference", "outcome"),
    [
        (Difference("$.at", "missing", "missing"), "ok"),
        (Difference("$.at", "missing", "int 1"), "drifted"),
        (Difference("$.at", "int 1", "missing"), "changed"),
    ],
)
def test_what_neither_environment_ever_sets_is_no_drift(
    difference: Difference, outcome: str
) -> None:
    evidence = Evidence(
        {name: EnvironmentSpec(name, "3.11") for name in ("old", "new")},
        ["pickle"],
        {
            name: Writes(
                name,
                {"one": Meaning("built", expected=name)},
                {("one", "pickle"): Written("written", name)},
            )
            for name in ("old", "new")
        },
        {name: [Variant((), name)] for name in ("old", "new")},
        {
            name: Reads(
                name,
                {
                    ReadKey("pickle", "one", blob, text=False): ReadResult(
                        "loaded", differences={name: ()}
                    )
                    for blob in ("old", "new")
                },
            )
            for name in ("old", "new")
        },
        lambda writers, readers: [difference] if writers != readers else [],
    )
    found = {(each.writer, each.reader): each for each in judge(evidence, (), load_hints())}
    assert found["old", "new"].outcome == outcome
    assert found["old", "old"].outcome == "ok"
