"""uv's own words, shortened to a sentence that may be shown to anybody."""

from __future__ import annotations

import re

LONGEST = 600
"""Characters; what is longer is cut at the end."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_START = re.compile(r"\s*(error:|\u00d7)\s*")
_CAUSE = re.compile(r"\s*(cause:|Caused by:|[\u251c\u2570]\u2500\u25b6)\s*")
_RULER = re.compile(r"[\s\u2502^~]*")
_CREDENTIALS = re.compile(r"(?<=://)[^\s/`'\")]*@")


def shorten(stderr: str) -> str:
    """Return what uv gives as the reason in `stderr`, on one line.

    Without colours, labels, progress and credentials. Where a build failed, with the last
    line that the build wrote. Empty if uv said nothing.
    """
    lines = _ANSI.sub("", stderr).splitlines()
    causes = _causes(lines) or _last(lines)
    text = ": ".join([*causes, *_last(_build_output(lines))])
    text = _CREDENTIALS.sub("***@", text)
    return text if len(text) <= LONGEST else text[: LONGEST - 3].rstrip() + "..."


def last_log_line(stderr: str) -> str:
    """Return the last line that a build backend wrote before uv gave up; empty if there is none."""
    lines = _ANSI.sub("", stderr).splitlines()
    start = next((number for number, line in enumerate(lines) if _START.match(line)), 0)
    return _CREDENTIALS.sub("***@", "".join(_last(lines[:start])))


def _causes(lines: list[str]) -> list[str]:
    """Return the error and its causes, each on one line."""
    causes: list[str] = []
    for line in lines:
        label = (_CAUSE if causes else _START).match(line)
        if label:
            causes.append(line[label.end() :])
        elif causes and not line.strip():
            break
        elif causes and not _RULER.fullmatch(line):
            causes[-1] += " " + line.strip(" \u2502")
    return [re.sub(r"\s+", " ", cause).strip().rstrip(":") for cause in causes]


def _build_output(lines: list[str]) -> list[str]:
    """Return what the build backend wrote, which uv indents below `[stderr]`."""
    start = next((number for number, line in enumerate(lines) if line.strip() == "[stderr]"), None)
    if start is None:
        return []
    block = lines[start + 1 :]
    ended = (
        number
        for number, line in enumerate(block)
        if line.lstrip().startswith("hint:")
        or (line.strip() and _indent(line) < _indent(lines[start]))
    )
    return block[: next(ended, len(block))]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _last(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()][-1:]
