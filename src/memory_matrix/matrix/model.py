"""What a matrix file says, as frozen values. No I/O here; `read` makes these, `expand` fills them."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

ServerKind = Literal["postgres", "redis"]
SourceForm = Literal["image", "wheel", "bin", "url"]
FailOn = Literal["new-breaks", "break", "drifted", "changed", "never"]
Direction = Literal["backward", "forward", "sideways"]
Strategy = Literal["full", "pairwise", "axis-star"]
"""Which of all combinations the suite runs: every one, every pair of values, or one axis at a time."""

CURRENT_PYTHON = "current"
"""A value of the `python` axis: the interpreter that runs memory-matrix."""

SECRET = re.compile(r"pass|pwd|secret|token", re.IGNORECASE)
"""Is in the name of each parameter of a URL that holds a password."""

DEFAULT_STORES = ("memory_matrix.stores:PostgresStore", "memory_matrix.stores:RedisStore")
"""The reference stores, under test where the matrix file names none."""


@dataclass(frozen=True)
class ServerSource:
    """Where a server comes from: `image:NAME:TAG`, `wheel:PROJECT==VERSION`, `bin:PATH`, or a URL."""

    kind: ServerKind
    form: SourceForm
    value: str
    """What follows the form's prefix; for a URL the whole URL, password included."""
    name: str
    """Short and unique in its matrix, used in `via` and in reports: `pg17`, `redis:8.0`."""

    @property
    def text(self) -> str:
        """The source as the matrix file writes it, with any password in a URL replaced by `***`."""
        if self.form != "url":
            return f"{self.form}:{self.value}"
        return mask_password(self.value)


@dataclass(frozen=True)
class EnvironmentSpec:
    """One environment that the matrix asks for: an interpreter and a set of requirements."""

    name: str
    python: str
    packages: tuple[str, ...] = ()
    """PEP 508 requirements."""
    app: str | None = None
    """The project itself: `.`, or `git:REF`."""
    path: tuple[Path, ...] = ()
    """Folders put in front of `sys.path`, absolute."""
    env: tuple[tuple[str, str], ...] = ()
    coordinates: tuple[tuple[str, int], ...] = ()
    """Axis and age on it (0 is the oldest). Named environments share the axis `environment`."""
    values: tuple[tuple[str, str], ...] = ()
    """Axis and the value's text, in the order of the axes; for named environments `python` only."""


@dataclass(frozen=True)
class Excluded:
    """A combination of the axes that an `[[exclude]]` entry took out."""

    name: str
    by: str
    """The key's path of the entry, such as `exclude[0]`."""


@dataclass(frozen=True)
class Known:
    """A break that the user expects. Each pattern is a glob; `*` where the entry does not say."""

    reason: str
    key: str
    """The key's path of the entry, such as `known[1]`."""
    writer: str = "*"
    reader: str = "*"
    serializer: str = "*"
    payload: str = "*"
    until: dt.date | None = None
    """The last day on which it is expected."""


@dataclass(frozen=True)
class CompatOptions:
    """`[compat]`: what is written, how it is judged, and what makes a run fail."""

    serializers: tuple[str, ...] = ("pickle", "json")
    payloads: tuple[str, ...] = ("builtin",)
    fail_on: FailOn = "break"
    directions: tuple[Direction, ...] = ("backward", "forward", "sideways")
    timeout: float = 10.0
    """Seconds for one cell."""
    memory: int = 2048
    """MiB that one cell may take on top of what its worker holds."""


@dataclass(frozen=True)
class Waiver:
    """Suite cases that are expected to fail. Each pattern is a glob; `*` where the entry does not say."""

    reason: str
    key: str
    """The key's path of the entry, such as `suite.waiver[0]`."""
    until: dt.date
    """The last day on which it holds."""
    store: str = "*"
    case: str = "*"
    environment: str = "*"
    server: str = "*"


@dataclass(frozen=True)
class SuiteOptions:
    """`[suite]`: which stores the memory test suite runs against, and on how much of the matrix."""

    stores: tuple[str, ...] = DEFAULT_STORES
    serializers: tuple[str, ...] = ()
    """For stores that take one; none means each store's own default."""
    strategy: Strategy = "full"
    timeout: float = 60.0
    """Seconds for one case."""
    waivers: tuple[Waiver, ...] = ()


@dataclass(frozen=True)
class Matrix:
    """A whole matrix, expanded."""

    source: Path | None
    """The file it was read from; None for the built-in quick matrix."""
    root: Path
    """The folder that relative paths in it start from, absolute."""
    environments: tuple[EnvironmentSpec, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    compat: CompatOptions = field(default_factory=CompatOptions)
    known: tuple[Known, ...] = ()
    servers: tuple[ServerSource, ...] = ()
    suite: SuiteOptions = field(default_factory=SuiteOptions)
    asks_for_suite: bool = True
    """Whether the file has `[suite]`: without it, a run of everything leaves the suite out."""
    whole: str = ""
    """The digest of the whole matrix that this is a part of; empty where this is all there is."""
    excuses: str = ""
    """That of all that the whole matrix excuses; empty where this is all there is."""


def mask_password(url: str) -> str:
    """Return `url` with `***` for its password, in front of the host and among its parameters.

    Where a password holds characters that it should not (`@`, `/`, `?`), too much is replaced rather
    than too little. A text that is no URL is searched for parameters only.
    """
    scheme, separator, rest = url.partition("://")
    userinfo, at, place = rest.rpartition("@")
    if _mask_parameter(userinfo.rpartition("&")[2]) != userinfo.rpartition("&")[2]:
        place = f"***{''.join(place.partition('&')[1:])}"  # the `@` stands in a parameter
    user = re.split(r"[:?#]", userinfo)[0]
    if user != userinfo:
        userinfo = f"{user}:***"
    pieces = f"{scheme}{separator}{userinfo}{at}{place}".split("&")
    return "&".join(map(_mask_parameter, pieces))


def _mask_parameter(piece: str) -> str:
    for key in re.finditer(r"([^?\s=]+)(=?)", piece):
        if key[2] and SECRET.search(unquote(key[1])):
            return f"{piece[: key.end()]}***"
    return piece
