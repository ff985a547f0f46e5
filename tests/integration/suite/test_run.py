"""`memory-matrix suite` on small projects: what runs, what is told, what does not count as passed."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
import redis

from memory_matrix.suite.worker import Worker
from support.gates import Gate, eventually
from support.processes import processes_of
from support.project import SMALL_STORE, VALKEY, Project, Run

pytestmark = pytest.mark.integration

BROKEN = SMALL_STORE.replace(
    'm.role + "\\n" + m.text', 'm.role + "\\n" + m.text.replace("\\r", "")'
)


@pytest.fixture
def project(tmp_path: Path, temporary: Path) -> Project:
    """A project with one store on the Redis that starts fastest."""
    folder = tmp_path / "project"
    folder.mkdir()
    made = Project(folder, VALKEY, {"TMPDIR": str(temporary)})
    made.payloads("def payload_x(): return 1")
    made.write("store.py", SMALL_STORE)
    made.environment("now")
    return made


def suite(project: Project, *select: str, more: str = "", arguments: tuple[str, ...] = ()) -> Run:
    """Run the suite on the store of the project, or on what `more` says."""
    project.matrix(more=more or '[suite]\nstores = ["store.py:Store"]')
    return project.run("suite", "--select", " ".join(select), *arguments)


def outcomes(run: Run) -> dict[str, str]:
    """Return the outcome of each case."""
    return {each["case"]: each["outcome"] for each in run.report["suite"]}


def only(run: Run) -> dict[str, Any]:
    """Return the one result that is there."""
    (result,) = run.report["suite"]
    found: dict[str, Any] = result
    return found


def test_a_sound_store_passes_and_the_report_says_what_it_ran_on(project: Project) -> None:
    run = suite(project, "case=text_ascii*")

    assert run.code == 0, run.stderr
    result = only(run)
    assert result["outcome"] == "passed"
    assert result["environment"] == "now"
    assert result["store"] == "store.py:Store"
    assert [each["name"] for each in run.report["servers"]] == result["servers"]
    assert run.environment("now")["packages"]["pytest"]
    assert run.report["stores"][0]["policy"]["nul"] == "keep"


def test_a_broken_store_fails_by_the_case_that_names_the_fault(project: Project) -> None:
    project.write("store.py", BROKEN)

    run = suite(project, "case=text_crlf*", "case=text_ascii*")

    assert run.code == 1
    assert outcomes(run) == {
        "text_ascii_round_trip": "passed",
        "text_crlf_tabs_trailing_space": "failed",
    }
    assert "expected" in run.stdout
    assert "memory-matrix suite --select" in run.stdout


def test_what_the_adapter_lacks_is_not_offered(project: Project) -> None:
    run = suite(project, "case=order_pop_is_last", "case=text_ascii*")

    assert run.code == 0, run.stderr
    assert outcomes(run)["order_pop_is_last"] == "not-offered"


def test_a_store_that_is_given_twice_is_run_once_and_one_of_two_names_is_noted(
    project: Project,
) -> None:
    project.write("store.py", BROKEN)
    stores = ["--store", "store.py:Store"] * 2 + ["--store", "./store.py:Store"]

    run = suite(project, "case=text_crlf*", arguments=tuple(stores))

    assert sorted({each["store"] for each in run.report["suite"]}) == [
        "./store.py:Store",
        "store.py:Store",
    ]
    assert "note: --store store.py:Store is given twice, and run once.\n" in run.stderr
    assert run.stderr.count("store.py:Store and ./store.py:Store are one store") == 1


def test_a_waiver_holds_until_its_last_day(project: Project) -> None:
    project.write("store.py", BROKEN)
    waiver = """
        [suite]
        stores = ["store.py:Store"]
        [[suite.waiver]]
        case = "text_crlf*"
        reason = "known"
        until = {until}
    """

    held = suite(project, "case=text_crlf*", more=waiver.format(until="2999-01-01"))
    ended = suite(project, "case=text_crlf*", more=waiver.format(until="2020-01-01"))

    assert (held.code, only(held)["outcome"]) == (0, "waived")
    assert "known (until 2999-01-01)" in only(held)["reason"]
    assert (ended.code, only(ended)["outcome"]) == (1, "failed")
    assert only(ended)["reason"].startswith("its waiver (known) ended on 2020-01-01: ")
    assert "suite.waiver[0] (known) held until 2020-01-01" in ended.stdout


def test_a_waiver_that_nothing_needs_is_told(project: Project) -> None:
    project.matrix(
        more="""
        [suite]
        stores = ["store.py:Store"]
        [[suite.waiver]]
        case = "text_*"
        reason = "fixed long ago"
        until = 2999-01-01
        """
    )

    run = project.run("suite")

    assert any("fixed long ago" in each for each in run.report["stale_waivers"])


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("store.py:Nobody", "no 'Nobody'"),
        ("nowhere:Store", "cannot be imported"),
        ("empty.py:Store", "cannot be imported: ZeroDivisionError"),
        ("lacking.py:Store", "has `append` but no `read`"),
        ("policy.py:Store", "there is no policy 'null'. Did you mean 'nul'?"),
        ("answer.py:Store", "policy nul is 'maybe'"),
        ("needs.py:Store", "needs is ('mongo',)"),
    ],
)
def test_a_store_that_cannot_be_used_is_one_clear_sentence(
    project: Project, store: str, said: str
) -> None:
    project.write("empty.py", "1 / 0")
    project.write("lacking.py", SMALL_STORE.replace("def read", "def reed"))
    project.write("policy.py", SMALL_STORE.replace('"nul": "keep"', '"null": "keep"'))
    project.write("answer.py", SMALL_STORE.replace('"nul": "keep"', '"nul": "maybe"'))
    project.write("needs.py", SMALL_STORE.replace('("redis",)', '("mongo",)'))

    run = suite(project, "case=text_ascii*", more=f'[suite]\nstores = ["{store}"]')

    assert run.code == 2
    assert said in run.error
    assert len(run.error.splitlines()) == 1


def test_a_server_that_cannot_be_had_skips_its_cases_and_is_no_finding(project: Project) -> None:
    project.servers = '[servers]\nredis = ["bin:/nowhere/redis-server"]'

    run = suite(project, "case=text_ascii*")

    assert run.code in {2, 3}
    assert "/nowhere/redis-server" in run.error


@pytest.mark.parametrize(("may", "code"), [((), 2), (("--redis-may-hold-data",), 0)])
def test_on_a_redis_given_by_url_all_is_afterwards_as_it_was_before(
    project: Project, suite_worker: Worker, may: tuple[str, ...], code: int
) -> None:
    with (
        suite_worker.servers.private("redis") as server,
        redis.Redis.from_url(server.url) as client,
    ):
        client.set("theirs", 1)
        given = ("--redis", server.url, *may)
        run = suite(project, "case=text_ascii*", arguments=given)
        left = client.keys()

    assert run.code == code, run.stderr
    assert left == [b"theirs"]


def test_a_store_whose_server_is_not_in_the_matrix_is_refused(project: Project) -> None:
    more = '[suite]\nstores = ["memory_matrix.stores:PostgresStore"]'

    run = suite(project, "case=text_ascii*", more=more)

    assert run.code == 2
    assert "needs postgres" in run.error


def test_a_case_that_does_not_exist_is_refused_with_the_nearest(project: Project) -> None:
    run = suite(project, "case=text_asci_round_trip")

    assert run.code == 2
    assert "Did you mean 'text_ascii_round_trip'?" in run.error


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_store_that_takes_its_process_down_passes_nothing(project: Project, number: int) -> None:
    killing = f"import os; os.kill(os.getpid(), {int(number)})"
    project.write(
        "store.py",
        SMALL_STORE.replace("client, prefix = store\n        if", f"{killing}\n        if"),
    )

    run = suite(project, "case=text_ascii*", "case=text_empty*")

    assert run.code == 4
    assert set(outcomes(run).values()) == {"error"}
    assert "did not end" in run.report["suite"][0]["reason"]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_case_that_takes_its_process_down_costs_no_other(project: Project, jobs: str) -> None:
    killing = "import os; [os.kill(os.getpid(), 9) for m in messages if not m.text]"
    opening = "client, prefix = store\n        "
    project.write(
        "store.py", SMALL_STORE.replace(f"{opening}if", f"{opening}{killing}\n        if")
    )
    cases = ("case=text_ascii*", "case=text_crlf*", "case=text_empty*")

    run = suite(project, *cases, arguments=("-j", jobs))

    assert run.code == 4
    (died,) = (each for each in run.report["suite"] if each["outcome"] == "error")
    assert died["case"] == "text_empty_string"
    assert died["reason"] == "it did not end: its process ended by signal 9"
    assert [*outcomes(run).values()].count("passed") == 2


@pytest.mark.parametrize(
    ("hearing", "timeout", "said"),
    [
        ("", 1, "1"),
        ("signal.signal(signal.SIGALRM, signal.SIG_IGN); ", 0.5, "did not come back in time"),
    ],
    ids=["hears", "does not hear"],
)
def test_a_store_that_hangs_fails_whether_or_not_it_hears_of_its_time_limit(
    project: Project, hearing: str, timeout: float, said: str
) -> None:
    hanging = f"import signal, time; {hearing}time.sleep(600)"
    project.write(
        "store.py",
        SMALL_STORE.replace("client, prefix = store\n        if", f"{hanging}\n        if"),
    )

    declared = f'[suite]\nstores = ["store.py:Store"]\ntimeout = {timeout}'
    run = suite(project, "case=text_ascii*", more=declared)

    assert run.code == 1
    assert only(run)["outcome"] == "failed"
    assert said in only(run)["reason"]


@pytest.mark.parametrize(
    "doing",
    [
        "import threading, time; threading.Thread(target=time.sleep, args=[900]).start()",
        "import os, time; os.fork() or time.sleep(900)",
        "import subprocess; subprocess.Popen(['sleep', '900'], start_new_session=True)",
        "import os; os.chdir('/'); os.environ.clear()",
        "import signal; [signal.signal(each, lambda *_: None) for each in (1, 2, 14, 15, 17)]",
        "import asyncio; asyncio.set_event_loop(asyncio.new_event_loop())",
    ],
    ids=["thread", "fork", "process", "surroundings", "signals", "loop"],
)
@pytest.mark.parametrize("when", ["loaded", "opened"])
def test_what_a_store_starts_or_changes_is_its_own_matter(
    project: Project, temporary: Path, doing: str, when: str
) -> None:
    mark = "import redis\n" if when == "loaded" else "    def open(self, env):\n"
    indent = "" if when == "loaded" else "        "
    assert mark in SMALL_STORE
    project.write("store.py", SMALL_STORE.replace(mark, f"{mark}{indent}{doing}\n"))

    run = suite(project, "case=text_ascii*", "case=text_crlf*")

    left_open = when == "opened" and "Thread" in doing  # which is a finding
    assert run.code == left_open, run.stderr
    assert set(outcomes(run).values()) == {"failed" if left_open else "passed"}
    assert processes_of(temporary) == {}
    assert [*temporary.iterdir()] == []


def test_who_comes_back_from_a_fork_speaks_for_no_case(project: Project) -> None:
    forking = "import os\n        if os.fork(): os.wait(); raise OSError('late')"
    project.write(
        "store.py",
        SMALL_STORE.replace("def open(self, env):\n", f"def open(self, env):\n        {forking}\n"),
    )

    run = suite(project, "case=text_ascii*")

    assert run.code == 1, run.stderr
    assert "late" in only(run)["reason"]


def test_an_environment_with_too_old_a_python_is_said_to_be_so(project: Project) -> None:
    project.environment("old", python="3.9")
    project.need("3.9")

    run = suite(project, "case=text_ascii*")

    assert run.code == 3
    assert "needs Python 3.10 or later" in run.error
    assert outcomes(run) == {"text_ascii_round_trip": "passed"}


def test_a_serializer_is_an_axis_of_stores_that_take_one(project: Project) -> None:
    run = suite(
        project,
        "case=text_ascii*",
        more="""
        [suite]
        stores = ["store.py:Store", "memory_matrix.stores:RedisStore"]
        serializers = ["json", "pickle"]
        """,
    )

    found = {(each["store"].rpartition(":")[2], each["serializer"]) for each in run.report["suite"]}
    assert found == {("Store", None), ("RedisStore", "json"), ("RedisStore", "pickle")}
    assert run.code == 0, run.stderr


def test_run_does_compat_and_suite_with_one_report(project: Project) -> None:
    project.environment("next")
    project.matrix(more='[suite]\nstores = ["store.py:Store"]')

    run = project.run("run", "--select", "case=text_ascii*")

    assert run.code == 0, run.stderr
    assert len(run.report["cells"]) == 4
    assert [each["environment"] for each in run.report["suite"]] == ["next", "now"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_nothing_behind(
    project: Project, temporary: Path, tmp_path: Path, number: int, code: int
) -> None:
    gate = Gate(tmp_path / "gate")
    waiting = f"{gate.code}\n        if"
    project.write("store.py", SMALL_STORE.replace("client, prefix = store\n        if", waiting))
    project.matrix(more='[suite]\nstores = ["store.py:Store"]')

    with project.started("suite", "--select", "case=text_ascii*") as process:
        gate.wait_for(1)
        os.killpg(process.pid, number)
        run = project.ended(process)

    assert run.code == code, run.stderr
    assert "Traceback" not in run.stderr
    eventually(lambda: processes_of(temporary) == {})
    assert list(temporary.iterdir()) == []


def test_selections_add_up_and_each_has_to_match(project: Project) -> None:
    both = suite(project, "case=text_ascii*", arguments=("--select", "case=text_empty*"))
    one = suite(project, "case=text_ascii*", arguments=("--select", "case=text_nothing*"))

    assert set(outcomes(both)) == {"text_ascii_round_trip", "text_empty_string"}
    assert one.code == 2
    assert "case=text_nothing* matches none" in one.error


def test_a_waiver_that_matches_no_case_is_refused(project: Project) -> None:
    more = """
        [suite]
        stores = ["store.py:Store"]
        [[suite.waiver]]
        case = "ttl_nope"
        reason = "known"
        until = 2999-01-01
    """

    run = suite(project, "case=text_ascii*", more=more)

    assert run.code == 2
    assert "'ttl_nope' matches none of the suite's" in run.error


def test_a_key_that_the_adapter_does_not_name_is_found(project: Project) -> None:
    leaking = SMALL_STORE.replace(
        "        if messages:",
        '        client.set(prefix + "meta:" + scope.session, 1)\n        if messages:',
    )
    calls = """
    def clear(self, store, scope):
        client, prefix = store
        client.delete(prefix + scope.session)

    def raw_keys(self, store, scope):
        client, prefix = store
        return client.keys(prefix + scope.session)
