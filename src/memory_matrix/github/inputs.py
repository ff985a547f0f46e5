"""The inputs of the action: what each takes, how it is checked, and the command line that it becomes."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from types import MappingProxyType

from memory_matrix.matrix.model import mask_password
from memory_matrix.report.visible import visible

PREFIX = "MEMORY_MATRIX_INPUT_"
ARTIFACT = "artifact:"
"""In front of a baseline that is the artifact of an earlier run."""

COMMANDS = ("run", "compat", "compat write", "compat read", "suite", "plan", "merge")
_REPORTING = frozenset({"run", "compat", "suite", "merge"})
_SHARDED = frozenset({"compat write", "compat read", "suite"})
_BUILDING = frozenset({"run", "compat", "compat write", "compat read", "suite"})
_SELECTING = _BUILDING | {"plan"}
_SERVING = frozenset({"run", "suite", "plan"})
_ALL = frozenset(COMMANDS)

_FAIL_ON = ("new-breaks", "break", "drifted", "changed", "never")
_MOST_SHARDS = 256


@dataclass(frozen=True)
class Input:
    """One input of the action. Every value is text, and an empty one is as good as none."""

    name: str
    allowed: str
    """What it takes, after "it must be"."""
    accepts: Callable[[str], bool] = lambda _: True
    commands: frozenset[str] = _ALL
    """Those that it means something to."""
    has_default: bool = False
    """Whether action.yml gives it a value: then it is no mistake where it means nothing."""
    is_secret: bool = False
    """Whether no error shows its value."""

    @property
    def variable(self) -> str:
        """The variable that hands it on."""
        return PREFIX + self.name.upper().replace("-", "_")


def _one_of(*values: str) -> tuple[str, Callable[[str], bool]]:
    return f"one of {', '.join(values)}", lambda value: " ".join(value.split()) in values


def _is_line(value: str) -> bool:
    return len(value.splitlines()) == 1


def _is_shard(value: str) -> bool:
    match = re.fullmatch(r"([0-9]{1,3})/([0-9]{1,3})", value)
    return match is not None and 1 <= int(match[1]) <= int(match[2]) <= _MOST_SHARDS


def _is_folder(value: str) -> bool:
    try:
        return Path(value).is_dir() and os.access(value, os.X_OK)
    except OSError:  # longer than a name can be
        return False


def _is_report_folder(value: str) -> bool:
    """Return whether artifacts take it. Nothing in it is hidden: above an absolute path that is the machine's affair."""
    path = PurePath(value)
    if not _is_line(value) or re.search(r"[*?\[\]\\]", value):
        return False  # the artifact's step takes it for a pattern
    parts = path.parts[-1:] if path.is_absolute() else path.parts
    return not any(part.startswith(".") and part not in {".", ".."} for part in parts)


def _is_artifact_name(value: str) -> bool:
    return re.search(r'[":<>|*?\r\n\\/]', value) is None


def _is_baseline(value: str) -> bool:
    name = value.removeprefix(ARTIFACT)
    return _is_line(value) if name == value else bool(name) and _is_artifact_name(name)


def _is_arguments(value: str) -> bool:
    try:
        words = shlex.split(value)
    except ValueError:
        return False
    return not any(word.partition("=")[0] == "--report-dir" for word in words)


def _is_token(value: str) -> bool:
    """Return whether a header of HTTP can hold it."""
    return re.fullmatch(r"[!-~]+", value) is not None


_BOOLEAN = ("true or false", lambda value: value.casefold() in {"true", "false"})

INPUTS: tuple[Input, ...] = (
    Input("command", *_one_of(*COMMANDS)),
    Input("config-file", "the path of a matrix file, on one line", _is_line),
    Input("working-directory", "a folder that is there", _is_folder),
    Input("python-version", "a version of Python"),
    Input("only", "terms as --select takes them, such as writer=old", commands=_SELECTING),
    Input(
        "shard",
        f"I/N, such as 2/4, where 1 <= I <= N <= {_MOST_SHARDS}",
        _is_shard,
        commands=_SHARDED,
    ),
    Input("fail-on", *_one_of(*_FAIL_ON), commands=_REPORTING),
    Input("strict", *_BOOLEAN, commands=_BUILDING, has_default=True),
    Input("postgres", "sources of servers, one a line", commands=_SERVING),
    Input("redis", "sources of servers, one a line", commands=_SERVING),
    Input(
        "baseline",
        "the path of a report.json or of its folder, or artifact:NAME",
        _is_baseline,
        commands=_REPORTING,
    ),
    Input(
        "from",
        "files and folders of shards' results, one a line",
        commands=frozenset({"compat read", "merge"}),
    ),
    Input(
        "report-dir",
        "a folder of whose path no part starts with a dot, since artifacts leave such folders out, or"
        " holds any of * ? [ ] \\",
        _is_report_folder,
        has_default=True,
    ),
    Input("summary", *_BOOLEAN, commands=_REPORTING, has_default=True),
    Input("summary-title", "one line of text", _is_line, commands=_REPORTING),
    Input("annotations", *_BOOLEAN, commands=_REPORTING, has_default=True),
    Input("upload-artifact", *_BOOLEAN, has_default=True),
    Input(
        "artifact-name",
        'a name without any of " : < > | * ? / \\ and line ends',
        _is_artifact_name,
        has_default=True,
    ),
    Input("args", "words with each quote closed, and without --report-dir", _is_arguments),
    Input("token", "a token for GitHub's REST API", _is_token, is_secret=True),
)
"""What action.yml declares, in its order of importance."""

