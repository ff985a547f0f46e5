"""Where the tool of the agent stands between two turns; kept as a pickle."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class TrackingState:
    parcel: int
    stops: list[str] = field(default_factory=list)

    def arrived(self, stop: str) -> None:
        self.stops.append(stop)
