"""Show how far a run is: bars on a terminal, a line per phase elsewhere, nothing when quiet."""

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

Style = Literal["bars", "lines", "nothing"]

_FINAL = frozenset({"ready", "cached", "unavailable"})


class Progress:
    """Tells on standard error how far the phases of a run are, so that the report stands alone."""

    def __init__(self, style: Style, stream: TextIO | None = None) -> None:
        self._style = style
        self._stream = stream or sys.stderr

    @contextmanager
    def phase(self, name: str, total: int | None) -> Iterator[Step]:
        """Show a phase of `total` steps; None where nobody knows how many."""
        started = time.monotonic()
        done = 0
        with self._bar(name, total) as advance:

            def step(_: str) -> None:
                nonlocal done
                done += 1
                advance("")

            yield step
        self._line(name, f"{done} step{'' if done == 1 else 's'}" if done else "done", started)

    @contextmanager
    def environments(self, names: Sequence[str]) -> Iterator[Callable[[BuildEvent], None]]:
        """Show the building of environments; what is had already is only counted."""
        started = time.monotonic()
        final: dict[str, str] = {}
        with self._bar("Environments", len(names)) as advance:

            def on_event(event: BuildEvent) -> None:
                if event.state in _FINAL:
                    final[event.environment] = event.state
                    advance("")
                else:
                    advance(f"{event.environment}: {event.state}")

            yield on_event
        states = list(final.values())
        counts = [f"{states.count(state)} {state}" for state in sorted(_FINAL) if state in states]
        self._line("Environments", ", ".join(counts), started)

    @contextmanager
    def _bar(self, name: str, total: int | None) -> Iterator[Callable[[str], None]]:
        """Yield what moves a bar on by one step, or, given a text, shows what is being done."""
        if self._style != "bars":
            yield lambda _: None
            return
        with self._bars() as bars:
            bar = bars.add_task(name, total=total, doing="", count="")

            def advance(doing: str) -> None:
                bars.update(bar, advance=0 if doing else 1, doing=doing)
                done = int(bars.tasks[0].completed)
                bars.update(bar, count=f"{done}/{total}" if total else f"{done or ''}")

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
