"""Progress is told on its own stream: a line per phase, bars on a terminal, nothing when quiet."""

from __future__ import annotations

import io
import re

import pytest

from memory_matrix import progress
from memory_matrix.environments.build import BuildEvent
from memory_matrix.progress import Progress


def lines(stream: io.StringIO) -> list[str]:
    return [re.sub(r"\(\d+\.\d s\)", "(TIME)", line) for line in stream.getvalue().splitlines()]


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def test_a_phase_is_a_line_with_its_steps_and_time(stream: io.StringIO) -> None:
    progress = Progress("lines", stream)

    with progress.phase("Reading", 3) as step:
        for _ in range(3):
            step("old")
        assert stream.getvalue() == ""

    assert lines(stream) == ["Reading: 3 steps (TIME)"]


def test_a_phase_of_one_step_and_one_without_steps_read_well(stream: io.StringIO) -> None:
    progress = Progress("lines", stream)

    with progress.phase("Storing", 1) as step:
        step("redis")
    with progress.phase("Starting servers", None):
        pass

    assert lines(stream) == ["Storing: 1 step (TIME)", "Starting servers: done (TIME)"]


def test_a_long_phase_says_now_and_then_how_far_it_is(
    stream: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "RARELY", 0.0)

    with Progress("lines", stream).phase("Testing", 1200) as step:
        step("")
        step("")

    assert lines(stream)[:2] == ["Testing: 1 of 1,200", "Testing: 2 of 1,200"]


def test_a_line_between_phases_is_not_said_when_quiet(stream: io.StringIO) -> None:
    for style in ("lines", "bars", "groups", "nothing"):
        Progress(style, stream).say("Order of cases: --seed 7")

    assert lines(stream) == ["Order of cases: --seed 7"] * 3


def test_environments_are_counted_by_how_they_were_had(stream: io.StringIO) -> None:
    progress = Progress("lines", stream)

    with progress.environments(["a", "b", "c", "d"]) as on_event:
        for name, state in (("a", "cached"), ("b", "cached"), ("c", "ready"), ("d", "unavailable")):
            on_event(BuildEvent(name, "waiting"))
            on_event(BuildEvent(name, "resolving", "12 packages"))
            on_event(BuildEvent(name, state))

    assert lines(stream) == ["Environments: 2 cached, 1 ready, 1 unavailable (TIME)"]


def test_nothing_is_told_when_quiet(stream: io.StringIO) -> None:
    progress = Progress("nothing", stream)

    with progress.environments(["a"]) as on_event:
        on_event(BuildEvent("a", "ready"))
    with progress.phase("Writing", None) as step:
        step("a")

    assert stream.getvalue() == ""


def test_a_phase_that_is_left_by_an_exception_says_nothing_of_being_done(
    stream: io.StringIO,
) -> None:
    progress = Progress("lines", stream)

    with pytest.raises(KeyboardInterrupt), progress.phase("Writing", None):
        raise KeyboardInterrupt

    assert stream.getvalue() == ""


@pytest.mark.parametrize("total", [2, None])
def test_bars_show_the_phase_and_leave_only_its_line(
    stream: io.StringIO, total: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    progress = Progress("bars", stream)

    with progress.phase("Reading", total) as step:
        step("[old] ☃")
        step("new")

    shown = stream.getvalue()
    assert "Reading" in shown
    assert ("2/2" in shown) is (total is not None)
    assert "?" not in re.sub(r"\x1b\[[?\d;]*\w", "", shown)
    assert lines(io.StringIO(re.sub(r"\x1b\[[?\d;]*\w", "", shown)))[-1] == (
        "Reading: 2 steps (TIME)"
    )


def test_names_in_bars_are_shown_as_they_are(
    stream: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")

    with Progress("bars", stream).environments(["[bold]a[/nonsense]"]) as on_event:
        on_event(BuildEvent("[bold]a[/nonsense]", "resolving"))

    assert "[bold]a[/nonsense]: resolving" in stream.getvalue()


def test_in_a_log_of_github_what_is_done_is_folded_away(stream: io.StringIO) -> None:
    progress = Progress("groups", stream)

    with progress.environments(["a", "b"]) as on_event:
        for name, state in (("a", "resolving"), ("b", "cached"), ("a", "ready")):
            on_event(BuildEvent(name, state))

    assert lines(stream) == [
        "::group::Building environments",
        "a: resolving",
        "b: cached",
        "a: ready",
        "::endgroup::",
        "Environments: 1 cached, 1 ready (TIME)",
    ]


@pytest.mark.parametrize(("total", "count"), [(3000, "{} of 3,000"), (None, "{}")])
def test_in_a_log_of_github_a_long_phase_shows_how_far_it_is(
    stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, total: int | None, count: str
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.0)

    with Progress("groups", stream).phase("Reading", total) as step:
        step("old")
        step("old")

    assert lines(stream) == [
        "::group::Reading", count.format(1), count.format(2), "::endgroup::", "Reading: 2 steps (TIME)",
    ]  # fmt: skip


def test_in_a_log_of_github_a_quick_phase_is_its_line_alone(stream: io.StringIO) -> None:
    with Progress("groups", stream).phase("Reading", 3) as step:
        step("old")

    assert lines(stream) == ["Reading: 1 step (TIME)"]


def test_in_a_log_of_github_a_group_ends_also_with_an_exception(stream: io.StringIO) -> None:
    def interrupted() -> None:
        with Progress("groups", stream).environments(["a"]) as on_event:
            on_event(BuildEvent("a", "resolving"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert lines(stream)[-1] == "::endgroup::"
