"""What makes a text in the matrix file a good one, where no pattern can say it."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from functools import lru_cache
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from memory_matrix.matrix.model import CURRENT_PYTHON, DEFAULT_STORES
from memory_matrix.matrix.places import Found, absolute, what_is_at
from memory_matrix.matrix.problems import did_you_mean, listed, show
from memory_matrix.serializers.builtin import NAMES as SERIALIZERS

OLDEST, NEWEST = 6, 15
"""The minor versions of Python 3 that an environment can have."""

BUILTIN = "builtin"
"""The payloads that memory-matrix brings along."""

WORDS = (
    *("python", "app", "environment", "writer", "reader", "serializer", "payload", "server"),
    *("store", "case"),
)
"""Words of the matrix file and of --select, so no names for a project in `axes.packages`."""

IDENTIFIER = r"[^\W\d]\w*"
DOTTED = rf"{IDENTIFIER}(?:\.{IDENTIFIER})*"

_VERSION = re.compile(r"3\.(?P<minor>\d+)(?:\.\d+(?:(?:a|b|rc)\d+)?)?(?:t|-dev)?", re.ASCII)
_PYTHON = (
    f'a version from "3.{OLDEST}" to "3.{NEWEST}" (also with a patch: "3.12.1"), '
    f'"{CURRENT_PYTHON}", or the absolute path of an interpreter'
)
_MARKS = re.compile(r"[\s~^:?*\[\\]")
"""What git refuses in a ref, except `~` and `^` with digits, which lead to its ancestors."""


def python(text: str, _root: Path) -> Iterator[str]:
    """Yield what is wrong with a value of the axis `python`."""
    version = _VERSION.fullmatch(text)
    if version and OLDEST <= int(version["minor"]) <= NEWEST:
        return
    if text == CURRENT_PYTHON or text.startswith(("/", "~")):
        return
    known = [CURRENT_PYTHON, *(f"3.{minor}" for minor in range(OLDEST, NEWEST + 1))]
    yield f"{show(text)} is no Python; it must be {_PYTHON}.{did_you_mean(text, known)}"


def project(text: str, _root: Path) -> Iterator[str]:
    """Yield what is wrong with a key of `axes.packages`."""
    if canonicalize_name(text) in WORDS:
        yield f"{show(text)} is a word of the matrix file; no project may be called {listed(WORDS)}."


def project_identity(text: str) -> Hashable:
    """Return what is equal for two ways to write the name of one project."""
    return canonicalize_name(text)


def specifier(text: str, _root: Path) -> Iterator[str]:
    """Yield what is wrong with a value in `axes.packages`."""
    try:
        SpecifierSet("" if is_any(text) else text)
    except InvalidSpecifier:
        yield (
            f'{show(text)} is no version specifier; it must be like "==2.5.3", ">=2,<3" or '
            f'"==1.10.*", or "*" for any version.{_equal_to(text)}'
        )


def is_any(specifier: str) -> bool:
    """Return whether the specifier leaves every version in."""
    return specifier.strip() in {"", "*"}


@lru_cache
def specifier_identity(text: str) -> Hashable:
    """Return what is equal for two ways to write one specifier."""
    try:
        return frozenset(SpecifierSet("" if is_any(text) else text))
    except InvalidSpecifier:
        return text


def requirement(text: str, _root: Path) -> Iterator[str]:
    """Yield what is wrong with an item of `packages`."""
    try:
        Requirement(text)
    except InvalidRequirement as error:
        reason = str(error).splitlines()[0].rstrip(".:")
        hint = ' For the project itself, write app = ".".' if text.startswith((".", "-e")) else ""
        yield (
            f'{show(text)} is no requirement ({reason}); it must be like "pydantic==2.5.3".{hint}'
        )


def app(text: str, _root: Path) -> Iterator[str]:
    """Yield what is wrong with a value of the axis `app`."""
    form, _, ref = text.partition(":")
    plain = re.sub(r"[~^]\d*", "", ref)
    if text == "." or (form == "git" and ref and ref[0] != "-" and not _MARKS.search(plain)):
        return
    yield (
        f'{show(text)} is no state of the project; it must be "." for the project as it stands, or '
        '"git:REF" for a tag, branch or commit, such as "git:v1.4.0".'
    )


def folder(text: str, root: Path) -> Iterator[str]:
    """Yield what is wrong with a folder for `sys.path`."""
    path = absolute(text, root)
    found = what_is_at(path)
    if found != "folder":
        yield f"there is {_article(found)} at {show(str(path), whole=True)}; it must be a folder."


def serializer(text: str, root: Path) -> Iterator[str]:
    """Yield what is wrong with an item of `compat.serializers` or `suite.serializers`."""
    if text not in SERIALIZERS:
        yield from _object(
            text,
            root,
            f"{show(text)} is no serializer; it must be file.py:object, module:object or one of "
            f"{', '.join(map(show, SERIALIZERS))}.{did_you_mean(text, SERIALIZERS)}",
        )


def store(text: str, root: Path) -> Iterator[str]:
    """Yield what is wrong with an item of `suite.stores`."""
    names = [name.rpartition(":")[2] for name in DEFAULT_STORES]
    meant = dict(zip(names, DEFAULT_STORES, strict=True)).get(text)
    hint = f" Did you mean {show(meant)}?" if meant else did_you_mean(text, DEFAULT_STORES)
    yield from _object(
        text,
        root,
        f"{show(text)} is no store; it must be file.py:object or module:object, such as "
        f"{show(DEFAULT_STORES[0])}.{hint}",
    )


def payloads(text: str, root: Path) -> Iterator[str]:
    """Yield what is wrong with an item of `compat.payloads`."""
    if text == BUILTIN:
        return
    hint = did_you_mean(text, [BUILTIN], cutoff=0.85)
    if hint:
        yield f'{show(text)} is neither "{BUILTIN}" nor a file; correct it.{hint}'
    else:
        yield from _code(text, root)


def not_blank(text: str, _root: Path) -> Iterator[str]:
    """Yield what is wrong with a glob or a reason: nothing in it."""
    if not text.strip():
        yield f"{show(text)} is blank; fill it in."


def _object(text: str, root: Path, sentence: str) -> Iterator[str]:
    """Yield what is wrong with file.py:object or module:object; the sentence, if it is neither."""
    place, colon, name = text.rpartition(":")
    if colon and re.fullmatch(DOTTED, name):
        yield from _code(place, root)
    else:
        yield sentence


def _code(place: str, root: Path) -> Iterator[str]:
    """Yield what is wrong with a Python file or the dotted name of a module."""
    if not place.endswith(".py"):
        if not re.fullmatch(DOTTED, place):
            yield (
                f"{show(place)} is neither a Python file nor a module; it must be like "
                '"payloads.py" or "package.module".'
            )
        return
    path = root / place
    found = what_is_at(path)
    if found != "file":
        yield f"there is {_article(found)} at {show(str(path), whole=True)}; it must be a Python file."


def _article(found: Found) -> str:
    return f"a {found}" if found in {"file", "folder"} else found


def _equal_to(text: str) -> str:
    try:
        Version(text.removesuffix(".*"))
    except InvalidVersion:
        return ""
    return f" Did you mean {show('==' + text)}?"
