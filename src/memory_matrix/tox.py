"""The plugin of tox: one tox environment for each suite process of the project's matrix file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy
from tox.config.loader.memory import MemoryLoader
from tox.config.types import Command
from tox.report import HandledError
from tox.tox_env.errors import Fail, Skip
from tox.tox_env.python.pip.req_file import PythonDeps
from tox.tox_env.python.virtual_env.runner import VirtualEnvRunner

from memory_matrix.errors import UsageError

if TYPE_CHECKING:
    from tox.config.main import Config
    from tox.config.sets import ConfigSet
    from tox.session.state import State
    from tox.tox_env.api import ToxEnv
    from tox.tox_env.register import ToxEnvRegister

    from memory_matrix.runners import Offered, SuiteCommand

PREFIX = "mm"
"""What the names of our environments start with."""

FILE_KEY, INSTALL_KEY = "memory_matrix_file", "memory_matrix_install"

_CLEANING = 60.0
"""Seconds that a run has to stop its servers in after Ctrl-C."""

_MARK = b"memory-matrix"
"""What a pyproject.toml with a matrix has in it."""

_implementation = pluggy.HookimplMarker("tox")

_Command = Callable[[], "SuiteCommand | None"]

_commands: dict[str, _Command] = {}
"""The environments that are offered, and how each of them is run."""


class SuiteRunner(VirtualEnvRunner):
    """Runs `memory-matrix suite` on the Python of tox itself: that of the name is the suite's business."""

    @staticmethod
    def id() -> str:
        """Return the name of this kind of environment."""
        return "memory-matrix"

    @classmethod
    def extract_base_python(cls, env_name: str) -> str | None:  # noqa: ARG003 - tox names it
        """Return no Python, whatever the name says."""
        return None


class _Loader(MemoryLoader):
    """Settings of an environment, with commands that are made when they are asked for."""

    def load_raw(self, key: str, conf: Config | None, env_name: str | None) -> object:
        value = super().load_raw(key, conf, env_name)
        return value() if callable(value) else value


@_implementation
def tox_register_tox_env(register: ToxEnvRegister) -> None:
    """Make our kind of environment known."""
    register.add_run_env(SuiteRunner)


@_implementation(optionalhook=True)  # of tox 4.29; an older one must not stumble over it
def tox_extend_envs() -> Iterable[str]:
    """Return the names of our environments, which are known once tox knows where the project is."""
    _commands.clear()
    return _names()


@_implementation
def tox_add_core_config(core_conf: ConfigSet, state: State) -> None:
    """Read the matrix file and say how each environment is run."""
    root = Path(state.conf.core["tox_root"])
    if not (_is_set(core_conf, FILE_KEY) or _may_have_matrix(root)):
        return
    core_conf.add_config(FILE_KEY, str, "", "the matrix file, where it is not found from here")
    core_conf.add_config(
        INSTALL_KEY, list[str], [], "what to install for it; none: that of tox itself"
    )
    try:
        offered = _offered(root, core_conf[FILE_KEY])
    except UsageError as error:
        raise HandledError(str(error)) from None
    if offered is not None:
        _add(offered, state, core_conf[INSTALL_KEY], root)


@_implementation
def tox_before_run_commands(tox_env: ToxEnv) -> None:
    """Skip an environment of which nothing is selected."""
    if tox_env.conf.name not in _commands:
        return
    from memory_matrix.runners import forget

    try:
        command = _commands[tox_env.conf.name]()
    except UsageError as error:
        raise Fail(str(error)) from None
    if command is None:
        raise Skip("--select leaves nothing of it")
    forget(command.report)


@_implementation
def tox_after_run_commands(tox_env: ToxEnv, exit_code: int) -> None:
    """Skip an environment that this machine lacks something for."""
    from memory_matrix.runners import LACKING, missing

    if tox_env.conf.name not in _commands or exit_code != LACKING:
        return
    command = _commands[tox_env.conf.name]()
    lack = None if command is None or command.strict else missing(command.report)
    if lack is not None and lack.of_the_machine:
        raise Skip(lack.reason)


def _names() -> Iterator[str]:
    yield from tuple(_commands)


def _is_set(conf: ConfigSet, key: str) -> bool:
    return any(key in loader.found_keys() for loader in conf.loaders)


def _may_have_matrix(root: Path) -> bool:
    """Return whether it is worth reading what would find a matrix file: that takes time."""
    return any(_has_mark(folder) for folder in (root, *root.parents))


def _has_mark(folder: Path) -> bool:
    if (folder / "memory-matrix.toml").exists():
        return True
    try:
        return _MARK in (folder / "pyproject.toml").read_bytes()
    except OSError:
        return False


def _offered(root: Path, file: str) -> Offered | None:
    from memory_matrix.runners import find, offer

    found = find(root, file or None)
    return None if found is None else offer(found, by_serializer=True)


def _add(offered: Offered, state: State, install: list[str], root: Path) -> None:
    from memory_matrix.runners import REPORTS, suite_command

    given = state.conf.pos_args(None) or ()
    python = "python" if install else sys.executable
    for session in offered.sessions:
        name = f"{PREFIX}-{session.name}"
        command = partial(suite_command, offered, session, root / REPORTS, given)
        _commands[name] = command
        loader = _Loader(
            **_settings(),
            description=f"test stores: {', '.join((session.environment.name, *session.labels))}",
            labels=[_MARK.decode(), *session.tags],
            deps=PythonDeps("\n".join(install), root),
            commands=lambda command=command: _as_commands(python, command()),
            allowlist_externals=[python],
        )
        state.conf.memory_seed_loaders[name].append(loader)


def _settings() -> dict[str, Any]:
    """Return what is the same for all environments."""
    return {
        "base": [],  # what [testenv] says is about the project's own tests
        "runner": SuiteRunner.id(),
        "skip_install": True,
        "package": "skip",
        "pass_env": ["*"],  # what finds interpreters, servers and package indexes
        "interrupt_timeout": _CLEANING,
        "terminate_timeout": _CLEANING,
    }


def _as_commands(python: str, command: SuiteCommand | None) -> list[Command]:
    return [] if command is None else [Command([python, *command.arguments])]
