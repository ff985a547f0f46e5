"""Reports of parts of one run, made into one report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memory_matrix.report.model import Report


def joined(compat: Report, suite: Report) -> Report:
    """Return one report of both parts of a run.

    Environments are those of compat; each names what the suite had otherwise.
    """
    known = {each.name for each in compat.environments if each.status == "ready"}
    unavailable = {
        each.name: each
        for each in suite.environments
        if each.name not in known or each.status != "ready"
    }
    tested = {each.name: each.packages for each in suite.environments}
    ready = [
        replace(each, suite_packages=_otherwise(tested.get(each.name, {}), each.packages))
        for each in compat.environments
        if each.name not in unavailable
    ]
    servers = {each.name: each for each in (*compat.servers, *suite.servers)}
    return replace(
        compat,
        environments=(*ready, *unavailable.values()),
        servers=tuple(servers.values()),
        suite=suite.suite,
        stores=suite.stores,
        strategy=suite.strategy,
        stale_waivers=suite.stale_waivers,
        given=suite.given,
        locations={**compat.locations, **suite.locations},
    )


def _otherwise(had: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    return {name: version for name, version in had.items() if known.get(name) != version}
