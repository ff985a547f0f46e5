"""Show how far a run is: bars on a terminal, a line per phase elsewhere, nothing when quiet.

In the log of GitHub Actions, what is done on the way is folded away above the line of its phase.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from memory_matrix.environments.build import BuildEvent

Step = Callable[[str], None]
"""Called after each step with what it was for."""

Style = Literal["bars", "lines", "groups", "nothing"]

EVERY = 5.0
"""Seconds between two lines of one phase in a group."""

RARELY = 30.0
"""Seconds between two lines of one phase where they stay in sight."""

_Advance = Callable[[str, int], None]

_FINAL = frozenset({"ready", "cached", "unavailable"})


class Progress:
    """Tells on standard error how far the phases of a run are, so that the report stands alone."""

    def __init__(self, style: Style, stream: TextIO | None = None) -> None:
        self._style = style
        self._stream = stream or sys.stderr
        self._noted: set[str] = set()

    def note(self, text: str) -> None:
        """Say once what is allowed, and perhaps not what was meant; between two phases."""
        if text not in self._noted:
            self._noted.add(text)
            print(f"note: {text}", file=self._stream)

    def say(self, text: str) -> None:
        """Tell what is worth a line between two phases."""
        if self._style != "nothing":
            print(text, file=self._stream)

    @contextmanager
    def phase(self, name: str, total: int | None) -> Iterator[Step]:
        """Show a phase of `total` steps; None where nobody knows how many."""
        started = time.monotonic()
        done = 0
        with self._bar(name, total) as advance:

            def step(_: str) -> None:
                nonlocal done
                done += 1
                advance("", done)

            yield step
        self._line(name, f"{done} step{'' if done == 1 else 's'}" if done else "done", started)

    @contextmanager
    def environments(self, names: Sequence[str]) -> Iterator[Callable[[BuildEvent], None]]:
        """Show the building of environments; what is had already is only counted."""
        started = time.monotonic()
        final: dict[str, str] = {}
        with self._bar("Environments", len(names), group="Building environments") as advance:

            def on_event(event: BuildEvent) -> None:
                if event.state in _FINAL:
                    final[event.environment] = event.state
                advance(f"{event.environment}: {event.state}", len(final))

            yield on_event
        states = list(final.values())
        counts = [f"{states.count(state)} {state}" for state in sorted(_FINAL) if state in states]
        self._line("Environments", ", ".join(counts), started)

    @contextmanager
    def _bar(self, name: str, total: int | None, group: str = "") -> Iterator[_Advance]:
        """Yield what is told what is being done, and how many steps are."""
        if self._style == "bars":
            with self._moving_bar(name, total) as advance:
                yield advance
        elif self._style == "groups":
            with _group(group or name, total, self._stream) as advance:
                yield advance
        elif self._style == "lines":
            yield _rarely(name, total, self._stream)
        else:
            yield lambda _doing, _done: None

    @contextmanager
    def _moving_bar(self, name: str, total: int | None) -> Iterator[_Advance]:
        with self._bars() as bars:
            bar = bars.add_task(name, total=total, doing="", count="")

            def advance(doing: str, done: int) -> None:
                count = f"{done}/{total}" if total else f"{done or ''}"
                bars.update(bar, completed=done, doing=doing, count=count)

            yield advance

    def _bars(self) -> Bars:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        return Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[doing]}", markup=False),
            console=Console(file=self._stream),
            transient=True,
        )

    def _line(self, name: str, text: str, started: float) -> None:
        if self._style != "nothing":
            print(f"{name}: {text} ({time.monotonic() - started:.1f} s)", file=self._stream)


def _rarely(name: str, total: int | None, stream: TextIO) -> _Advance:
    """Say how far a long phase is."""
    last = time.monotonic()

    def advance(_: str, done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= RARELY:
            last = now
            print(f"{name}: {_count(done, total)}", file=stream)

    return advance


def _count(done: int, total: int | None) -> str:
    return f"{done:,} of {total:,}" if total else f"{done:,}"


@contextmanager
def _group(name: str, total: int | None, stream: TextIO) -> Iterator[_Advance]:
    """Fold away what is done and, now and then, how far it is; without a line there is no group."""
    from memory_matrix.github.commands import endgroup, group
    from memory_matrix.github.log import issue
    from memory_matrix.report.visible import visible

    last = time.monotonic()
    opened = False

    def advance(doing: str, done: int) -> None:
        nonlocal last, opened
        now = time.monotonic()
        if not doing and now - last < EVERY:
            return
        last = now
        if not opened:
            issue(group(name), stream)
            opened = True
        print(visible(doing) or _count(done, total), file=stream)

    try:
        yield advance
    finally:
        if opened:
            issue(endgroup(), stream)