_SHOWN = 80
"""Characters of a value that an error shows."""


@dataclass(frozen=True)
class Inputs:
    """The values that were given, by the names of their inputs, stripped; those that are empty are not there."""

    values: Mapping[str, str]

    @classmethod
    def taken_from(cls, environ: MutableMapping[str, str]) -> Inputs:
        """Return what `environ` holds, and take it out: what a run starts must not see it."""
        found = {each.name: environ.get(each.variable, "").strip() for each in INPUTS}
        for name in [name for name in environ if name.startswith(PREFIX)]:
            del environ[name]
        return cls(MappingProxyType({name: value for name, value in found.items() if value}))

    def problems(self) -> Iterator[str]:
        """Yield a sentence for each input that is wrong."""
        for each in INPUTS:
            value = self.values.get(each.name)
            if value is None:
                continue
            if not each.accepts(value):
                shown = "its value" if each.is_secret else _shown(value)
                yield f"input {each.name}: {shown} is not allowed; it must be {each.allowed}."
            elif self.command not in each.commands and not each.has_default:
                takers = ", ".join(name for name in COMMANDS if name in each.commands)
                yield f"input {each.name}: the command {self.command} takes none; only {takers} do."
        if _is_true(self.values.get("upload-artifact", "")) and self._reports_among_all():
            yield (
                f"input report-dir: {_shown(str(self.report_dir))} is not allowed with"
                " upload-artifact, which would keep all of the working directory; name a folder for"
                " the reports alone."
            )

    def _reports_among_all(self) -> bool:
        """Return whether the folder for reports is the one to run in, or above it."""
        folder, reports = (
            os.path.realpath(each) for each in (self.folder, self.folder / self.report_dir)
        )
        return Path(folder).is_relative_to(reports)

    @cached_property
    def command(self) -> str:
        """The command; `run` where the one that is given is none, which is a problem of its own."""
        command = " ".join(self.values.get("command", "run").split())
        return command if command in COMMANDS else "run"

    @property
    def folder(self) -> Path:
        """The folder to run in."""
        return Path(self.values.get("working-directory", "."))

    @property
    def report_dir(self) -> Path:
        """The folder for reports, relative to the one to run in."""
        return Path(self.values.get("report-dir", "memory-matrix-report"))

    @property
    def servers(self) -> tuple[str, ...]:
        """The sources of servers, with any passwords."""
        return tuple(_lines(self.values, "postgres", "redis"))

    @property
    def artifact_of_baseline(self) -> str | None:
        """The name of the artifact that is the baseline."""
        baseline = self.values.get("baseline", "")
        return baseline.removeprefix(ARTIFACT) if baseline.startswith(ARTIFACT) else None

    def arguments(self, baseline: Path | None = None) -> list[str]:
        """Return the command line; `baseline` is where an artifact's report was put.

        Without one, a baseline that is an artifact is left out.
        """
        words = self.command.split()
        from_ = _lines(self.values, "from")
        words += [] if self.command != "merge" else from_
        words += [f"--from={each}" for each in from_ if self.command == "compat read"]
        words += self._options(baseline)
        return words + shlex.split(self.values.get("args", ""))

    def _options(self, baseline: Path | None) -> Iterator[str]:
        """Yield options in one word each, so that no value can be taken for an option."""
        given = self._meant()
        if self.command == "plan":
            yield "--github"
        else:
            yield f"--report-dir={self.report_dir}"
        for name, option in _VALUES.items():
            yield from (f"{option}={value}" for value in _lines(given, name))
        for name in ("strict", "summary", "annotations"):
            if name in given and (name == "strict" or not _is_true(given[name])):
                yield f"--{'' if _is_true(given[name]) else 'no-'}{name}"
        if baseline is not None:
            yield f"--baseline={baseline}"
        elif "baseline" in given and self.artifact_of_baseline is None:
            yield f"--baseline={given['baseline']}"
        if self.command in _REPORTING and _is_true(given.get("upload-artifact", "")):
            yield f"--artifact={given.get('artifact-name', 'memory-matrix-report')}"

    def _meant(self) -> dict[str, str]:
        """Return the values that mean something to the command."""
        names = {each.name for each in INPUTS if self.command in each.commands}
        return {name: value for name, value in self.values.items() if name in names}


_VALUES: Mapping[str, str] = {
    "config-file": "--config",
    "only": "--select",
    "shard": "--shard",
    "fail-on": "--fail-on",
    "postgres": "--postgres",
    "redis": "--redis",
    "summary-title": "--summary-title",
}
"""Options of the command line that take what an input says, line by line."""


def _lines(values: Mapping[str, str], *names: str) -> list[str]:
    lines: Iterable[str] = (line for name in names for line in values.get(name, "").splitlines())
    return [line.strip() for line in lines if line.strip()]


def _is_true(value: str) -> bool:
    return value.casefold() == "true"


def _shown(value: str) -> str:
    return repr(visible(mask_password(value), _SHOWN))
