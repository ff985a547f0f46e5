"""Turn what pytest says of a test on a store into the outcome of a case."""

from __future__ import annotations

import datetime as dt
import json
import os
import random
from collections import Counter
from collections.abc import Generator
from dataclasses import asdict
from typing import Any

import pytest

from memory_matrix.suite.advice import advice
from memory_matrix.suite.options import Options
from memory_matrix.suite.outcomes import CaseFailed, CaseOutcome
from memory_matrix.suite.results import PROPERTY, Case, CaseResult, ResultLines, result
from memory_matrix.suite.running import outcome_of, reason_of, silent
from memory_matrix.suite.stores import StoreParameter
from memory_matrix.suite.waivers import read_waivers, waived

_SECONDS = pytest.StashKey[float]()
"""What the phases of a case took so far."""
_FIRST_WORKERS = {None, "gw0"}
LONG = frozenset({
    "batch_5000",
    "batch_all_or_nothing_kill",
    "del_more_than_one_page",
    "list_limit_default_declared",
    "meta_wide_10k_keys",
    "re_backend_killed_under_load",
    "re_failover_new_primary",
    "re_restart_does_not_overwrite",
    "re_server_restart_persistent",
    "re_timeout_bounded",
    "srv_cluster_listing_all_nodes",
    "srv_cluster_one_session_one_slot",
    "text_huge_summary_8MiB",
    "vec_recall_with_index",
})  # fmt: skip
"""Cases that take many times as long as most, with one store or another."""
_SHOWN = ("failed", "error", "not-offered", "waived", "skipped", "passed")


class StoreReports:
    """Registered where stores are under test. `worker` is the id of a worker of pytest-xdist."""

    def __init__(self, options: Options, worker: str | None) -> None:
        self._waivers = [] if options.waivers is None else read_waivers(options.waivers)
        self._selected = (
            None if options.cases is None else set(json.loads(options.cases.read_text("utf-8")))
        )
        self._seed = options.seed
        self._counts: Counter[str] = Counter()
        self._ended: dict[str, CaseResult] = {}
        self._is_worker = worker is not None
        self._process = os.getpid()
        writes = options.results is not None and worker in _FIRST_WORKERS
        self._lines = ResultLines(options.results) if writes and options.results else None

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out the cases that are not selected, and put the others in the order of the seed."""
        if self._selected is not None:
            out = [
                each
                for each in items
                if (case := case_of(each)) and case.case not in self._selected
            ]
            config.hook.pytest_deselected(items=out)
            items[:] = [each for each in items if each not in set(out)]
        if self._seed is not None:
            shuffle(items, self._seed)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Say which cases there are before any of them runs."""
        if self._lines is not None:
            cases = [case_of(item) for item in session.items]
            self._lines.collected([case for case in cases if case is not None])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Give a report its outcome, and, with a case's last phase, what became of the case."""
        report = yield
        case = case_of(item)
        if case is None:
            return report
        if call.excinfo is not None:
            self._judge(item, case, call.excinfo.value, report)
        seconds = item.stash[_SECONDS] = item.stash.get(_SECONDS, 0.0) + call.duration
        if report.when == "teardown":
            ended = self._ended.pop(item.nodeid, None) or result(case, "passed", None, 0.0)
            report.user_properties.append(
                (PROPERTY, asdict(result(case, ended.outcome, ended.reason, seconds)))
            )
        _escape(report)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write what became of a case. With pytest-xdist, the controller does."""
        if os.getpid() != self._process:  # a store has forked: the case is its parent's
            return
        for name, value in report.user_properties if report.when == "teardown" else ():
            if name == PROPERTY and isinstance(value, dict):
                ended = CaseResult(**{**value, "servers": tuple(value["servers"])})
                self._counts[ended.outcome] += 1
                if self._lines is not None and not self._is_worker:
                    self._lines.ended(ended)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say in the store protocol's words what became of the cases."""
        if self._counts:
            counts = [f"{self._counts[each]} {each}" for each in _SHOWN if self._counts[each]]
            terminalreporter.write_line(f"memory suite: {', '.join(counts)}")

    def pytest_unconfigure(self) -> None:
        """Close the file of results."""
        if self._lines is not None:
            self._lines.close()

    def _judge(
        self, item: pytest.Item, case: Case, error: BaseException, report: pytest.TestReport
    ) -> None:
        if isinstance(error, pytest.skip.Exception):
            ended = result(case, "skipped", str(error), 0.0)
        elif isinstance(error, pytest.fail.Exception):
            ended = result(case, "failed", str(error).partition("\n")[0], 0.0)
        else:
            ended = result(case, outcome_of(error), _reason(item, error), 0.0)
        memory = getattr(item, "funcargs", {}).get("memory_store")
        if ended.outcome == "failed" and memory and (kind := silent(memory.site.facilities)):
            ended = result(case, "error", f"the run's {kind} answers no more: {ended.reason}", 0.0)
        ended = waived(ended, self._waivers, dt.datetime.now(dt.timezone.utc).date())
        self._ended.setdefault(item.nodeid, ended)
        _show(ended.outcome, ended.reason or "", error, item, report)


def shuffle(items: list[pytest.Item], seed: int) -> None:
    """Put cases in the order of `seed`, those first that take long: so no worker waits for another."""
    random.Random(seed).shuffle(items)  # noqa: S311 - an order, no secret
    items.sort(key=lambda item: (case := case_of(item)) is None or case.case not in LONG)


def _escape(report: pytest.TestReport) -> None:
    """Escape what cannot be encoded, such as lone surrogates: it would end a worker that tells it."""
    report.sections = [(name, _escaped(text)) for name, text in report.sections]
    longrepr = report.longrepr
    if isinstance(longrepr, tuple):
        path, line, text = longrepr
        report.longrepr = (path, line, _escaped(text))
    elif longrepr is not None and (text := str(longrepr)) != _escaped(text):
        report.longrepr = _escaped(text)


def _escaped(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def case_of(item: pytest.Item) -> Case | None:
    """Return the case that a test is, None where no store is under test in it."""
    callspec = getattr(item, "callspec", None)
    parameter = callspec.params.get("memory_store") if callspec is not None else None
    if not isinstance(parameter, StoreParameter):
        return None
    name = getattr(item, "originalname", None) or item.name
    return Case(
        case=name.removeprefix("test_"),
        group=str(getattr(getattr(item, "module", None), "GROUP", "")),
        store=parameter.store.source,
        servers=parameter.servers,
        serializer=parameter.serializer,
    )


def _reason(item: pytest.Item, error: BaseException) -> str:
    reason = reason_of(error)
    memory = (getattr(item, "funcargs", None) or {}).get("memory_store")
    if outcome_of(error) != "failed" or memory is None:
        return reason
    more = advice(memory, error)
    return f"{reason}{'' if reason.endswith(('.', '?', '!')) else '.'} {more}" if more else reason


def _show(
    outcome: CaseOutcome,
    reason: str,
    error: BaseException,
    item: pytest.Item,
    report: pytest.TestReport,
) -> None:
    """Let pytest's own report say the same."""
    path, line, _ = item.location
    if outcome in {"not-offered", "waived", "skipped"}:
        report.outcome = "skipped"
        report.longrepr = (path, (line or 0) + 1, f"{outcome}: {reason}")
    elif isinstance(error, CaseFailed):
        report.longrepr = f"{item.name}: {reason}"
