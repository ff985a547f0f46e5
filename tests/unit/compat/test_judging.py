"""Outcomes become breaks, directions and hints; nothing else does."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from memory_matrix.compat.hints import load_hints
from memory_matrix.compat.judging import (
    SHOWN_DIFFERENCES,
    Evidence,
    Finding,
    direction,
    in_force,
    judge,
    same_way,
    stale,
)
from memory_matrix.compat.model import Meaning, ReadKey, ReadResult, Reads, Variant, Writes, Written
from memory_matrix.matrix.model import EnvironmentSpec, Known
from memory_matrix.matrix.select import Selection, parse
from memory_matrix.report.model import Cell, Difference, Error
from memory_matrix.worker.compare import MOST_DIFFERENCES
from support.tables import table

HINTS = load_hints()

TODAY = dt.date(2026, 3, 1)

TUPLE = Difference("$.ids", "tuple of 2", "list of 2")
LATER = Difference("$.limit", "int 10", "int 20")
LOST = Difference("$.source", "str 'mail'", "missing")
MISSING_MODULE = Error("load", "ModuleNotFoundError", "No module named 'app.old'")
BUILT = Meaning("built", expected="value")


def spec(name: str, **coordinates: int) -> EnvironmentSpec:
    return EnvironmentSpec(name, "3.11", coordinates=tuple(coordinates.items()))


def loaded(*differences: Difference, against: str = "value", again: Any = ()) -> ReadResult:
    return ReadResult("loaded", differences={against: differences}, again=tuple(again))


def unreadable(error: Error = MISSING_MODULE) -> ReadResult:
    return ReadResult("unreadable", error)


@dataclass
class World:
    """Two environments or more, in which by default everything is fine."""

    environments: Sequence[str] = ("old", "new")
    serializers: Sequence[str] = ("pickle",)
    meanings: dict[tuple[str, str], Meaning] = field(default_factory=dict)
    written: dict[tuple[str, str, str], Written | None] = field(default_factory=dict)
    """By writer, serializer and payload; None for what its worker never came to."""
    variants: dict[str, Sequence[Variant]] = field(default_factory=dict)
    results: dict[tuple[str, str], ReadResult | None] = field(default_factory=dict)
    """By reader and blob; a blob's name is `writer/serializer/payload`, unless `written` says."""
    lacking: dict[str, dict[str, str]] = field(default_factory=dict)
    payloads: Sequence[str] = ("one",)
    drift: Mapping[tuple[str, str], Sequence[Difference]] = field(default_factory=dict)
    selection: Selection = field(default_factory=Selection)

    def cells(self, *known: Known) -> list[Cell]:
        specs = {name: spec(name, age=age) for age, name in enumerate(self.environments)}
        writes = {name: self._writes(name) for name in specs}
        blobs = {
            each.blob: each
            for write in writes.values()
            for each in write.written.values()
            if each.blob is not None
        }
        variants = {blob: self.variants.get(blob, [Variant((), blob)]) for blob in blobs}
        evidence = Evidence(
            specs,
            self.serializers,
            writes,
            variants,
            {name: self._reads(name, writes.values(), variants) for name in specs},
            lambda writers, readers: self.drift.get((writers, readers), ()),
            self.selection,
        )
        return list(judge(evidence, known, HINTS))

    def cell(self, writer: str, reader: str, *known: Known) -> Cell:
        (cell,) = [
            each for each in self.cells(*known) if (each.writer, each.reader) == (writer, reader)
        ]
        return cell

    def _writes(self, name: str) -> Writes:
        lacking = self.lacking.get(name, {})
        written = {}
        for payload in self.payloads:
            for serializer in self.serializers:
                blob = Written("written", f"{name}/{serializer}/{payload}")
                each = self.written.get((name, serializer, payload), blob)
                if each is not None and serializer not in lacking:
                    written[payload, serializer] = each
        meanings = {payload: self.meanings.get((name, payload), BUILT) for payload in self.payloads}
        return Writes(name, meanings, written, lacking)

    def _reads(self, reader: str, writes: Any, variants: Any) -> Reads:
        results = {}
        for write in writes:
            for (payload, serializer), written in write.written.items():
                for variant in variants.get(written.blob, ()):
                    if variant.blob is None:
                        continue
                    key = ReadKey(serializer, payload, variant.blob, written.text)
                    result = self.results.get((reader, variant.blob), loaded())
                    if result is not None:
                        results[key] = result
        return Reads(reader, results)


