"""The write phase: every environment dumps every payload with every serializer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
from memory_matrix.compat.model import Meaning, Writes, Written
from memory_matrix.compat.workers import run_tasks
from memory_matrix.compat.workshop import Workshop
from memory_matrix.environments.model import Environment
from memory_matrix.errors import UsageError
from memory_matrix.matrix.problems import listed
from memory_matrix.report.model import Error


@dataclass
class _Draft:
    """What has been heard from one environment so far."""

    environment: Environment
    meanings: dict[str, Meaning] = field(default_factory=dict)
    written: dict[tuple[str, str], Written] = field(default_factory=dict)
    lacking: dict[str, Error] = field(default_factory=dict)
    sources: dict[str, Event] = field(default_factory=dict)
    serializers: set[str] = field(default_factory=set)
    modules: dict[str, None] = field(default_factory=dict)
    broken: str | None = None
    starts: int = 0
    done: bool = False
    doing: str = "importing payloads and serializers"


def write_all(
    workshop: Workshop,
    environments: Sequence[Environment],
    on_step: Callable[[str], None] = lambda _: None,
) -> tuple[Writes, ...]:
    """Return what each environment wrote, in the order of `environments`.

    Raises:
        UsageError: no environment can import a payload source or has a serializer, or two payload
            sources define one payload.
    """
    workshop.blobs.mkdir(exist_ok=True)
    workshop.descriptions.mkdir(exist_ok=True)
    drafts = {environment.spec.name: _Draft(environment) for environment in environments}
    while pending := [draft for draft in drafts.values() if not draft.done]:
        tasks = [workshop.task(draft.environment, "write", **_rest(draft)) for draft in pending]
        for task, event in run_tasks(tasks, workshop.folder, workshop.parallel):
            draft = drafts[task.environment.spec.name]
            _HEARD[event["event"]](draft, event)
            if event["event"] == "written":
                on_step(draft.environment.spec.name)
    _refuse_what_nobody_has(workshop, [draft for draft in drafts.values() if not draft.broken])
    names = _payloads_by_source(drafts.values())
    _refuse_empty_selection(workshop, [name for found in names.values() for name in found])
    return tuple(_finished(draft, names) for draft in drafts.values())


def _rest(draft: _Draft) -> dict[str, Any]:
    """Return what a worker has to do; started again, what is left, and without preloading."""
    draft.starts += 1
    if draft.starts == 1:
        return {"preload": []}
    names = [name for event in draft.sources.values() for name in event.get("payloads", ())]
    finished = {
        name
        for name in draft.meanings
        if draft.meanings[name].outcome != "built"
        or all((name, serializer) in draft.written for serializer in draft.serializers)
    }
    only = [name for name in names if name not in finished] if names else None
    return {"only": only, "preload": None}


def _on_source(draft: _Draft, event: Event) -> None:
    draft.sources[event["source"]] = event


def _on_twice(_: _Draft, event: Event) -> None:
    raise UsageError(
        f"{event['source']}: the payload {event['payload']!r} is defined by another payloads file"
        f" too; give one of them another name."
    )


def _on_serializer(draft: _Draft, event: Event) -> None:
    if "error" in event:
        draft.lacking[event["serializer"]] = error_value(event["error"])
    else:
        draft.serializers.add(event["serializer"])


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
        location=event.get("location"),
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


def _refuse_what_nobody_has(workshop: Workshop, drafts: Sequence[_Draft]) -> None:
    if not drafts:
        return
    for label, source in workshop.payloads.items():
        events = [draft.sources[source] for draft in drafts if source in draft.sources]
        _refuse_source(label, events)
    for label in workshop.serializers:
        if not any(label in draft.serializers for draft in drafts):
            why = next(draft.lacking[label] for draft in drafts if label in draft.lacking)
            raise UsageError(
                f"compat.serializers: no environment has {label!r}: {lacking_sentence(label, why)}"
            )


def _refuse_empty_selection(workshop: Workshop, names: Sequence[str]) -> None:
    selection = workshop.selection
    if names and not any(selection.allows("payload", name) for name in names):
        raise UsageError(f"--select {selection} leaves no payload; there are {listed(names)}.")


def _refuse_source(label: str, events: Sequence[Event]) -> None:
    errors = [event["error"] for event in events if "error" in event]
    if errors and len(errors) == len(events):
        first = errors[0]
        raise UsageError(
            f"{label}: {first.get('place', '')}no environment can import this payloads file:"
            f" {sentence(first)}"
        )
    unused = (
        set.intersection(*(set(event.get("unused", ())) for event in events)) if events else set()
    )
    if events and not errors and unused:
        name = min(unused)
        raise UsageError(f"{label}: probe_{name} has no payload_{name}; name it as its payload is.")
    if events and not errors and not any(event["payloads"] for event in events):
        raise UsageError(
            f"{label}: it defines no payload; add a function named payload_NAME that takes nothing"
            f" and returns the value of the payload NAME."
        )


def _payloads_by_source(drafts: Iterable[_Draft]) -> dict[str, list[str]]:
    names: dict[str, dict[str, None]] = {}
    for draft in drafts:
        for source, event in draft.sources.items():
            names.setdefault(source, {}).update(dict.fromkeys(event.get("payloads", ())))
    return {source: list(found) for source, found in names.items()}


def _finished(draft: _Draft, names: Mapping[str, Sequence[str]]) -> Writes:
    failed = {
        name: Meaning("failed", reason=f"{Path(source).name}: {sentence(event['error'])}")
        for source, event in draft.sources.items()
        if "error" in event
        for name in names[source]
    }
    meanings = {**draft.meanings, **failed}
    return Writes(
        environment=draft.environment.spec.name,
        meanings={
            name: meanings[name] for found in names.values() for name in found if name in meanings
        },
        written=draft.written,
        lacking={label: lacking_sentence(label, error) for label, error in draft.lacking.items()},
        modules=tuple(draft.modules),
        broken=draft.broken,
    )


def lacking_sentence(label: str, error: Error) -> str:
    """Return what to do about a serializer that an environment lacks."""
    from memory_matrix.serializers.builtin import NAMES, PROJECTS

    if label not in NAMES:
        return f"{error.type}: {error.message}"
    if error.type.endswith("Lacking"):
        return error.message
    return f'add "{PROJECTS[label]}" to its packages ({error.type}: {error.message})'
