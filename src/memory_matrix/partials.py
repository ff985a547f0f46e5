"""What a shard leaves for the other machines: a folder that is whole, or is not there at all."""

from __future__ import annotations

import datetime as dt
import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, cast

from memory_matrix import __version__
from memory_matrix.errors import MemoryMatrixError, UsageError
from memory_matrix.matrix.digest import digest, excuses
from memory_matrix.matrix.model import Matrix
from memory_matrix.matrix.packing import Shard, parse_shard
from memory_matrix.matrix.select import Part
from memory_matrix.report.decoding import MalformedError, decoder
from memory_matrix.report.merging import UNKNOWN
from memory_matrix.report.model import MissingPart
from memory_matrix.running import RunOptions, shown_source

Kind = Literal["written", "read", "suite"]

FILES: Mapping[Kind, str] = {kind: f"{kind}.json" for kind in ("written", "read", "suite")}
"""The file by which a shard's folder is known, wherever it was moved to."""

REPORT = "report.json"

_TITLES: Mapping[Kind, str] = {"written": "compat write", "read": "compat read", "suite": "suite"}
_PARTS: Mapping[Kind, Part] = {"written": "compat", "read": "compat", "suite": "suite"}
_UNITS: Mapping[Kind, str] = {
    "written": "{} as writer",
    "read": "{} as reader",
    "suite": "{}",
}


@dataclass(frozen=True)
class Header:
    """What a shard is a part of. Shards of one kind of one run differ in `shard` alone."""

    kind: Kind
    version: str
    digest: str
    shard: str
    units: tuple[tuple[str, ...], ...]
    """What each shard has to do: names of environments, or of processes of the suite."""
    environments: tuple[str, ...]
    """All of the matrix, in its order."""
    matrix: str | None = None
    select: str = ""
    strict: bool = False
    given: tuple[str, ...] = ()
    """Options of the command line that named other stores or servers."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Digests of the user's own files that the matrix names: payloads, serializers, stores."""
    excuses: str = ""
    """The digest of all that the matrix excuses, which what is judged together has to share."""

    @property
    def place(self) -> Shard:
        """Which of the shards it is."""
        return parse_shard(self.shard)

    @property
    def folder(self) -> str:
        """The name of its folder, such as `written-1-of-3`."""
        return f"{self.kind}-{self.place.number}-of-{self.place.of}"

    @property
    def title(self) -> str:
        """What ran, such as `compat write 1/3`."""
        return f"{_TITLES[self.kind]} {self.shard}"


@dataclass(frozen=True)
class Partial:
    """What a shard found; each kind has more."""

    header: Header


P = TypeVar("P", bound=Partial)


@dataclass(frozen=True)
class Loaded(Generic[P]):
    """A partial, and where it was found."""

    path: Path
    """Its JSON file."""
    digest: str
    """Of that file's bytes."""
    partial: P

    @property
    def header(self) -> Header:
        """What it is a part of."""
        return self.partial.header


def header(
    kind: Kind,
    matrix: Matrix,
    shard: Shard,
    units: Sequence[Sequence[str]],
    options: RunOptions,
) -> Header:
    """Return the header of a shard of `matrix`."""
    return Header(
        kind=kind,
        version=__version__,
        digest=digest(matrix),
        shard=str(shard),
        units=tuple(map(tuple, units)),
        environments=tuple(each.name for each in matrix.environments),
        matrix=shown_source(matrix),
        select=str(options.selection),
        strict=options.strict,
        files=dict(_named_files(kind, matrix)),
        excuses=excuses(matrix),
    )


def _named_files(kind: Kind, matrix: Matrix) -> Iterator[tuple[str, str]]:
    """Yield the files that a kind of shards runs, as the matrix names them, with their digests."""
    compat = (*matrix.compat.payloads, *matrix.compat.serializers)
    suite = (*matrix.suite.stores, *matrix.suite.serializers)
    for name in suite if kind == "suite" else compat:
        file = name.rpartition(":")[0] or name
        if file.endswith(".py"):
            with suppress(OSError):  # what cannot be read says so where it is used
                yield file, hashlib.sha256((matrix.root / file).read_bytes()).hexdigest()[:16]


# Saving