OLD, NEW = "old/pickle/one", "new/pickle/one"


# directions


@table(
    ("writer", "reader", "expected"),
    [
        (spec("a", python=0), spec("b", python=1), "backward"),
        (spec("a", python=1), spec("b", python=0), "forward"),
        (spec("a", python=0), spec("b", python=5), "backward"),
        (spec("a", python=0, pydantic=0), spec("b", python=1, pydantic=1), "backward"),
        (spec("a", python=1, pydantic=1), spec("b", python=0, pydantic=0), "forward"),
        (spec("a", python=0, pydantic=1), spec("b", python=1, pydantic=1), "backward"),
        (spec("a", python=1, pydantic=1), spec("b", python=1, pydantic=0), "forward"),
        (spec("a", python=0, pydantic=1), spec("b", python=1, pydantic=0), "sideways"),
        (spec("a", environment=0), spec("b", environment=1), "backward"),
        (spec("a", environment=1), spec("b", environment=0), "forward"),
        (spec("a", python=0), spec("b", environment=1), "sideways"),
        (spec("a", python=0), spec("b", python=1, pydantic=0), "sideways"),
        (spec("a", python=0), spec("b", python=0), "sideways"),
        (spec("a"), spec("b"), "sideways"),
    ],
)
def test_a_direction_is_later_on_every_axis_that_differs_or_earlier_on_every_one(
    writer: EnvironmentSpec, reader: EnvironmentSpec, expected: str
) -> None:
    assert direction(writer, reader) == expected


def test_the_order_of_axes_says_nothing_about_a_direction() -> None:
    assert direction(spec("a", x=0, y=0), spec("b", y=1, x=1)) == "backward"


def test_an_own_cell_has_no_direction_and_the_others_have() -> None:
    directions = {(cell.writer, cell.reader): cell.direction for cell in World().cells()}
    assert directions == {
        ("old", "old"): None,
        ("old", "new"): "backward",
        ("new", "old"): "forward",
        ("new", "new"): None,
    }


# cells


def test_cells_come_by_writer_reader_serializer_and_payload() -> None:
    world = World(serializers=("pickle", "json"), payloads=("b", "a"))
    cells = [(c.writer, c.reader, c.serializer, c.payload) for c in world.cells()]
    assert cells == [
        (writer, reader, serializer, payload)
        for writer in ("old", "new")
        for reader in ("old", "new")
        for serializer in ("pickle", "json")
        for payload in ("b", "a")
    ]


def test_what_is_fine_is_ok_and_needs_no_hint() -> None:
    for cell in World().cells():
        assert (cell.outcome, cell.is_break, cell.cause, cell.hint) == ("ok", False, None, None)


def test_only_selected_pairs_are_judged_and_each_writers_own() -> None:
    world = World(environments=("a", "b", "c"), selection=parse("writer=a reader=b"))
    assert [(cell.writer, cell.reader) for cell in world.cells()] == [("a", "a"), ("a", "b")]


# breaks and limits


@table(
    ("result", "outcome"),
    [
        (unreadable(), "unreadable"),
        (ReadResult("crashed", Error("load", "SIGSEGV", "signal 11")), "crashed"),
        (loaded(TUPLE), "changed"),
        (loaded(again=[TUPLE]), "changed"),
    ],
)
def test_what_fails_in_another_environment_alone_is_a_break(
    result: ReadResult, outcome: str
) -> None:
    cell = World(results={("new", OLD): result}).cell("old", "new")
    assert (cell.outcome, cell.is_break) == (outcome, True)
    assert cell.cause is not None
    assert cell.hint is not None


@table(
    "result",
    [
        unreadable(),
        ReadResult("crashed", Error("load", "SIGSEGV", "signal 11")),
        loaded(TUPLE),
        loaded(again=[TUPLE]),
    ],
)
def test_what_fails_in_the_same_way_at_home_is_a_limit_and_no_break(result: ReadResult) -> None:
    world = World(results={("new", OLD): result, ("old", OLD): result})
    own, cell = world.cell("old", "old"), world.cell("old", "new")
    assert own.outcome == cell.outcome != "ok"
    assert not own.is_break
    assert not cell.is_break


