"""What a source promises about the server that answers, and whether the server keeps it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_matrix.matrix.model import ServerSource
from memory_matrix.servers.model import Server
from memory_matrix.servers.wheels import server_wheel

_IMAGE_FLAVOURS = {
    "postgres": "PostgreSQL",
    "postgresql": "PostgreSQL",
    "redis": "Redis",
    "valkey": "Valkey",
}
"""Images whose tag starts with the server's own version, by the last part of their name."""

_PG_TAG = re.compile(r"(?:^|-)pg(\d+(?:\.\d+)*)(?:-|$)")
_VERSION_TAG = re.compile(r"v?(\d+(?:\.\d+)*)(?:-|$)")
_PRERELEASE = re.compile(r"-(?:rc|beta|alpha|m|dev|nightly|unstable)[\d.]*(?:-|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Promise:
    """What a source says of its server. Empty where it says nothing."""

    version: str = ""
    """The leading numbers of the version: `17`, `8.0`."""
    flavour: str = ""


def promised(source: ServerSource) -> Promise:
    """Return what `source` promises: an image by its name and tag, a wheel by its project."""
    if source.form == "image":
        return _promised_by_image(source.value)
    if source.form == "wheel":
        return Promise(flavour=server_wheel(source.value).flavour)
    return Promise()


def broken_promise(server: Server) -> str | None:
    """Return a sentence on how `server` is not what its source names; None where it is."""
    promise = promised(server.source)
    is_version = _starts_with(server.version, promise.version)
    if is_version and promise.flavour in {"", server.flavour}:
        return None
    wanted = " ".join(filter(None, (promise.flavour, promise.version)))
    return (
        f"{server.source.text} should be {wanted}, but the server says that it is "
        f"{server.flavour} {server.version}: check what the name stands for on this machine."
    )


def _promised_by_image(image: str) -> Promise:
    name, tag = _split(image)
    if match := _PG_TAG.search(tag):
        return Promise(match[1], "PostgreSQL")
    flavour = _IMAGE_FLAVOURS.get(name, "")
    match = _VERSION_TAG.match(tag)
    if not flavour or match is None or _PRERELEASE.search(tag):
        return Promise(flavour=flavour)
    return Promise(match[1], flavour)


def _split(image: str) -> tuple[str, str]:
    """Return the last part of an image's name, and its tag."""
    name, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    return name, tag


def _starts_with(version: str, prefix: str) -> bool:
    wanted = prefix.split(".") if prefix else []
    return version.split(".")[: len(wanted)] == wanted
