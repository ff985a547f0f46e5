"""What the phases of compat hand on to each other, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from memory_matrix.report.model import Difference, Error

BuildOutcome = Literal["built", "lacking", "failed", "crashed"]
WriteOutcome = Literal["written", "unwritable", "crashed", "skipped"]
ReadOutcome = Literal["loaded", "unreadable", "crashed", "skipped"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one environment means by one payload: digests of descriptions, or why there is none."""

    outcome: BuildOutcome
    expected: str | None = None
    """Digest of the value's own description."""
    plain: str | None = None
    """Digest of the value itself, where it is plain; it means something in this environment only."""
    probe: str | None = None
    """Digest of what the payload's probe sees; None without a usable probe."""
    reason: str | None = None
    """Why the environment writes nothing for this payload, or what is wrong with its probe."""
    unstable: tuple[Difference, ...] = ()
    """How a second build differed from the first."""
    location: str | None = None
    """Where the user defines the payload, from the current folder: `payloads.py:12`."""


@dataclass(frozen=True, slots=True)
class Written:
    """What became of dumping one payload with one serializer in one environment."""

    outcome: WriteOutcome
    blob: str | None = None
    """Digest of the bytes."""
    text: bool = False
    """Whether the serializer wrote text, and wants text back."""
    error: Error | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """What one environment found in one payloads file."""

    payloads: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    """Probes that have no payload."""
    problem: str | None = None
    """What its import raises."""
    place: str = ""
    """At which line, such as `line 3: `; with the file that it imports there where that raises."""
    location: str | None = None
    """That line, such as `payloads.py:3`; None where nothing is raised."""


@dataclass(frozen=True)
class Writes:
    """All that one environment wrote."""

    environment: str
    meanings: Mapping[str, Meaning] = field(default_factory=dict)
    written: Mapping[tuple[str, str], Written] = field(default_factory=dict)
    """By payload and serializer."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """Serializers that the environment lacks, with the reason."""
    modules: tuple[str, ...] = ()
    """What its payloads import."""
    broken: str | None = None
    """Why the environment cannot be used at all."""
    sources: Mapping[str, Source] = field(default_factory=dict)
    """By their names in the matrix file."""
    serializers: tuple[str, ...] = ()
    """Those that the environment has."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Variant:
    """The bytes that some slots gave back for a blob, or the error with which they refused it."""

    via: tuple[str, ...]
    blob: str | None = None
    error: Error | None = None


@dataclass(frozen=True, slots=True)
class ReadKey:
    """What is loaded once per reader, however many environments wrote it."""

    serializer: str
    payload: str
    blob: str
    text: bool


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What became of loading one blob in one environment."""

    outcome: ReadOutcome
    error: Error | None = None
    differences: Mapping[str, tuple[Difference, ...]] = field(default_factory=dict)
    """By the digest of the description that the value was compared with."""
    again: tuple[Difference, ...] = ()
    """How a second load of the same bytes differed from the first."""


@dataclass(frozen=True)
class Reads:
    """All that one environment read."""

    environment: str
    results: Mapping[ReadKey, ReadResult] = field(default_factory=dict)
    broken: str | None = None
    seconds: float = 0.0