def test_the_reader_s_own_cell_excuses_nothing() -> None:
    world = World(results={("new", OLD): loaded(TUPLE), ("new", NEW): loaded(TUPLE)})
    assert world.cell("old", "new").is_break


def test_an_own_cell_is_never_a_break() -> None:
    world = World(results={("old", OLD): unreadable(), ("new", NEW): loaded(TUPLE)})
    assert not world.cell("old", "old").is_break
    assert not world.cell("new", "new").is_break


def test_another_loss_than_at_home_is_a_break() -> None:
    world = World(results={("old", OLD): loaded(TUPLE), ("new", OLD): loaded(TUPLE, LATER)})
    assert world.cell("old", "new").is_break


def test_fewer_losses_than_at_home_are_no_break() -> None:
    world = World(results={("old", OLD): loaded(TUPLE, LATER), ("new", OLD): loaded(TUPLE)})
    assert not world.cell("old", "new").is_break


def test_changed_at_home_and_unreadable_elsewhere_is_a_break() -> None:
    world = World(results={("old", OLD): loaded(TUPLE), ("new", OLD): unreadable()})
    assert world.cell("old", "new").is_break


def test_a_report_keeps_the_first_differences_of_a_cell() -> None:
    many = [Difference(f"$[{number}]", "int 1", "int 2") for number in range(40)]
    cell = World(results={("new", OLD): loaded(*many)}).cell("old", "new")
    assert cell.diff == tuple(many[:SHOWN_DIFFERENCES])


def test_a_value_that_is_another_on_each_load_says_so() -> None:
    world = World(results={("new", OLD): loaded(again=[Difference("$.id", "str 'a'", "str 'b'")])})
    cell = world.cell("old", "new")
    assert cell.diff == (Difference("$.id", "str 'a'", "str 'b' on a second load"),)
    assert cell.cause == "MM214"


# the same way


def fails(kind: str, message: str, stage: Any = "load") -> Finding:
    return Finding("unreadable", Error(stage, kind, message))


def differs(*differences: Difference) -> Finding:
    return Finding("changed", diff=differences)


SAME = [
    (fails("ValueError", "no"), fails("ValueError", "no")),
    (fails("ValueError", "line 3"), fails("ValueError", "line 7")),
    (fails("app.a.Refused", "no"), fails("app.b.c.Refused", "no")),
    (fails("E", "see https://errors.dev/2.5/v/x"), fails("E", "see https://errors.dev/2.9/v/x")),
    (
        fails("TypeError", "can't pickle _thread.lock objects"),
        fails("TypeError", "cannot pickle '_thread.lock' object"),
    ),
    (differs(TUPLE), differs(TUPLE)),
    (differs(TUPLE), differs(LATER, TUPLE)),
    (differs(Difference("$", "int 1", "int 3")), differs(Difference("$", "int 2", "int 3"))),
    (Finding("crashed"), Finding("crashed")),
]

OTHER = [
    (fails("ValueError", "no"), fails("TypeError", "no")),
    (fails("ValueError", "no"), fails("ValueError", "no", "use")),
    (fails("ValueError", "no"), Finding("ok")),
    (fails("ValueError", "no"), differs(TUPLE)),
    (fails("app.Refused", "no"), fails("shop.Refused", "no")),
    (fails("ValueError", "unknown version"), fails("ValueError", "not allowed")),
    (differs(TUPLE, LATER), differs(TUPLE)),
    (differs(TUPLE), differs(LATER)),
    (differs(Difference("$", "int 1", "int 3")), differs(Difference("$", "int 1", "int 4"))),
    (differs(TUPLE), Finding("ok")),
    (
        Finding("crashed", Error("load", "SIGSEGV", "")),
        Finding("crashed", Error("load", "Exit", "")),
    ),
    (Finding("crashed"), Finding("crashed", Error("load", "Exit", ""))),
]


def cause(found: Finding) -> str | None:
    hint = HINTS.explain(found.outcome, found.error, found.diff)
    return None if hint is None else hint.code


