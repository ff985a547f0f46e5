"""The tables of names and texts that the page's data refers to by number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_matrix.report import grouping, sentences
from memory_matrix.report.html.axes import labels
from memory_matrix.report.html.hints import Hint, HintKey, hints
from memory_matrix.report.html.texts import Numbers, Room, Texts, room, shown
from memory_matrix.report.model import Report


@dataclass(frozen=True)
class Tables:
    """Names by number, in the order in which they were asked for; and texts."""

    room: Room
    hints: Mapping[HintKey, Hint]
    hint: Numbers[HintKey]
    environment: Numbers[str]
    texts: Texts = field(default_factory=Texts)
    serializer: Numbers[str] = field(default_factory=Numbers)
    payload: Numbers[str] = field(default_factory=Numbers)
    cause: Numbers[str] = field(default_factory=Numbers)
    slots: Numbers[tuple[str, ...]] = field(default_factory=Numbers)

    @classmethod
    def of(cls, report: Report) -> Tables:
        """Return tables for `report`, in which the environments that it had have their order."""
        found = hints(report)
        names = (each.name for each in grouping.ready(report))
        return cls(room(report), found, Numbers(found), Numbers(names))

    def message(self, text: str | None) -> int:
        """Return the number of what was raised, or of a reason; NONE for None."""
        return self.texts.number(text, self.room.message)

    def value(self, text: str) -> int:
        """Return the number of a path or a value in a difference."""
        return self.texts.number(text, self.room.value)

    def names(self) -> dict[str, Any]:
        """Return the tables of names, and the values by which --select takes them."""
        environments = shown(self.environment)
        return {
            "environment": environments,
            "labels": labels(environments),
            "serializer": shown(self.serializer),
            "payload": shown(self.payload),
            "cause": shown(self.cause),
            "hints": [[each.id, self.message(each.text)] for each in self.hints.values()],
            "terms": {
                "environment": _terms(self.environment),
                "serializer": _terms(self.serializer),
                "payload": _terms(self.payload),
            },
            **_slots(self.slots),
        }


def _terms(names: Numbers[str]) -> list[str]:
    """Return `names` as --select takes them, as they stand between single quotes of a shell."""
    return [sentences.select_value(name).replace("'", "'\"'\"'") for name in names]


def _slots(sets: Numbers[tuple[str, ...]]) -> dict[str, Any]:
    """Return the sets of slots that gave back the same bytes, the slots, and their servers."""
    slot: Numbers[str] = Numbers()
    members = [[slot[name] for name in names] for names in sets]
    server: Numbers[str] = Numbers()
    owners = [server[name.rpartition("/")[0] or name] for name in slot]
    return {"slots": members, "slot": shown(slot), "owner": owners, "server": shown(server)}