"""
    project.write("store.py", leaking + calls)

    run = suite(project, "case=del_leaves_no_keys")

    assert run.code == 1, run.stderr
    assert only(run)["outcome"] == "failed"


def test_what_the_project_has_for_its_own_tests_changes_nothing(project: Project) -> None:
    project.write("store.py", BROKEN)
    fixture = """
        import pytest
        @pytest.fixture(autouse=True)
        def skipped():
            pytest.skip("not for the suite")
    """
    for name in ("conftest.py", "tests/conftest.py"):
        project.write(name, fixture)
    project.write("pytest.ini", "[pytest]\naddopts = --no-such-option")

    run = suite(project, "case=text_crlf*")

    assert run.code == 1, run.stderr
    assert only(run)["outcome"] == "failed"


def test_texts_that_cannot_be_encoded_cost_no_other_case(project: Project) -> None:
    telling = "import logging; logging.warning('%s', messages); client, prefix = store\n        if"
    project.write("store.py", SMALL_STORE.replace("client, prefix = store\n        if", telling))
    project.write("other.py", SMALL_STORE)

    run = suite(
        project,
        "case=text_lone*",
        "case=text_ascii*",
        more='[suite]\nstores = ["store.py:Store", "other.py:Store"]',
        arguments=("-j", "2"),
    )

    assert "error" not in outcomes(run).values()
    assert run.code in {0, 1}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("needs = (", "needs = 5 or ("), "needs is 5"),
        (('needs = ("redis",)', "needs = property(lambda self: 1 / 0)"), "division by zero"),
        (("import redis\n", "import os, redis\nos.write(1, b'noise')\n"), ""),
        (("import redis\n", "raise KeyboardInterrupt\n"), "store.py:Store: the adapter cannot"),
        (("import redis\n", "raise GeneratorExit\n"), "store.py cannot be imported"),
    ],
)
def test_an_adapter_that_cannot_be_read_is_named(
    project: Project, change: tuple[str, str], said: str
) -> None:
    project.write("store.py", SMALL_STORE.replace(*change))

    run = suite(project, "case=text_ascii*")

    assert run.code == (2 if said else 0), run.stderr
    assert said in run.stderr
    assert "Traceback" not in run.stderr


def test_a_server_that_dies_in_the_middle_is_not_the_stores_fault(project: Project) -> None:
    killing = """
    def setup(self, store):
        store[0].execute_command("SHUTDOWN", "NOSAVE") if store[0].exists("x") else None

    def open(self, env):
        client = redis.Redis.from_url(env.redis_url)
        try:
            client.shutdown(nosave=True, now=True, force=True)
        except (redis.RedisError, OSError):
            pass
        return client, env.prefix
"""
    project.write("bad.py", SMALL_STORE + killing)
    more = '[suite]\nstores = ["bad.py:Store", "store.py:Store"]'

    run = suite(project, "case=text_[a-f]*", more=more, arguments=("-j", "1"))

    sound = {each["outcome"] for each in run.report["suite"] if each["store"] == "store.py:Store"}
    assert "failed" not in sound, run.report["suite"][-3:]
    assert run.code in {1, 4}
