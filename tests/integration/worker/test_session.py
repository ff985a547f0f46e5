"""A worker as the orchestrator starts it: a process of its own that tells what became of each step."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memory_matrix.worker import describe

pytestmark = pytest.mark.integration

WORKER = Path(describe.__file__).with_name("__main__.py")

Event = dict[str, Any]


@dataclass(frozen=True)
class Bench:
    """A folder with files of the user's, and the job of a worker on them."""

    folder: Path

    def file(self, name: str, source: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return str(path)

    def job(self, **more: Any) -> str:
        for name in ("blobs", "descriptions", "scratch"):
            (self.folder / name).mkdir(exist_ok=True)
        job = {
            "path": [],
            "payloads": [],
            "serializers": {"pickle": "pickle"},
            "select": [],
            "preload": None,
            "timeout": 30,
            "memory": 512,
            "blobs": str(self.folder / "blobs"),
            "descriptions": str(self.folder / "descriptions"),
            "scrub": {str(self.folder): "<run>"},
            **more,
        }
        path = self.folder / f"job-{os.urandom(4).hex()}.json"
        path.write_text(json.dumps(job), encoding="utf-8")
        return str(path)

    def start(
        self, mode: str, *, options: Sequence[str] = (), **more: Any
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, *options, str(WORKER), mode, self.job(**more)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder / "scratch",
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )

    def events(self, mode: str, **more: Any) -> list[Event]:
        """Return all that a worker tells. It must end by itself, and well."""
        with self.start(mode, **more) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            lines = process.stdout.read().splitlines()
            errors = process.stderr.read().decode()
            assert process.wait() == 0, errors
        events = [json.loads(line) for line in lines]
        assert events[-1] == {"event": "done"}
        return events[:-1]

    def write(self, source: str, **more: Any) -> list[Event]:
        return self.events("write", payloads=[self.file("payloads.py", source)], **more)

    def read(self, source: str, *steps: Event, **more: Any) -> list[Event]:
        return [
            event
            for event in self.events(
                "read", payloads=[self.file("payloads.py", source)], steps=list(steps), **more
            )
            if event["event"] == "read"
        ]

    def blob(self, data: bytes) -> str:
        name = describe.digest(data)
        (self.folder / "blobs").mkdir(exist_ok=True)
        (self.folder / "blobs" / name).write_bytes(data)
        return name


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def only(events: list[Event], kind: str) -> Event:
    (event,) = [event for event in events if event["event"] == kind]
    return event


def step(blob: str, number: int = 0, **more: Any) -> Event:
    """Return the step of reading `blob`, with no description to compare with."""
    return {
        "step": number,
        "do": "read",
        "blob": blob,
        "text": False,
        "payload": "one",
        "serializer": "pickle",
        "own": True,
        "probing": False,
        "plain": None,
        "mine": False,
        "against": [],
        **more,
    }


ONE = "def payload_one():\n    return {'a': (1, 2)}\n"


def test_a_worker_tells_what_a_payload_means_and_what_it_wrote(bench: Bench) -> None:
    events = bench.write(ONE)
    assert only(events, "source")["payloads"] == ["one"]
    assert only(events, "serializer")["serializer"] == "pickle"
    payload = only(events, "payload")
    assert (payload["outcome"], payload["location"]) == ("built", "payloads.py:1")
    described = (bench.folder / "descriptions" / payload["expected"]).read_bytes()
    assert json.loads(described) == describe.describe({"a": (1, 2)})
    written = only(events, "written")
    assert (written["outcome"], written["text"]) == ("written", False)
    assert (bench.folder / "blobs" / written["blob"]).read_bytes()


def test_payloads_come_in_the_order_of_the_file_and_as_selected(bench: Bench) -> None:
    source = "".join(f"def payload_{name}():\n    return 1\n" for name in ("b", "a", "other"))
    names = [event["payload"] for event in bench.write(source) if event["event"] == "payload"]
    assert names == ["b", "a", "other"]
    selected = bench.write(source, select=["oth*", "a"])
    assert [event["payload"] for event in selected if event["event"] == "payload"] == ["a", "other"]
    left = bench.write(source, only=["b"])
    assert [event["payload"] for event in left if event["event"] == "payload"] == ["b"]


def test_a_file_that_is_no_python_says_where(bench: Bench) -> None:
    source = only(bench.write("x = 1\ndef payload_one(:\n"), "source")
    assert source["error"]["type"] == "SyntaxError"
    assert source["error"]["place"] == "line 2: "


@pytest.mark.parametrize(
    ("source", "kind", "place"),
    [
        ("import memory_matrix_has_no_such_module\n", "ModuleNotFoundError", "line 1: "),
        ("x = 1\n\n1 / 0\n", "ZeroDivisionError", "line 3: "),
        ("raise SystemExit('enough')\n", "SystemExit", "line 1: "),
        ("def payload_one():\n    return 1\nundefined\n", "NameError", "line 3: "),
    ],
)
def test_a_file_that_cannot_be_imported_says_why(
    bench: Bench, source: str, kind: str, place: str
) -> None:
    error = only(bench.write(source), "source")["error"]
    assert (error["type"], error["place"]) == (kind, place)


APP = "import json\n\n\ndef broken():\n    return json.loads('{')\n"


@pytest.mark.parametrize(
    ("app", "source", "place"),
    [
        (APP, "x = 1\nimport app\nfrom app import nothing\n", "line 3: "),
        (APP, "import app\n\nVALUE = app.broken()\n", "line 3 (app.py:5): "),
        (f"{APP}broken()\n", "x = 1\nfrom app import broken\n", "line 2 (app.py:5): "),
        ("def broken(:\n", "x = 1\n\n\nimport app\n", "line 4 (app.py:1): "),
        ("import absent_module\n", "\nimport app\n", "line 2 (app.py:1): "),
        ("", "import json\nx = 1\nVALUE = json.loads('{')\n", "line 3: "),
        ("", "x = 1\ncompile('(', '<text>', 'exec')\n", "line 2: "),
        ("", "def make():\n    return 1 / 0\n\n\nVALUE = make()\n", "line 2: "),
    ],
    ids=[
        "a name that the app has not",
        "a function of the app",
        "the app's import",
        "no Python in the app",
        "what the app imports",
        "Python's library",
        "a text that is no file",
        "the file's own function",
    ],
)
def test_where_what_a_file_imports_raises_the_files_own_line_is_named(
    bench: Bench, app: str, source: str, place: str
) -> None:
    bench.file("app.py", app)
    file = bench.file("payloads.py", source)
    error = only(bench.events("write", payloads=[file]), "source")["error"]

    assert error["place"] == place
    assert (error["file"], f"line {error['line']}") == (
        file,
        place.partition(": ")[0].split(" (")[0],
    )


WRAPPED = """
import functools

def traced(function):
    @functools.wraps(function)
    def call():
        return function()
    return call

@traced
def payload_decorated():
    return 1

payload_partial = functools.partial(lambda number: number, 1)

class Call:
    def __call__(self):
        return 1

payload_called = Call()
payload_class = dict
"""


def test_a_payload_is_where_its_own_code_is(bench: Bench) -> None:
    events = bench.write(WRAPPED)
    lines = {each["payload"]: each.get("line") for each in events if each["event"] == "payload"}

    assert lines == {"decorated": 10, "partial": 14, "called": 17, "class": None}


def test_other_files_go_on_where_one_cannot_be_imported(bench: Bench) -> None:
    bad, good = bench.file("bad.py", "1 / 0\n"), bench.file("good.py", ONE)
    events = bench.events("write", payloads=[bad, good])
    assert only(events, "payload")["outcome"] == "built"


def test_a_file_without_payloads_has_none(bench: Bench) -> None:
    source = "def one():\n    return 1\npayload_two = 2\n"
    assert only(bench.write(source), "source")["payloads"] == []


def test_one_payload_in_two_files_is_told(bench: Bench) -> None:
    files = [bench.file("a.py", ONE), bench.file("b.py", ONE)]
    twice = only(bench.events("write", payloads=files), "twice")
    assert twice == {"event": "twice", "payload": "one", "source": files[1]}


def test_a_file_may_import_what_lies_beside_it_and_in_the_folders_of_its_environment(
    bench: Bench,
) -> None:
    bench.file("beside.py", "VALUE = 1\n")
    bench.file("release/models.py", "VALUE = 2\n")
    source = "import beside, models\ndef payload_one():\n    return [beside.VALUE, models.VALUE]\n"
    events = bench.write(source, path=[str(bench.folder / "release")])
    described = bench.folder / "descriptions" / only(events, "payload")["expected"]
    assert json.loads(described.read_bytes())["objects"][0]["items"] == [1, 2]


def test_two_files_of_one_name_are_two_modules(bench: Bench) -> None:
    first = bench.file("a/payloads.py", "def payload_a():\n    return __name__\n")
    second = bench.file("b/payloads.py", "def payload_b():\n    return __name__\n")
    events = bench.events("write", payloads=[first, second])
    expected = [event["expected"] for event in events if event["event"] == "payload"]
    assert len(set(expected)) == 2


@pytest.mark.parametrize(
    ("body", "outcome", "said"),
    [
        ("raise ValueError('no')", "failed", "ValueError"),
        ("import memory_matrix_has_no_such_module", "failed", "ModuleNotFoundError"),
        ("raise SystemExit(3)", "failed", "SystemExit"),
        ("raise KeyboardInterrupt", "failed", "KeyboardInterrupt"),
        ("import os; os._exit(3)", "crashed", "Exit"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "crashed", "SIGSEGV"),
        ("while True: pass", "crashed", "Timeout"),
        ("return bytearray(10**12)", "crashed", "MemoryError"),
        ("return [[number] for number in range(300001)]", "failed", "TooManyPartsError"),
    ],
)
def test_a_payload_that_cannot_be_built_costs_nothing_else(
    bench: Bench, body: str, outcome: str, said: str
) -> None:
    timeout = 2 if said == "Timeout" else 60
    events = bench.write(f"def payload_bad():\n    {body}\n{ONE}", timeout=timeout)
    payloads = {event["payload"]: event for event in events if event["event"] == "payload"}
    bad, good = payloads["bad"], payloads["one"]
    assert bad["outcome"] == outcome
    assert said in bad["error"]["type"]
    assert good["outcome"] == "built"
    assert [event["payload"] for event in events if event["event"] == "written"] == ["one"]


def test_a_payload_that_differs_each_time_says_where(bench: Bench) -> None:
    source = (
        "import itertools\nN = itertools.count()\ndef payload_one():\n    return {'n': next(N)}\n"
    )
    (difference,) = only(bench.write(source), "payload")["differs"]
    assert difference == {"path": "$.n", "expected": "int 0", "got": "int 1"}


def test_a_payload_that_changes_what_it_returned_is_not_stable(bench: Bench) -> None:
    source = "KEPT = []\ndef payload_one():\n    KEPT.append(1)\n    return KEPT\n"
    assert only(bench.write(source), "payload")["differs"]


def test_what_is_printed_never_gets_among_the_results(bench: Bench) -> None:
    source = """
        import os, sys
        print('{"event": "done"}', flush=True)
        os.write(1, b'{"event": "done"}\\n')
        def payload_one():
            print('{"event": "done"}', flush=True)
            os.write(1, b'{"event": "done"}\\n')
            sys.__stdout__.write('x')
            return 1
    """
    events = bench.write(source)
    assert [event["event"] for event in events] == ["source", "serializer", "payload", "written"]


def test_a_probe_sees_the_value_and_is_what_is_compared(bench: Bench) -> None:
    payload = only(
        bench.write(ONE + "def probe_one(value):\n    return value['a'][1]\n"), "payload"
    )
    probed = (bench.folder / "descriptions" / payload["probe"]).read_bytes()
    assert json.loads(probed) == describe.describe(2)


def test_a_probe_that_raises_on_a_value_just_built_is_told_and_not_used(bench: Bench) -> None:
    source = ONE + "def probe_one(value):\n    return value['missing']\n"
    payload = only(bench.write(source), "payload")
    assert payload["probe"] is None
    assert (payload["outcome"], payload["error"]["type"]) == ("built", "KeyError")
    assert payload["error"]["stage"] == "use"


CODEC = """
    class Codec:
        def dumps(self, value):
            return repr(value)
        def loads(self, text):
            assert isinstance(text, str)
            return eval(text)
    codec = Codec()
    class Holder:
        inner = codec
"""


def test_a_serializer_comes_from_a_file_or_a_module(bench: Bench) -> None:
    path = bench.file("app/codec.py", CODEC)
    serializers = {
        "file": f"{path}:codec",
        "module": "codec:codec",
        "nested": f"{path}:Holder.inner",
    }
    events = bench.write(ONE, serializers=serializers, path=[str(Path(path).parent)])
    written = {event["serializer"]: event for event in events if event["event"] == "written"}
    assert {name: event["outcome"] for name, event in written.items()} == dict.fromkeys(
        serializers, "written"
    )
    assert all(event["text"] for event in written.values())
    blob = bench.folder / "blobs" / written["file"]["blob"]
    assert blob.read_bytes() == b"{'a': (1, 2)}"


@pytest.mark.parametrize(
    ("target", "kind", "said"),
    [
        ("codec.py:nothing", "AttributeError", "nothing"),
        ("codec.py:Lacking", "TypeError", "has no method dumps"),
        ("codec.py:Class", "TypeError", "if it is a class, name an instance of it"),
        ("absent.py:codec", "FileNotFoundError", "absent.py"),
        ("memory_matrix_has_no_such_module:codec", "ModuleNotFoundError", "no_such_module"),
        ("nonsense", "LookupError", "'nonsense' is no serializer"),
    ],
)
def test_a_serializer_that_is_not_there_is_told(
    bench: Bench, target: str, kind: str, said: str
) -> None:
    loads = "    def loads(self, data):\n        return data\n"
    dumps = "    def dumps(self, value):\n        return b''\n"
    bench.file("codec.py", f"class Lacking:\n{loads}class Class:\n{loads}{dumps}")
    if ".py:" in target:
        target = str(bench.folder / target)
    events = bench.write(ONE, serializers={"mine": target, "pickle": "pickle"})
    lacking, fine = [event for event in events if event["event"] == "serializer"]
    assert lacking["error"]["type"] == kind
    assert said in lacking["error"]["message"]
    assert "error" not in fine
    assert only(events, "written")["serializer"] == "pickle"


@pytest.mark.parametrize(
    ("body", "outcome", "kind"),
    [
        ("return 5", "unwritable", "TypeError"),
        ("return None", "unwritable", "TypeError"),
        ("raise ValueError('no')", "unwritable", "ValueError"),
        ("raise SystemExit(0)", "unwritable", "SystemExit"),
        ("return '\\ud800'", "unwritable", "UnicodeEncodeError"),
        ("import os; os._exit(0)", "crashed", "Exit"),
        ("return bytes(10**12)", "crashed", "MemoryError"),
    ],
)
def test_a_serializer_that_does_not_write_is_told(
    bench: Bench, body: str, outcome: str, kind: str
) -> None:
    codec = bench.file(
        "codec.py",
        f"class codec:\n    loads = None\n    def dumps(value):\n        {body}\n"
        "    def loads(data):\n        return data\n",
    )
    written = only(bench.write(ONE, serializers={"mine": f"{codec}:codec"}), "written")
    assert (written["outcome"], written["error"]["type"]) == (outcome, kind)


def test_probes_without_a_payload_are_told(bench: Bench) -> None:
    source = only(
        bench.write(
            "def payload_a():\n    return 1\ndef probe_a(value):\n    return value\n"
            "def probe_b(value):\n    return value\n"
        ),
        "source",
    )
    assert (source["payloads"], source["unused"]) == (["a"], ["b"])


def pickled(value: object) -> bytes:
    import pickle

    return pickle.dumps(value)


def test_a_reader_says_how_what_it_loads_differs(bench: Bench) -> None:
    expected = only(bench.write(ONE), "payload")["expected"]
    same, other = bench.blob(pickled({"a": (1, 2)})), bench.blob(pickled({"a": [1, 2]}))
    results = bench.read(ONE, step(same, 0, against=[expected]), step(other, 1, against=[expected]))
    assert [event["outcome"] for event in results] == ["loaded", "loaded"]
    assert results[0]["differences"] == {expected: []}
    assert results[1]["differences"][expected] == [
        {"path": "$.a", "expected": "tuple of 2", "got": "list of 2"}
    ]


@pytest.mark.parametrize(
    ("value", "differs"),
    [({"a": (1, 2)}, False), ({"a": (1, True)}, True), ({"a": (1, 2), "b": 0}, True)],
)
def test_a_plain_value_is_known_by_its_digest_and_else_looked_at(
    bench: Bench, value: object, differs: bool
) -> None:
    payload = only(bench.write(ONE), "payload")
    assert payload["plain"]
    (result,) = bench.read(
        ONE,
        step(bench.blob(pickled(value)), plain=payload["plain"], against=[payload["expected"]]),
    )
    assert any(result["differences"].values()) == differs


@pytest.mark.parametrize(
    ("data", "stage", "kind"),
    [
        (b"no pickle", "load", "UnpicklingError"),
        (b"cmemory_matrix_has_no_such_module\nThing\n.", "load", "ModuleNotFoundError"),
        (b"cos\n_exit\n(I0\ntR.", None, "Exit"),
        (b"cbuiltins\nexit\n(I0\ntR.", "load", None),
    ],
)
def test_bytes_that_cannot_be_loaded_cost_their_own_cell(
    bench: Bench, data: bytes, stage: str | None, kind: str | None
) -> None:
    bad, good = bench.blob(data), bench.blob(pickled({"a": (1, 2)}))
    results = bench.read(ONE, step(bad, 0), step(good, 1))
    first, second = sorted(results, key=lambda event: event["step"])
    assert first["outcome"] == ("unreadable" if stage else "crashed")
    assert first["error"].get("stage") == stage
    assert kind is None or kind in first["error"]["type"]
    assert second["outcome"] == "loaded"


def test_a_value_that_another_load_gives_otherwise_is_told(bench: Bench) -> None:
    source = "import itertools\nN = itertools.count()\ndef fresh():\n    return [next(N)]\n" + ONE
    blob = bench.blob(b"cpayloads\nfresh\n(tR.")
    (result,) = bench.read(source, step(blob))
    assert result["again"] == [{"path": "$[0]", "expected": "int 0", "got": "int 1"}]


def test_a_probe_that_raises_on_what_was_loaded_is_a_failure_of_use(bench: Bench) -> None:
    source = ONE + "def probe_one(value):\n    return value['a'][1]\n"
    blob = bench.blob(pickled({}))
    (result,) = bench.read(source, step(blob, probing=True))
    assert (result["outcome"], result["error"]["stage"]) == ("unreadable", "use")
    assert result["error"]["type"] == "KeyError"


def test_what_loads_but_cannot_be_dumped_again_is_a_failure_of_use(bench: Bench) -> None:
    source = (
        "class Once:\n    def __reduce__(self):\n        raise TypeError('only once')\n"
        "    def __init__(self):\n        self.a = 1\n" + ONE
    )
    blob = bench.blob(b"cpayloads\nOnce\n(tR.")
    (result,) = bench.read(source, step(blob))
    assert (result["outcome"], result["error"]["stage"]) == ("unreadable", "use")
    assert "it loads, but cannot be dumped again: only once" in result["error"]["message"]


def test_folders_and_addresses_are_taken_out_of_messages(bench: Bench) -> None:
    source = (
        f"def payload_one():\n    raise ValueError({str(bench.folder)!r} + ' ' + repr(object()))\n"
    )
    message = only(bench.write(source), "payload")["error"]["message"]
    assert message == "<run> <object object at 0x...>"


def test_an_environments_own_package_that_cannot_be_imported_is_told_once(bench: Bench) -> None:
    package = bench.file("lib/site-packages/broken_lib/__init__.py", "import no_such_part\n")
    source = "".join(f"def payload_{name}():\n    import broken_lib\n" for name in ("one", "two"))
    events = bench.write(source, path=[str(Path(package).parents[1])])
    broken = only(events, "broken")
    assert broken["module"] == "broken_lib"
    assert broken["error"]["type"] == "ModuleNotFoundError"


def test_a_module_of_the_users_that_cannot_be_imported_is_no_broken_environment(
    bench: Bench,
) -> None:
    bench.file("helper.py", "import no_such_part\n")
    events = bench.write("def payload_one():\n    import helper\n")
    assert only(events, "payload")["outcome"] == "failed"
    assert not [event for event in events if event["event"] == "broken"]


def wait_for(path: Path) -> int:
    """Return the process id that a payload writes into a named pipe."""
    with path.open("rb") as pipe:
        return int(pipe.read())


HANGING = """
    import os, time
    def payload_one():
        with open({pipe!r}, "w") as pipe:
            pipe.write(str(os.getpid()))
        time.sleep(600)
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells when it ended")
@pytest.mark.parametrize(
    "end",
    [
        lambda process: process.stdin.close(),
        lambda process: process.send_signal(signal.SIGTERM),
    ],
)
def test_a_worker_and_its_child_end_with_the_orchestrator(
    bench: Bench, end: Callable[[Any], None]
) -> None:
    pipe = bench.folder / "pipe"
    os.mkfifo(pipe)
    path = bench.file("payloads.py", HANGING.format(pipe=str(pipe)))
    with bench.start("write", payloads=[path], timeout=600) as process:
        child = os.pidfd_open(wait_for(pipe))
        end(process)
        assert process.wait(timeout=60) != 0
    assert select.select([child], [], [], 60)[0]  # it has ended, though nobody may have asked
    os.close(child)


def test_a_worker_needs_nothing_of_the_orchestrators_installation(bench: Bench) -> None:
    source = "import sys\ndef payload_one():\n    return sorted(sys.modules)\n"
    events = bench.write(source, options=["-I", "-S"])
    described = bench.folder / "descriptions" / only(events, "payload")["expected"]
    names = {
        name.partition(".")[0] for name in json.loads(described.read_bytes())["objects"][0]["items"]
    }
    assert not {"rich", "uv", "packaging", "psycopg", "pydantic"} & names