@table(("cell", "own"), SAME)
def test_failing_the_same_way(cell: Finding, own: Finding) -> None:
    assert same_way(cell, own, cause)


@table(("cell", "own"), OTHER)
def test_failing_another_way(cell: Finding, own: Finding) -> None:
    assert not same_way(cell, own, cause)


def test_of_differences_that_were_cut_off_the_kind_is_compared() -> None:
    def tuples(start: int) -> Finding:
        return differs(
            *(
                Difference(f"$[{number}]", "tuple of 2", "list of 2")
                for number in range(start, start + MOST_DIFFERENCES)
            )
        )

    assert same_way(tuples(20), tuples(0), cause)
    assert not same_way(differs(LATER), tuples(0), cause)


# what the environments mean


def means(writers: str, readers: str) -> dict[tuple[str, str], Meaning]:
    return {
        ("old", "one"): Meaning("built", expected=writers),
        ("new", "one"): Meaning("built", expected=readers),
    }


def test_what_the_reader_means_otherwise_has_drifted_and_is_no_break() -> None:
    world = World(meanings=means("v1", "v2"), drift={("v1", "v2"): [LATER]})
    cell = world.cell("old", "new")
    assert (cell.outcome, cell.is_break, cell.cause) == ("drifted", False, "MM301")
    assert cell.diff == (LATER,)


def test_what_the_reader_has_no_place_for_is_lost_and_breaks() -> None:
    world = World(meanings=means("v1", "v2"), drift={("v1", "v2"): [LATER, LOST]})
    cell = world.cell("old", "new")
    assert (cell.outcome, cell.is_break) == ("changed", True)
    assert cell.diff == (LOST,)


def test_what_only_the_reader_has_is_not_lost() -> None:
    gained = Difference("$.source", "missing", "str 'mail'")
    world = World(meanings=means("v1", "v2"), drift={("v1", "v2"): [gained]})
    assert world.cell("old", "new").outcome == "drifted"


def test_what_does_not_load_as_the_reader_means_it_is_changed_whatever_drifted() -> None:
    world = World(
        meanings=means("v1", "v2"),
        drift={("v1", "v2"): [LATER]},
        results={("new", OLD): loaded(TUPLE, against="v2")},
    )
    assert world.cell("old", "new").diff == (TUPLE,)


def test_what_both_probes_see_is_compared_where_both_have_one() -> None:
    both = {
        ("old", "one"): Meaning("built", expected="v1", probe="seen"),
        ("new", "one"): Meaning("built", expected="v2", probe="seen"),
    }
    assert World(meanings=both, drift={("v1", "v2"): [LATER]}).cell("old", "new").outcome == "ok"
    one = {**both, ("new", "one"): Meaning("built", expected="v2")}
    assert World(meanings=one, drift={("v1", "v2"): [LATER]}).cell("old", "new").outcome == (
        "drifted"
    )


def test_a_loss_is_found_beside_what_probes_see() -> None:
    meanings = {
        ("old", "one"): Meaning("built", expected="v1", probe="seen"),
        ("new", "one"): Meaning("built", expected="v2", probe="seen otherwise"),
    }
    drift = {("seen", "seen otherwise"): [LATER], ("v1", "v2"): [LOST]}
    assert World(meanings=meanings, drift=drift).cell("old", "new").diff == (LOST,)


def test_a_reader_that_cannot_build_the_payload_is_held_to_the_writers_meaning() -> None:
    meanings = {
        ("old", "one"): Meaning("built", expected="v1"),
        ("new", "one"): Meaning("lacking", reason="Needs numpy, which it does not have."),
    }
    fine = World(meanings=meanings, results={("new", OLD): loaded(against="v1")})
    assert fine.cell("old", "new").outcome == "ok"
    bad = World(meanings=meanings, results={("new", OLD): loaded(TUPLE, against="v1")})
    assert (bad.cell("old", "new").outcome, bad.cell("old", "new").is_break) == ("changed", True)


