"""Cases that may fail for a while: each with a reason, and a day after which it fails again."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from memory_matrix.matrix.patterns import matches, matches_store
from memory_matrix.suite.results import CaseResult


@dataclass(frozen=True)
class CaseWaiver:
    """One waiver, as the plugin is told of it; store and case are globs."""

    reason: str
    until: dt.date
    store: str = "*"
    case: str = "*"
    server: str = "*"

    def covers(self, ended: CaseResult) -> bool:
        """Return whether it speaks of this case."""
        servers = ended.servers or ("",)
        return (
            matches_store(ended.store, self.store)
            and matches(ended.case, self.case)
            and any(matches(server, self.server) for server in servers)
        )


def waived(ended: CaseResult, waivers: Iterable[CaseWaiver], today: dt.date) -> CaseResult:
    """Return a failed case as waived where a waiver in force covers it."""
    if ended.outcome != "failed":
        return ended
    covering = [waiver for waiver in waivers if waiver.covers(ended)]
    for waiver in covering:
        if today <= waiver.until:
            reason = f"{waiver.reason} (until {waiver.until}): {ended.reason}"
            return replace(ended, outcome="waived", reason=reason)
    if covering:
        last = max(covering, key=lambda waiver: waiver.until)
        reason = f"its waiver ({last.reason}) ended on {last.until}: {ended.reason}"
        return replace(ended, reason=reason)
    return ended


def read_waivers(path: Path) -> list[CaseWaiver]:
    """Return the waivers that the orchestrator wrote to `path`."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return [CaseWaiver(**{**each, "until": dt.date.fromisoformat(each["until"])}) for each in data]