@contextmanager
def drafted(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that takes the place of `folder` when the block ends, if it ends well.

    Raises:
        MemoryMatrixError: it cannot be written.
    """
    draft = folder.parent / f".{folder.name}.{secrets.token_hex(8)}.tmp"
    try:
        draft.mkdir(parents=True)
        yield draft
        _put(draft, folder)
    except OSError as error:
        raise MemoryMatrixError(
            f"What the shard found cannot be written to {str(folder)!r}: {error.strerror or error}."
            " Name another folder with --report-dir, or make room and room to write in this one."
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _put(draft: Path, folder: Path) -> None:
    """Rename `draft` to `folder`; another run may put its own there at the same time."""
    while True:
        aside = draft.with_name(f".{folder.name}.{secrets.token_hex(8)}.old")
        with suppress(FileNotFoundError):
            folder.rename(aside)
        try:
            draft.rename(folder)
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}:
                raise
        else:
            return
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def write(partial: Partial, folder: Path) -> None:
    """Write the JSON file of `partial` into `folder`."""
    with (folder / FILES[partial.header.kind]).open("w", encoding="ascii", newline="\n") as file:
        file.write(json.dumps(partial, separators=(",", ":"), default=_plain))
        file.flush()
        os.fsync(file.fileno())


def _plain(value: Any) -> Any:
    """Return what JSON has not as what it has: dataclasses as objects, dates as texts."""
    if isinstance(value, dt.date):
        return value.isoformat()
    return {each.name: getattr(value, each.name) for each in fields(value)}


# Finding and loading


def find(paths: Sequence[Path]) -> dict[str, list[Path]]:
    """Return the files that shards and runs leave, by their names, at any depth of `paths`.

    Links to folders, and hidden folders, where drafts are, are not followed; pipes and devices are no
    files.

    Raises:
        UsageError: a path is not there, or is another file.
    """
    names = [*FILES.values(), REPORT]
    found: dict[str, dict[Path, None]] = {name: {} for name in names}
    for path in paths:
        if path.is_dir():
            for file in _files(path):
                if file.name in found:
                    found[file.name][file.resolve()] = None
        elif path.name in found and path.is_file():
            found[path.name][path.resolve()] = None
        elif path.exists():
            raise UsageError(f"{str(path)!r} is none of what shards leave: {', '.join(names)}.")
        else:
            raise UsageError(
                f"There is nothing at {str(path)!r}; name a folder that shards wrote to."
            )
    return {name: list(files) for name, files in found.items()}


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (path for each in sorted(files) if (path := Path(place, each)).is_file())


def load(
    path: Path, kind: Kind, model: type[P], check: Callable[[P], None] = lambda _: None
) -> Loaded[P]:
    """Return the partial in the file at `path`. It may come from anywhere, and is checked.

    `check` raises MalformedError where the parts of it do not go together.

    Raises:
        UsageError: it cannot be read, it is damaged, or another release made it.
    """
    try:
        data = path.read_bytes()
        plain = json.loads(data)
        _refuse_other_release(path, plain)
        partial: P = decoder(cast("Any", model))(plain)
        _check_header(partial.header, kind)
        check(partial)
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    except MalformedError as error:
        raise damaged(path, str(error)) from None
    except (ValueError, RecursionError) as error:
        raise damaged(path, f"it is no whole JSON ({error})") from None
    return Loaded(path, hashlib.sha256(data).hexdigest(), partial)


def damaged(path: Path, problem: str) -> UsageError:
    """Return the error that says what is wrong with the file of a shard."""
    return UsageError(f"{str(path)!r} is damaged: {problem}. Run its shard again.")


def _refuse_other_release(path: Path, plain: Any) -> None:
    found = plain.get("header") if isinstance(plain, dict) else None
    version = found.get("version") if isinstance(found, dict) else None
    if isinstance(version, str) and version != __version__:
        raise UsageError(other_release(path, version))


def other_release(path: Path, version: str) -> str:
    """Return the sentence that refuses what another release made."""
    return (
        f"{str(path)!r} was made by memory-matrix {version!r:.40}, and this is {__version__!r}: use one"
        " release on all machines."
    )


def _check_header(found: Header, kind: Kind) -> None:
    if found.kind != kind:
        raise MalformedError(f"is {found.kind!r}, not {kind!r}", ".header.kind")
    try:
        of = found.place.of
    except UsageError:
        raise MalformedError(f"is {found.shard!r:.60}, not a shard", ".header.shard") from None
    if len(found.units) != of:
        raise MalformedError(f"has {len(found.units)} shards, not {of}", ".header.units")


# What goes together


def one_run(loaded: Sequence[Loaded[P]]) -> dict[int, Loaded[P]]:
    """Return the shards of one kind by their numbers; a copy of one that is there is left out.

    Raises:
        UsageError: they are no shards of one run: of other matrices, selections or shares of the work,
            or two of them are one shard and not equal.
    """
    shards: dict[int, Loaded[P]] = {}
    for each in loaded:
        _refuse_unlike(loaded[0], each)
        number = each.header.place.number
        same = shards.setdefault(number, each)
        if same.digest != each.digest:
            raise UsageError(
                f"{str(same.path)!r} and {str(each.path)!r} are both {each.header.title}, and not equal:"
                " keep the one that counts."
            )
    return dict(sorted(shards.items()))


def _refuse_unlike(first: Loaded[P], other: Loaded[P]) -> None:
    mine, theirs = first.header, other.header
    refuse_other_matrix(first.path, mine.digest, other.path, theirs.digest)
    refuse_other_excuses(first.path, mine.excuses, other.path, theirs.excuses)
    refuse_other_files(first, other)
    if (mine.select, mine.given) != (theirs.select, theirs.given):
        raise UsageError(
            f"{str(first.path)!r} and {str(other.path)!r} ran with other options ({_options(mine)}, and"
            f" {_options(theirs)}): give every shard the same."
        )
    if replace(mine, shard="", matrix=None) != replace(theirs, shard="", matrix=None):
        raise UsageError(
            f"{str(first.path)!r} and {str(other.path)!r} are shards of other shares of the work: run all"
            " of them with one number of shards and the same --durations."
        )


def _options(found: Header) -> str:
    select = ["--select", repr(found.select)] if found.select else []
    return " ".join((*select, *found.given)) or "none"


def refuse_other_matrix(first: Path, mine: str, other: Path, theirs: str) -> None:
    """Raise where two files are of two matrices, named by their digests."""
    if mine != theirs:
        raise UsageError(
            f"{str(first)!r} and {str(other)!r} are of two matrices ({mine!r:.20}, {theirs!r:.20}): merge"
            " what ran on one matrix file."
        )


def refuse_other_excuses(first: Path, mine: str, other: Path, theirs: str) -> None:
    """Raise where what is to be judged together excuses different things, named by their digests."""
    if mine != theirs:
        raise UsageError(
            f"{str(first)!r} and {str(other)!r} excuse different things, by [[known]] or"
            " [[suite.waiver]]: merge what ran on one matrix file."
        )


def refuse_other_files(first: Loaded[Any], other: Loaded[Any]) -> None:
    """Raise where a file that both ran was not the same for both."""
    for name in other_files(first.header, other.header):
        raise UsageError(
            f"{str(first.path)!r} and {str(other.path)!r} ran with two files {name!r}: run all shards again,"
            " with the same files."
        )


def other_files(one: Header, other: Header) -> Iterator[str]:
    """Yield the files that both name, and that are not the same."""
    return (name for name, found in one.files.items() if other.files.get(name, found) != found)


def titles(shards: Mapping[int, Loaded[P]]) -> tuple[str, ...]:
    """Return what ran, such as `compat write 1/3`."""
    return tuple(each.header.title for each in shards.values())


def shard_of(unit: str, shards: Mapping[int, Loaded[P]]) -> str:
    """Return the shard that had `unit` to do; `?/?` where none of them says so."""
    for first in list(shards.values())[:1]:
        for number, units in enumerate(first.header.units, start=1):
            if unit in units:
                return str(Shard(number, len(first.header.units)))
    return UNKNOWN


def missing_part(kind: Kind, unit: str, shard: str) -> MissingPart:
    """Return that `unit` of a kind of shards is missing."""
    return MissingPart(_PARTS[kind], _UNITS[kind].format(unit), shard)