def test_such_a_reader_is_held_to_the_meaning_of_the_writer_in_question() -> None:
    meanings = {
        ("a", "one"): Meaning("built", expected="v1"),
        ("b", "one"): Meaning("built", expected="v2"),
        ("c", "one"): Meaning("failed", reason="no"),
    }
    same = Written("written", "blob")
    result = ReadResult("loaded", differences={"v1": (), "v2": (LATER,)})
    world = World(
        environments=("a", "b", "c"),
        meanings=meanings,
        written={("a", "pickle", "one"): same, ("b", "pickle", "one"): same},
        results={("c", "blob"): result},
    )
    assert world.cell("a", "c").outcome == "ok"
    assert world.cell("b", "c").outcome == "changed"


# what was not written, and what was not run


@pytest.mark.parametrize(
    ("written", "outcome"),
    [
        (Written("unwritable", error=Error("dump", "TypeError", "no")), "unwritable"),
        (Written("crashed", error=Error("dump", "Timeout", "no")), "crashed"),
    ],
)
def test_what_cannot_be_written_is_said_once(written: Written, outcome: str) -> None:
    world = World(written={("old", "pickle", "one"): written})
    cells = [cell for cell in world.cells() if cell.writer == "old"]
    assert [(cell.reader, cell.outcome, cell.is_break) for cell in cells] == [
        ("old", outcome, False)
    ]
    assert cells[0].error == written.error


def test_what_a_server_refuses_is_said_once_and_the_rest_is_read() -> None:
    refusal = Error("store", "DataError", "no")
    world = World(
        variants={OLD: [Variant(("pg/bytea",), OLD), Variant(("pg/jsonb",), None, refusal)]}
    )
    cells = [cell for cell in world.cells() if cell.writer == "old"]
    assert [(cell.reader, cell.via, cell.outcome) for cell in cells] == [
        ("old", ("pg/bytea",), "ok"),
        ("old", ("pg/jsonb",), "unstorable"),
        ("new", ("pg/bytea",), "ok"),
    ]


def test_slots_that_gave_back_the_same_bytes_are_one_cell_and_others_another() -> None:
    altered = "altered"
    world = World(
        variants={
            OLD: [Variant(("redis/string", "pg/bytea"), OLD), Variant(("pg/jsonb",), altered)]
        },
        results={("new", altered): loaded(TUPLE)},
    )
    cells = [cell for cell in world.cells() if (cell.writer, cell.reader) == ("old", "new")]
    assert [(cell.via, cell.outcome, cell.is_break) for cell in cells] == [
        (("redis/string", "pg/bytea"), "ok", False),
        (("pg/jsonb",), "changed", True),
    ]


def test_a_slot_that_alters_bytes_for_the_writer_too_breaks_nothing() -> None:
    world = World(
        variants={OLD: [Variant(("pg/jsonb",), "altered")]},
        results={("new", "altered"): loaded(TUPLE), ("old", "altered"): loaded(TUPLE)},
    )
    assert not world.cell("old", "new").is_break


@table(
    ("meaning", "reason"),
    [
        (Meaning("lacking", reason="Needs numpy."), "Needs numpy."),
        (Meaning("failed", reason="ValueError: no"), "ValueError: no"),
        (Meaning("crashed", reason="SIGSEGV: signal 11"), "SIGSEGV: signal 11"),
        (Meaning("failed"), "failed"),
        (
            Meaning("built", expected="value", unstable=(TUPLE,)),
            "the payload is another value each time it is built",
        ),
    ],
)
def test_a_payload_that_its_writer_cannot_build_is_skipped_once(
    meaning: Meaning, reason: str
) -> None:
    world = World(meanings={("old", "one"): meaning})
    cells = [cell for cell in world.cells() if cell.writer == "old"]
    assert [(cell.reader, cell.outcome) for cell in cells] == [("old", "skipped")]
    assert cells[0].error == Error("build", "Skipped", reason)


def test_a_payload_that_differs_each_time_the_reader_builds_it_is_skipped_there() -> None:
    world = World(meanings={("new", "one"): Meaning("built", expected="v", unstable=(TUPLE,))})
    cell = world.cell("old", "new")
    assert cell.outcome == "skipped"
    assert cell.error is not None
    assert "each time the reader builds it" in cell.error.message


def test_a_serializer_that_an_environment_lacks_is_skipped_there_with_the_reason() -> None:
    world = World(lacking={"new": {"pickle": "add it"}})
    assert world.cell("old", "new").error == Error("load", "Skipped", "add it")
    assert [cell.outcome for cell in world.cells() if cell.writer == "new"] == ["skipped"]
    assert world.cell("new", "new").error == Error("dump", "Skipped", "add it")


