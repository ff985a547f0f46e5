"""What a failed case says besides: which declared answers it was judged by, which errors count as told."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from memory_matrix.suite.memory import Memory
from memory_matrix.suite.outcomes import CaseFailed

_OF_ONE_LOOP = (
    "The store holds what belongs to one event loop, and was called from another: let it make its own for "
    'each loop, or declare `loops = "one"` and `threads = "refuse"` and have it raise an error that its '
    "callers know."
)
_MOST = 3
"""Errors of the log that are quoted."""


def advice(memory: Memory, error: BaseException) -> str:
    """Return sentences to follow that of `error`, with which a case failed; empty if there are none."""
    said = (_unknown(memory, error), _logged(memory), _elsewhere(memory), _judged(memory))
    return " ".join(filter(None, said))


def _unknown(memory: Memory, error: BaseException) -> str:
    """Say so where the store's callers do not know an error that the store raised."""
    if isinstance(error, (CaseFailed, *memory.refusals)):
        return ""
    if isinstance(error, RuntimeError) and "loop" in str(error).lower():
        return _OF_ONE_LOOP
    known = ", ".join(map(_name, memory.refusals))
    return (
        f"The store's callers do not know this error: raise one that they know ({known}), or add it "
        "to the adapter's `refusals`."
    )


def _elsewhere(memory: Memory) -> str:
    """Say where the store's tables are if they are not in its schema."""
    tables: list[str] = []
    with suppress(Exception):  # the server may be the trouble
        tables = memory.site.stray_tables()
    if not tables:
        return ""
    return (
        f"The store has made nothing in its schema, and there is {' and '.join(tables)}: every connection "
        "has to keep the `options` of the DSN, which name the schema."
    )


def _logged(memory: Memory) -> str:
    """Quote the last errors that the store wrote to the log: they may be the cause."""
    said = [*dict.fromkeys(memory.logged)][-_MOST:]
    return f"The store logged: {'; '.join(said)}." if said else ""


def _judged(memory: Memory) -> str:
    """Name the answers that the case asked for; mere lists of what the store has are left out."""
    policy = memory.tested.policy
    answers = {name: getattr(policy, name) for name in memory.judged_by}
    shown = [
        f"{name}: {by_answer(answer) if isinstance(answer, Mapping) else policy.lines()[name]}"
        for name, answer in answers.items()
        if not isinstance(answer, tuple)
    ]
    return f"Judged by its policy: {', '.join(shown)}." if shown else ""


def by_answer(answers: Mapping[str, str]) -> str:
    """Return answers by what they are: `refuse`, or `text for uuid and decimal, else refuse`."""
    found: dict[str, list[str]] = {}
    for kind, answer in answers.items():
        found.setdefault(answer, []).append(kind)
    *others, (most, _) = sorted(found.items(), key=lambda each: len(each[1]))
    words = [f"{answer} for {' and '.join(kinds)}" for answer, kinds in others]
    return ", ".join([*words, f"else {most}" if words else most])


def _name(kind: type[Exception]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
