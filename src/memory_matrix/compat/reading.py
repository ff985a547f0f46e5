"""The read phase: every environment loads every blob once, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_matrix.compat.events import (
    Event,
    broken_reason,
    describe_end,
    differences,
    is_given_up,
    result_error,
)
from memory_matrix.compat.model import Meaning, ReadKey, ReadResult, Reads, Variant, Writes
from memory_matrix.compat.workers import run_tasks
from memory_matrix.compat.workshop import Workshop
from memory_matrix.environments.model import Environment


@dataclass
class _Draft:
    environment: Environment
    steps: list[dict[str, Any]]
    keys: list[ReadKey]
    modules: tuple[str, ...] = ()
    results: dict[ReadKey, ReadResult] = field(default_factory=dict)
    broken: str | None = None
    starts: int = 0
    done: bool = False
    seconds: float = 0.0


def read_all(
    workshop: Workshop,
    environments: Sequence[Environment],
    writes: Sequence[Writes],
    variants: Mapping[str, Sequence[Variant]],
    on_step: Callable[[str], None] = lambda _: None,
) -> tuple[Reads, ...]:
    """Return what each environment made of everything that was written."""
    means = {each.environment: each for each in writes}
    drafts = {
        name: _draft(environment, means[name], _wanted(workshop, name, writes), variants)
        for environment in environments
        for name in [environment.spec.name]
    }
    while pending := [draft for draft in drafts.values() if not draft.done]:
        tasks = [workshop.task(draft.environment, "read", **_rest(draft)) for draft in pending]
        for task, event in run_tasks(tasks, workshop.folder, workshop.parallel):
            draft = drafts[task.environment.spec.name]
            draft.seconds += event.get("seconds", 0.0)
            _hear(draft, event, on_step)
    return tuple(
        Reads(draft.environment.spec.name, draft.results, draft.broken, round(draft.seconds, 2))
        for draft in drafts.values()
    )


def _wanted(workshop: Workshop, reader: str, writes: Sequence[Writes]) -> list[Writes]:
    """Return what `reader` has to read: its own writes, and those of the selected pairs."""
    pair = workshop.selection.allows_pair
    return [each for each in writes if pair(each.environment, reader)]


def count_steps(writes: Sequence[Writes], variants: Mapping[str, Sequence[Variant]]) -> int:
    """Return how many blobs one environment loads at the most."""
    return len(set(_keys(writes, variants)))


def _draft(
    environment: Environment,
    own: Writes,
    writes: Sequence[Writes],
    variants: Mapping[str, Sequence[Variant]],
) -> _Draft:
    wanted: dict[ReadKey, list[Writes]] = {}
    for key, writer in _keys_with_writers(writes, variants):
        if key.serializer not in own.lacking:
            wanted.setdefault(key, []).append(writer)
    keys = list(wanted)
    steps = [
        {
            "step": number,
            "do": "read",
            "blob": key.blob,
            "text": key.text,
            "payload": key.payload,
            "serializer": key.serializer,
            "mine": any(writer is own for writer in wanted[key]),
            **comparison(own.meanings.get(key.payload), _writers_meanings(key, wanted[key])),
        }
        for number, key in enumerate(keys)
    ]
    return _Draft(environment, steps, keys, own.modules)


def comparison(own: Meaning | None, writers: Sequence[Meaning]) -> dict[str, Any]:
    """Return with which descriptions a reader compares what it loads.

    Its own where it can build the payload, else those of the writers.
    """
    if own is not None and own.outcome == "built":
        return {
            "own": True,
            "plain": None if own.probe else own.plain,
            "probing": own.probe is not None,
            "against": [own.probe or own.expected],
        }
    probing = all(meaning.probe is not None for meaning in writers)
    against = {meaning.probe if probing else meaning.expected for meaning in writers}
    return {
        "own": False,
        "plain": None,
        "probing": probing,
        "against": sorted(filter(None, against)),
    }


def _writers_meanings(key: ReadKey, writers: Sequence[Writes]) -> list[Meaning]:
    return [writer.meanings[key.payload] for writer in writers]


def _keys(writes: Sequence[Writes], variants: Mapping[str, Sequence[Variant]]) -> Iterator[ReadKey]:
    return (key for key, _ in _keys_with_writers(writes, variants))


def _keys_with_writers(
    writes: Sequence[Writes], variants: Mapping[str, Sequence[Variant]]
) -> Iterator[tuple[ReadKey, Writes]]:
    for writer in writes:
        for (payload, serializer), written in writer.written.items():
            for variant in variants.get(written.blob or "", ()):
                if variant.blob is not None:
                    yield ReadKey(serializer, payload, variant.blob, written.text), writer


def _rest(draft: _Draft) -> dict[str, Any]:
    draft.starts += 1
    return {
        "preload": draft.modules if draft.starts == 1 else None,
        "steps": [step for step in draft.steps if draft.keys[step["step"]] not in draft.results],
    }


def _hear(draft: _Draft, event: Event, on_step: Callable[[str], None]) -> None:
    match event["event"]:
        case "read":
            draft.results[draft.keys[event["step"]]] = _result(event)
            on_step(draft.environment.spec.name)
        case "broken":
            draft.broken = broken_reason(event)
        case "done":
            draft.done = True
        case "ended" if not draft.done and is_given_up(event, draft.starts):
            draft.done = True
            draft.broken = describe_end(
                event, f"reading, after {len(draft.results)} of {len(draft.steps)} blobs"
            )


def _result(event: Event) -> ReadResult:
    return ReadResult(
        outcome="unreadable" if event["outcome"] == "lacking" else event["outcome"],
        error=result_error(event, "load"),
        differences={
            name: differences(found) for name, found in event.get("differences", {}).items()
        },
        again=differences(event.get("again", ())),
    )