@table(
    "world",
    [
        World(results={("new", OLD): None}),
        World(written={("old", "pickle", "one"): None}),
        World(meanings={("old", "one"): Meaning("failed", reason="no")}),
        World(lacking={"old": {"pickle": "no"}, "new": {"pickle": "no"}}),
    ],
)
def test_what_was_not_run_is_skipped_with_a_reason_and_never_ok(world: World) -> None:
    skipped = [cell for cell in world.cells() if cell.outcome == "skipped"]
    assert skipped
    for cell in skipped:
        assert not cell.is_break
        assert cell.error is not None
        assert cell.error.message
        assert cell.hint is None


def test_a_break_needs_no_own_cell_that_was_run() -> None:
    world = World(results={("old", OLD): None, ("new", OLD): unreadable()})
    assert world.cell("old", "new").is_break


# known breaks


def known(**patterns: str) -> Known:
    return Known("it is known", "known[0]", **patterns)


BROKEN = World(
    environments=("py[3.11]", "new*"),
    serializers=("app/codec.py:codec",),
    payloads=("tool_state",),
    results={("new*", "py[3.11]/app/codec.py:codec/tool_state"): unreadable()},
)


@table(
    ("entry", "matches"),
    [
        (known(), True),
        (known(payload="tool_state"), True),
        (known(payload="tool_*"), True),
        (known(payload="tool"), False),
        (known(writer="py[3.11]"), True),
        (known(writer="py[[]3.11]"), True),
        (known(writer="py*"), True),
        (known(writer="py3"), False),
        (known(reader="new*"), True),
        (known(reader="old*"), False),
        (known(serializer="app/codec.py:codec"), True),
        (known(serializer="*codec"), True),
        (known(serializer="pickle"), False),
        (known(writer="py*", reader="new*", serializer="app/*", payload="tool_state"), True),
        (known(writer="py*", reader="new*", serializer="app/*", payload="other"), False),
        (known(payload="TOOL_STATE"), False),
    ],
)
def test_a_known_break_is_one_that_every_pattern_matches(entry: Known, matches: bool) -> None:
    cell = BROKEN.cell("py[3.11]", "new*", entry)
    assert cell.is_break
    assert cell.known == ("it is known" if matches else None)
    assert bool(stale([entry], [cell], TODAY)) is not matches


def test_the_first_entry_that_matches_says_why() -> None:
    first, second = Known("first", "known[0]"), Known("second", "known[1]")
    assert BROKEN.cell("py[3.11]", "new*", first, second).known == "first"


def test_only_breaks_are_known() -> None:
    world = World(results={("old", OLD): unreadable(), ("new", OLD): unreadable()})
    cells = world.cells(known())
    assert not any(cell.known for cell in cells)


def test_an_entry_whose_break_no_longer_breaks_is_told() -> None:
    cells = World().cells(known(payload="one"))
    (sentence,) = stale([known(payload="one")], cells, TODAY)
    assert sentence == "known[0] (it is known) matches no break any more: take it out."


def test_of_a_part_of_the_matrix_only_what_ran_out_is_told() -> None:
    over = dataclasses.replace(known(), until=dt.date(2026, 2, 28))
    unmatched = dataclasses.replace(known(payload="one"), key="known[1]")
    (sentence,) = stale([over, unmatched], World().cells(), TODAY, whole=False)
    assert sentence.startswith("known[0] (it is known) held until 2026-02-28: ")


@pytest.mark.parametrize(
    ("until", "holds"),
    [(None, True), (dt.date(2026, 3, 1), True), (dt.date(2026, 2, 28), False)],
)
def test_an_entry_excuses_breaks_up_to_its_last_day(until: dt.date | None, holds: bool) -> None:
    entry = dataclasses.replace(known(), until=until)
    cell = BROKEN.cell("py[3.11]", "new*", entry)
    assert in_force([entry], TODAY) == ((entry,) if holds else ())
    assert stale([entry], [cell], TODAY) == (
        ()
        if holds
        else ("known[0] (it is known) held until 2026-02-28: what it excused fails the run again.",)
    )
