"""Where pip is set up to find packages, in the words of uv, for machines where only pip is set up."""

from __future__ import annotations

import configparser
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_INDEX_OPTIONS = ("index-url", "extra-index-url", "find-links", "no-index", "trusted-host")
_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
}
_UV_INDEX_VARIABLES = frozenset(
    {
        "UV_DEFAULT_INDEX",
        "UV_INDEX",
        "UV_INDEX_URL",
        "UV_EXTRA_INDEX_URL",
        "UV_FIND_LINKS",
        "UV_CONFIG_FILE",
    }
)


def uv_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that make uv look where pip would look.

    Empty where uv itself is told by a variable, or pip is not set up. uv's own files still count.
    """
    options = _used_options(environ)
    settings = {
        name: _to_uv(option, options[option])
        for option, name in _NAMES.items()
        if options.get(option)
    }
    if any(option in options for option in _INDEX_OPTIONS):
        settings["UV_INDEX_STRATEGY"] = "unsafe-best-match"  # as pip: the best of all indexes
    return {name: value for name, value in settings.items() if name not in environ}


def uv_options(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the options for the same end, where uv has no variable: pip may be told to use no index."""
    value = _used_options(environ).get("no-index", "").strip().lower()
    return ("--no-index",) if value in {"1", "true", "yes", "y", "on"} else ()


def pip_options(environ: Mapping[str, str]) -> dict[str, str]:
    """Return pip's options as its files and then its variables set them, by their long names."""
    options: dict[str, str] = {}
    for file in _files(environ):
        options.update(_read(file))
    for name, value in environ.items():
        if name.startswith("PIP_"):
            options[name.removeprefix("PIP_").lower().replace("_", "-")] = value
    return options


def _used_options(environ: Mapping[str, str]) -> dict[str, str]:
    return {} if _UV_INDEX_VARIABLES & environ.keys() else pip_options(environ)


def _files(environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files that pip reads, later ones above earlier ones."""
    named = environ.get("PIP_CONFIG_FILE")
    if named == "/dev/null":
        return
    home = Path(environ.get("HOME", "~")).expanduser()
    for folder in environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":"):
        yield Path(folder, "pip", "pip.conf")
    yield Path("/etc/pip.conf")
    yield home / ".pip" / "pip.conf"
    yield home / "Library" / "Application Support" / "pip" / "pip.conf"
    yield Path(environ.get("XDG_CONFIG_HOME", home / ".config"), "pip", "pip.conf")
    yield Path(sys.prefix, "pip.conf")
    if named:
        yield Path(named)


def _read(file: Path) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read(file, encoding="utf-8")
    except (OSError, configparser.Error, UnicodeDecodeError):
        return {}  # pip itself says so when it is used
    return {
        option: value
        for name in ("global", "install")
        if parser.has_section(name)
        for option, value in parser.items(name)
    }


def _to_uv(option: str, value: str) -> str:
    return ("," if option == "find-links" else " ").join(value.split())
