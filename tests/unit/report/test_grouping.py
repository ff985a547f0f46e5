"""The grouping that every report shares: each thing once, the worst first, nothing lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import get_args

from memory_matrix.report import grouping
from memory_matrix.report.model import Cell, Error, PayloadRecord, Report
from support.tables import table

OK = Cell("a", "b", "json", "x", (), "ok", direction="backward")
BREAK = replace(OK, outcome="unreadable", is_break=True, error=Error("load", "E", "m"))
SKIPPED = replace(OK, outcome="skipped", error=Error("dump", "Skipped", "not installed"))


def _between(pairs: list[str], cell: Cell = BREAK) -> list[Cell]:
    return [replace(cell, writer=pair[0], reader=pair[1]) for pair in pairs]


def test_every_mark_has_its_words() -> None:
    marks = set(get_args(grouping.Mark))
    assert set(grouping.MEANINGS) == set(grouping.SYMBOLS) == marks


@table(
    ("cell", "mark"),
    [
        (OK, "ok"),
        (BREAK, "unreadable"),
        (replace(BREAK, known="expected"), "known"),
        (replace(BREAK, is_break=False), "own failure"),
        (replace(OK, outcome="changed"), "lossy"),
        (replace(OK, outcome="drifted"), "drifted"),
        (SKIPPED, "skipped"),
    ],
)
def test_the_mark_says_what_a_cell_means(cell: Cell, mark: str) -> None:
    assert grouping.mark(cell) == mark


def test_a_pair_shows_its_worst() -> None:
    changed = replace(BREAK, outcome="changed", error=None)
    crashed = replace(BREAK, outcome="crashed")
    cells = (OK, changed, changed, crashed, replace(BREAK, known="k"), SKIPPED)
    grid = grouping.grid(Report(cells=cells), 20)
    assert grid.names == ("a", "b")
    assert grid.entries == {("a", "b"): grouping.Entry("crashed", 1)}


def test_a_known_break_is_less_bad_than_a_new_one_and_worse_than_none() -> None:
    known = replace(BREAK, outcome="crashed", known="k")
    assert grouping.grid(Report(cells=(OK, known)), 9).entries["a", "b"].mark == "known"
    assert grouping.grid(Report(cells=(known, BREAK)), 9).entries["a", "b"].mark == "unreadable"


def test_limits_show_on_the_diagonal_only() -> None:
    lossy = replace(OK, outcome="changed")
    own = replace(lossy, reader="a", direction=None)
    entries = grouping.grid(Report(cells=(own, lossy)), 20).entries
    assert entries["a", "a"].mark == "lossy"
    assert entries["a", "b"].mark == "ok"


def test_the_grid_keeps_the_worst_environments_in_their_order() -> None:
    cells = [
        *_between(["ab", "bc", "cd", "ac"], OK),
        *_between(["de"], BREAK),
        *_between(["fa"], replace(OK, outcome="drifted")),
    ]
    grid = grouping.grid(Report(cells=tuple(cells)), 3)
    assert grid.names == ("a", "d", "e")
    assert grid.left_out == 3
    assert grid.hidden_breaks == 0
    assert grouping.grid(Report(cells=tuple(cells)), 1).hidden_breaks == 1


def test_groups_are_worst_first_then_largest() -> None:
    cells = [
        *[replace(BREAK, cause="MM102", payload=str(number)) for number in range(2)],
        replace(BREAK, cause="MM103"),
        *[replace(BREAK, outcome="changed", payload=str(number)) for number in range(9)],
        replace(BREAK, outcome="crashed"),
    ]
    found = [(each.outcome, each.cause, len(each.cells)) for each in grouping.groups(cells)]
    assert found == [
        ("crashed", None, 1),
        ("unreadable", "MM102", 2),
        ("unreadable", "MM103", 1),
        ("changed", None, 9),
    ]


def test_errors_without_a_cause_are_told_apart_by_type() -> None:
    other = replace(BREAK, error=Error("load", "F", "m"))
    assert len(grouping.groups([BREAK, other])) == 2
    assert len(grouping.groups([replace(BREAK, cause="MM1"), replace(other, cause="MM1")])) == 1


def test_equal_findings_are_merged() -> None:
    whats = [("json", "x"), ("json", "y"), ("pickle", "x"), ("pickle", "y")]
    cells = [
        replace(cell, serializer=serializer, payload=payload)
        for serializer, payload in whats
        for cell in _between(["ac", "ad", "bc", "bd"])
    ]
    (finding,) = grouping.findings(cells)
    assert finding.serializers == ("json", "pickle")
    assert finding.payloads == ("x", "y")
    assert finding.flows == (grouping.Flow(("a", "b"), ("c", "d"), ("backward",), 4),)


def test_slots_make_no_finding_of_their_own() -> None:
    cells = [replace(BREAK, via=("redis",)), replace(BREAK, via=("pg",))]
    (finding,) = grouping.findings(cells)
    assert finding.flows[0].pairs == 1
    assert len(finding.cells) == 2


def test_all_against_all_is_one_flow() -> None:
    pairs = [f"{writer}{reader}" for writer, reader in product("abcd", "abcd") if writer != reader]
    (finding,) = grouping.findings(_between(pairs))
    assert [flow.pairs for flow in finding.flows] == [12]
    assert finding.flows[0].writers == ("a", "b", "c", "d")
    assert set(finding.flows[0].readers) == set("abcd")


def test_flows_name_their_directions() -> None:
    cells = [BREAK, replace(BREAK, writer="b", reader="a", direction="forward")]
    (finding,) = grouping.findings(cells)
    assert {way for flow in finding.flows for way in flow.directions} == {"backward", "forward"}


def _what(cell: Cell) -> tuple[str, str, str, str]:
    return cell.writer, cell.reader, cell.serializer, cell.payload


def test_merging_neither_loses_nor_invents_a_cell(grown: Callable[..., Report]) -> None:
    cells = grouping.breaks(grown(7, payloads=12, serializers=2))
    told: Counter[tuple[str, str, str, str]] = Counter()
    for group in grouping.groups(cells):
        for finding in grouping.findings(group.cells):
            for flow in finding.flows:
                pairs = [pair for pair in product(flow.writers, flow.readers) if pair[0] != pair[1]]
                assert len(pairs) == flow.pairs
                whats = product(pairs, finding.serializers, finding.payloads)
                told.update((*pair, serializer, payload) for pair, serializer, payload in whats)
    assert told == Counter(map(_what, cells))


def test_a_limit_is_told_once_for_all_environments() -> None:
    lossy = replace(OK, outcome="changed", cause="MM201")
    cells = [
        replace(lossy, writer=name, reader=name, payload=payload, direction=None)
        for name, payload in product("ab", "xy")
    ]
    outcomes = frozenset({"changed"})
    (limit,) = grouping.limits(Report(cells=tuple(cells)), outcomes, by_cause=True)
    assert limit.payloads == ("x", "y")
    assert limit.environments == ()
    (limit,) = grouping.limits(
        Report(cells=(*cells[:2], *_between(["bb"], OK))), outcomes, by_cause=True
    )
    assert limit.environments == ("a",)


def test_limits_are_told_by_cause_only_where_asked() -> None:
    own = replace(OK, reader="a", outcome="changed", direction=None)
    cells = (replace(own, cause="MM201"), replace(own, cause="MM202", payload="y"))
    report, outcomes = Report(cells=cells), frozenset({"changed"})
    (limit,) = grouping.limits(report, outcomes, by_cause=False)
    assert (limit.causes, limit.payloads) == (("MM201", "MM202"), ("x", "y"))
    causes = [each.causes for each in grouping.limits(report, outcomes, by_cause=True)]
    assert causes == [("MM201",), ("MM202",)]


def test_a_known_break_is_told_by_its_reason() -> None:
    cells = (BREAK, replace(BREAK, known="one"), replace(BREAK, known="two"), OK)
    report = Report(cells=cells)
    assert [each.reason for each in grouping.known_breaks(report)] == ["one", "two"]
    assert grouping.breaks(report) == (BREAK,)


def test_skips_are_merged_by_reason() -> None:
    other = replace(SKIPPED, payload="y")
    late = replace(SKIPPED, error=Error("load", "Skipped", "not installed"))
    writing, reading = grouping.skips(Report(cells=(SKIPPED, other, late)))
    assert (writing.cells, writing.environments, writing.payloads) == (2, ("a",), ("x", "y"))
    assert (reading.cells, reading.environments) == (1, ("b",))


def test_a_payload_that_was_not_built_is_told_once() -> None:
    skipped = replace(SKIPPED, error=Error("build", "Skipped", "no numpy"))
    report = Report(
        cells=(skipped, replace(skipped, payload="y")),
        payloads=(PayloadRecord("a", "x", "failed", "no numpy"),),
    )
    (skip,) = grouping.skips(report)
    assert skip.payloads == ("y",)


def test_payload_problems_are_merged_by_reason_and_place() -> None:
    records = [
        PayloadRecord(environment, payload, "failed", "no numpy")
        for environment, payload in [("a", "x"), ("b", "x"), ("a", "y"), ("b", "y"), ("a", "z")]
    ]
    found = [(each.payloads, each.environments) for each in grouping.problems(records)]
    assert found == [(("x", "y"), ("a", "b")), (("z",), ("a",))]
