"""The write phase: every environment dumps every payload with every serializer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memory_matrix.compat.events import (
    Event,
    broken_reason,
    describe_end,
    differences,
    error_value,
    is_given_up,
    result_error,
    sentence,
)
from memory_matrix.compat.model import Meaning, Source, Writes, Written
from memory_matrix.compat.workers import run_tasks
from memory_matrix.compat.workshop import Workshop
from memory_matrix.environments.model import Environment
from memory_matrix.errors import UsageError
from memory_matrix.locations import location
from memory_matrix.matrix.model import CompatOptions
from memory_matrix.matrix.problems import listed
from memory_matrix.matrix.select import Selection
from memory_matrix.report.model import Error


@dataclass
class _Draft:
    """What has been heard from one environment so far."""

    environment: Environment
    meanings: dict[str, Meaning] = field(default_factory=dict)
    written: dict[tuple[str, str], Written] = field(default_factory=dict)
    lacking: dict[str, Error] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    serializers: dict[str, None] = field(default_factory=dict)
    modules: dict[str, None] = field(default_factory=dict)
    broken: str | None = None
    starts: int = 0
    done: bool = False
    seconds: float = 0.0
    doing: str = "importing payloads and serializers"


def write_all(
    workshop: Workshop,
    environments: Sequence[Environment],
    on_step: Callable[[str], None] = lambda _: None,
) -> tuple[Writes, ...]:
    """Return what each environment wrote, in the order of `environments`; `settled` comes after it.

    Raises:
        UsageError: two payload sources define one payload.
    """
    workshop.blobs.mkdir(exist_ok=True)
    workshop.descriptions.mkdir(exist_ok=True)
    drafts = {environment.spec.name: _Draft(environment) for environment in environments}
    labels = {source: label for label, source in workshop.payloads.items()}
    while pending := [draft for draft in drafts.values() if not draft.done]:
        tasks = [workshop.task(draft.environment, "write", **_rest(draft)) for draft in pending]
        for task, event in run_tasks(tasks, workshop.folder, workshop.parallel):
            draft = drafts[task.environment.spec.name]
            _HEARD[event["event"]](draft, event)
            if event["event"] == "written":
                on_step(draft.environment.spec.name)
    return tuple(_finished(draft, labels) for draft in drafts.values())


def settled(
    writes: Sequence[Writes], compat: CompatOptions, selection: Selection, *, whole: bool = True
) -> tuple[Writes, ...]:
    """Return what all environments wrote, where each knows what it lacks that others have.

    Without `whole` there are environments whose writes nobody knows: they may have what no other has.

    Raises:
        UsageError: no environment can import a payload source or has a serializer; or no payload is
            selected.
    """
    if whole:
        _refuse_what_nobody_has(compat, [each for each in writes if not each.broken])
    names = _payloads_by_source(writes)
    if whole:
        _refuse_empty_selection(selection, [name for found in names.values() for name in found])
    return tuple(_settled(each, names) for each in writes)


def _rest(draft: _Draft) -> dict[str, Any]:
    """Return what a worker has to do; started again, what is left, and without preloading."""
    draft.starts += 1
    if draft.starts == 1:
        return {"preload": []}
    names = [name for source in draft.sources.values() for name in source.payloads]
    finished = {
        name
        for name in draft.meanings
        if draft.meanings[name].outcome != "built"
        or all((name, serializer) in draft.written for serializer in draft.serializers)
    }
    only = [name for name in names if name not in finished] if names else None
    return {"only": only, "preload": None}


def _on_source(draft: _Draft, event: Event) -> None:
    error = event.get("error")
    draft.sources[event["source"]] = Source(
        payloads=tuple(event.get("payloads", ())),
        unused=tuple(event.get("unused", ())),
        problem=None if error is None else sentence(error),
        place="" if error is None else error.get("place", ""),
        location=None if error is None else location(error.get("file"), error.get("line", 1)),
    )


def _on_twice(_: _Draft, event: Event) -> None:
    raise UsageError(
        f"{event['source']}: the payload {event['payload']!r} is defined by another payloads file"
        f" too; give one of them another name."
    )


def _on_serializer(draft: _Draft, event: Event) -> None:
    if "error" in event:
        draft.lacking[event["serializer"]] = error_value(event["error"])
    else:
        draft.serializers[event["serializer"]] = None


def _on_payload(draft: _Draft, event: Event) -> None:
    name = event["payload"]
    error = event.get("error")
    draft.meanings[name] = Meaning(
        outcome=event["outcome"],
        expected=event.get("expected"),
        plain=event.get("plain"),
        probe=event.get("probe"),
        reason=event.get("reason") or (_why(event, error) if error else None),
        unstable=differences(event.get("differs", ())),
        location=location(event.get("file"), event.get("line", 1)),
    )
    draft.modules.update(dict.fromkeys(event.get("imported", ())))
    draft.doing = f"writing, after payload {name!r}"


def _why(event: Event, error: Mapping[str, Any]) -> str:
    """Return where a payload is, and what its function or its probe raises."""
    where = f"{event['location']}: " if event.get("location") else ""
    probe = "its probe raises " if event["outcome"] == "built" else ""
    return f"{where}{probe}{sentence(error)}"


def _on_written(draft: _Draft, event: Event) -> None:
    draft.modules.update(dict.fromkeys(event.get("imported", ())))
    draft.written[event["payload"], event["serializer"]] = Written(
        outcome="skipped" if event["outcome"] == "lacking" else event["outcome"],
        blob=event.get("blob"),
        text=event.get("text", False),
        error=result_error(event, "dump"),
    )


def _on_broken(draft: _Draft, event: Event) -> None:
    draft.broken = broken_reason(event)


def _on_done(draft: _Draft, _: Event) -> None:
    draft.done = True


def _on_ended(draft: _Draft, event: Event) -> None:
    draft.seconds += event["seconds"]
    if not draft.done and is_given_up(event, draft.starts):
        draft.done = True
        draft.broken = describe_end(event, draft.doing)


_HEARD: Mapping[str, Callable[[_Draft, Event], None]] = {
    "source": _on_source,
    "twice": _on_twice,
    "serializer": _on_serializer,
    "payload": _on_payload,
    "written": _on_written,
    "broken": _on_broken,
    "done": _on_done,
    "ended": _on_ended,
}


def _refuse_what_nobody_has(compat: CompatOptions, writes: Sequence[Writes]) -> None:
    if not writes:
        return
    for label in compat.payloads:
        _refuse_source(label, [each.sources[label] for each in writes if label in each.sources])
    for label in compat.serializers:
        if not any(label in each.serializers for each in writes):
            why = next(each.lacking[label] for each in writes if label in each.lacking)
            raise UsageError(f"compat.serializers: no environment has {label!r}: {why}")


def _refuse_empty_selection(selection: Selection, names: Sequence[str]) -> None:
    if names and not any(selection.allows("payload", name) for name in names):
        raise UsageError(f"--select {selection} leaves no payload; there are {listed(names)}.")


def _refuse_source(label: str, found: Sequence[Source]) -> None:
    problems = [each for each in found if each.problem is not None]
    if problems and len(problems) == len(found):
        first = problems[0]
        raise UsageError(
            f"{label}: {first.place}no environment can import this payloads file: {first.problem}",
            place=first.location,
        )
    if problems or not found:
        return
    if unused := set.intersection(*(set(each.unused) for each in found)):
        name = min(unused)
        raise UsageError(f"{label}: probe_{name} has no payload_{name}; name it as its payload is.")
    if not any(each.payloads for each in found):
        raise UsageError(
            f"{label}: it defines no payload; add a function named payload_NAME that takes nothing"
            f" and returns the value of the payload NAME."
        )


def _payloads_by_source(writes: Iterable[Writes]) -> dict[str, list[str]]:
    names: dict[str, dict[str, None]] = {}
    for each in writes:
        for label, source in each.sources.items():
            names.setdefault(label, {}).update(dict.fromkeys(source.payloads))
    return {label: list(found) for label, found in names.items()}


def _settled(writes: Writes, names: Mapping[str, Sequence[str]]) -> Writes:
    """Return what an environment wrote, payloads in one order; what others can import has failed."""
    failed = {
        name: Meaning("failed", reason=f"{Path(label).name}: {source.place}{source.problem}")
        for label, source in writes.sources.items()
        if source.problem is not None
        for name in names[label]
    }
    meanings = {**writes.meanings, **failed}
    ordered = [name for found in names.values() for name in found if name in meanings]
    return replace(writes, meanings={name: meanings[name] for name in ordered})


def _finished(draft: _Draft, labels: Mapping[str, str]) -> Writes:
    return Writes(
        environment=draft.environment.spec.name,
        meanings=draft.meanings,
        written=draft.written,
        lacking={label: lacking_sentence(label, error) for label, error in draft.lacking.items()},
        modules=tuple(draft.modules),
        broken=draft.broken,
        sources={labels[source]: found for source, found in draft.sources.items()},
        serializers=tuple(draft.serializers),
        seconds=round(draft.seconds, 2),
    )


def lacking_sentence(label: str, error: Error) -> str:
    """Return what to do about a serializer that an environment lacks."""
    from memory_matrix.serializers.builtin import NAMES, PROJECTS

    if label not in NAMES:
        return f"{error.type}: {error.message}"
    if error.type.endswith("Lacking"):
        return error.message
    return f'add "{PROJECTS[label]}" to its packages ({error.type}: {error.message})'
